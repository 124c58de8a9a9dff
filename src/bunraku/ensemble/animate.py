"""animate: people walk and robots roll along the team's timed path, while closed-form inverse kinematics of the arms holds the
object (*carrying*, Section IV-B).

Locomotion comes first: base, legs, spine and head. Then the arms close the loop, wherever walking has moved the shoulders. If an
arm has no solution within its limits, the result says which arm and at which sample, so that the roadmap can drop that edge.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.ensemble.grip import Grip
from bunraku.ensemble.lean import LeanOptions, lean
from bunraku.ensemble.manipulate import ManipulateOptions, jump_of
from bunraku.ensemble.manipulate import hold as held_by
from bunraku.ensemble.rolling import heading_along, rolled
from bunraku.ensemble.team import OBJECT, Agent, Grasp, Team
from bunraku.ensemble.world_limits import is_joint
from bunraku.kernels.clock import worked
from bunraku.kinematics.forward import frames_along
from bunraku.locomotion.walk import Walk, WalkOptions, walk
from bunraku.locomotion.walk.foot_ground import Heights
from bunraku.motion import Motion, Track
from bunraku.planning.ways.path_timing import PathTiming, steadied
from bunraku.planning.ways.steer import Differential
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class AnimateOptions:
    """Numbers that tune how agents move along a path."""

    arms: ManipulateOptions = ManipulateOptions()
    lean: LeanOptions = LeanOptions()
    walk: WalkOptions = WalkOptions()
    sway: float = 0.4
    """Motion of trunk and arms while carrying, as a share of that in a usual walk."""
    rate: float = 75.0
    """Samples per second. Between samples motions are straight, and feet and hands stay in place within a millimetre."""
    steadiness: float = 0.06
    """Standard deviation of the Gaussian that smooths the motion along the path [s]; bases leave it by at most 2 mm."""
    swivel_time: float = 0.3
    """Time between two choices of an elbow's swivel [s]."""
    grip_time: float = 0.3
    """Time between two samples at which arms are tested against their own body and the object [s]."""
    arm_speed: float = 6.0
    """Of several solutions of an arm, those whose joints stay below this speed are taken if possible [rad/s]."""


@dataclass(frozen=True, eq=False)
class Animation:
    """The motion of all agents and the object, or why there is none."""

    motion: Motion | None
    closure: float = 0.0
    """Largest error of a tool relative to its grasp [m or rad]."""
    jump: float = 0.0
    """The largest change of a joint from one sample to the next [rad]."""
    trouble: str = ""
    """Why there is no motion."""
    sample: int = -1
    """The first sample that could not be held; −1 if all are held."""
    at: float = 0.0
    """Time of that sample on the timed path [s]."""
    lead: float = 0.0
    """Time that all stand at the start before they follow the timed path [s]."""
    walks: dict[str, Walk] = field(default_factory=dict)
    """Walks of the walking agents, by name: footfalls, and how far soles slide."""
    seconds: dict[str, float] = field(default_factory=dict)
    """Processor time of locomotion and of manipulation [s]."""

    __repr__ = brief

    @property
    def held(self) -> bool:
        """Whether the object is held at all samples."""
        return self.motion is not None

    @property
    def slide(self) -> float:
        """Largest distance of a standing sole from where it was set down [m]."""
        return max((own.slide for own in self.walks.values()), default=0.0)


def walks(agent: Agent) -> bool:
    """Whether an `agent` walks: a mannequin, recognised by the names of its base variables."""
    return agent.base == ("pelvis_tx", "pelvis_ty", "pelvis_rz")


