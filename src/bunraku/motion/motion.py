"""Motion, its tracks and its marks: frozen, finite, and of matching sizes."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import MotionError, NotFinite, UnknownName
from bunraku.figure.figure import Figure

Array = NDArray[np.float64]
OPTIONAL = ("v", "tension", "contact")


@dataclass(frozen=True, eq=False)
class Track:
    """One figure's part in a motion: a row for each sample."""

    figure: Figure
    q: Array
    v: Array | None = None
    """Rates of q [rad/s or m/s]."""
    tension: Array | None = None
    """Of the figure's strings, then of its wires [N]."""
    contact: Array | None = None
    """Normal force on each of the figure's contacts [N]."""
    name: str = ""
    """The figure's name, where none is given."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.figure.name)
        rows: int | None = None
        for field, columns in self._columns().items():
            if getattr(self, field) is None:
                continue
            values = _frozen(getattr(self, field), f"{self.name}.{field}")
            if values.ndim != 2 or values.shape[1] != columns or rows not in (None, len(values)):
                samples = "samples" if rows is None else rows
                raise MotionError(
                    f"{self.name}.{field} has shape {values.shape}, expected ({samples}, {columns})",
                    advice=f"one row for each sample; {_meaning(field, self.figure)}",
                )
            rows = len(values)
            object.__setattr__(self, field, values)

    def _columns(self) -> dict[str, int]:
        figure = self.figure
        ropes = len(figure.strings) + len(figure.wires)
        return {"q": figure.n_q, "v": figure.n_q, "tension": ropes, "contact": len(figure.contacts)}

    def __len__(self) -> int:
        return len(self.q)

    def column(self, variable: str) -> Array:
        """One variable over time."""
        return self.q[:, self.figure.index(variable)]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Track)
            and self.name == other.name
            and all(_same(getattr(self, f), getattr(other, f)) for f in ("q", *OPTIONAL))
            and self.figure == other.figure
        )

    def __hash__(self) -> int:
        return hash((self.name, self.q.tobytes()))

    def __repr__(self) -> str:
        more = [field for field in OPTIONAL if getattr(self, field) is not None]
        return f"<Track {self.name}: {len(self)} samples of {', '.join(['q', *more])}>"


@dataclass(frozen=True)
class Mark:
    """Something worth pointing at on the time line: a cue, a string that tightens, a footfall."""

    t: float
    text: str
    kind: str = "mark"

    def __post_init__(self) -> None:
        if not np.isfinite(self.t):
            raise NotFinite(f"the mark {self.text!r} is at t = {self.t}")


@dataclass(frozen=True, eq=False)
class Motion:
    """Samples at the times `t` [s], which increase strictly, of one or several figures."""

    t: Array
    tracks: tuple[Track, ...]
    marks: tuple[Mark, ...] = ()

    def __post_init__(self) -> None:
        t = _frozen(self.t, "t")
        if t.ndim != 1 or len(t) == 0:
            raise MotionError(
                f"t has shape {t.shape}", advice="give the times as one row of at least one number"
            )
        late = np.flatnonzero(np.diff(t) <= 0.0)
        if len(late):
            k = int(late[0])
            raise MotionError(
                f"t does not increase: t[{k}] = {t[k]:.9g} is followed by {t[k + 1]:.9g}",
                advice="sort the samples, and keep one of those that share a time",
            )
        tracks = tuple(self.tracks)
        if not tracks:
            raise MotionError("a motion without a track", advice="give at least one figure with its q")
        for track in tracks:
            if len(track) != len(t):
                raise MotionError(
                    f"track {track.name!r} has {len(track)} samples, t has {len(t)}",
                    advice="all tracks share the times t",
                )
        if len({track.name for track in tracks}) < len(tracks):
            raise MotionError(
                f"two tracks share a name: {', '.join(track.name for track in tracks)}",
                advice="Track(…, name='left twin')",
            )
        object.__setattr__(self, "t", t)
        object.__setattr__(self, "tracks", tracks)
        object.__setattr__(self, "marks", tuple(sorted(self.marks, key=lambda mark: mark.t)))

    @classmethod
    def of(
        cls, figure: Figure, t: ArrayLike, q: ArrayLike, *, v: ArrayLike | None = None,
        tension: ArrayLike | None = None, contact: ArrayLike | None = None, marks: tuple[Mark, ...] = (), name: str = "",
    ) -> Motion:  # fmt: skip
        """The motion of one figure."""
        arrays = cast(tuple[Array, Any, Any, Any], (q, v, tension, contact))  # Track makes arrays of them
        return cls(cast(Array, t), (Track(figure, *arrays, name),), marks)

    # -- reading ---------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.t)

    @property
    def duration(self) -> float:
        """From the first sample to the last [s]."""
        return float(self.t[-1] - self.t[0])

    @property
    def names(self) -> tuple[str, ...]:
        """Of the tracks."""
        return tuple(track.name for track in self.tracks)

    def track(self, name: str) -> Track:
        for track in self.tracks:
            if track.name == name:
                return track
        raise UnknownName("track", name, self.names)

    @property
    def only(self) -> Track:
        """The track of a motion that has one."""
        if len(self.tracks) != 1:
            raise MotionError(
                f"the motion has {len(self.tracks)} tracks",
                advice=f"name one: motion.track({self.names[0]!r}).q",
            )
        return self.tracks[0]

    @property
    def figure(self) -> Figure:
        return self.only.figure

    @property
    def q(self) -> Array:
        return self.only.q

    @property
    def v(self) -> Array | None:
        return self.only.v

    @property
    def tension(self) -> Array | None:
        return self.only.tension

    @property
    def contact(self) -> Array | None:
        return self.only.contact

    def column(self, variable: str) -> Array:
        """One variable over time, of a motion that has one track."""
        return self.only.column(variable)

    def replace(self, **changes: Any) -> Motion:
        """A copy with some fields changed, checked anew."""
        return replace(self, **changes)

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


def _frozen(values: ArrayLike, name: str) -> Array:
    """A float copy that nobody can write into, with every number finite."""
    try:
        out = np.array(values, float)
    except (TypeError, ValueError):
        raise MotionError(
            f"{name} is not an array of numbers", advice="give numbers in rows of equal length"
        ) from None
    if not np.isfinite(out).all():
        first = tuple(int(k) for k in np.argwhere(~np.isfinite(out))[0])
        raise NotFinite(f"{name}{list(first)} is {out[first]}\n  advice: a motion holds finite numbers only")
    out.setflags(write=False)
    return out


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _meaning(field: str, figure: Figure) -> str:
    what = {"tension": "string and wire", "contact": "contact"}.get(field, "variable")
    return f"one column for each {what} of {figure.name}"
