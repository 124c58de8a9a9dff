"""Humanoid files: a few lines that name the feet, hands and trunk of a figure.

humanoid: talos
figure: talos_reduced.urdf        # or any figure file, or a name of the library
feet: [left_sole_link, right_sole_link]
sole: {size: [0.2, 0.12], at: [0, 0, 0]}    # the same for both feet, in their frames
hands: [gripper_left_base_link, gripper_right_base_link]    # leave it out for a robot without arms
trunk: torso_2_link
home: {leg_left_3_joint: -23 deg, leg_left_4_joint: 46 deg}
limits: {forward: 30 cm, turn: [10 deg, 20 deg]}   # by default from the size of legs and soles
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import fields, replace
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku import io
from bunraku.errors import BunrakuWarning, FigureError, did_you_mean
from bunraku.figure import WORLD, Figure, Frame, library
from bunraku.figure.frame import Vector
from bunraku.io.mjcf.mjcf_servos import Servo, servos_in
from bunraku.io.urdf import urdf_reader
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.kinematics import Pose, pose
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.home_posture import levelled, sole_axes, tilt_of
from bunraku.locomotion.guide.humanoid import Humanoid, HumanoidLimits, ankle_range, limits_of, rectangle, small_humanoid
from bunraku.locomotion.guide.rule_options import RuleOptions
from bunraku.locomotion.guide.segment import SegmentPlanner
from bunraku.locomotion.guide.stride import shortened
from bunraku.locomotion.guide.sway import sway_of
from bunraku.scene import Scene
from bunraku.spatial import so3

Array = NDArray[np.float64]


def humanoid_named(name: str | os.PathLike[str]) -> Humanoid:
    """The humanoid of the library if `name` is "humanoid", otherwise that of the humanoid file `name`."""
    return small_humanoid() if str(name) == "humanoid" else load_humanoid(name)


def load_humanoid(path: str | os.PathLike[str]) -> Humanoid:
    """The humanoid in the file `path`; raises FileError, which points at the mistake."""
    return _humanoid(yaml_reader.read(path), Path(path).parent)


def parse_humanoid(text: str, path: str | os.PathLike[str] = "") -> Humanoid:
    """The humanoid in a `text`, as if it were in the file `path`; raises FileError, which points at the mistake."""
    return _humanoid(yaml_reader.parse(text, str(path)), Path(path).parent)


def planner_of(humanoid: Humanoid) -> SegmentPlanner:
    """A planner for the soles of a `humanoid` and the height of its centre of mass."""
    width, slow = float(np.ptp(humanoid.sole[:, 1])), math.sqrt(humanoid.height / 0.31)
    return SegmentPlanner(
        duration=round(0.5 * slow, 1), longest=3.0 * slow, margin=0.11 * width, rest_margin=0.167 * width, near=0.003 * slow**2
    )


def guide_of(humanoid: Humanoid, scene: Scene, *, brisk: bool = False) -> Guide:
    """A guide for a `humanoid` in a `scene`; if it is `brisk`, it does not rest between steps.

    The humanoid of the library walks as in the paper. Others take longer steps. Brisk ones of which one leg is too weak to bear the
    body upright take short steps with feet wide apart and a trunk that sways.
    """
    if humanoid.figure.name == "humanoid":
        rules = RuleOptions(brisk=brisk)
    elif brisk and (sway := sway_of(humanoid)):
        rules = RuleOptions(stride=0.4, brisk=True, onward_stride=0.3, onward_apart=1.8, sway=sway)
    else:
        rules = RuleOptions(stride=0.6, brisk=brisk)
    return Guide(humanoid, scene, planner_of(humanoid), rules)


def _humanoid(node: Node, folder: Path) -> Humanoid:
    node.words(("humanoid", "figure", "feet", "sole", "hands", "trunk", "home", "limits"), "a humanoid file")
    name = node.need("humanoid", "a humanoid file").name("the humanoid")
    figure = _figure(node.need("figure", "the humanoid"), folder).replace(name=name)
    left, right = (_frame(item, figure) for item in node.need("feet", "the humanoid").items("feet", 2))
    trunk = _frame(node.need("trunk", "the humanoid"), figure)
    size, at = _sole(node.need("sole", "the humanoid"))
    sole = rectangle(*size)
    given = node.get("hands")
    hands = [_frame(item, figure) for item in given.items("hands", 2)] if given is not None else []
    if not hands:
        figure, hands = _without_arms(figure, trunk, 0.5 * float(np.ptp(sole[:, 1])))
    _enough_joints(node, figure, (left, right))
    home = _home(node, figure, (left, right))
    bare, (figure, feet) = figure, _with_soles(figure, (left, right), at, home)
    home, notes = _levelled(node, figure, feet, _centred(figure, feet, home))
    # The body stands above the middle of what the ankles can bear, not of the soles.
    off = _off_centre(figure, feet, home, sole)
    if off.any():
        shifted = sole_axes(pose(bare, home).X(left)[:3, :3]) @ np.array([*off, 0.0]) + at
        figure, feet = _with_soles(bare, (left, right), tuple(shifted.tolist()), home)
        home, sole = levelled(figure, feet, (np.eye(3), np.eye(3)), np.zeros(3), home), sole - off
        home = _centred(figure, feet, home)
    figure = _started(figure, home)
    with node.blamed():
        shoulders = (_shoulder(figure, hands[0], trunk), _shoulder(figure, hands[1], trunk))
    servos = _servos(node.need("figure", "the humanoid"), folder)
    rough = limits_of(1.0, sole, 0.2, 0.5)
    draft = Humanoid(figure, home, feet, (hands[0], hands[1]), trunk, shoulders, sole, rough, servos, given is None, notes)
    with node.blamed({"feet": "feet"}):
        _, _, leg = draft.legs
        draft.foot_axes  # noqa: B018 (raises if a foot is not flat)
    here = draft.pose
    arm = min(_length(figure, here, shoulder, hand) for shoulder, hand in zip(shoulders, hands, strict=True))
    sized = replace(draft, limits=limits_of(leg, sole, draft.home_apart, max(arm, 0.1 * leg)))
    quick = replace(shortened(sized), foot_speed=2.5 * sized.limits.foot_speed)  # its motors are checked in any case
    return replace(sized, limits=_limits(node.get("limits"), quick))


def _without_arms(figure: Figure, trunk: str, side: float) -> tuple[Figure, list[str]]:
    """The figure with two frames on its trunk in place of hands, and their names."""
    frames = [Frame(f"{trunk}_{name}", trunk, (0.0, y, 0.0)) for name, y in (("left", side), ("right", -side))]
    return figure.replace(frames=(*figure.frames, *frames)), [frame.name for frame in frames]


def _enough_joints(node: Node, figure: Figure, feet: tuple[str, str]) -> None:
    free = {name for joint in figure.groups if joint.kind == "free" for name in joint.frames}
    for foot in feet:
        frame, joints = figure.frame(foot), 0
        while frame.name not in free:
            joints += frame.variable is not None
            if frame.parent == WORLD:
                break
            frame = figure.frame(frame.parent)
        if joints < 6:
            raise node.error(
                f"{foot!r} hangs on {joints} joints, too few to put a sole flat on the floor wherever the body is",
                advice="guiding needs legs with six joints",
            )  # fmt: skip


def _servos(node: Node, folder: Path) -> dict[str, Servo]:
    path = folder / node.scalar("a figure file, or a name of the library")
    return servos_in(path) if path.suffix.lower() in (".xml", ".mjcf") and path.exists() else {}


def _levelled(node: Node, figure: Figure, feet: tuple[str, str], home: Array) -> tuple[Array, tuple[str, ...]]:
    """The home configuration with level soles, and what was changed; raises FileError if they cannot be levelled."""

    def tilt(q: Array) -> float:
        here = pose(figure, q)
        high = [float(here.point(foot)[2]) for foot in feet]
        return max(*(tilt_of(here.X(foot)[:3, :3]) for foot in feet), abs(high[0] - high[1]))

    most, was = math.radians(0.1), tilt(home)
    if was <= most:
        return home, ()
    q = levelled(figure, feet, (np.eye(3), np.eye(3)), np.zeros(3), home)
    if tilt(q) > most:
        lower, upper = figure.limits
        tight = [name for k, name in enumerate(figure.names) if not lower[k] + 1e-3 < q[k] < upper[k] - 1e-3]
        raise (node.get("home") or node).error(
            f"in the home configuration the soles are tilted by {math.degrees(was):.1f}°, and no posture near it has them flat",
            advice=f"give another home; at their limits are {', '.join(tight) or 'no joints'}",
        )  # fmt: skip
    return _centred(figure, feet, q), (f"the soles were tilted by {math.degrees(was):.1f}° at home: levelled",)


def _centred(figure: Figure, feet: tuple[str, str], q: Array) -> Array:
    """The configuration q with the middle of the feet at the origin."""
    here, base = pose(figure, q), next(joint for joint in figure.groups if joint.kind == "free")
    places = figure.indices([variable.name for frame in base.frames[:3] if (variable := figure.frame(frame).variable) is not None])
    out = q.copy()
    out[places] -= np.mean([here.point(foot) for foot in feet], axis=0)
    return out


def _off_centre(figure: Figure, feet: tuple[str, str], home: Array, sole: Array) -> Array:
    """How far forward of the sole's middle the middle of what the ankles can bear is (2,) [m]; 0 where they can bear all of it."""
    low, high = ankle_range(figure, pose(figure, home), feet[0])
    front, back = min(high[0], sole[:, 0].max()), max(low[0], sole[:, 0].min())
    return np.array([0.5 * (front + back) if 0.0 < front - back < 0.85 * np.ptp(sole[:, 0]) else 0.0, 0.0])