def animate(
    team: Team,
    timing: PathTiming,
    *,
    samples: int | None = None,
    heights: Heights | None = None,
    options: AnimateOptions = AnimateOptions(),
) -> Animation:
    """The motion of every agent's full figure and of the object, if the reduced `team` moves according to `timing`.

    `samples` are evenly spaced in time; by default, `options.rate` a second. `heights` [m] gives the ground under walking people;
    flat at 0 if None. `options` tune how agents move.
    """
    reduced = timing.samples(samples or max(math.ceil(options.rate * timing.duration), 1) + 1)
    dt = float(reduced.t[1] - reduced.t[0])
    arms = replace(options.arms, stride=max(round(options.swivel_time / dt), 1), max_change=options.arm_speed * dt)
    Q_team = team.on_ground(steadied(reduced.q, options.steadiness / dt))
    bases, held = team.in_world(Q_team)
    t = np.asarray(dt * np.arange(len(Q_team)), float)
    lead = 0.5 * (float(t[-1]) - timing.duration)
    X_WO = np.zeros((len(held), 4, 4))
    X_WO[:, :3, :3] = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
    X_WO[:, :3, 3], X_WO[:, 3, 3] = held[:, :3], 1.0
    tracks, closure, jump, walked, seconds = [], 0.0, 0.0, {}, {"locomotion": 0.0, "manipulation": 0.0}
    for agent in team.agents:
        begun = worked()
        if walks(agent):
            own = walk(agent.figure, t, bases[agent.name], heights=heights, sway=options.sway, options=options.walk)
            walked[agent.name], Q = own, own.Q.copy()
        else:
            Q = rolled(agent, heading_along(bases[agent.name], dt) if issubclass(agent.moves, Differential) else bases[agent.name])
        gone = worked()
        grip = Grip.of(team, agent, held, stride=max(round(options.grip_time / dt), 1))
        lost = _hold(agent, X_WO, Q, grip, dt, replace(options, arms=arms))
        seconds["locomotion"] += gone - begun
        seconds["manipulation"] += worked() - gone
        if lost is not None:
            return Animation(
                None, trouble=lost[0], sample=lost[1], at=lost[1] * dt - lead, lead=lead, walks=walked, seconds=seconds
            )
        frames = frames_along(agent.figure, Q)
        closure = max(closure, *(_error(agent, hold, X_WO, frames) for hold in agent.holds))
        others = [k for k, name in enumerate(agent.figure.names) if is_joint(name, agent.base)]
        jump = max(jump, jump_of(Q[:, others]))
        tracks.append(Track(agent.figure, Q, name=agent.name))
    tracks.append(Track(team.object_figure, held, name=OBJECT))
    return Animation(Motion(t, tuple(tracks)), closure, jump, lead=lead, walks=walked, seconds=seconds)


def _hold(agent: Agent, X_WO: Array, Q: Array, grip: Grip, dt: float, options: AnimateOptions) -> tuple[str, int] | None:
    """Writes the arms into Q, and the spine if it has to lean. Returns what failed and at which sample, or None."""
    if walks(agent):
        lean(agent, X_WO, Q, dt, options=options.lean)
    frames = frames_along(agent.figure, Q)
    for hold in agent.holds:
        arm = agent.arm(hold)
        own = held_by(arm, X_WO @ hold.X_OT, Q, frames, clear=grip.clear, options=options.arms)
        if own.lost is not None:
            return f"{agent.name}'s {hold.tool} cannot hold within its limits at sample {own.lost} of {len(Q)}", own.lost
        Q[:, arm.indices] = own.angles
    return None


def _error(agent: Agent, hold: Grasp, X_WO: Array, frames: Array) -> float:
    """The largest error of the tool relative to its grasp, in position [m] or rotation [rad]."""
    frames = frames[:, agent.figure.frame_index[hold.tool]]
    off = se3.inverse(X_WO @ hold.X_OT) @ frames
    skew = off[:, :3, :3] - np.swapaxes(off[:, :3, :3], 1, 2)
    turn = 0.5 * np.sqrt(skew[:, 2, 1] ** 2 + skew[:, 0, 2] ** 2 + skew[:, 1, 0] ** 2)
    return float(max(np.linalg.norm(off[:, :3, 3], axis=1).max(), turn.max()))
