"""tune: residual collisions of heads, spines, arms and the object are removed (*carrying*, Section IV-C).

Planning has placed boxes and the object; the full figures may still touch something. Where they do, a random posture is looked
for that is free: the active part of the closed chains is sampled, nearest to what it was and inside the reach of the arms,
which close in closed form (RLG, ref. 7). Of those that are free on the whole stretch, the one that deforms least is warped
into the motion, made as small as it can be, and everything between samples is checked on the full meshes.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.continuous import denser
from bunraku.ensemble.animate import Animation
from bunraku.ensemble.loops import Loops
from bunraku.ensemble.postures import Postures
from bunraku.ensemble.team import OBJECT, Team
from bunraku.ensemble.warp import Warp, window
from bunraku.ensemble.whole import Whole
from bunraku.errors import BunrakuError
from bunraku.motion import Motion
from bunraku.scene import Scene

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
OWN = 1e-3  # [m] that an agent keeps from itself and from what it holds
STEP, COARSE = 0.005, 0.02  # [m] that points move between two looks: at last, and at first
EASE = 0.8  # [s] that a change of posture takes
JUMP = 0.19  # [rad] that a joint may move from one sample to the next
PROBES = 8  # places of a stretch at which postures are tried
ROUNDS = 6  # of mending one window
MILDER = (0.5, 0.5, 0.3, 0.3, 0.15, 0.1)  # how different postures are among which one that deforms less is looked for


@dataclass(frozen=True, eq=False)
class Change:
    """What was changed from sample `first` to sample `last`, and why."""

    first: int
    last: int
    why: str
    keys: int
    deformation: float
    """The largest, over the window: see `Postures.deformation`."""
    warp: Warp


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

    `margin` [m] is kept from the scene and between agents. The result touches no more than what was given.
    """
    if animation.motion is None:
        raise BunrakuError(f"nothing to tune: {animation.trouble}\n  advice: tune what animate could hold")
    begun = time.process_time()
    whole = Whole(team, scene, ground)
    tuner = Tuner(whole, whole.rows(animation.motion), animation.motion.t, margin, seed, begun + seconds)
    for k, stretch in enumerate(stretches := tuner.stretches(tuner.all_short())):
        tuner.mend(k, stretch, [*stretches[k + 1 :], *tuner.failed])
    trouble, sample = tuner.trouble
    motion = whole.motion(tuner.Q, animation.motion) if tuner.changes else animation.motion
    return Tuned(motion, tuple(tuner.changes), trouble, sample, time.process_time() - begun)


@dataclass(frozen=True, eq=False)
class Spots:
    """Where things are too near: places in samples, which things, and how near."""

    place: Array
    things: Ints
    value: Array

    def __len__(self) -> int:
        return len(self.place)

    def where(self, mask: NDArray[np.bool_]) -> Spots:
        return Spots(self.place[mask], self.things[mask], self.value[mask])

    @property
    def worst(self) -> int:
        return int(np.argmin(self.value))