def _figure(node: Node, folder: Path) -> Figure:
    name = node.scalar("a figure file, or a name of the library")
    if name in library.names():
        return library.named(name)
    path = folder / name
    if not path.exists():
        raise node.error(f"there is no file {name!r}", advice=f"give a path from {str(folder) or '.'}, or a name of the library")
    figure = figure_in(path)
    if figure is None:
        raise node.error("there is no figure in that file", advice="name a figure, URDF or MJCF file")
    return figure


def figure_in(path: Path) -> Figure | None:
    """The figure in the file `path`, with a free base; None if there is none in it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        figure = urdf_reader.load(path, floating_base=True) if path.suffix.lower() == ".urdf" else io.load(path)
    return figure if isinstance(figure, Figure) else None


def _frame(node: Node, figure: Figure) -> str:
    name = node.scalar("the name of a frame")
    if name not in figure.frame_index:
        raise node.error(f"{figure.name} has no frame {name[:60]!r}", advice=did_you_mean(name, list(figure.frame_index)))
    return name


def _sole(node: Node) -> tuple[tuple[float, float], tuple[float, float, float]]:
    node.words(("size", "at"), "a sole")
    length, width = node.need("size", "the sole").numbers(2, Quantity.LENGTH)
    if not (length > 0.0 and width > 0.0):
        raise node.error("the sole has no size", advice="give its length and width, such as size: [0.2, 0.1]")
    at = node.get("at")
    return (length, width), (0.0, 0.0, 0.0) if at is None else at.lengths()


def _with_soles(figure: Figure, feet: tuple[str, str], at: Vector, home: Array) -> tuple[Figure, tuple[str, str]]:
    """The figure with frames at the middle of the soles, z up, and their names; added if the named frames are others."""
    axes = [sole_axes(pose(figure, home).X(foot)[:3, :3]) for foot in feet]
    if at == (0.0, 0.0, 0.0) and all(np.array_equal(A, np.eye(3)) for A in axes):
        return figure, feet
    turns = [tuple(so3.quaternion(A).tolist()) for A in axes]
    soles = tuple(Frame(f"{foot}_middle", foot, at, turn) for foot, turn in zip(feet, turns, strict=True))
    return figure.replace(frames=(*figure.frames, *soles)), (soles[0].name, soles[1].name)


def _home(node: Node, figure: Figure, feet: tuple[str, str]) -> Array:
    """The configuration with the joints that the file gives, with the middle of the soles at the origin, facing x."""
    q, words = np.array(figure.start), node.get("home")
    for name, value in (words.words(figure.names, "home") if words is not None else {}).items():
        k = figure.index(name)
        q[k] = value.number(Quantity.LENGTH if figure.variables[k].motion == "translate" else Quantity.ANGLE)
        lower, upper = (limit[k] for limit in figure.limits)
        if not lower <= q[k] <= upper:
            raise value.error(f"{name} is outside its limits", advice=f"give a value between {lower:.4g} and {upper:.4g}")
    base = [joint for joint in figure.groups if joint.kind == "free"]
    if not base:
        raise node.error(f"{figure.name} is fixed in the world", advice="give its root a free joint")
    names = [variable.name for frame in base[0].frames if (variable := figure.frame(frame).variable) is not None]
    places = figure.indices(names)
    left, right = (pose(figure, q).point(foot) for foot in feet)
    q[places[3]] -= math.atan2(right[0] - left[0], left[1] - right[1])  # turn it to face x
    q[places[:3]] -= np.mean([pose(figure, q).point(foot) for foot in feet], axis=0)
    return q


def _started(figure: Figure, q: Array) -> Figure:
    """The figure with its start at q, so that every viewer shows it standing."""
    frames = (
        frame if (own := frame.variable) is None else replace(frame, variable=replace(own, start=float(q[figure.index(own.name)])))
        for frame in figure.frames
    )
    return figure.replace(frames=tuple(frames))


def _shoulder(figure: Figure, hand: str, trunk: str) -> str:
    """The frame of the first joint of an arm, from the trunk."""
    found, frame = hand, hand
    while frame != trunk:
        if figure.frame(frame).variable is not None:
            found = frame
        frame = figure.frame(frame).parent
        if frame == WORLD:
            message = f"{hand!r} does not hang from {trunk!r}"
            raise FigureError(message, name=figure.name, field="hands", advice="name the trunk's frame")
    return found


def _length(figure: Figure, here: Pose, shoulder: str, hand: str) -> float:
    at, chain = hand, [hand]
    while at != shoulder:
        at = figure.frame(at).parent
        chain.append(at)
    places = [here.point(frame) for frame in chain]
    return sum(float(np.linalg.norm(b - a)) for a, b in pairwise(places))


def _limits(node: Node | None, own: HumanoidLimits) -> HumanoidLimits:
    if node is None:
        return own
    changes: dict[str, Any] = {}
    for word, value in node.words(tuple(field.name for field in fields(HumanoidLimits)), "limits").items():
        measure = _measure(word)
        pair = word in ("apart", "turn")
        numbers = value.numbers(2, measure) if pair else (value.number(measure),)
        if not all(x > 0.0 for x in numbers):
            raise value.error(f"{word} must be positive", advice=f"give {'two numbers' if pair else 'a number'} above zero")
        changes[word] = numbers if pair else numbers[0]
    return replace(own, **changes)


def _measure(word: str) -> Quantity:
    """The physical quantity of a limit."""
    if word == "trunk_speed":
        return Quantity.TURNING_SPEED
    if word.endswith("_speed"):
        return Quantity.SPEED
    return Quantity.ANGLE if word in ("turn", "lean") else Quantity.LENGTH
