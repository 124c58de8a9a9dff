"""Warp: a change of posture that comes and goes smoothly (*carrying*, ref. 20; Witkin and Popović, 1995).

q'(t) = q(t) + change(t), where the change is what a key says at each key, zero from the window's ends on, and passes from one to
the next with neither a jump of speed nor of acceleration.
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
LEAST = 0.4  # of the ease is the least time in which a change may come or go


@dataclass(frozen=True, eq=False)
class Warp:
    """Changes (k, n) at places that increase. Before the first it is zero, or as there where it is `open`; so at the end."""

    places: Array
    changes: Array
    opens: tuple[bool, bool] = (False, False)
    """Whether the first and the last change hold on to the beginning and the end of the motion."""

    __repr__ = brief

    def __post_init__(self) -> None:
        places, changes = np.asarray(self.places, float), np.asarray(self.changes, float)
        if places.ndim != 1 or changes.ndim != 2 or len(places) != len(changes) or not (np.diff(places) > 0.0).all():
            raise BunrakuError(f"a warp of {len(changes)} changes at {places}\n  advice: one change a place, places that increase")
        for k, name in ((0, "first"), (-1, "last")):
            if not self.opens[k] and np.any(changes[k]):
                raise BunrakuError(f"the {name} change of a warp is not zero\n  advice: it ends at zero, or opens")
        object.__setattr__(self, "places", places)
        object.__setattr__(self, "changes", changes)

    def at(self, places: ArrayLike) -> Array:
        """The change at each place (T, n)."""
        x = np.atleast_1d(np.asarray(places, float))
        k = np.clip(np.searchsorted(self.places, x, side="right") - 1, 0, len(self.places) - 2)
        rise = eased((x - self.places[k]) / (self.places[k + 1] - self.places[k]))[:, None]
        return np.asarray(self.changes[k] + rise * (self.changes[k + 1] - self.changes[k]))

    def scaled(self, factor: ArrayLike) -> Warp:
        """All changes times a number, or a number for each variable."""
        return Warp(self.places, self.changes * np.asarray(factor, float), self.opens)


def window(keys: Mapping[float, Array], start: float, end: float, *, ease: float, last: float) -> Warp:
    """A warp that is at its keys from `start` to `end`, and takes `ease` on either side to come and to go.

    Places run from 0 to `last`. Where there is hardly room to come or go, it is there from the beginning, or until the end.
    """
    order = sorted(keys)
    begin, finish = max(min(start, order[0]), 0.0), min(max(end, order[-1]), last)
    changes = {begin: keys[order[0]], finish: keys[order[-1]], **{place: keys[place] for place in order}}
    opens = begin < LEAST * ease, last - finish < LEAST * ease
    zero = np.zeros_like(keys[order[0]])
    changes[begin - (ease if opens[0] else min(ease, begin))] = keys[order[0]] if opens[0] else zero
    changes[finish + (ease if opens[1] else min(ease, last - finish))] = keys[order[-1]] if opens[1] else zero
    places = sorted(changes)
    return Warp(np.array(places), np.stack([changes[place] for place in places]), opens)
