"""Where strings lie on bodies, sample by sample: what a motion knows of it, beside its configurations.

Of most strings the configuration tells where they run. One that lies on bodies keeps its side from step to step, which only the
simulation knows; so a track keeps the points of these strings on the bodies (`Track.laid`), from hook to spindle, without the two
ends.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import MotionError, NotFinite

Array = NDArray[np.float64]
LaidPoints = Mapping[int, Array]
"""Points (n, 3) [m] on bodies, by the number of the string among those of the figure."""
Laid = tuple[LaidPoints, ...]
"""One for each sample."""


def laid_between(a: LaidPoints, b: LaidPoints, s: float) -> LaidPoints:
    """Between the samples `a` (s = 0) and `b` (s = 1) at the fraction `s`: where strings lie the same way in both, in between.

    Elsewhere they change over half-way.
    """
    near = a if s < 0.5 else b
    if s in (0.0, 1.0) or not near:
        return near
    return {k: a[k] + s * (b[k] - a[k]) if k in a and k in b and a[k].shape == b[k].shape else points for k, points in near.items()}


def as_rows(laid: Iterable[LaidPoints]) -> tuple[Array, Array]:
    """What `laid` has, as two tables: a row for each string on bodies (sample, string, how many points), and all points [m]."""
    rows, points = [], [np.zeros((0, 3))]
    for k, one in enumerate(laid):
        for string, own in one.items():
            rows.append((k, string, len(own)))
            points.append(own)
    return np.array(rows, float).reshape(-1, 3), np.concatenate(points)


def from_rows(rows: Array, points: Array, samples: int) -> Laid:
    """What `as_rows` made `rows` and `points` [m] of, for so many `samples`; raises MotionError if the tables do not fit."""
    out: list[dict[int, Array]] = [{} for _ in range(samples)]
    whole = np.asarray(rows, np.int64)
    fits = whole.shape[1:] == (3,) and points.shape[1:] == (3,) and np.all(whole >= 0) and int(whole[:, 2].sum()) == len(points)
    if not fits or np.any(whole[:, 0] >= samples):
        raise MotionError("strings that lie on bodies do not fit the samples", advice="a row is sample, string, number of points")
    for (k, string, _), own in zip(whole, np.split(points, np.cumsum(whole[:-1, 2])), strict=False):
        out[k][int(string)] = own
    return tuple(out)


def checked(laid: Sequence[LaidPoints], samples: int, strings: int, name: str) -> Laid:
    """`laid` with points that cannot be changed.

    Raises MotionError or NotFinite where it does not fit the track `name` of so many `samples`, whose figure has so many `strings`.
    """
    if len(laid) != samples:
        raise MotionError(f"{name}.laid has {len(laid)} samples, q has {samples}", advice="one for each sample")
    nothing: LaidPoints = {}
    out = []
    for one in laid:
        own = {}
        for k, points in one.items():
            fixed = np.array(points, float)
            if fixed.ndim != 2 or fixed.shape[1] != 3 or not 0 <= k < strings:
                raise MotionError(
                    f"{name}.laid has points of shape {fixed.shape} for string {k}", advice=f"it has {strings} strings; give (n, 3)"
                )
            if not np.isfinite(fixed).all():
                raise NotFinite(f"{name}.laid of string {k} is not finite\n  advice: a motion holds finite numbers only")
            fixed.setflags(write=False)
            own[k] = fixed
        out.append(own or nothing)
    return tuple(out)


def same(a: Laid | None, b: Laid | None) -> bool:
    """Whether `a` and `b`, of two tracks, are the same."""
    if a is None or b is None:
        return a is b
    return len(a) == len(b) and all(
        x.keys() == y.keys() and all(np.array_equal(x[k], y[k]) for k in x) for x, y in zip(a, b, strict=True)
    )
