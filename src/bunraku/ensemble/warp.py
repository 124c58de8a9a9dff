"""Warp: a change of posture that is blended in and out smoothly (*carrying*, ref. 20; Witkin and Popović, 1995).

q'(t) = q(t) + change(t). The change has a given value at each key and is zero outside its window; between keys its velocity and
acceleration are continuous.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.brief import brief
from bunraku.errors import BunrakuError
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Warp:
    """Changes at places of a motion. Raises BunrakuError if places do not increase, or if an end that is not open is not zero."""

    places: Array
    """Places of the keys (k,) [samples], increasing."""
    changes: Array
    """Changes at the keys (k, n)."""
    opens: tuple[bool, bool] = (False, False)
    """Whether the first change holds from the beginning of the motion, and the last one to its end; otherwise they are zero."""

    __repr__ = brief

    def __post_init__(self) -> None:
        places, changes = np.asarray(self.places, float), np.asarray(self.changes, float)
        if places.ndim != 1 or changes.ndim != 2 or len(places) != len(changes) or not (np.diff(places) > 0.0).all():
            raise BunrakuError(f"a warp of {len(changes)} changes at {places}\n  advice: give one change for each place, in order")
        for k, name in ((0, "first"), (-1, "last")):
            if not self.opens[k] and np.any(changes[k]):
                raise BunrakuError(f"the {name} change of a warp is not zero\n  advice: make it zero, or the warp open at that end")
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "changes", changes)

    def at(self, places: ArrayLike) -> Array:
        """The change (T, n) at each of `places` (T,) [samples]."""
        x = np.atleast_1d(np.asarray(places, float))
        k = np.clip(np.searchsorted(self.places, x, side="right") - 1, 0, len(self.places) - 2)
        rise = eased((x - self.places[k]) / (self.places[k + 1] - self.places[k]))[:, None]
        return np.asarray(self.changes[k] + rise * (self.changes[k + 1] - self.changes[k]))

    def scaled(self, factor: ArrayLike) -> Warp:
        """All changes times `factor`: one number, or one for each variable (n,)."""
        return Warp(self.places, self.changes * np.asarray(factor, float), self.opens)


def window(keys: Mapping[float, Array], start: float, end: float, *, ease: float, last: float, least: float = 0.4) -> Warp:
    """A warp with the changes `keys` (by place) from `start` to `end`, blended in and out over `ease` on either side.

    All places are in samples, from 0 to `last`. If less than `least` times `ease` is available before (after) it, the warp holds
    from the beginning (to the end) of the motion.
    """
    order = sorted(keys)
    begin, finish = max(min(start, order[0]), 0.0), min(max(end, order[-1]), last)
    changes = {begin: keys[order[0]], finish: keys[order[-1]], **{place: keys[place] for place in order}}
    opens = begin < least * ease, last - finish < least * ease
    zero = np.zeros_like(keys[order[0]])
    changes[begin - (ease if opens[0] else min(ease, begin))] = keys[order[0]] if opens[0] else zero
    changes[finish + (ease if opens[1] else min(ease, last - finish))] = keys[order[-1]] if opens[1] else zero
    places = sorted(changes)
    return Warp(np.array(places), np.stack([changes[place] for place in places]), opens)
