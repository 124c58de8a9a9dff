"""FreeSpace: collision-free configurations of a kinematic figure, and curves through them."""

from __future__ import annotations

import copy
import math
from collections.abc import Callable, Iterable
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision import World
from bunraku.collision.between_samples import Passage
from bunraku.collision.free_curves import ReachLink, Ways
from bunraku.collision.shape_motion import travel
from bunraku.collision.way_curve import WayCurve
from bunraku.errors import BunrakuError, NotFinite
from bunraku.planning.ways.steer import Planar, Steering

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]
Sampler = Callable[[np.random.Generator, int], Array]
"""(rng, count) ↦ configurations (count, n_q), free or not."""
Variation = Callable[[np.random.Generator, Array], Array]
"""(rng, Q) ↦ configurations (count, n_q), free or not, each of which differs from that of Q (count, n_q) in some respect only."""


class FreeSpace:
    """Samples, distances and curves for planners of paths, and tests whether samples and curves are collision-free.

    world: one figure and what is around it.
    bounds: lower and upper bound by name, for variables without limits of their own [m or rad]; angles without limits wrap around.
    parts: groups of variables that move on the floor, and how they are steered; all other variables move along straight lines.
    links: pairs of points whose distance has limits.
    margin: smallest allowed distance of any pair that may collide [m].
    weights: of the variables in distances, (n_q,); by default how far one unit of each variable moves the farthest point.
    sampler: draws configurations; one that knows the task finds more free samples than the uniform one.
    resolution: the proof gives up on a curve that comes this close to the margin [m], and calls it not free.
    vary: changes free configurations a little, for trees that explore narrow passages.
    cells: numbers (n, k) of the cells of configurations (n, n_q); nodes to vary are drawn evenly from the cells.
    Raises BunrakuError for several figures, for variables without bounds, or for weights that are not positive.
    """

    def __init__(
        self, world: World, *, bounds: dict[str, tuple[float, float]] | None = None, parts: Iterable[Planar] = (),
        links: Iterable[ReachLink] = (), margin: float = 0.0, weights: ArrayLike | None = None, sampler: Sampler | None = None,
        resolution: float = 5e-4, vary: Variation | None = None, cells: Callable[[Array], NDArray[np.int64]] | None = None,
    ) -> None:  # fmt: skip
        if len(world.figures) != 1:
            raise BunrakuError("path planning takes one figure\n  advice: combine several with bunraku.figure.together")
        (self.figure,) = world.figures
        self.world = world
        self.steering = Steering(self.figure, *parts)
        self.ways = Ways(world, links=links, margin=margin, resolution=resolution)
        self.lower, self.upper = self._bounds(bounds or {})
        self.weights = self._levers() if weights is None else np.array(weights, float)
        if self.weights.shape != (self.figure.n_q,) or not (self.weights > 0.0).all():
            raise BunrakuError(f"weights {self.weights}\n  advice: {self.figure.n_q} positive numbers, one for each variable")
        self.sampler, self.vary, self.cells = sampler, vary, cells
        self._allows: Callable[[WayCurve], bool] | None = None

    def restricted(self, allows: Callable[[WayCurve], bool]) -> FreeSpace:
        """The same space, but a curve is free only if `allows` returns True for it, too. Samples are not affected."""
        out, before = copy.copy(self), self._allows
        out._allows = allows if before is None else lambda curve: before(curve) and allows(curve)
        return out

    def sampled_by(self, sampler: Sampler, vary: Variation | None) -> FreeSpace:
        """The same space with other random configurations and variations; `sampler` and `vary` as for the space itself."""
        out = copy.copy(self)
        out.sampler, out.vary = sampler, vary
        return out

    def sidestepping(self) -> FreeSpace:
        """The same space, but whoever walks along curves moves straight, sideways too. Who turns on the spot still does."""
        out = copy.copy(self)
        out.steering = self.steering.sidestepping()
        return out

    def _bounds(self, bounds: dict[str, tuple[float, float]]) -> tuple[Array, Array]:
        lower, upper = (limit.copy() for limit in self.figure.limits)
        for name, (low, high) in bounds.items():
            k = self.figure.index(name)
            lower[k], upper[k] = max(lower[k], low), min(upper[k], high)
        around = self.steering.wraps & ~(np.isfinite(lower) & np.isfinite(upper))
        lower[around], upper[around] = -np.pi, np.pi
        self._around = around
        open_ended = ~(np.isfinite(lower) & np.isfinite(upper)) | (lower > upper)
        if open_ended.any():
            names = ", ".join(self.figure.names[k] for k in np.flatnonzero(open_ended))
            raise BunrakuError(f"{names}: no bounds to search within\n  advice: bounds={{'base_x': (-5, 5), …}}, lower below upper")
        return lower, upper

    def _levers(self) -> Array:
        """How far one unit of each variable moves the farthest point, at the middle of the bounds."""
        n = self.figure.n_q
        flat, step = self.world.flat, 1e-3
        Q = np.repeat((0.5 * (self.lower + self.upper))[None], n, 0)
        out = np.zeros((n, max(len(flat.joint), 1)))
        travel(flat, Q, step * np.eye(n), out)
        return np.asarray(np.maximum(out.max(1) / step, 1e-3))

    # -- samples -----------------------------------------------------------------------------------------------------

    @property
    def n(self) -> int:
        """Number of variables."""
        return self.figure.n_q

    def sample(self, rng: np.random.Generator, count: int) -> Array:
        """`count` configurations (count, n_q) within the bounds, free or not, drawn with `rng`."""
        if self.sampler is not None:
            return self.sampler(rng, count)
        return rng.uniform(self.lower, self.upper, (count, self.n))

    def free_sample(self, rng: np.random.Generator, *, tries: int = 100_000) -> Array | None:
        """A free configuration drawn with `rng`; None if none of `tries` samples was free."""
        met, batch = 0, 16
        while met < tries:
            Q = self.sample(rng, batch)
            ok = self.free(Q)
            if ok.any():
                return np.asarray(Q[int(ok.argmax())])
            met, batch = met + batch, min(2 * batch, 1024)
        return None

    def free(self, Q: ArrayLike) -> Bools:
        """Whether each of the configurations `Q` (T, n_q) is within bounds, keeps the margin and satisfies the links."""
        samples = np.atleast_2d(np.asarray(Q, float))
        out = self.within(samples)
        if out.any():
            out[out] = self.ways.free(samples[out])
        return out

    def within(self, Q: Array) -> Bools:
        """Whether each of the configurations `Q` (…, n_q) is within bounds."""
        inside = (self.lower - 1e-9 <= Q) & (self.upper + 1e-9 >= Q)
        return np.asarray((inside | self._around).all(-1))

    def configuration(self, q: ArrayLike, what: str) -> Array:
        """A checked copy of `q`, with wrapping angles within ±π; `what` names it in errors."""
        out = np.array(q, float)
        if out.shape != (self.n,):
            raise BunrakuError(f"{what}: {self.figure.name} has {self.n} variables, but q has shape {out.shape}")
        if not np.isfinite(out).all():
            raise NotFinite(f"{what}: {self.figure.names[int(np.argmin(np.isfinite(out)))]} is not finite")
        out[self._around] = np.remainder(out[self._around] + np.pi, math.tau) - np.pi
        return out

    def objection(self, q: Array) -> str:
        """Why the configuration `q` is not free, in words; empty if it is."""
        if not self.within(q[None])[0]:
            k = int(np.argmax(((q < self.lower - 1e-9) | (q > self.upper + 1e-9)) & ~self._around))
            return f"{self.figure.names[k]} = {q[k]:.4g} is outside of {self.lower[k]:.4g} to {self.upper[k]:.4g}"
        if self.ways.free(q[None])[0]:
            return ""
        passage = self.ways.along(WayCurve(np.stack([q, q])))
        if not passage.free and passage.b == "reach":
            return f"{passage.a} is {_said(-passage.value)} out of reach"
        nearest = self.world.distance(q)
        if nearest.value < 0.0:
            return f"{nearest.a} is {_said(-nearest.value)} deep in {nearest.b}"
        return f"{nearest.a} and {nearest.b} are {_said(nearest.value)} apart, the margin is {_said(self.ways.margin)}"

    @cached_property
    def metric(self) -> tuple[Array, Array, Array, Array]:
        """For kernels: 1/2π for wrapping angles, 0 for others; weights; lower and upper bounds (infinite for wrapping angles)."""
        lower, upper = np.where(self._around, -np.inf, self.lower), np.where(self._around, np.inf, self.upper)
        return self.steering.per_turn, self.weights, lower, upper

    # -- curves ------------------------------------------------------------------------------------------------------

    def distances(self, q: Array, Q: Array) -> Array:
        """Weighted distances of `q` from each of `Q` (n, n_q) [weighted m]."""
        difference = self.steering.difference(q, Q) * self.weights
        return np.asarray(np.sqrt(np.einsum("ij,ij->i", difference, difference)))

    def curve(self, q_a: Array, q_b: Array) -> WayCurve:
        """The curve that is steered from `q_a` to `q_b`."""
        return self.steering.curve(q_a, q_b)

    def free_along(self, curve: WayCurve) -> bool:
        """Whether the whole `curve` is proven free."""
        if not (self.within(curve.Q[-1]) and self._stays_within(curve) and self.ways.free_along(curve)):
            return False
        return self._allows is None or self._allows(curve)

    def along(self, curve: WayCurve) -> Passage:
        """Whether a `curve` keeps the margin and satisfies the links; if not, where, and what is in the way."""
        return self.ways.along(curve)

    def _stays_within(self, curve: WayCurve) -> bool:
        """Straight pieces stay between their ends; a Bézier curve stays in the hull of its points."""
        for bend, control in zip(curve.bends, curve.control, strict=True):
            for c in range(2):
                k = bend[c]
                if control[:, c].min() < self.lower[k] - 1e-9 or control[:, c].max() > self.upper[k] + 1e-9:
                    return False
        return True

    def sees(self, q_a: Array, q_b: Array) -> bool:
        """Whether the curve from `q_a` to `q_b` is proven free."""
        return self.free_along(self.curve(q_a, q_b))

    @cached_property
    def text(self) -> str:
        """A text that identifies figure and steering; that of a saved roadmap must be the same."""
        parts = [repr(part) for part in self.steering.parts]
        return f"{self.figure.name}: {', '.join(self.figure.names)}; {'; '.join(parts) or 'straight'}"


def _said(metres: float) -> str:
    """A length in m or mm."""
    return f"{metres:.3g} m" if metres >= 1.0 else f"{1000.0 * metres:.3g} mm"
