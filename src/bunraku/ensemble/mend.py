"""Mender: removes collisions from a motion. Each stretch with a collision gets the smallest change of posture that helps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.ensemble.closed_loops import Loops
from bunraku.ensemble.postures import PostureOptions, Postures
from bunraku.ensemble.residual import Residual, ResidualOptions, Spots
from bunraku.ensemble.stretches import Stretches
from bunraku.ensemble.warp import Warp, window
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.kernels.clock import worked

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class TuneOptions:
    """Numbers that tune the removal of collisions."""

    ease: float = 1.0
    """Time over which a change of posture is blended in or out [s]."""
    least_ease: float = 0.4
    """Share of that time that must be available before (after) a change; otherwise it holds from the start (to the end)."""
    joint_speed: float = 3.0
    """Largest speed of a joint where postures change [rad/s], unless it was faster before."""
    probes: int = 8
    """Number of places in a stretch at which postures are tested."""
    rounds: int = 6
    """How many times the window of a change is lengthened or gets another key posture."""
    milder: tuple[float, ...] = (0.5, 0.5, 0.3, 0.3, 0.15, 0.1)
    """Relative size of the random variations, round by round, in the search for a smaller change."""
    postures: PostureOptions = PostureOptions()
    residual: ResidualOptions = ResidualOptions()


@dataclass(frozen=True, eq=False)
class Change:
    """A change of posture, and its reason."""

    first: int
    """First changed sample."""
    last: int
    """Last changed sample."""
    why: str
    keys: int
    """Number of key postures."""
    deformation: float
    """Largest size of the change over the window: see `Postures.deformation`."""
    warp: Warp

    __repr__ = brief


class Mender:
    """Removes collisions from a motion, one stretch (run of samples with a collision) after the other.

    whole: the team in its scene
    Q: its whole configurations (T, n)
    t: times (T,) [s]
    margin: distance to keep [m]
    seed: seed of the random numbers
    until: processor time at which to stop [s]
    options: numbers that tune it
    """

    def __init__(
        self,
        whole: WholeTeam,
        Q: Array,
        t: Array,
        margin: float,
        seed: int,
        until: float,
        *,
        options: TuneOptions = TuneOptions(),
    ) -> None:
        self.whole, self.Q, self.until, self.options = whole, Q.copy(), until, options
        self.residual = Residual(whole, margin, options.residual)
        self.loops = Loops(whole)
        self.seed = seed
        dt = float(np.diff(t).mean()) if len(t) > 1 else 1.0
        self.ease, self.max_change = max(options.ease / dt, 2.0), options.joint_speed * dt
        self.stretches = Stretches(self.residual, Q, self.ease)
        self.changes: list[Change] = []
        self.number = 0
        """Index of the current stretch."""
        self.ignored: frozenset[tuple[int, int]] = frozenset()

    @property
    def last(self) -> int:
        """The last sample."""
        return len(self.Q) - 1

    def late(self) -> bool:
        """Whether the time is up."""
        return worked() > self.until

    def mend(self, *, give_up: bool = False) -> None:
        """Mends every stretch that can be mended, and leaves the others no deeper than they were.

        With `give_up`, nothing is mended if a stretch is hopeless because a leg or a base collides. If a change has made another
        stretch deeper that then cannot be mended, everything starts again, with that stretch known as a failure.
        """
        stretches, self.number = self.stretches, 0
        hopeless = [k for k, spots in enumerate(stretches.spots) if not self._movable[spots.things].any(1).all()]
        if give_up and hopeless:
            self.number = hopeless[0]
            self._mend()  # says why not
            return
        while self.number < len(stretches):
            known = self.number in stretches.failed
            if not known:
                self._mend()
            if not known and self.number in stretches.failed and stretches.deeper(self.number, self.Q):
                self.Q, self.changes, self.number = stretches.given.copy(), [], 0
            else:
                self.number += 1

    # -- one stretch -------------------------------------------------------------------------------------------------

    def _mend(self) -> None:
        """Finds a change of posture for the stretch and applies it; or records why not."""
        spots = self.stretches.spots[self.number]
        self.ignored = self.stretches.ignored(self.number)
        begin, end = float(spots.place.min()), float(spots.place.max())
        worst = spots.worst
        a, b = self.whole.names(spots.things[worst])
        deep = float(-1e3 * spots.value[worst])
        how = f"overlap by {deep:.3g} mm" if deep > 0.0 else f"are {-deep:.3g} mm apart"
        told = f"{a} and {b} {how} at sample {round(float(spots.place[worst]))}"
        movable = self._movable[spots.things].any(1)
        if not movable.all():
            stuck = np.flatnonzero(~movable)
            fixed = int(stuck[np.argsort(spots.place[stuck])[len(stuck) // 2]])  # the middle of the stretch, where others also fail
            a, b = self.whole.names(spots.things[fixed])
            why, who = f"{a} meets {b}, and no change of posture moves either", self.residual.owners(spots.things[[fixed]])
            self.stretches.fail(self.number, why, float(spots.place[fixed]), who[0])
            return
        room = self.options.least_ease * self.ease
        fits = begin >= room and self.last - end >= room
        postures = Postures(
            self.loops, self.residual.owners(spots.things), held=fits, seed=(self.seed, self.number), options=self.options.postures
        )  # fmt: skip
        warp = self._search(postures, spots)
        if warp is None:
            why = "the time budget ended before a free posture was found" if self.late() else "no free posture was found"
            self.stretches.fail(self.number, f"{told}: {why}", float(spots.place[worst]))
            return
        warp = self._smaller(warp)
        first, last = self._range(warp)
        self.Q[first : last + 1] = self._warped(warp, first, last)[0]
        size = float(postures.deformation(warp.changes).max())
        self.changes.append(Change(first, last, told, len(warp.places) - 2, size, warp))

    @cached_property
    def _movable(self) -> Bools:
        """Whether each shape of the world moves with a variable that tuning may change."""
        active = self.loops.active
        moved = set(active.columns.tolist()) | {int(k) for loop in self.loops.loops for k in loop.columns}
        flat = self.whole.world.flat
        joints = [
            any(int(flat.joints[j]["variable"]) in moved for j in flat.chain[joint, 1 : 1 + flat.chain[joint, 0]])
            for joint in flat.joint
        ]
        return np.array([*joints, *([False] * len(flat.kind))])

    def _search(self, postures: Postures, spots: Spots) -> Warp | None:
        begin, end, worst = float(spots.place.min()), float(spots.place.max()), float(spots.place[spots.worst])
        probes = np.unique(np.append(np.linspace(begin, end, self.options.probes), worst))
        at = self._between(probes)
        key = int(np.argmin(np.abs(probes - worst)))
        for level in self.options.postures.levels:
            if self.late():
                return None
            Z = postures.sample(at[key], level)
            Z = Z[self._good(at[key], Z)]
            Z = Z[np.argsort(postures.deformation(Z), kind="stable")]
            for change in Z[:12]:
                if self._good_everywhere(at, change):
                    change = self._milder(postures, at, key, change)
                    warp = self._fitted(postures, {worst: change}, begin, end)
                    if warp is not None:
                        return warp
        return self._several(postures, probes, at, key, begin, end)

    def _good(self, q: Array, Z: Array) -> Bools:
        """Which changes Z of one configuration keep its loops closed and are collision-free."""
        if not len(Z):
            return np.zeros(0, np.bool_)
        Q, ok = self.loops.changed(np.repeat(q[None], len(Z), 0), Z)
        ok[ok] = self.residual.free(Q[ok], self.ignored)
        return ok

    def _good_everywhere(self, Q: Array, change: Array) -> bool:
        changed, ok = self.loops.changed(Q, change[None])
        return bool(ok.all() and self.residual.free(changed, self.ignored).all())

    def _milder(self, postures: Postures, at: Array, key: int, change: Array) -> Array:
        """A smaller change that is also free at all tested places."""
        for step in self.options.milder:
            Z = postures.milder(change, step)
            Z = Z[postures.deformation(Z) < 0.98 * postures.deformation(change)]
            Z = Z[self._good(at[key], Z)]
            Z = Z[np.argsort(postures.deformation(Z), kind="stable")]
            change = next((z for z in Z[:6] if self._good_everywhere(at, z)), change)
        return change

    def _several(
        self, postures: Postures, probes: Array, at: Array, key: int, begin: float, end: float
    ) -> Warp | None:  # fmt: skip
        """A warp with a key at every tested place, from the worst one outward, each as near to its neighbour's as possible."""
        keys: dict[float, Array] = {}
        for order in (range(key, len(probes)), range(key, -1, -1)):
            near = keys.get(float(probes[key]))
            for k in order:
                found = self._nearest(postures, at[k], near)
                if found is None or self.late():
                    return None
                keys[float(probes[k])] = near = found
        return self._fitted(postures, keys, begin, end)

    def _nearest(self, postures: Postures, q: Array, near: Array | None) -> Array | None:
        """A free change of q near the change `near`; None if there is none."""
        for level in self.options.postures.levels:
            Z = postures.sample(q, level) if near is None else np.vstack([near, postures.about(q, near, level)])
            Z = Z[self._good(q, Z)]
            if len(Z):
                away = postures.deformation(Z) if near is None else postures.deformation(Z - near) + 0.2 * postures.deformation(Z)
                return np.asarray(Z[int(np.argmin(away))])
        return None

    # -- windows -----------------------------------------------------------------------------------------------------

    def _between(self, places: Array) -> Array:
        k = np.minimum(places.astype(np.int64), max(self.last - 1, 0))
        s = (places - k)[:, None]
        return np.asarray((1.0 - s) * self.Q[k] + s * self.Q[np.minimum(k + 1, self.last)])

    def _range(self, warp: Warp) -> tuple[int, int]:
        """The first and the last sample that a warp may change."""
        first = 0 if warp.opens[0] else max(int(np.floor(warp.places[0])), 0)
        last = self.last if warp.opens[1] else min(int(np.ceil(warp.places[-1])), self.last)
        return first, last

    def _warped(self, warp: Warp, first: int, last: int) -> tuple[Array, Bools]:
        return self.loops.changed(self.Q[first : last + 1], warp.at(np.arange(first, last + 1)))

    def _fitted(self, postures: Postures, keys: dict[float, Array], begin: float, end: float) -> Warp | None:
        """A collision-free warp through the keys; while it collides, the window is lengthened or gets another key."""
        ease, keys = self.ease, dict(keys)
        for _ in range(self.options.rounds):
            if self.late():
                return None
            warp = window(keys, begin, end, ease=ease, last=self.last, least=self.options.least_ease)
            if any(warp.opens) and any(np.any(z[postures.held]) for z in keys.values()):
                return None  # the object must start and end where the errand says
            first, last = self._range(warp)
            Q, ok = self._warped(warp, first, last)
            if not ok.all():
                bad = first + np.flatnonzero(~ok).astype(float)
            elif self._jump(Q) > max(self.max_change, self._jump(self.Q[first : last + 1])):
                ease *= 1.5
                continue
            else:
                bad = self._left(Q, first, last)
                if not len(bad):
                    return warp
            inner = bad[(bad >= begin) & (bad <= end)]
            if len(inner):
                place = float(inner[len(inner) // 2])
                if min(abs(place - p) for p in keys) < 0.5:
                    return None
                found = self._nearest(postures, self._between(np.array([place]))[0], warp.at(place)[0])
                if found is None:
                    return None
                keys[place] = found
            else:
                begin, end = min(begin, float(bad.min()) - 1.0), max(end, float(bad.max()) + 1.0)
        return None

    def _left(self, Q: Array, first: int, last: int, step: float | None = None) -> Array:
        """Places in a window where shapes are too near, except those that belong to another stretch."""
        changed = self.Q.copy()
        changed[first : last + 1] = Q
        # Legs are fast, but they are not changed: only shapes that tuning moves determine the sampling.
        moved = self._movable[: len(self.whole.world.flat.joint)]
        spots = self.residual.short(changed, max(first - 1, 0), min(last + 1, self.last), step=step, shapes=moved)
        return np.unique(self.stretches.left(self.number, spots).place)

    def _jump(self, Q: Array) -> float:
        return float(np.abs(np.diff(Q, axis=0)).max(initial=0.0))

    def _smaller(self, warp: Warp) -> Warp:
        """The same warp, scaled down as far as it stays free: searched with coarse steps, then checked with fine ones."""
        low, high, known = 0.0, 1.0, [1.0]
        for _ in range(5):
            middle = 0.5 * (low + high)
            if self.late():
                break
            if self._holds(warp.scaled(middle), self.options.residual.coarse_step):
                high = middle
                known.append(middle)
            else:
                low = middle
        return next((w for w in map(warp.scaled, known[:0:-1]) if self._holds(w, self.options.residual.step)), warp)

    def _holds(self, warp: Warp, step: float) -> bool:
        first, last = self._range(warp)
        Q, ok = self._warped(warp, first, last)
        smooth = self._jump(Q) <= max(self.max_change, self._jump(self.Q[first : last + 1]))
        return bool(ok.all()) and smooth and not len(self._left(Q, first, last, step))