class Tuner:
    """One motion on its way to be free."""

    def __init__(self, whole: Whole, Q: Array, t: Array, margin: float, seed: int, until: float) -> None:
        self.whole, self.Q, self.margin, self.until = whole, Q, margin, until
        self.loops = Loops(whole)
        self.seed = seed
        self.ease = max(EASE / float(np.diff(t).mean()) if len(t) > 1 else 1.0, 2.0)
        self.changes: list[Change] = []
        self.failed: list[Spots] = []
        self.trouble = "", -1
        self.others: list[Spots] = []

    @property
    def last(self) -> int:
        return len(self.Q) - 1

    def late(self) -> bool:
        return time.process_time() > self.until

    # -- what is too near --------------------------------------------------------------------------------------------

    def free(self, Q: Array) -> NDArray[np.bool_]:
        """Whether each sample keeps the margins."""
        near = self.whole.near(Q, self.margin, OWN)
        out = np.ones(len(Q), np.bool_)
        out[near.sample[near.short_of(self.margin, OWN)]] = False
        return out

    def short(self, Q: Array, first: int, last: int, *, step: float = STEP, more: float = 0.0) -> Spots:
        """Where things are too near from one sample to another, and everywhere between."""
        place, dense = denser(self.whole.world._flat, np.ascontiguousarray(Q[first : last + 1]), step=step)
        near = self.whole.near(dense, self.margin + more, OWN + more)
        short = near.short_of(self.margin + more, OWN + more)
        return Spots(first + place[near.sample[short]], near.things[short], near.value[short])

    def all_short(self) -> Spots:
        """The same of the whole motion: coarsely, and then closely where that is near."""
        coarse = self.short(self.Q, 0, self.last, step=COARSE, more=0.5 * COARSE)
        parts = [self.short(self.Q, a, b) for a, b in _runs(coarse.place, 1.0, self.last)]
        columns = ((np.zeros(0), np.zeros((0, 2), np.int64), np.zeros(0)), *((s.place, s.things, s.value) for s in parts))
        return Spots(*(np.concatenate(column) for column in zip(*columns, strict=True)))

    def stretches(self, spots: Spots) -> list[Spots]:
        """Spots that are so close in time that one change is for all of them."""
        return [spots.where((spots.place >= a) & (spots.place <= b)) for a, b in _runs(spots.place, self.ease, self.last)]

    def _fail(self, spots: Spots, why: str, sample: float) -> None:
        self.failed.append(spots)
        if not self.trouble[0]:
            self.trouble = why, round(sample)

    # -- one stretch -------------------------------------------------------------------------------------------------

    def mend(self, number: int, spots: Spots, others: list[Spots]) -> None:
        """Finds a change of posture for a stretch, and makes it; or notes why not. Others are mended later, or were not."""
        self.others = others
        worst = spots.worst
        a, b = self.whole.names(spots.things[worst])
        told = f"{a} and {b} are {1e3 * spots.value[worst]:.3g} mm apart at sample {round(float(spots.place[worst]))}"
        movable = self._movable[spots.things].any(1)
        if not movable.all():
            fixed = int(np.argmin(movable))
            a, b = self.whole.names(spots.things[fixed])
            self._fail(spots, f"{a} meets {b}, and no change of posture moves either", float(spots.place[fixed]))
            return
        begin, end = float(spots.place.min()), float(spots.place.max())
        fits = begin >= 0.4 * self.ease and self.last - end >= 0.4 * self.ease
        postures = Postures(self.loops, self._owners(spots.things), held=fits, seed=(self.seed, number))
        warp = self._search(postures, spots)
        if warp is None:
            self._fail(spots, f"{told}: no free posture was found", float(spots.place[worst]))
            return
        warp = self._smaller(warp)
        first, last = self._range(warp)
        self.Q[first : last + 1] = self._warped(warp, first, last)[0]
        size = float(postures.deformation(warp.changes).max())
        self.changes.append(Change(first, last, told, len(warp.places) - 2, size, warp))

    @cached_property
    def _movable(self) -> NDArray[np.bool_]:
        """Whether each thing moves with what tuning may change."""
        active = self.loops.active
        moved = set(active.columns.tolist()) | {int(k) for loop in self.loops.loops for k in loop.columns}
        flat = self.whole.world._flat
        joints = [
            any(int(flat.joints[j]["q"]) in moved for j in flat.chain[joint, 1 : 1 + flat.chain[joint, 0]]) for joint in flat.joint
        ]
        return np.array([*joints, *([False] * len(flat.kind))])

    def _owners(self, things: Ints) -> tuple[str, ...]:
        """The agents, and the object, that are too near to something."""
        own = [self.whole.world._narrow.things[k].figure for k in np.unique(things).tolist()]
        return tuple(dict.fromkeys(self.whole.figures[k].name for k in own if k >= 0))

    def _search(self, postures: Postures, spots: Spots) -> Warp | None:
        begin, end, worst = float(spots.place.min()), float(spots.place.max()), float(spots.place[spots.worst])
        probes = np.unique(np.append(np.linspace(begin, end, PROBES), worst))
        at = self._between(probes)
        key = int(np.argmin(np.abs(probes - worst)))
        for level in postures.levels:
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

    def _good(self, q: Array, Z: Array) -> NDArray[np.bool_]:
        """Which changes of one configuration close and are free."""
        if not len(Z):
            return np.zeros(0, np.bool_)
        Q, ok = self.loops.changed(np.repeat(q[None], len(Z), 0), Z)
        ok[ok] = self.free(Q[ok])
        return ok

    def _good_everywhere(self, Q: Array, change: Array) -> bool:
        changed, ok = self.loops.changed(Q, change[None])
        return bool(ok.all() and self.free(changed).all())

    def _milder(self, postures: Postures, at: Array, key: int, change: Array) -> Array:
        """A change that deforms less and is free at all probes as well."""
        for step in MILDER:
            Z = postures.milder(change, step)
            Z = Z[postures.deformation(Z) < 0.98 * postures.deformation(change)]
            Z = Z[self._good(at[key], Z)]
            Z = Z[np.argsort(postures.deformation(Z), kind="stable")]
            change = next((z for z in Z[:6] if self._good_everywhere(at, z)), change)
        return change

    def _several(
        self, postures: Postures, probes: Array, at: Array, key: int, begin: float, end: float
    ) -> Warp | None:  # fmt: skip
        """A key at every probe, each as near as can be to its neighbour's, from the worst one outward."""
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
        """A free change of q, near another one, if there is one."""
        for level in postures.levels:
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
        """The samples that a warp changes, and one more on either side."""
        first = 0 if warp.opens[0] else max(int(np.floor(warp.places[0])), 0)
        last = self.last if warp.opens[1] else min(int(np.ceil(warp.places[-1])), self.last)
        return first, last

    def _warped(self, warp: Warp, first: int, last: int) -> tuple[Array, NDArray[np.bool_]]:
        return self.loops.changed(self.Q[first : last + 1], warp.at(np.arange(first, last + 1)))

    def _fitted(self, postures: Postures, keys: dict[float, Array], begin: float, end: float) -> Warp | None:
        """A warp through keys that is free; where it is not, the window is made longer, or gets another key."""
        ease, keys = self.ease, dict(keys)
        for _ in range(ROUNDS):
            if self.late():
                return None
            warp = window(keys, begin, end, ease=ease, last=self.last)
            if OBJECT in postures.owners and any(warp.opens) and any(np.any(z[postures.held]) for z in keys.values()):
                return None  # where the object begins and ends is not ours to say
            first, last = self._range(warp)
            Q, ok = self._warped(warp, first, last)
            if not ok.all():
                bad = first + np.flatnonzero(~ok).astype(float)
            elif self._jump(Q) > max(JUMP, self._jump(self.Q[first : last + 1])):
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

    def _left(self, Q: Array, first: int, last: int) -> Array:
        """Places of a window at which something is too near, but for what belongs to other stretches."""
        changed = self.Q.copy()
        changed[first : last + 1] = Q
        at = np.unique(self.short(changed, max(first - 1, 0), min(last + 1, self.last)).place)
        for other in self.others:
            at = at[(at < other.place.min() - 1.0) | (at > other.place.max() + 1.0)]
        return at

    def _jump(self, Q: Array) -> float:
        return float(np.abs(np.diff(Q, axis=0)).max(initial=0.0))

    def _smaller(self, warp: Warp) -> Warp:
        """The same warp as small as is free."""
        low, high = 0.0, 1.0
        for _ in range(5):
            middle = 0.5 * (low + high)
            if self.late():
                break
            if self._holds(warp.scaled(middle)):
                high = middle
            else:
                low = middle
        return warp.scaled(high)

    def _holds(self, warp: Warp) -> bool:
        first, last = self._range(warp)
        Q, ok = self._warped(warp, first, last)
        return bool(ok.all() and self._jump(Q) <= max(JUMP, self._jump(self.Q[first : last + 1]))) and not len(
            self._left(Q, first, last)
        )


def _runs(places: Array, gap: float, last: int) -> list[tuple[int, int]]:
    """(first, last) samples about places that are no farther than `gap` from each other."""
    if not len(places):
        return []
    at = np.unique(places)
    ends = np.flatnonzero(np.diff(at) > gap)
    starts, stops = at[np.append(0, ends + 1)], at[np.append(ends, len(at) - 1)]
    out: list[tuple[int, int]] = []
    for a, b in zip(starts, stops, strict=True):
        first, final = max(int(np.floor(a)), 0), min(int(np.ceil(b + 1e-9)), last)
        if out and first <= out[-1][1]:
            out[-1] = out[-1][0], max(final, out[-1][1])
        else:
            out.append((first, final))
    return out
