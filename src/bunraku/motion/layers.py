"""Layers: keyed offsets on top of a motion, with which an animator corrects a recording without changing it.

A layer holds curves of offsets, one for each variable that it moves. The motion with its layers is

    q(t) + Σ weight · offset(t)      over all layers that are not muted, within the limits of the joints.

Between two keys a curve is a cubic Hermite spline. The slope at a key is the weighted harmonic mean of the slopes of both
neighbouring chords (Fritsch and Butland 1984), and 0 at the first key, the last, and wherever the chords change sign: the curve
passes through its keys and never goes beyond two neighbours, like "auto clamped" handles. Before the first key and after
the last it is constant. Its first derivative is continuous.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import MotionError, NotFinite, UnknownName
from bunraku.motion.interpolate import sampled
from bunraku.motion.motion import Motion
from bunraku.motion.symmetry import symmetry
from bunraku.motion.track import FORCE_FIELDS, Track

Array = NDArray[np.float64]


@dataclass(frozen=True, order=True)
class Key:
    """At the time `t` [s] a curve has this `offset` [rad or m]."""

    t: float
    offset: float

    def __post_init__(self) -> None:
        if not np.isfinite([self.t, self.offset]).all():
            raise NotFinite(f"a key at t = {self.t} with the offset {self.offset}\n  advice: keys are finite numbers")


@dataclass(frozen=True)
class Curve:
    """Offsets of one `variable` of a `track` over time, through `keys`, which are sorted by time."""

    track: str
    variable: str
    keys: tuple[Key, ...]

    def __post_init__(self) -> None:
        keys = tuple(sorted(self.keys))
        twice = [a.t for a, b in pairwise(keys) if a.t == b.t]
        if not keys or twice:
            problem = f"two keys at t = {twice[0]:.9g} s" if twice else "no key"
            raise MotionError(f"the curve of {self.variable!r} has {problem}", advice="give at least one key, at different times")
        object.__setattr__(self, "keys", keys)

    def at(self, t: ArrayLike) -> tuple[Array, Array]:
        """Offsets [rad or m] at the times `t` [s], and their rates [rad/s or m/s]; both have the shape of t."""
        times = np.asarray(t, float)
        x, y = np.array([key.t for key in self.keys]), np.array([key.offset for key in self.keys])
        if len(x) == 1:
            return np.full(times.shape, y[0]), np.zeros(times.shape)
        slope = slopes(x, y)
        k = np.clip(np.searchsorted(x, times, side="right") - 1, 0, len(x) - 2)
        h = x[k + 1] - x[k]
        s = np.clip((times - x[k]) / h, 0.0, 1.0)
        # y_k + (y_{k+1} − y_k) rise(s) + h (slope_k leave(s) + slope_{k+1} arrive(s))
        rise, leave, arrive = s * s * (3.0 - 2.0 * s), s * (1.0 - s) ** 2, s * s * (s - 1.0)
        offset = y[k] + (y[k + 1] - y[k]) * rise + h * (slope[k] * leave + slope[k + 1] * arrive)
        rise, leave, arrive = 6.0 * s * (1.0 - s), (1.0 - s) * (1.0 - 3.0 * s), s * (3.0 * s - 2.0)
        rate = (y[k + 1] - y[k]) / h * rise + slope[k] * leave + slope[k + 1] * arrive
        inside = (times >= x[0]) & (times <= x[-1])
        # At a key exactly its offset, without rounding.
        offset = np.where(s == 1.0, y[k + 1], np.where(s == 0.0, y[k], offset))
        return offset, np.where(inside, rate, 0.0)


def slopes(x: Array, y: Array) -> Array:
    """Slopes at the keys of a monotone cubic Hermite spline through (`x`, `y`), two keys or more; 0 at both ends."""
    h = np.diff(x)
    chord = np.diff(y) / h
    before, after = chord[:-1], chord[1:]
    w_before, w_after = h[:-1] + 2.0 * h[1:], 2.0 * h[:-1] + h[1:]
    same = np.sign(before) * np.sign(after) > 0.0
    # Σw / (w_before / before + w_after / after), written so that nothing overflows where one of them is tiny.
    a, b = np.where(same, before, 1.0), np.where(same, after, 1.0)
    first = np.abs(a) < np.abs(b)
    small, large = np.where(first, a, b), np.where(first, b, a)
    w_small, w_large = np.where(first, w_before, w_after), np.where(first, w_after, w_before)
    mean = (w_before + w_after) * small / (w_small + w_large * (small / large))
    return np.concatenate([[0.0], np.where(same, mean, 0.0), [0.0]])


@dataclass(frozen=True)
class Layer:
    """Curves of offsets, counted `weight` times; a `muted` layer has no effect."""

    name: str
    curves: tuple[Curve, ...] = ()
    weight: float = 1.0
    muted: bool = False

    def __post_init__(self) -> None:
        if not np.isfinite(self.weight):
            raise NotFinite(f"the layer {self.name!r} has the weight {self.weight}\n  advice: 0 is without effect, 1 is all of it")
        if len({(curve.track, curve.variable) for curve in self.curves}) < len(self.curves):
            raise MotionError(f"the layer {self.name!r} has two curves of one variable", advice="put all keys into one curve")

    @property
    def acts(self) -> bool:
        """Whether it changes a motion at all."""
        return not self.muted and self.weight != 0.0 and bool(self.curves)

    def curve(self, track: str, variable: str) -> Curve | None:
        """The curve of a `variable` of a `track`; None if it has no key."""
        return next((curve for curve in self.curves if (curve.track, curve.variable) == (track, variable)), None)

    def keyed(self, track: str, variable: str, key: Key) -> Layer:
        """With a `key` of a `variable` of a `track`, in place of the one at the same time if there is one."""
        curve = self.curve(track, variable)
        others = () if curve is None else tuple(other for other in curve.keys if other.t != key.t)
        return self._with(Curve(track, variable, (*others, key)))

    def unkeyed(self, track: str, variable: str, t: float) -> Layer:
        """Without the key of a `variable` of a `track` at the time `t` [s]; raises MotionError if there is none."""
        curve = self.curve(track, variable)
        left = () if curve is None else tuple(key for key in curve.keys if key.t != t)
        if curve is None or len(left) == len(curve.keys):
            raise MotionError(f"the layer {self.name!r} has no key of {variable!r} at {t:.9g} s", advice="choose one of its keys")
        if left:
            return self._with(replace(curve, keys=left))
        return replace(self, curves=tuple(other for other in self.curves if other is not curve))

    def _with(self, curve: Curve) -> Layer:
        same = (curve.track, curve.variable)
        if self.curve(*same) is None:
            return replace(self, curves=(*self.curves, curve))
        return replace(self, curves=tuple(curve if (c.track, c.variable) == same else c for c in self.curves))

    def shift(self, by: float) -> Layer:
        """The layer `by` seconds later."""
        return replace(self, curves=tuple(replace(c, keys=tuple(replace(k, t=k.t + by) for k in c.keys)) for c in self.curves))

    def mirror(self, motion: Motion, axis: str | None = None, *, tolerance: float = 1e-6) -> Layer:
        """The layer for the mirror image of a `motion`; `axis` and `tolerance` as in `Motion.mirror`. Raises MotionError."""
        out = []
        for curve in self.curves:
            figure = motion.track(curve.track).figure
            own = symmetry(figure, axis, tolerance)
            to = int(np.flatnonzero(own.order == figure.index(curve.variable))[0])
            keys = tuple(replace(key, offset=key.offset * float(own.signs[to])) for key in curve.keys)
            out.append(replace(curve, variable=figure.names[to], keys=keys))
        return replace(self, curves=tuple(out))


def layered(motion: Motion, layers: Iterable[Layer]) -> Motion:
    """A `motion` with its `layers`. Raises UnknownName if a curve belongs to no track or variable of it.

    A layer does not bring a joint beyond its limits. Where the motion itself is beyond them, the joint goes no farther.
    Changed tracks have no tensions, contact forces, energies and gaps: their motion is no longer what physics computed.
    """
    acting = [layer for layer in layers if layer.acts]
    return (
        motion.replace(tracks=tuple(_layered(track, motion.t, acting) for track in motion.tracks))
        if _fit(motion, acting)
        else motion
    )


def held_by_limits(motion: Motion, layers: Iterable[Layer]) -> tuple[tuple[str, str], ...]:
    """Track and variable of every joint of a `motion` that reaches a limit before it has the offset that its `layers` ask for."""
    acting = [layer for layer in layers if layer.acts]
    out = []
    for track in motion.tracks if _fit(motion, acting) else ():
        offset, _ = _offsets(track, motion.t, acting)
        beyond = np.any(_clipped(track, offset) != track.q + offset, axis=0)
        out += [(track.name, track.figure.names[k]) for k in np.flatnonzero(beyond)]
    return tuple(out)


def keyed(
    motion: Motion, layers: Sequence[Layer], which: int, track: str, t: float, values: Mapping[str, float]
) -> tuple[Layer, ...]:
    """The layers with new keys, so that variables have given values.

    motion: the motion below the layers
    layers: its layers
    which: index of the layer that gets the keys
    track: name of the track
    t: time of the keys [s]
    values: variables by name, and what the motion with all layers should be there [rad or m]

    Raises MotionError if that layer is muted or weighs nothing, UnknownName if there is no such track or variable.
    """
    layer, others = layers[which], [other for k, other in enumerate(layers) if k != which and other.acts]
    if layer.muted or layer.weight == 0.0:
        state = "is muted" if layer.muted else "has the weight 0"
        raise MotionError(
            f"the layer {layer.name!r} {state}: a key in it would not be seen", advice="unmute it, or choose another layer"
        )
    below = sampled(motion.track(track), motion.t, np.array([t]))
    _fit(motion, others)
    offset, _ = _offsets(below, np.array([t]), others)
    for variable, value in values.items():
        k = below.figure.index(variable)
        layer = layer.keyed(track, variable, Key(t, (float(value) - float(below.q[0, k] + offset[0, k])) / layer.weight))
    return tuple(layer if k == which else other for k, other in enumerate(layers))


def _fit(motion: Motion, layers: Iterable[Layer]) -> bool:
    """Whether there is any curve; raises UnknownName if one does not belong to the motion."""
    curves = [curve for layer in layers for curve in layer.curves]
    for curve in curves:
        figure = motion.track(curve.track).figure
        if curve.variable not in figure.names:
            raise UnknownName("variable", curve.variable, figure.names)
    return bool(curves)


def _offsets(track: Track, t: Array, layers: Iterable[Layer]) -> tuple[Array, Array]:
    """The sum of all offsets (T, n_q) of a track, and their rates."""
    offset, rate = np.zeros((len(t), track.figure.n_q)), np.zeros((len(t), track.figure.n_q))
    for layer in layers:
        for curve in layer.curves:
            if curve.track == track.name:
                k = track.figure.index(curve.variable)
                own, own_rate = curve.at(t)
                offset[:, k] += layer.weight * own
                rate[:, k] += layer.weight * own_rate
    return offset, rate


def _clipped(track: Track, offset: Array) -> Array:
    lower, upper = track.figure.limits
    moved = track.q + offset
    held = np.clip(moved, np.minimum(lower, track.q), np.maximum(upper, track.q))
    return np.where(offset == 0.0, track.q, held)


def _layered(track: Track, t: Array, layers: Sequence[Layer]) -> Track:
    offset, rate = _offsets(track, t, layers)
    q = _clipped(track, offset)
    if np.array_equal(q, track.q):
        return track
    v = None if track.v is None else np.where(q == track.q + offset, track.v + rate, 0.0)
    return replace(track, q=q, v=v, gap=None, laid=None, **dict.fromkeys(FORCE_FIELDS))  # type: ignore[arg-type]
