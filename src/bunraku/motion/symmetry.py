"""Left and right: which variables a mirror exchanges, and with which signs.

With ξ the screw of a joint at q = 0, the pose of a frame is exp(ξ₁q₁) exp(ξ₂q₂) … X₀. A reflection S turns exp(ξq) into
exp(SξS q), so a figure whose screws come in mirrored pairs is mirrored by exchanging the variables of each pair.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MotionError
from bunraku.figure import plain_kinematics
from bunraku.figure.figure import Figure
from bunraku.figure.frame import WORLD
from bunraku.motion.track import Track
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Symmetry:
    """Mirrored q = signs · q[order]; the same for strings (and wires) and contacts, which have no signs."""

    order: NDArray[np.int64]
    signs: Array
    strings: NDArray[np.int64]
    contacts: NDArray[np.int64]
    across: Array
    """(3,) −1 for the axis across the mirror, 1 for the others."""

    def mirrored(self, track: Track) -> Track:
        """The mirror image of a `track`."""

        def exchange(values: Array | None, order: NDArray[np.int64], signs: Any = 1.0) -> Array | None:
            return None if values is None else values[:, order] * signs

        laid = None
        if track.laid is not None:
            laid = tuple({k: one[j] * self.across for k, j in enumerate(self.strings) if j in one} for one in track.laid)
        return replace(
            track,
            laid=laid,
            q=track.q[:, self.order] * self.signs,
            v=exchange(track.v, self.order, self.signs),
            tension=exchange(track.tension, self.strings),
            gap=exchange(track.gap, self.strings),
            contact=exchange(track.contact, self.contacts),
        )


def partner(name: str, known: Iterable[str]) -> str:
    """Of the `known` names, the one for the other side of `name` (lhip, rhip; LeftArm, RightArm; foot_l, foot_r), or `name`."""
    known = set(known)
    return next((other for other in _swapped(name) if other in known), name)


def _swapped(name: str) -> Iterator[str]:
    """Candidates, the clearest first: a word left or right, then a letter at the start or end of a part."""
    other = {"left": "right", "right": "left", "l": "r", "r": "l"}
    for pattern in (r"left|right", r"(?<![a-z])[lr](?![a-z])", r"(?<![A-Za-z])[lr]", r"[lr](?![A-Za-z])"):
        for match in re.finditer(pattern, name, re.IGNORECASE):
            yield name[: match.start()] + _like(other[match[0].lower()], match[0]) + name[match.end() :]


def _like(word: str, model: str) -> str:
    if model.isupper():
        return word.upper()
    return word.capitalize() if model[0].isupper() else word


def symmetry(figure: Figure, axis: str | None, tolerance: float) -> Symmetry:
    """The symmetry of a `figure` about the plane through the origin across `axis`; by default the first of x, y, z that fits.

    Partners may be `tolerance` [m] off their mirror image. Raises MotionError if there is no symmetry.
    """
    reasons = []
    for letter in (axis,) if axis is not None else "xyz":
        try:
            return _about(figure, "xyz".index(letter), tolerance)
        except MotionError as error:
            reasons.append(f"across {letter}: {error.message}")
    raise MotionError(
        f"{figure.name} has no left and right: {'; '.join(reasons)}",
        advice="name both sides alike (lhip, rhip), or allow a larger tolerance [m]",
    )


def _about(figure: Figure, axis: int, tolerance: float) -> Symmetry:
    S = np.where(np.arange(3) == axis, -1.0, 1.0)
    screws = _screws(figure)
    ropes = _rope_pairs(figure, S, tolerance)
    pairs = {name: partner(name, figure.names) for name in figure.names} | _spindle_pairs(figure, ropes)
    order, signs = np.arange(figure.n_q), np.ones(figure.n_q)
    for name, other in pairs.items():
        if pairs[other] != name or (name in screws) != (other in screws):
            raise MotionError(f"{name!r} has no clear partner")
        order[figure.index(other)] = figure.index(name)
        if name in screws:
            signs[figure.index(other)] = _sign(name, screws[name], other, screws[other], S, tolerance)
            if screws[other].before != pairs.get(screws[name].before, ""):
                raise MotionError(f"{name!r} and {other!r} are attached to parts that are not a pair")
    contacts = [contact.name for contact in figure.contacts]
    return Symmetry(order, signs, _order(ropes), _order({name: partner(name, contacts) for name in contacts}), S)


@dataclass(frozen=True, eq=False)
class _Screw:
    motion: str
    pitch: float
    point: Array
    direction: Array
    before: str
    """The next variable above it in the tree; empty at the root."""


def _screws(figure: Figure) -> dict[str, _Screw]:
    """The screw of every variable of the tree at q = 0, in the world."""
    X_W = plain_kinematics.poses(figure.frames, dict.fromkeys(figure.names, 0.0))
    carrier = {WORLD: ""}
    out = {}
    for frame in figure.frames:
        variable = frame.variable
        carrier[frame.name] = variable.name if variable is not None else carrier[frame.parent]
        if variable is not None:
            X = X_W[frame.parent] @ se3.pose(frame.position, frame.rotation)
            direction = X[:3, :3] @ variable.axis
            before = carrier[frame.parent]
            out[variable.name] = _Screw(variable.motion, variable.pitch, X[:3, 3], direction, before)
    return out


def _sign(name: str, a: _Screw, other: str, b: _Screw, S: Array, tolerance: float) -> float:
    """The sign of the partner's variable; a rotation about the mirrored axis turns the other way."""
    along = float(np.sign((S * a.direction) @ b.direction))
    turned = -along if b.motion in ("rotate", "screw") else along
    same = a.motion == b.motion and a.pitch == -b.pitch
    off = S * a.point - b.point
    if b.motion == "translate":
        off = np.zeros(3)  # the position of a sliding axis does not matter
    else:
        off = off - (off @ b.direction) * b.direction
    tilt = float(np.linalg.norm(S * a.direction - along * b.direction))
    if not same or tilt > max(tolerance, 1e-6) or float(np.linalg.norm(off)) > tolerance:
        raise MotionError(f"{other!r} is not the mirror image of {name!r}")
    return turned


