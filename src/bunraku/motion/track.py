"""Tracks and marks: what a motion is made of."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import MotionError, NotFinite
from bunraku.figure.figure import Figure
from bunraku.motion.laid_strings import Laid, checked, same

Array = NDArray[np.float64]
FORCE_FIELDS = ("tension", "contact", "energy")
"""Fields that physics determines: they are different when the same path is followed at another speed."""
OPTIONAL_FIELDS = ("v", "gap", *FORCE_FIELDS)
"""Fields of a track that may be None."""


@dataclass(frozen=True, eq=False)
class Track:
    """The samples of one figure: a row for each."""

    figure: Figure
    q: Array
    v: Array | None = None
    """Rates of q [rad/s or m/s]."""
    tension: Array | None = None
    """Tensions of the figure's strings, then of its wires [N]."""
    contact: Array | None = None
    """Normal force on each of the figure's contacts [N]."""
    gap: Array | None = None
    """Distance − length of the figure's strings, then of its wires [m]."""
    energy: Array | None = None
    """Kinetic and potential energy [J]."""
    name: str = ""
    """By default the figure's name."""
    laid: Laid | None = None
    """Where strings lie on bodies, for each sample; None where that is not known, or none does."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "name", self.name or self.figure.name)
        rows: int | None = None
        for field, columns in self._columns().items():
            if getattr(self, field) is None:
                continue
            values = frozen(getattr(self, field), f"{self.name}.{field}")
            if values.ndim != 2 or values.shape[1] != columns or rows not in (None, len(values)):
                samples = "samples" if rows is None else rows
                raise MotionError(
                    f"{self.name}.{field} has shape {values.shape}, expected ({samples}, {columns})",
                    advice=f"one row for each sample; {_meaning(field, self.figure)}",
                )
            rows = len(values)
            object.__setattr__(self, field, values)
        if self.laid is not None:
            laid = checked(self.laid, len(self), len(self.figure.strings), self.name)
            object.__setattr__(self, "laid", laid if any(laid) else None)

    def _columns(self) -> dict[str, int]:
        figure = self.figure
        ropes = len(figure.strings) + len(figure.wires)
        return {
            "q": figure.n_q,
            "v": figure.n_q,
            "tension": ropes,
            "contact": len(figure.contacts),
            "gap": ropes,
            "energy": 2,
        }

    def __len__(self) -> int:
        return len(self.q)

    def column(self, variable: str) -> Array:
        """One `variable` over time [rad or m], (T,); raises UnknownName."""
        return self.q[:, self.figure.index(variable)]

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Track)
            and self.name == other.name
            and all(_same(getattr(self, f), getattr(other, f)) for f in ("q", *OPTIONAL_FIELDS))
            and same(self.laid, other.laid)
            and self.figure == other.figure
        )

    def __hash__(self) -> int:
        return hash((self.name, self.q.tobytes()))

    def __repr__(self) -> str:
        more = [field for field in OPTIONAL_FIELDS if getattr(self, field) is not None]
        return f"<Track {self.name}: {len(self)} samples of {', '.join(['q', *more])}>"


@dataclass(frozen=True)
class Mark:
    """A moment `t` [s] with a name, for the time line: a cue, a string that tightens, a footfall."""

    t: float
    text: str
    kind: str = "mark"

    def __post_init__(self) -> None:
        if not np.isfinite(self.t):
            raise NotFinite(f"the mark {self.text!r} is at t = {self.t}")


def frozen(values: ArrayLike, name: str) -> Array:
    """A read-only float copy of `values`, called `name` in messages; raises NotFinite, or MotionError if they are no numbers."""
    try:
        out = np.array(values, float)
    except (TypeError, ValueError):
        raise MotionError(f"{name} is not an array of numbers", advice="give numbers in rows of equal length") from None
    if not np.isfinite(out).all():
        first = tuple(int(k) for k in np.argwhere(~np.isfinite(out))[0])
        raise NotFinite(f"{name}{list(first)} is {out[first]}\n  advice: a motion holds finite numbers only")
    out.setflags(write=False)
    return out


def _same(a: Array | None, b: Array | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


def _meaning(field: str, figure: Figure) -> str:
    if field == "energy":
        return "two columns, kinetic and potential"
    what = {"tension": "string and wire", "gap": "string and wire", "contact": "contact"}.get(field, "variable")
    return f"one column for each {what} of {figure.name}"
