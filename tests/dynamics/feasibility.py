"""Judges a motion by plain 4×4 matrices and numpy, not by the kernels that made it: is every step's end admissible?

Four conditions, in metres: no wound length below zero; wires and closures closed; no gap above zero (strings, contacts, stops);
and what is not closed does not pull. The last is min(−gap, tension) rather than their product, since a hand that leaps by a
kilometre makes tensions of 1e9 N, and rounding times that is no longer small.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics import Steps
from bunraku.figure import Drum, Eyelet, Figure, Pulley
from bunraku.figure.plain_kinematics import path_length, point, poses

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """The worst of every condition over all samples; all are zero where every sample is admissible."""

    short: float = 0.0
    """How far below zero a wound length is [m]."""
    opened: float = 0.0
    """How far a wire or a closure is from being closed [m; a sine for axes]."""
    long: float = 0.0
    """How far a string is too long, a point below its plane, a joint beyond its stop [m or rad]."""
    untrue: float = 0.0
    """The smaller of a link's opening and its tension [m, N]."""
    pushes: float = 0.0
    """How much a string, a contact or a stop pushes the wrong way [N]."""

    @property
    def worst(self) -> float:
        return max(self.short, self.opened, self.long, self.untrue, self.pushes)

    def __or__(self, other: Verdict) -> Verdict:
        return Verdict(*(max(a, b) for a, b in zip(self._all, other._all, strict=True)))

    @property
    def _all(self) -> tuple[float, ...]:
        return self.short, self.opened, self.long, self.untrue, self.pushes


def openings(figure: Figure, q: Array) -> tuple[dict[str, float], dict[str, float], dict[str, float]]:
    """Wound lengths, inequalities (≤ 0) and equalities (= 0) at q, by the names of links; what stretches has a length only."""
    values = dict(zip(figure.names, q.tolist(), strict=True))
    X = poses(figure.frames, values)
    wound, unequal, equal = {}, {}, {}
    for rope in (*figure.strings, *figure.wires):
        wound[rope.name] = float(rope.wound(0.0 if rope.variable is None else values[rope.variable]))
        if not rope.elastic:
            (unequal if rope.pulls_only else equal)[rope.name] = path_length(X, rope) - wound[rope.name]
    for touch in figure.contacts:
        normal = X[touch.plane.frame][:3, :3] @ touch.normal
        unequal[touch.name] = float(normal @ (point(X, touch.plane) - point(X, touch.point)))
    for loop in figure.closures:
        Ra, Rb = X[loop.a.frame][:3, :3], X[loop.b.frame][:3, :3]
        apart = Rb.T @ (point(X, loop.a) - point(X, loop.b))
        equal[loop.name] = float(abs(apart[2]) if loop.kind == "plane" else np.abs(apart).max())
        if loop.kind == "hinge":
            equal[f"{loop.name}.axis"] = float(np.linalg.norm(np.cross(Ra[:, 2], Rb[:, 2])))
        elif loop.kind == "weld":
            equal[f"{loop.name}.axes"] = float(np.abs(Ra.T @ Rb - np.eye(3)).max())
    inside_balls = {frame for group in figure.groups for frame in group.frames}
    for frame in figure.frames:
        v = frame.variable
        if v is not None and not v.kinematic and frame.name not in inside_balls:
            unequal[f"{v.name}.upper"], unequal[f"{v.name}.lower"] = values[v.name] - v.upper, v.lower - values[v.name]
    return wound, unequal, equal


def judge(figure: Figure, q: Array, tension: Array) -> Verdict:
    """Of one sample: the configuration, and the tensions of all links in the order of `Compiled.link_names` [N]."""
    wound, unequal, equal = openings(figure, q)
    # The length of a string on a drum counts from where it would come from `towards`: up to half a turn of it may lie behind that.
    behind = {rope.name: np.pi * rope.spindle.radius for rope in figure.strings if isinstance(rope.spindle, Drum)}
    out = Verdict(
        short=max((-x - behind.get(name, 0.0) for name, x in wound.items()), default=0.0),
        opened=max((abs(x) for x in equal.values()), default=0.0),
        long=max(unequal.values(), default=0.0),
    )
    for name, pull in zip(figure.compiled.link_names, tension.tolist(), strict=True):
        if name in unequal:
            out |= Verdict(untrue=min(max(-unequal[name], 0.0), abs(pull)), pushes=max(-pull, 0.0))
    return out | _along(figure, tension) | Verdict()


def _along(figure: Figure, tension: Array) -> Verdict:
    """Strings that rub: no stretch pushes, and none pulls more than the largest angle allows beside its neighbour."""
    names, out = figure.compiled.link_names, Verdict()
    for k, rope in enumerate(figure.strings):
        before, rounding = tension[k], 1e-12 * np.abs(tension).max()
        for place in rope.rubbing:
            at = rope.way[place]
            assert isinstance(at, Eyelet | Pulley)
            behind = before + tension[names.index(f"{rope.name}.friction{place}")]
            most = np.exp(at.friction * np.pi * (1.5 + 2.0 * at.turns if isinstance(at, Pulley) else 1.0))
            pulls = min(before, behind), max(before, behind)
            out |= Verdict(pushes=max(-pulls[0], pulls[1] / most - pulls[0], 0.0) - rounding)
            before = behind
    return out


def judge_steps(figure: Figure, steps: Steps, dt: float) -> tuple[Verdict, int]:
    """Over all steps' ends, and the number of the worst."""
    each = [judge(figure, q, pull) for q, pull in zip(steps.q, steps.impulse / dt, strict=True)]
    total = Verdict()
    for one in each:
        total |= one
    return total, int(np.argmax([one.worst for one in each]))
