"""Sway: how far the trunk must lean over the foot that stands, so that the motors of one leg bear the body."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.effort import needed, shared
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.navigation_points import standing_at
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class SwayOptions:
    """How the sway of a humanoid is found."""

    strength: float = 0.83
    """Share of the effort limits that one leg may need at rest; moving needs the others."""
    most: float = 0.24
    """Largest lean [rad]."""
    step: float = 0.02
    """Step between two leans that are tried [rad]."""
    over: float = 0.7
    """Where the body is when it is borne by one foot, as a share of the way from the middle of the feet to it."""


def sway_of(humanoid: Humanoid, options: SwayOptions = SwayOptions()) -> float:
    """The smallest lean of the trunk toward the standing foot with which one leg bears a `humanoid` [rad].

    If none does, it is the largest one of the `options`.
    """
    body = WholeBody(humanoid)
    legs = [humanoid.figure.names[k] for k in body.motors]
    limits = np.array([humanoid.figure.variables[k].effort for k in body.motors])
    leg = np.array([name in _leg(humanoid) for name in legs])
    for lean in np.arange(0.0, options.most, options.step):
        if (np.abs(_efforts(body, float(lean), options.over)) <= options.strength * limits)[leg].all():
            return float(lean)
    return options.most


def _leg(humanoid: Humanoid) -> set[str]:
    """Joints of the left leg but the ankle, whose efforts depend on the ZMP."""
    figure, out, frame = humanoid.figure, list[str](), humanoid.feet[0]
    while frame in figure.frame_index:
        at = figure.frame(frame)
        if at.variable is not None:
            out.append(at.variable.name)
        frame = at.parent
    return set(out[2:])


def _efforts(body: WholeBody, lean: float, over: float) -> Array:
    """Efforts (motors,) on the left foot, with the trunk at a `lean` toward it [rad]."""
    own, points = body.humanoid, standing_at(body.humanoid)
    feet, com = points.feet.copy(), points.com.p.copy()
    feet[1, 2] += 0.5 * own.limits.lift
    com[:2] += over * (feet[0, :2] - com[:2])
    R = so3.rpy(-lean, 0.0, 0.0)
    start = body.posed(replace(points, com=replace(points.com, p=com)))
    q = body.inverse.solve(start, body.aims(com[None], feet[None], R[None], (com + own.home_hands @ R.T)[None])[0]).q
    Q = np.tile(q, (3, 1))
    base, shares = own.figure.indices(body.base), np.tile([1.0, 0.0], (3, 1))
    efforts = shared(own.figure, Q, needed(own.figure, Q, GUIDE_TICK), base, own.feet, shares, 0.1 * own.height)
    return np.asarray(efforts[1, body.motors])
