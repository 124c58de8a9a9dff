"""tune: residual collisions of heads, spines, arms and the object are removed (*carrying*, Section IV-C).

Planning has placed boxes and the object; the full figures may still touch something. Where they do, a random posture is looked
for that is free: the active part of the closed chains is sampled, nearest to what it was and inside the reach of the arms,
which close in closed form (RLG, ref. 7). Of those that are free on the whole stretch, the one that deforms least is warped
into the motion, made as small as it can be, and everything between samples is checked on the full meshes.
"""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.ensemble.animate import Animation
from bunraku.ensemble.mend import Change, Mender
from bunraku.ensemble.team import Team
from bunraku.ensemble.whole_team import Whole
from bunraku.errors import BunrakuError
from bunraku.kernels.clock import worked
from bunraku.motion import Mark, Motion
from bunraku.scene import Scene


@dataclass(frozen=True, eq=False)
class Tuned:
    """The motion with its residual collisions removed; where some are left, what and where."""

    motion: Motion
    changes: tuple[Change, ...]
    trouble: str
    sample: int
    """The sample of what could not be removed, for its edge to be taken out of the roadmap; −1 where all is well."""
    seconds: float
    """Of the processor."""
    fixed: str = ""
    """The agent that cannot pass there in any posture, as it is a leg or the base that touches; empty where others might help."""

    @property
    def free(self) -> bool:
        return not self.trouble

    def __repr__(self) -> str:
        return f"<Tuned: {self.trouble or 'free'}, {len(self.changes)} changes>"


def tune(
    team: Team, animation: Animation, scene: Scene, *, margin: float = 0.01, seed: int = 0, seconds: float = 5.0,
    ground: tuple[str, ...] = ("floor",),
) -> Tuned:  # fmt: skip
    """Removes what residual collisions it can within so many seconds of the processor.

    `margin` [m] is kept from the scene and between agents. What is left is nowhere deeper, at samples, than in what was given.
    """
    if animation.motion is None:
        raise BunrakuError(f"nothing to tune: {animation.trouble}\n  advice: tune what animate could hold")
    begun = worked()
    whole = Whole(team, scene, ground)
    mender = Mender(whole, whole.rows(animation.motion), animation.motion.t, margin, seed, begun + seconds)
    mender.mend()
    left = mender.stretches.first
    why, sample, fixed = ("", -1, "") if left is None else (left.why, left.sample, left.fixed)
    motion = whole.motion(mender.Q, animation.motion) if mender.changes else animation.motion
    marks = [Mark(float(motion.t[c.first]), f"tuned: {c.why}", "tuning") for c in mender.changes]
    motion = motion.replace(marks=(*motion.marks, *marks)) if marks else motion
    return Tuned(motion, tuple(mender.changes), why, sample, worked() - begun, fixed)
