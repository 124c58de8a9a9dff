"""What a puppeteer can learn: which variables he moves, what he sees, what he is paid for."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.dynamics.settle import settle
from bunraku.dynamics.simulation import Simulation
from bunraku.figure import Figure, library
from bunraku.kinematics import pose

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PuppetOptions:
    """How a puppet is moved."""

    dt: float = 0.01
    """Time step of the physics [s]."""
    substeps: int = 2
    """Time steps for one action."""
    speed: float = 0.4
    """Speed of a spindle or a string's length for an action of 1 [m/s]."""
    shortest: float = 0.3
    """A string is never wound to less than this [m]."""
    steps: int = 200
    """Actions until the time is over."""


class PuppetTask(ABC):
    """A task with the marionette of 22 variables. An action from −1 to 1 for each input is its speed.

    options: how it is moved
    """

    inputs: tuple[str, ...]
    """The kinematic variables that the learner moves."""

    def __init__(self, options: PuppetOptions = PuppetOptions()) -> None:
        self.options = options
        self.figure: Figure = library.named("marionette22")
        self.columns = self.figure.indices(self.inputs)

    @cached_property
    def _wound(self) -> list[int]:
        """Which kinematic variables are lengths of strings."""
        return [k for k, name in enumerate(self.figure.kinematic) if name.endswith("_length")]

    @cached_property
    def rest(self) -> Array:
        """The configuration at the start: the puppet hangs still."""
        return settle(self.figure)

    @cached_property
    def prepared(self) -> Simulation:
        """The simulation at the start; environments copy it."""
        return Simulation(self.figure, self.rest, dt=self.options.dt)

    def moved(self, q: Array, action: Array) -> Array:
        """Rows of kinematic variables for one `action` from the configuration `q` on."""
        n, options = self.figure.n_dynamic, self.options
        rows = np.tile(q[n:], (options.substeps, 1))
        rate = options.speed * options.dt * np.clip(action, -1.0, 1.0)
        rows[:, self.columns - n] += rate * np.arange(1, options.substeps + 1)[:, None]
        rows[:, self._wound] = np.maximum(rows[:, self._wound], options.shortest)
        return rows

    def seen(self, q: Array, v: Array, goal: Array, time: float) -> Array:
        """What the learner sees: the dynamic variables and the inputs from rest on, velocities, and what the task adds.

        q: the configuration [rad or m]
        v: the velocities [rad/s or m/s]
        goal: that of the episode
        time: since its start [s]
        """
        n, away = self.figure.n_dynamic, q - self.rest
        return np.concatenate([away[:n], v[:n], away[self.columns], self.added(q, goal, time)])

    @abstractmethod
    def goal(self, rng: np.random.Generator) -> Array:
        """A random goal, from `rng`."""

    @abstractmethod
    def added(self, q: Array, goal: Array, time: float) -> Array:
        """What the learner sees of the `goal` at the configuration `q` and the `time` [s]."""

    @abstractmethod
    def reward(self, seen: Array, q: Array, v: Array, goal: Array, time: float) -> float:
        """The reward for what is `seen` at configuration `q` with velocities `v`, for a `goal`, at a `time` [s]."""


class LiftHand(PuppetTask):
    """Bring the left hand to a point above and beside where it hangs, and hold it there. The reward is −distance [m]."""

    inputs = ("left_arm_x", "left_arm_y", "left_arm_length")

    @cached_property
    def _hanging(self) -> Array:
        return pose(self.figure, self.rest).point("lhand")

    def goal(self, rng: np.random.Generator) -> Array:
        """A point up to 25 cm above the hand [m], from `rng`."""
        return self._hanging + rng.uniform((-0.05, -0.1, 0.05), (0.05, 0.05, 0.25))

    def added(self, q: Array, goal: Array, time: float) -> Array:
        """From the hand at `q` to the `goal` [m]; the `time` does not matter."""
        return goal - pose(self.figure, q).point("lhand")

    def reward(self, seen: Array, q: Array, v: Array, goal: Array, time: float) -> float:
        """−distance of the hand from its goal [m], which are the last numbers `seen`; `q`, `v`, `goal` and `time` do not matter."""
        return -float(np.linalg.norm(seen[-3:]))


class WalkPuppet(PuppetTask):
    """Walk in the air, forward at a given speed, with feet that alternate twice a second and an upright trunk.

    The reward is 1, less |speed − wanted| / 0.2 m/s, less |distance between the feet − wanted| / 0.2 m, less the tilt [rad].
    """

    inputs = tuple(
        f"{part}_{way}"
        for part in ("upper_torso", "lower_torso", "left_arm", "right_arm", "left_leg", "right_leg")
        for way in ("x", "y", "length")
    )

    def goal(self, rng: np.random.Generator) -> Array:
        """A speed [m/s], forward: along y; from `rng`."""
        return rng.uniform(0.1, 0.3, 1)

    def added(self, q: Array, goal: Array, time: float) -> Array:
        """The speed that is wanted [m/s], which is the `goal`, and the phase of the steps at a `time` [s]; `q` does not matter."""
        phase = 2.0 * math.pi * time
        return np.array([goal[0], math.sin(phase), math.cos(phase)])

    def reward(self, seen: Array, q: Array, v: Array, goal: Array, time: float) -> float:
        """See the class; at `q` with velocities `v`, for the speed `goal` [m/s], at a `time` [s]; `seen` does not matter."""
        at, figure = pose(self.figure, q), self.figure
        apart = float((at.point("lfoot") - at.point("rfoot"))[1])
        speed = float(v[figure.index("torso_ty")])
        tilt = float(np.abs(q[figure.indices(("torso_ry", "torso_rx"))]).sum())
        return 1.0 - abs(speed - float(goal[0])) / 0.2 - abs(apart - 0.1 * math.sin(2.0 * math.pi * time)) / 0.2 - tilt
