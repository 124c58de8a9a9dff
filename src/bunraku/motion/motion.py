"""Motion: samples over time, frozen, finite, and of matching sizes; every change returns a new one."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import MotionError, UnknownName
from bunraku.figure.figure import Figure
from bunraku.motion.interpolate import sampled, unwrapped
from bunraku.motion.laid_strings import Laid
from bunraku.motion.looping import closed, repeated, travels
from bunraku.motion.orientation import continuous, turns
from bunraku.motion.seam import appended, faded
from bunraku.motion.symmetry import symmetry
from bunraku.motion.track import FORCE_FIELDS, Mark, Track, frozen
from bunraku.shown import Shown

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Motion(Shown):
    """Samples at the times `t` [s], which increase strictly, of one or several figures."""

    t: Array
    tracks: tuple[Track, ...]
    marks: tuple[Mark, ...] = ()

    def __post_init__(self) -> None:
        t = frozen(self.t, "t")
        if t.ndim != 1 or len(t) == 0:
            raise MotionError(f"t has shape {t.shape}", advice="give the times as one row of at least one number")
        late = np.flatnonzero(np.diff(t) <= 0.0)
        if len(late):
            k = int(late[0])
            raise MotionError(
                f"t does not increase: t[{k}] = {t[k]:.9g} is followed by {t[k + 1]:.9g}",
                advice="sort the samples, and keep one of those that share a time",
            )
        tracks = tuple(self.tracks)
        if not tracks:
            raise MotionError("the motion has no track", advice="give at least one figure with its q")
        for track in tracks:
            if len(track) != len(t):
                raise MotionError(
                    f"track {track.name!r} has {len(track)} samples, t has {len(t)}",
                    advice="all tracks share the times t",
                )
        if len({track.name for track in tracks}) < len(tracks):
            raise MotionError(
                f"two tracks share a name: {', '.join(track.name for track in tracks)}",
                advice="give them names: Track(…, name='left twin')",
            )
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "tracks", tracks)
        object.__setattr__(self, "marks", tuple(sorted(self.marks, key=lambda mark: mark.t)))

    @classmethod
    def of(
        cls, figure: Figure, t: ArrayLike, q: ArrayLike, *, v: ArrayLike | None = None,
        tension: ArrayLike | None = None, contact: ArrayLike | None = None, gap: ArrayLike | None = None,
        energy: ArrayLike | None = None, marks: tuple[Mark, ...] = (), name: str = "", laid: Laid | None = None,
    ) -> Motion:  # fmt: skip
        """The motion of one figure.

        figure: the figure that moves
        t: times [s], (T,)
        q: configurations [rad, m], (T, n_q)
        v: velocities of the variables [rad/s, m/s], (T, n_q)
        tension: of strings, then wires [N], (T, strings + wires)
        contact: normal forces [N], (T, contacts)
        gap: distance − length of strings, then wires [m], (T, strings + wires)
        energy: kinetic and potential [J], (T, 2)
        marks: moments with names
        name: of the track; the figure's by default
        laid: where strings lie on bodies, for each sample (bunraku.motion.laid_strings)

        Raises MotionError if sizes do not fit or times do not increase, NotFinite if a number is not finite.
        """
        arrays = cast(tuple[Array, Any, Any, Any, Any, Any], (q, v, tension, contact, gap, energy))  # Track makes arrays of them
        return cls(cast(Array, t), (Track(figure, *arrays, name, laid),), marks)

    def play(self, **options: Any) -> Any:
        """Plays this motion: in the cell of a notebook, or else on the stage, in the browser, until Ctrl-C.

        options: `scene`, the obstacles around it; outside notebooks also those of `bunraku.stage.serving.play`.
        Returns what a notebook displays; None outside.
        """
        return importlib.import_module("bunraku.notebook.motion_player").play_motion(self, **options)  # a layer above this one

    # -- reading ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.t)

    @property
    def duration(self) -> float:
        """Time from the first sample to the last [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the tracks."""
        return tuple(track.name for track in self.tracks)

    def track(self, name: str) -> Track:
        """The track called `name`; raises UnknownName."""
        for track in self.tracks:
            if track.name == name:
                return track
        raise UnknownName("track", name, self.names)

    @property
    def only(self) -> Track:
        """The track of a motion that has one; raises MotionError if it has several."""
        if len(self.tracks) != 1:
            raise MotionError(
                f"the motion has {len(self.tracks)} tracks",
                advice=f"choose one, for example motion.track({self.names[0]!r})",
            )
        return self.tracks[0]

    @property
    def figure(self) -> Figure:
        """The figure of a motion that has one track."""
        return self.only.figure

    @property
    def q(self) -> Array:
        """Its configurations [rad, m], (T, n_q)."""
        return self.only.q

    @property
    def v(self) -> Array | None:
        """Its velocities [rad/s, m/s], (T, n_q)."""
        return self.only.v

    @property
    def tension(self) -> Array | None:
        """Tensions of its strings, then wires [N]."""
        return self.only.tension

    @property
    def contact(self) -> Array | None:
        """Normal forces of its contacts [N]."""
        return self.only.contact

    @property
    def gap(self) -> Array | None:
        """Distance − length of its strings, then wires [m]."""
        return self.only.gap

    @property
    def energy(self) -> Array | None:
        """Its kinetic and potential energy [J], (T, 2)."""
        return self.only.energy

    def column(self, variable: str) -> Array:
        """One `variable` over time [rad or m], of a motion that has one track; raises UnknownName."""
        return self.only.column(variable)

    def orientation(self, joint: str) -> Array:
        """Quaternions (T, 4) of a ball or free `joint`, or any three rotations about a point, in its parent.

        The sign does not jump between samples. Raises UnknownName.
        """
        known = {turn.name: turn for turn in turns(self.figure)}
        if joint not in known:
            raise UnknownName("joint with an orientation", joint, tuple(known))
        return continuous(known[joint].quaternion(self.q))

    def sample(self, t: ArrayLike) -> Array:
        """q at one time `t` [s] (n_q,) or at several (k, n_q); constant before the first sample and after the last."""
        times = frozen(t, "t")
        q = sampled(self.only, self.t, np.atleast_1d(times)).q
        return q[0] if times.ndim == 0 else q

    # -- changing --------------------------------------------------------------------------------------------

    def replace(self, **changes: Any) -> Motion:
        """A copy with some fields changed (`changes`, by name) and everything checked again."""
        return replace(self, **changes)

    def resample(self, dt: float | None = None, *, times: ArrayLike | None = None) -> Motion:
        """The motion at other `times` [s], or every `dt` seconds from the first sample to the last. Raises MotionError."""
        if (dt is None) == (times is None):
            raise MotionError("resample takes either dt or times", advice="motion.resample(1 / 60)")
        if times is None:
            assert dt is not None
            if not 0.0 < dt < np.inf or self.duration / dt > 1e8:
                raise MotionError(
                    f"cannot resample with dt={dt}", advice="give a positive number of seconds that makes at most 1e8 steps"
                )
            times = self.t[0] + dt * np.arange(int(self.duration / dt * (1.0 + 1e-12) + 1e-9) + 1)
        at = frozen(times, "times")
        tracks = (sampled(track, self.t, np.atleast_1d(at)) for track in self.tracks)
        return Motion(at, tuple(tracks), self.marks)

    def slice(self, start: float | None = None, end: float | None = None) -> Motion:
        """The part from `start` to `end` [s], with a sample at each; raises MotionError if they lie outside the motion."""
        first = self.t[0] if start is None else float(start)
        last = self.t[-1] if end is None else float(end)
        if not self.t[0] <= first <= last <= self.t[-1]:
            raise MotionError(
                f"no samples from {first:.9g} s to {last:.9g} s",
                advice=f"the motion goes from {self.t[0]:.9g} s to {self.t[-1]:.9g} s",
            )
        inside = self.t[(self.t > first) & (self.t < last)]
        times = np.unique(np.concatenate([[first], inside, [last]]))
        marks = tuple(mark for mark in self.marks if first <= mark.t <= last)
        return self.resample(times=times).replace(marks=marks)

    def shift(self, by: float) -> Motion:
        """The motion `by` seconds later."""
        return self.replace(t=self.t + by, marks=tuple(replace(mark, t=mark.t + by) for mark in self.marks))

    def retime(self, to: float | Callable[[Array], ArrayLike]) -> Motion:
        """The motion `to` times as fast, or with each time t replaced by to(t), which must increase.

        Velocities are scaled. Tensions, contact forces and energies are left out, since they are different at another speed.
        """
        if callable(to):
            new = frozen(to(self.t), "the new times")
        elif 0.0 < to < np.inf:
            new = self.t[0] + (self.t - self.t[0]) / to
        else:
            raise MotionError(f"cannot retime by a factor of {to}", advice="give a positive, finite factor: 2 is twice as fast")
        if new.shape != self.t.shape or np.any(np.diff(new) <= 0.0):
            raise MotionError("the new times do not increase", advice="give a map that increases")
        slope = np.gradient(new, self.t)[:, None] if len(new) > 1 else 1.0
        tracks = (
            replace(track, v=None if track.v is None else track.v / slope, **dict.fromkeys(FORCE_FIELDS))  # type: ignore[arg-type]
            for track in self.tracks
        )
        marks = (replace(mark, t=float(np.interp(mark.t, self.t, new))) for mark in self.marks)
        return Motion(new, tuple(tracks), tuple(marks))

    def mirror(self, axis: str | None = None, *, tolerance: float = 1e-6) -> Motion:
        """The mirror image, left for right.

        axis: normal of the mirror, x, y or z; by default the first for which the figure is symmetric
        tolerance: how far joints may be from the mirror image of their partners [m]; real people are not exactly symmetric

        Raises MotionError if the figure is not symmetric.
        """
        mirrored = (symmetry(track.figure, axis, tolerance).mirrored(track) for track in self.tracks)
        return self.replace(tracks=tuple(mirrored))

    def loop(self, blend: float = 0.5, *, travel: bool = False, times: int = 1) -> Motion:
        """The motion with an end that leads into its start: pose and velocity are the same there.

        blend: the last seconds, which are bent toward the start [s]
        travel: whether figures go on along the floor, as a walk does, instead of coming back to where they started
        times: how often the loop is repeated in the result

        Tensions, contact forces, energies and gaps are left out: the motion is no longer what physics computed. Raises
        MotionError if the blend holds fewer than three samples or is longer than the motion, or if no figure can travel.
        """
        if times < 1:
            raise MotionError(f"cannot repeat a loop {times} times", advice="give 1 or more")
        if travel and not any(travels(track.figure) for track in self.tracks):
            raise MotionError(
                f"{', '.join(self.names)}: no variable moves it along the floor", advice="loop without travel: it stays where it is"
            )
        tracks = (repeated(closed(track, self.t, blend, travel), times) for track in self.tracks)
        starts = self.duration * np.arange(times)
        t = np.concatenate([(starts[:, None] + self.t[:-1]).ravel(), [starts[-1] + self.t[-1]]])
        marks = (replace(mark, t=mark.t + start) for start in starts for mark in self.marks)
        return Motion(t, tuple(tracks), tuple(marks))

    def unwrap(self) -> Motion:
        """The motion without jumps by whole turns, as some files contain."""
        return self.replace(tracks=tuple(unwrapped(track) for track in self.tracks))

    def join(self, other: Motion, *, blend: float = 0.0) -> Motion:
        """This motion followed by the `other`, shifted in time.

        Without a blend, the other's first sample comes one of its time steps after this motion's last; if both are equal, they
        become one. With a blend, this motion's last `blend` seconds fade into the other's first. Raises MotionError if the
        figures differ.
        """
        if [(x.name, x.figure) for x in self.tracks] != [(x.name, x.figure) for x in other.tracks]:
            raise MotionError(
                f"cannot join a motion of {', '.join(other.names)} to one of {', '.join(self.names)}",
                advice="join motions of the same figures",
            )
        longest = min(self.duration, other.duration)
        if not 0.0 <= blend <= longest:
            raise MotionError(f"cannot blend over {blend} s", advice=f"give 0 to {longest:.3g} s, the length of the shorter motion")
        parts = self.t, self.tracks, other.t, other.tracks
        seam = faded(*parts, blend) if blend else appended(*parts)
        return Motion(seam.t, seam.tracks, (*self.marks, *other.shift(seam.shift).marks))

    # -- comparing -------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Motion)
            and np.array_equal(self.t, other.t)
            and self.marks == other.marks
            and self.tracks == other.tracks
        )

    def __hash__(self) -> int:
        return hash((self.t.tobytes(), self.tracks))

    def __repr__(self) -> str:
        marks = f", {len(self.marks)} marks" if self.marks else ""
        return f"<Motion of {', '.join(self.names)}: {len(self)} samples over {self.duration:.3g} s{marks}>"


def together(*motions: Motion) -> Motion:
    """Several `motions` as one, at those times of the first that all of them cover; raises MotionError if there are none."""
    start, end = max(m.t[0] for m in motions), min(m.t[-1] for m in motions)
    t = motions[0].t[(motions[0].t >= start) & (motions[0].t <= end)]
    if not len(t):
        raise MotionError("the motions share no time", advice="move one with shift")
    tracks = (sampled(track, motion.t, t) for motion in motions for track in motion.tracks)
    return Motion(t, tuple(tracks), tuple({mark: None for motion in motions for mark in motion.marks}))
