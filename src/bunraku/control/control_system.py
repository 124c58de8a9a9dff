"""System: a figure as a discrete control system x₊ = f(x, u), and curves through its states and inputs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics import momentum
from bunraku.dynamics.simulation import LEFT_SHARE, require_dynamic, require_share
from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import Effort, Figure, Push
from bunraku.kinematics.forward import configuration

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class System:
    """State x = (q, momentum, rates of the kinematic variables); inputs u = (next kinematic variables, forces).

    `inputs` names the inputs that the search may choose; the others keep their given values.
    """

    figure: Figure
    dt: float
    inputs: tuple[str, ...]
    share: float = LEFT_SHARE
    """Share of a force's impulse that acts at the start of a step."""

    @classmethod
    def of(cls, figure: Figure, *, dt: float, inputs: Sequence[str] | None = None, share: float = LEFT_SHARE) -> System:
        """The system of `figure` with time step `dt` [s]; `inputs` names the inputs that may be chosen, all by default.

        `share` of a force's impulse acts at the start of a step, the rest at its end.
        Raises UnknownName for an input that the figure does not have, BunrakuError if there is nothing to choose.
        """
        if not 0.0 < dt < np.inf:
            raise BunrakuError(f"the time step is {dt} s\n  advice: give a positive number; 0.01 or less suits marionettes")
        require_share(share)
        require_dynamic(figure)
        known = (*figure.kinematic, *(force.name for force in figure.forces))
        chosen = known if inputs is None else tuple(inputs)
        for name in chosen:
            if name not in known:
                raise UnknownName("input", name, known)
        if not chosen:
            raise BunrakuError(f"{figure.name} has no input to choose\n  advice: give it a string, or a force")
        return cls(figure, float(dt), tuple(name for name in known if name in chosen), float(share))

    @property
    def tree(self) -> Any:
        return self.figure.compiled.tree

    @property
    def n(self) -> int:
        return self.figure.n_dynamic

    @property
    def n_q(self) -> int:
        return self.figure.n_q

    @property
    def n_kin(self) -> int:
        return self.n_q - self.n

    @property
    def n_links(self) -> int:
        return len(self.tree.links)

    @property
    def n_x(self) -> int:
        return self.n_q + self.n + self.n_kin

    @cached_property
    def hands(self) -> NDArray[np.int64]:
        """Indices of the chosen kinematic variables, among the kinematic ones."""
        return np.array([k for k, name in enumerate(self.figure.kinematic) if name in self.inputs], np.int64)

    @cached_property
    def thrusts(self) -> NDArray[np.int64]:
        """Indices of the chosen forces."""
        return np.array([k for k, force in enumerate(self.figure.forces) if force.name in self.inputs], np.int64)

    @property
    def n_u(self) -> int:
        """Number of chosen inputs."""
        return len(self.hands) + len(self.thrusts)

    @cached_property
    def chosen(self) -> NDArray[np.int64]:
        """Indices of the chosen inputs, among all inputs."""
        return np.concatenate([self.hands, self.n_kin + self.thrusts])

    @cached_property
    def impulse_of_effort(self) -> Array:
        """E = dt · ∂F/∂u, for chosen forces that are efforts. The columns of pushes stay zero: they depend on the configuration."""
        E = np.zeros((self.n, len(self.thrusts)))
        for f, k in enumerate(self.thrusts):
            force = self.figure.forces[k]
            if isinstance(force, Effort):
                E[self.figure.index(force.variable), f] = self.dt * force.gain
        return E

    @property
    def pushed(self) -> bool:
        """Whether any chosen force is a push at a point."""
        return any(isinstance(self.figure.forces[k], Push) for k in self.thrusts)

    def state(self, q: ArrayLike | None = None, v: ArrayLike | None = None) -> Array:
        """The state x at configuration `q` (`figure.start` by default) and velocities `v` (zero by default)."""
        at = configuration(self.figure, self.figure.start if q is None else q)
        rates = np.zeros(self.n_q) if v is None else configuration(self.figure, v)
        return np.concatenate([at, momentum(self.figure, at, rates), rates[self.n :]])

    @property
    def state_names(self) -> tuple[str, ...]:
        f = self.figure
        return (*f.names, *(f"momentum of {name}" for name in f.dynamic), *(f"rate of {name}" for name in f.kinematic))


@dataclass(frozen=True, eq=False)
class ControlCurve:
    """States and inputs over time. They need not satisfy the dynamics."""

    x: Array
    """States (N + 1, n_x)."""
    u: Array
    """All inputs (N, kinematic variables and forces)."""

    def __post_init__(self) -> None:
        if len(self.x) != len(self.u) + 1:
            raise BunrakuError(f"{len(self.x)} states and {len(self.u)} inputs\n  advice: give one more state than inputs")
        if not (np.isfinite(self.x).all() and np.isfinite(self.u).all()):
            raise NotFinite("a state or an input is not a finite number")

    def __len__(self) -> int:
        return len(self.u)


@dataclass(frozen=True, eq=False)
class Rollout(ControlCurve):
    """A curve that satisfies the dynamics."""

    impulse: Array
    """Impulse of every link (string, wire or loop constraint) in every step [N·s]."""
    states: NDArray[np.int8]
    """State of every link in every step: 0 slack, 1 acting, 2 sliding."""
