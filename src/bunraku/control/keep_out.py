"""Keep-out: the shapes of a figure keep a distance from the obstacles of a scene, by an augmented Lagrangian as in `motion_limits`.

A pair nearer than the margin violates c = margin − distance(q) ≤ 0. Its Hessian is approximated by Gauss–Newton, ρ ∂c ∂cᵀ with
penalty ρ; the curvature of the distance is left out, so the Hessian is positive semidefinite.
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
    """Obstacles, and a multiplier for every pair of shape and obstacle at every sample."""

    world: World
    margin: float
    """Distance to keep [m]."""
    n_q: int
    multiplier: Array
    """(N + 1, n, n) multipliers of all pairs of the n shapes and obstacles."""
    rho: float
    """Penalty."""

    @classmethod
    def of(cls, system: System, scene: Scene, margin: float, steps: int, weight: float) -> KeepOut:
        """Keeps the figure of `system` `margin` [m] away from `scene` for `steps` steps, with initial penalty `weight`.

        Raises BunrakuError if the margin is negative, or if figure or scene has no shapes that collide.
        """
        if not 0.0 <= margin < np.inf:
            raise BunrakuError(f"a margin of {margin} m to the scene\n  advice: give zero or a positive number of metres")
        name = system.figure.name
        world = World(system.figure, scene, allowed=((name, name),))  # self-collisions are not checked
        if not world.pairs:
            raise BunrakuError(f"no shape of {name} can touch the scene {scene.name}\n  advice: give both shapes that collide")
        things = len(world.names)
        return cls(world, margin, system.n_q, np.zeros((steps + 1, things, things)), weight)

    def _near(self, x: Array, within: float) -> Any:
        """Clearances along a motion, without its first sample, which is given."""
        return self.world.clearances_along(x[1:, : self.n_q], within=within)

    def _acting(self, x: Array) -> tuple[Any, Array, Array]:
        """Clearances of the active pairs, their c + multiplier/ρ, and their multipliers."""
        near = self._near(x, self.margin + float(self.multiplier.max()) / self.rho)
        m = self.multiplier[near.sample + 1, near.things[:, 0], near.things[:, 1]]
        return near, np.maximum(self.margin - near.value + m / self.rho, 0.0), m

    def value(self, x: Array) -> float:
        """The penalty that it adds to the cost of a motion with states `x`."""
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
        """By how much the worst pair is inside the margin [m], along a motion with states `x`."""
        near = self._near(x, self.margin)
        return float((self.margin - near.value).max(initial=0.0))

    def tightened(self, x: Array, *, stiffer: bool) -> KeepOut:
        """A copy with multipliers updated for a motion with states `x`, and with five times the penalty if `stiffer`."""
        near, short, _ = self._acting(x)
        m = np.zeros_like(self.multiplier)
        m[near.sample + 1, near.things[:, 0], near.things[:, 1]] = self.rho * short
        return replace(self, multiplier=m, rho=self.rho * (5.0 if stiffer else 1.0))
