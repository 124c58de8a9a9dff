"""Nodes: fixed frames, frames that turn or slide, ball and free joints, spindles."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, TypedDict, Unpack

import numpy as np

from bunraku.figure.build.items import FrameNode, Item
from bunraku.figure.build.places import quaternion_of, vector
from bunraku.figure.frame import AXES, JOINT_MOTIONS, ORIGIN, WORLD, Frame, Variable, Vector
from bunraku.spatial.so3 import IDENTITY, Quaternion


class VariableWords(TypedDict, total=False):
    """Keywords of a moving node: the fields of its Variable, and `limits` (lower, upper) [rad or m].

    In a ball or free joint each may be a list with one value for each variable.
    """

    kinematic: bool
    start: float
    limits: tuple[float, float]
    speed: float
    effort: float
    stiffness: float
    rest: float
    damping: float
    armature: float


class MovingWords(VariableWords, total=False):
    """Keywords of a node with one variable."""

    variable: str
    """Name of the variable where it differs from the frame's."""


def variable(name: str, motion: str, axis: Vector, pitch: float = 0.0, **words: Unpack[VariableWords]) -> Variable:
    """A variable.

    name: of the variable.
    motion: "rotate", "translate", "screw" or "length".
    axis: direction in the frame's axes.
    pitch: of a screw [m/rad].
    words: its other fields, see VariableWords.
    """
    lower, upper = words.pop("limits", (-math.inf, math.inf))
    return Variable(name, motion, axis, pitch, lower=float(lower), upper=float(upper), **words)  # type: ignore[arg-type, misc]


def fixed(
    name: str, *children: Item, at: Sequence[float] = ORIGIN, rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None,
) -> FrameNode:  # fmt: skip
    """A frame that does not move in its parent.

    name: of the frame.
    children: what is nested in it.
    at: where it is in its parent [m].
    rpy, quaternion: how it is turned there, by roll, pitch and yaw [rad] or (w, x, y, z); a quaternion overrides rpy.
    """
    return FrameNode((Frame(name, WORLD, vector(at), quaternion_of(rpy, quaternion)),), children)


def _moving(
    motion: str, axis: str | Sequence[float], name: str, children: tuple[Item, ...], at: Sequence[float],
    rpy: Sequence[float] | None, quaternion: Sequence[float] | None, pitch: float, words: MovingWords,
) -> FrameNode:  # fmt: skip
    """The node of one variable that `rotate`, `translate` and `screw` describe."""
    direction = AXES[axis] if isinstance(axis, str) else vector(axis)
    called = words.pop("variable", name)
    moves = variable(called, motion, direction, pitch, **words)  # type: ignore[misc]
    return FrameNode((Frame(name, WORLD, vector(at), quaternion_of(rpy, quaternion), moves),), children)


def rotate(
    axis: str | Sequence[float], name: str, *children: Item, at: Sequence[float] = ORIGIN,
    rpy: Sequence[float] | None = None, quaternion: Sequence[float] | None = None, **words: Unpack[MovingWords],
) -> FrameNode:  # fmt: skip
    """A frame that turns about an axis [rad].

    axis: "x", "y", "z", or three numbers.
    name: of the frame, and of its variable.
    children: what is nested in it.
    at: where it is in its parent [m].
    rpy, quaternion: how it is turned there, by roll, pitch and yaw [rad] or (w, x, y, z); a quaternion overrides rpy.
    words: further keywords that describe the variable, see MovingWords.
    """
    return _moving("rotate", axis, name, children, at, rpy, quaternion, 0.0, words)


def translate(
    axis: str | Sequence[float], name: str, *children: Item, at: Sequence[float] = ORIGIN,
    rpy: Sequence[float] | None = None, quaternion: Sequence[float] | None = None, **words: Unpack[MovingWords],
) -> FrameNode:  # fmt: skip
    """A frame that slides along an axis [m].

    axis: "x", "y", "z", or three numbers.
    name: of the frame, and of its variable.
    children: what is nested in it.
    at: where it is in its parent [m].
    rpy, quaternion: how it is turned there, by roll, pitch and yaw [rad] or (w, x, y, z); a quaternion overrides rpy.
    words: further keywords that describe the variable, see MovingWords.
    """
    return _moving("translate", axis, name, children, at, rpy, quaternion, 0.0, words)


def screw(
    axis: str | Sequence[float], pitch: float, name: str, *children: Item, at: Sequence[float] = ORIGIN,
    rpy: Sequence[float] | None = None, quaternion: Sequence[float] | None = None, **words: Unpack[MovingWords],
) -> FrameNode:  # fmt: skip
    """A frame that turns about an axis [rad] and advances along it.

    axis: "x", "y", "z", or three numbers.
    pitch: [m/rad].
    name: of the frame, and of its variable.
    children: what is nested in it.
    at: where it is in its parent [m].
    rpy, quaternion: how it is turned there, by roll, pitch and yaw [rad] or (w, x, y, z); a quaternion overrides rpy.
    words: further keywords that describe the variable, see MovingWords.
    """
    return _moving("screw", axis, name, children, at, rpy, quaternion, pitch, words)


