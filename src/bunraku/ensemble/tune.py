"""tune: removes remaining collisions of heads, spines, arms and the object (*carrying*, Section IV-C).

Planning used simple shapes; the full figures may still collide. For each stretch with a collision, random postures are sampled
until one is free: the active part of the closed chains changes, from small to large and within reach of the arms, which follow in
closed form (RLG, ref. 7). Of the postures that are free on the whole stretch, the one with the smallest change is blended into the
motion and reduced as far as possible. Everything, also between samples, is checked on the full meshes.
"""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.ensemble.animate import Animation
from bunraku.ensemble.mend import Change, Mender, TuneOptions
from bunraku.ensemble.team import Team
from bunraku.ensemble.whole_team import whole_team
from bunraku.errors import BunrakuError
from bunraku.kernels.clock import worked
from bunraku.motion import Mark, Motion
from bunraku.scene import Scene

__all__ = ["TuneOptions", "TunedMotion", "tune"]


@dataclass(frozen=True, eq=False)
class TunedMotion:
    """A motion with its collisions removed; if some remain, which and where."""

    motion: Motion
    changes: tuple[Change, ...]
    trouble: str
    """The first collision that could not be removed; empty if there is none."""
    sample: int
    """The sample of that collision, so that its edge can be removed from the roadmap; −1 if there is none."""
    seconds: float
    """Processor time [s]."""
    fixed: str = ""
    """The agent that cannot pass there in any posture, because a leg or the base collides; empty if a posture might help."""

    @property
    def free(self) -> bool:
        """Whether no collision is left."""
        return not self.trouble

    def __repr__(self) -> str:
        return f"<TunedMotion: {self.trouble or 'free'}, {len(self.changes)} changes>"


def tune(
    team: Team, animation: Animation, scene: Scene, *, margin: float = 0.01, seed: int = 0, seconds: float = 5.0,
    ground: tuple[str, ...] = ("floor",), give_up: bool = False, options: TuneOptions = TuneOptions(),
) -> TunedMotion:  # fmt: skip
    """Removes as many collisions as possible from an `animation` of a `team` in a `scene`.

    margin: distance to keep from the scene and between agents [m]
    seed: seed of the random numbers
    seconds: budget of processor time [s]
    ground: names of the obstacles that agents may stand on
    give_up: whether to change nothing at all if a leg or a base collides, which no posture can help
    options: numbers that tune it

    Remaining collisions are nowhere deeper, at samples, than before. Raises BunrakuError if the animation has no motion.
    """
    if animation.motion is None:
        raise BunrakuError(f"there is no motion to tune: {animation.trouble}\n  advice: tune an animation whose `held` is true")
    begun = worked()
    whole = whole_team(team, scene, ground)
    given = animation.motion
    mender = Mender(whole, whole.rows(given), given.t, margin, seed, begun + seconds, options=options)
    mender.mend(give_up=give_up)
    left = mender.stretches.first
    why, sample, fixed = ("", -1, "") if left is None else (left.why, left.sample, left.fixed)
    motion = whole.motion(mender.Q, given) if mender.changes else given
    marks = [Mark(float(motion.t[c.first]), f"tuned: {c.why}", "tuning") for c in mender.changes]
    motion = motion.replace(marks=(*motion.marks, *marks)) if marks else motion
    return TunedMotion(motion, tuple(mender.changes), why, sample, worked() - begun, fixed)
