"""Animate: the bases of a team follow its timing, and arms hold the object in closed form (*carrying*, Section IV-B).

The arm is solved at every sample nearest to where it was before, so that branches do not jump. Where an arm has no solution
within its limits, the outcome says whose, and where on the path, for the roadmap to do without that edge.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import OBJECT, Agent, Hold, Team
from bunraku.figure import WORLD, Figure
from bunraku.figure.build import Attached, figure, free
from bunraku.kinematics.arm import ClosedArm, closed_form
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion, Track
from bunraku.planning.timing import Timing
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]
SMOOTH = 0.2  # [rad] from one sample to the next


@dataclass(frozen=True, eq=False)
class Animation:
    """The motion of all agents and the object, or why there is none."""

    motion: Motion | None
    closure: float = 0.0
    """The farthest that a tool is from where it should hold [m or rad]."""
    jump: float = 0.0
    """The largest change of a joint from one sample to the next [rad]."""
    trouble: str = ""
    sample: int = -1
    """The first sample that could not be held."""

    @property
    def held(self) -> bool:
        return self.motion is not None


def object_figure(team: Team) -> Figure:
    """What is carried, as a figure of its own."""
    shapes = Attached(shapes=team.carried.shapes)
    return figure(OBJECT, free(OBJECT, shapes))


def animate(team: Team, timing: Timing, *, samples: int) -> Animation:
    """So many samples of every agent's own figure and of the object; agents stand as they start but for base and arms."""
    reduced = timing.samples(samples)
    bases, held = team.in_world(reduced.q)
    X_WO = np.zeros((len(held), 4, 4))
    X_WO[:, :3, :3] = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
    X_WO[:, :3, 3], X_WO[:, 3, 3] = held[:, :3], 1.0
    tracks, closure, jump = [], 0.0, 0.0
    for agent in team.agents:
        Q = np.repeat(agent.figure.start[None], len(held), 0)
        Q[:, agent.figure.indices(agent.base)] = bases[agent.name]
        for hold in agent.holds:
            arm = closed_form(agent.figure, hold.tool)
            lost = _hold(arm, X_WO @ hold.X_OT, Q)
            if lost is not None:
                why = f"{agent.name}'s {hold.tool} cannot hold within its limits at sample {lost} of {len(Q)}"
                return Animation(None, trouble=why, sample=lost)
            closure = max(closure, _error(agent, hold, X_WO, Q))
            jump = max(jump, _jump(Q[:, arm.indices]))
        tracks.append(Track(agent.figure, Q, name=agent.name))
    tracks.append(Track(object_figure(team), held, name=OBJECT))
    return Animation(Motion(reduced.t, tuple(tracks)), closure, jump)


def _hold(arm: ClosedArm, X_WT: Array, Q: Array) -> int | None:
    """Writes the arm into Q; the first sample without a solution, or nothing.

    Each of the solutions at the first sample is followed, and the one that keeps farthest from jumps and limits is kept.
    """
    X_BT = _seen(arm, X_WT, Q)
    starts = _starts(arm, X_BT[0], Q[0])
    tried = [_at_once(arm, X_BT, first, Q[0]) for first in starts]
    if not any(reached == len(Q) for _, reached in tried):
        tried = [_one_by_one(arm, X_BT, first, Q[0]) for first in starts]
    whole = [angles for angles, reached in tried if reached == len(Q)]
    if not whole:
        return max((reached for _, reached in tried), default=0)
    lower, upper = arm.limits
    Q[:, arm.indices] = max(whole, key=lambda own: float(np.minimum(own - lower, upper - own).min()) - 10.0 * _jump(own))
    return None


def _seen(arm: ClosedArm, X_WT: Array, Q: Array) -> Array:
    """Targets in the world in which the first sample's base stands: `nearest_many` takes one q for all."""
    frames = frames_along(arm.figure, Q)
    if arm.base == WORLD:
        return X_WT
    X_WB = frames[:, arm.figure.frame_index[arm.base]]
    return np.asarray(X_WB[0] @ se3.inverse(X_WB) @ X_WT)


def _starts(arm: ClosedArm, X: Array, q: Array) -> Array:
    """Solutions at the first sample, within limits."""
    swivels = np.linspace(-np.pi, np.pi, 13)[:-1] if arm.swivels else np.zeros(1)
    return np.concatenate([arm.solutions(X, q, swivel=float(s), within_limits=True) for s in swivels])


def _at_once(arm: ClosedArm, X: Array, first: Array, q: Array) -> tuple[Array, int]:
    """Angles nearest to the first sample's, in one call, and how many were found; those that jump were not."""
    out, found = arm.nearest_many(X, q, swivel=_swivel(arm, first), near=first)
    return out, len(X) if found.all() and _jump(out) < SMOOTH else 0


def _one_by_one(arm: ClosedArm, X: Array, first: Array, q: Array) -> tuple[Array, int]:
    """Angles from sample to sample, each nearest to the last; and how many were found."""
    out, near, swivel = np.empty((len(X), len(first))), first, _swivel(arm, first)
    for k, target in enumerate(X):
        angles, found = arm.nearest_many(target[None], q, swivel=swivel, near=near[None])
        if not found[0]:
            return out, k
        out[k] = near = angles[0]
    return out, len(X)


def _swivel(arm: ClosedArm, angles: Array) -> float:
    return float(arm.swivels_of(angles[None])[0]) if arm.swivels else 0.0


def _jump(angles: Array) -> float:
    """The largest change from one sample to the next."""
    return float(np.abs(np.diff(angles, axis=0)).max(initial=0.0))


def _error(agent: Agent, hold: Hold, X_WO: Array, Q: Array) -> float:
    """The farthest that the tool is from its hold, in place [m] or turn [rad]."""
    frames = frames_along(agent.figure, Q)[:, agent.figure.frame_index[hold.tool]]
    off = se3.inverse(X_WO @ hold.X_OT) @ frames
    skew = off[:, :3, :3] - np.swapaxes(off[:, :3, :3], 1, 2)
    turn = 0.5 * np.sqrt(skew[:, 2, 1] ** 2 + skew[:, 0, 2] ** 2 + skew[:, 1, 0] ** 2)
    return float(max(np.linalg.norm(off[:, :3, 3], axis=1).max(), turn.max()))
