"""A tower crane: its rope runs from a trolley round the sheave of a hook block, over the trolley's sheave, onto a drum."""

from __future__ import annotations

from bunraku.figure import plain_kinematics
from bunraku.figure.build import (
    Attached,
    FrameNode,
    StringSpec,
    ball,
    box,
    cylinder,
    drum,
    figure,
    fixed,
    pulley,
    rx,
    ry,
    rz,
    sphere,
    string,
    tx,
    tz,
)
from bunraku.figure.figure import Figure
from bunraku.figure.shape import WOOD, Color


class _Paint:
    """Colours of the crane."""

    steel: Color = (0.86, 0.66, 0.12)
    dark: Color = (0.22, 0.23, 0.26)
    brass: Color = (0.8, 0.62, 0.28)
    concrete: Color = (0.62, 0.61, 0.58)


class _Size:
    """Lengths [m]."""

    tower: float = 1.6
    """Height of the jib."""
    jib: float = 1.4
    """From the tower to its end."""
    block: float = 0.05
    """Radius of the sheave of the hook block."""
    sheave: float = 0.04
    """Radius of the trolley's sheave."""
    drum: float = 0.08
    """Radius of the winch's drum."""
    fall: float = 0.8
    """From the trolley's sheave down to the block's, at the start."""


def _tower() -> list[Attached]:
    return [
        box((0.5, 0.5, 0.06), at=(0, 0, 0.03), color=_Paint.concrete, name="foot"),
        box((0.1, 0.1, _Size.tower), at=(0, 0, _Size.tower / 2), color=_Paint.steel, name="tower"),
    ]


def _jib() -> list[Attached]:
    return [
        box((_Size.jib + 0.6, 0.07, 0.06), at=(_Size.jib / 2 - 0.3, 0, 0.0), color=_Paint.steel, name="jib"),
        box((0.16, 0.2, 0.22), at=(-0.52, 0, -0.12), color=_Paint.concrete, name="counterweight"),
        box((0.12, 0.12, 0.16), at=(0.0, 0.1, -0.06), color=_Paint.dark, name="cabin"),
    ]


def _wheel(radius: float, width: float, color: Color, mass: float = 0.0, name: str = "sheave") -> Attached:
    """About y."""
    return cylinder(radius, start=(0, -width / 2, 0), to=(0, width / 2, 0), color=color, mass=mass, name=name)


def _trolley() -> FrameNode:
    """Slides along the jib. What hangs on it leans sideways as one, so the axes of both sheaves stay parallel."""
    load = ball(
        "load", sphere(0.012, color=_Paint.dark, name="hook"), cylinder(0.006, to=(0, 0, -0.12), color=_Paint.dark, name="sling"),
        box((0.26, 0.18, 0.16), at=(0, 0, -0.2), color=WOOD, mass=3.0, name="crate"), at=(0, 0, -0.1), damping=0.02,
    )  # fmt: skip
    block = tz(
        "block", _wheel(_Size.block, 0.03, _Paint.brass, mass=0.4),
        box((0.03, 0.05, 0.1), at=(0, 0, -0.05), color=_Paint.dark, name="cheek"), load,
    )  # fmt: skip
    lean = rx(
        "lean",
        fixed("upper_sheave", _wheel(_Size.sheave, 0.03, _Paint.brass), at=(_Size.block - _Size.sheave, 0, -_Size.sheave)),
        tx("sway", block, damping=0.05, at=(0, 0, -_Size.fall - _Size.sheave)), damping=0.02,
    )  # fmt: skip
    return tx(
        "trolley", box((0.16, 0.1, 0.03), at=(0, 0, 0.03), color=_Paint.dark, name="carriage"), lean,
        at=(0, 0, -0.08), start=0.9, limits=(0.3, _Size.jib - 0.1), kinematic=True,
    )  # fmt: skip


def _rope(length: float) -> StringSpec:
    """Two falls between trolley and block, through an eyelet where the upper sheave leads it, and along the jib onto the drum."""
    return string(
        "rope", ("lean", (-_Size.block, 0, -_Size.sheave)),
        drum("winch_seat", _Size.drum, "y", turn=-1, towards=(1, 0, 0)), length, variable="winch",
        through=[
            pulley("block", _Size.block, "y", turn=-1), pulley("upper_sheave", _Size.sheave, "y", turn=-1),
            ("trolley", (-0.08, 0, 0)),
        ],
    )  # fmt: skip


def crane() -> Figure:
    """Tower crane whose rope runs over two sheaves onto a drum.

    The puppeteer slews the jib, moves the trolley and turns the winch; the crate swings.
    """
    seat = fixed(
        "winch_seat",
        ry("winch", _wheel(_Size.drum, 0.12, _Paint.brass, name="drum"), kinematic=True),
        at=(-0.28, 0, -0.08 - _Size.drum),
    )  # fmt: skip
    nodes = (fixed("base", *_tower()), rz("slew", *_jib(), _trolley(), seat, at=(0, 0, _Size.tower), kinematic=True))
    bare = figure("crane", *nodes)
    length = plain_kinematics.path_length(plain_kinematics.poses(bare.frames), _rope(1.0).string)
    return figure("crane", *nodes, strings=[_rope(length)])
