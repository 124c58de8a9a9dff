"""Keep-out: the shapes of a figure stay away from the obstacles of a scene, by an augmented Lagrangian as in `motion_limits`.

A pair that is nearer than the margin violates c = margin − distance(q) ≤ 0. Its Hessian is that of Gauss and Newton, ρ ∂c ∂cᵀ.
The curvature of the distance is left out, so the Hessian is never negative.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.world import World
from bunraku.control.control_system import System
from bunraku.control.linear_steps import Slopes
from bunraku.errors import BunrakuError
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KeepOut:
    """A world, and the multiplier of every pair of a shape and an obstacle at every sample."""

    world: World
    margin: float
    """Distance to keep [m]."""
    n_q: int
    multiplier: Array
    """(N + 1, shapes and obstacles, the same)."""
    rho: float
    """Penalty."""

    @classmethod
    def of(cls, system: System, scene: Scene, margin: float, steps: int, weight: float) -> KeepOut:
        """Keeps the figure of `system` `margin` [m] away from `scene` for so many `steps`, with penalty `weight` at first.

        Raises BunrakuError for a negative margin, or where figure and scene have no shapes that collide.
        """
        if not 0.0 <= margin < np.inf:
            raise BunrakuError(f"a margin of {margin} m to the scene\n  advice: give metres, zero or more")
        name = system.figure.name
        world = World(system.figure, scene, allowed=((name, name),))  # of itself, it may touch what it likes
        if not world.pairs:
            raise BunrakuError(f"nothing of {name} can touch the scene {scene.name}\n  advice: give both shapes that collide")
        things = len(world.names)
        return cls(world, margin, system.n_q, np.zeros((steps + 1, things, things)), weight)

    def _near(self, x: Array, within: float) -> Any:
        """Clearances along a motion but for its start, about which nothing can be done."""
        return self.world.clearances_along(x[1:, : self.n_q], within=within)

    def _acting(self, x: Array) -> tuple[Any, Array, Array]:
        """Clearances of pairs that count, what each is short of with its multiplier over ρ, and that multiplier."""
        near = self._near(x, self.margin + float(self.multiplier.max()) / self.rho)
        m = self.multiplier[near.sample + 1, near.things[:, 0], near.things[:, 1]]
        return near, np.maximum(self.margin - near.value + m / self.rho, 0.0), m

    def value(self, x: Array) -> float:
        """What it adds to the cost of a motion with states `x`."""
        _, short, _ = self._acting(x)
        return float(0.5 * self.rho * (short**2).sum() - 0.5 * (self.multiplier**2).sum() / self.rho)

    def add(self, x: Array, slopes: Slopes) -> None:
        """Adds its gradient and Gauss–Newton Hessian along a motion with states `x` to `slopes`."""
        near, short, _ = self._acting(x)
        act = short > 0.0
        sample, G = near.sample[act] + 1, near.gradient[act]
        np.add.at(slopes.gx[:, : self.n_q], sample, -self.rho * short[act, None] * G)
        np.add.at(slopes.Hq, sample, self.rho * G[:, :, None] * G[:, None, :])

    def violation(self, x: Array) -> float:
        """How far the worst pair of a motion with states `x` is inside the margin [m]."""
        near = self._near(x, self.margin)
        return float((self.margin - near.value).max(initial=0.0))

    def tightened(self, x: Array, *, stiffer: bool) -> KeepOut:
        """The same with multipliers updated for a motion with states `x`, and a penalty five times as large where `stiffer`."""
        near, short, _ = self._acting(x)
        m = np.zeros_like(self.multiplier)
        m[near.sample + 1, near.things[:, 0], near.things[:, 1]] = self.rho * short
        return replace(self, multiplier=m, rho=self.rho * (5.0 if stiffer else 1.0))