def _rope_pairs(figure: Figure, S: Array, tolerance: float) -> dict[str, str]:
    """Each string's (or wire's) partner: by name, or else the one whose path is its mirror image."""
    X_W = plain_kinematics.poses(figure.frames, dict.fromkeys(figure.names, 0.0))
    ropes = (*figure.strings, *figure.wires)
    paths = {rope.name: np.array([plain_kinematics.point(X_W, at) for at in rope.path]) for rope in ropes}

    def mirrored(a: str, b: str) -> bool:
        return paths[a].shape == paths[b].shape and float(np.max(np.abs(paths[a] * S - paths[b]))) <= tolerance

    out = {}
    for name in paths:
        first = partner(name, paths)
        other = next((b for b in (first, *paths) if mirrored(name, b)), None)
        if other is None:
            raise MotionError(f"the string {first!r} is not the mirror image of {name!r}")
        out[name] = other
    return out


def _spindle_pairs(figure: Figure, ropes: dict[str, str]) -> dict[str, str]:
    """Variables that move or wind a string, and those of its partner."""
    own: dict[str, list[str]] = {}
    for rope in (*figure.strings, *figure.wires):
        own[rope.name] = [rope.variable] if rope.variable is not None else []
        name = rope.spindle.frame
        while name != WORLD:
            frame = figure.frame(name)
            if frame.variable is not None and frame.variable.kinematic:
                own[rope.name].append(frame.variable.name)
            name = frame.parent
    return {a: b for rope, other in ropes.items() for a, b in zip(own[rope], own[other], strict=False)}


def _order(pairs: dict[str, str]) -> NDArray[np.int64]:
    names = list(pairs)
    return np.array([names.index(other) for other in pairs.values()], np.int64)