def rx(name: str, *children: Item, **words: Any) -> FrameNode:
    """A frame `name` that turns about x, by a variable of the same name [rad]; `children` and `words` as in `rotate`."""
    return rotate("x", name, *children, **words)


def ry(name: str, *children: Item, **words: Any) -> FrameNode:
    """A frame `name` that turns about y, by a variable of the same name [rad]; `children` and `words` as in `rotate`."""
    return rotate("y", name, *children, **words)


def rz(name: str, *children: Item, **words: Any) -> FrameNode:
    """A frame `name` that turns about z, by a variable of the same name [rad]; `children` and `words` as in `rotate`."""
    return rotate("z", name, *children, **words)


def tx(name: str, *children: Item, **words: Any) -> FrameNode:
    """A frame `name` that slides along x, by a variable of the same name [m]; `children` and `words` as in `translate`."""
    return translate("x", name, *children, **words)


def ty(name: str, *children: Item, **words: Any) -> FrameNode:
    """A frame `name` that slides along y, by a variable of the same name [m]; `children` and `words` as in `translate`."""
    return translate("y", name, *children, **words)


def tz(name: str, *children: Item, **words: Any) -> FrameNode:
    """A frame `name` that slides along z, by a variable of the same name [m]; `children` and `words` as in `translate`."""
    return translate("z", name, *children, **words)


def _several(
    kind: str, name: str, children: tuple[Item, ...], at: Sequence[float],
    rotation: Quaternion, start: Sequence[float], words: dict[str, Any],
) -> FrameNode:  # fmt: skip
    """The chain of one-variable frames of a ball or free joint; the last one has the joint's name."""
    letters = JOINT_MOTIONS[kind]
    frames = []
    for k, letter in enumerate(letters):
        motion = "rotate" if letter[0] == "r" else "translate"
        own = {word: value[k] if np.ndim(value) > (word == "limits") else value for word, value in words.items()}
        own["start"] = float(start[k])
        moves = variable(f"{name}_{letter}", motion, AXES[letter[1]], **own)
        place = (vector(at), rotation) if k == 0 else (ORIGIN, IDENTITY)
        frames.append(Frame(name if k == len(letters) - 1 else f"{name}_{letter}", WORLD, *place, moves))
    return FrameNode(tuple(frames), children, kind)


def ball(
    name: str, *children: Item, at: Sequence[float] = ORIGIN, rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None, start: Sequence[float] = ORIGIN, **words: Any,
) -> FrameNode:  # fmt: skip
    """Three rotations z, y, x about one point; variables name_rz, name_ry, name_rx.

    name: of the last of the chain of frames that it makes, one for each variable.
    children: what is nested in it.
    at: where it is in its parent [m].
    rpy, quaternion: how it is turned there, by roll, pitch and yaw [rad] or (w, x, y, z); a quaternion overrides rpy.
    start: the three angles at the start [rad].
    words: further keywords that describe the variables, see VariableWords.
    """
    return _several("ball", name, children, at, quaternion_of(rpy, quaternion), start, words)


def free(
    name: str, *children: Item, at: Sequence[float] = ORIGIN, rpy: Sequence[float] | None = None,
    quaternion: Sequence[float] | None = None, start: Sequence[float] = (0.0,) * 6, **words: Any,
) -> FrameNode:  # fmt: skip
    """A joint with all six motions; variables name_tx, name_ty, name_tz, name_rz, name_ry, name_rx.

    name: of the last of the chain of frames that it makes, one for each variable.
    children: what is nested in it.
    at: where it is in its parent [m].
    rpy, quaternion: how it is turned there, by roll, pitch and yaw [rad] or (w, x, y, z); a quaternion overrides rpy.
    start: values at the start, in the order of the variables: three displacements [m], three angles [rad].
    words: further keywords that describe the variables, see VariableWords.
    """
    return _several("free", name, children, at, quaternion_of(rpy, quaternion), start, words)


def spindle(name: str, *children: Item, at: Sequence[float] = ORIGIN, moves: str = "xy", **words: Any) -> FrameNode:
    """A carriage that the puppeteer moves; frame name_spindle, variables name_x, name_y, …

    name: of the carriage.
    children: what is nested in it.
    at: where it starts [m].
    moves: the axes that it moves along, some of x, y, z.
    words: further keywords that describe the variables, see VariableWords.
    """
    frames = []
    position = [0.0 if axis in moves else float(c) for axis, c in zip("xyz", at, strict=True)]
    for k, axis in enumerate(moves):
        own: Any = {"kinematic": True, "start": float(at["xyz".index(axis)]), **words}
        frame = f"{name}_spindle" if k == len(moves) - 1 else f"{name}_{axis}"
        moving = variable(f"{name}_{axis}", "translate", AXES[axis], **own)
        frames.append(Frame(frame, WORLD, vector(position) if k == 0 else ORIGIN, variable=moving))
    return FrameNode(tuple(frames) or (Frame(f"{name}_spindle", WORLD, vector(at)),), children)
