"""animate: people walk and robots roll along the team's timed path, and arms hold the object in closed form (*carrying*,
Section IV-B).

Locomotion comes first, for base and legs, spine and head. Then the arms close the loop, wherever walking has moved the shoulders.
Where an arm has no solution within its limits, the result says whose arm and at which sample, so that the roadmap can drop that
edge.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.ensemble.grip import Grip
from bunraku.ensemble.lean import LeanOptions, lean
from bunraku.ensemble.manipulate import ManipulateOptions, jump_of
from bunraku.ensemble.manipulate import hold as held_by
from bunraku.ensemble.rolling import rolled
from bunraku.ensemble.team import OBJECT, Agent, Grasp, Team
from bunraku.kernels.clock import worked
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.inverse.arm import closed_form
from bunraku.locomotion.walk import Walk, WalkOptions, walk
from bunraku.locomotion.walk.foot_ground import Heights
from bunraku.motion import Motion, Track
from bunraku.planning.ways.path_timing import PathTiming
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AnimateOptions:
    """The numbers that tune how agents move along a path."""

    arms: ManipulateOptions = ManipulateOptions()
    lean: LeanOptions = LeanOptions()
    walk: WalkOptions = WalkOptions()
    sway: float = 0.4
    """The share of what trunk and arms do in a usual walk that is left where hands are full."""
    gentle: float = 0.95
    """Joints change from sample to sample by at most this share of what arms may, while walking."""


@dataclass(frozen=True, eq=False)
class Animation:
    """The motion of all agents and the object, or why there is none."""

    motion: Motion | None
    closure: float = 0.0
    """The farthest that a tool is from where it should hold [m or rad]."""
    jump: float = 0.0
    """The largest change of a joint from one sample to the next [rad]."""
    trouble: str = ""
    """Why there is no motion."""
    sample: int = -1
    """The first sample that could not be held; −1 where all are."""
    walks: dict[str, Walk] = field(default_factory=dict)
    """Of those who walk, by name: footfalls, and how far soles slide."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of locomotion and of manipulation [s]."""

    __repr__ = brief

    @property
    def held(self) -> bool:
        """Whether the object is held at all samples."""
        return self.motion is not None

    @property
    def slide(self) -> float:
        """The farthest that a standing sole is from where it was set down [m]."""
        return max((own.slide for own in self.walks.values()), default=0.0)


def walks(agent: Agent) -> bool:
    """Whether an `agent` goes on feet: a mannequin, by the names of its base."""
    return agent.base == ("pelvis_tx", "pelvis_ty", "pelvis_rz")


def animate(
    team: Team,
    timing: PathTiming,
    *,
    samples: int,
    heights: Heights | None = None,
    options: AnimateOptions = AnimateOptions(),
) -> Animation:
    """The motion of every agent's own figure and of the object, where the reduced `team` moves as `timing` says.

    `samples` are evenly spaced over its time. `heights` [m] are those of the ground under people who walk; flat at 0 where None.
    `options` tune how agents move.
    """
    reduced = timing.samples(samples)
    bases, held = team.in_world(reduced.q)
    X_WO = np.zeros((len(held), 4, 4))
    X_WO[:, :3, :3] = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
    X_WO[:, :3, 3], X_WO[:, 3, 3] = held[:, :3], 1.0
    tracks, closure, jump, walked, seconds = [], 0.0, 0.0, {}, {"locomotion": 0.0, "manipulation": 0.0}
    for agent in team.agents:
        begun = worked()
        if walks(agent):
            own = walk(
                agent.figure, reduced.t, bases[agent.name], heights=heights, sway=options.sway,
                gentle=options.gentle * options.arms.max_change, options=options.walk,
            )  # fmt: skip
            walked[agent.name], Q = own, own.Q.copy()
        else:
            Q = rolled(agent, bases[agent.name])
        gone = worked()
        lost = _hold(agent, X_WO, Q, Grip.of(team, agent, held), options)
        seconds["locomotion"] += gone - begun
        seconds["manipulation"] += worked() - gone
        if lost is not None:
            return Animation(None, trouble=lost[0], sample=lost[1], walks=walked, seconds=seconds)
        frames = frames_along(agent.figure, Q)
        closure = max(closure, *(_error(agent, hold, X_WO, frames) for hold in agent.holds))
        others = [k for k, name in enumerate(agent.figure.names) if name not in agent.base]
        jump = max(jump, jump_of(Q[:, others]))
        tracks.append(Track(agent.figure, Q, name=agent.name))
    tracks.append(Track(team.object_figure, held, name=OBJECT))
    return Animation(Motion(reduced.t, tuple(tracks)), closure, jump, walks=walked, seconds=seconds)


def _hold(agent: Agent, X_WO: Array, Q: Array, grip: Grip, options: AnimateOptions) -> tuple[str, int] | None:
    """Writes the arms into Q, and the spine where it has to lean. Returns what was lost and at which sample, or None."""
    if walks(agent):
        lean(agent, X_WO, Q, options=options.lean)
    frames = frames_along(agent.figure, Q)
    for hold in agent.holds:
        arm = closed_form(agent.figure, hold.tool)
        own = held_by(arm, X_WO @ hold.X_OT, Q, frames, clear=grip.clear, options=options.arms)
        if own.lost is not None:
            return f"{agent.name}'s {hold.tool} cannot hold within its limits at sample {own.lost} of {len(Q)}", own.lost
        Q[:, arm.indices] = own.angles
    return None


def _error(agent: Agent, hold: Grasp, X_WO: Array, frames: Array) -> float:
    """The farthest that the tool is from its hold, in place [m] or turn [rad]."""
    frames = frames[:, agent.figure.frame_index[hold.tool]]
    off = se3.inverse(X_WO @ hold.X_OT) @ frames
    skew = off[:, :3, :3] - np.swapaxes(off[:, :3, :3], 1, 2)
    turn = 0.5 * np.sqrt(skew[:, 2, 1] ** 2 + skew[:, 0, 2] ** 2 + skew[:, 1, 0] ** 2)
    return float(max(np.linalg.norm(off[:, :3, 3], axis=1).max(), turn.max()))
