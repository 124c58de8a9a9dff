"""How a planned climb is held in physics: servo targets, which feet stick, and when the plan waits.

A motor is a servo about the planned angle, with the planned velocity and the torque of inverse dynamics added. The forces on the
feet that this torque assumes stay inside the friction cones of feet with the given adhesion, and leave a foot that is about to lift
off. Legs learn where their feet really stand, so that they do not pull on them, and the plan waits for a foot that does not touch
yet. Feet stick while they stand, not while they swing. Ankles are passive: a weak spring keeps a swinging foot as it should land.

The controller knows nothing of the physics. Before every sample, physics asks for a `ClimbCommand`; after it, physics says where
the trunk is and which feet touch.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Box, Shape
from bunraku.locomotion.climb.climb import Climb
from bunraku.locomotion.climb.climb_dynamics import needed_forces, torques
from bunraku.locomotion.climb.climb_pace import PaceOptions
from bunraku.locomotion.climb.foot_forces import foot_forces
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.gecko_kernels import points_along
from bunraku.motion import Motion

Array = NDArray[np.float64]


@dataclass(frozen=True)
class HoldOptions:
    """Servos and noise of a climb in physics. Lengths are in lengths of the leg, forces in body weights.

    All are for the default crawl of the library's gecko, with swings of 0.25 s. Where a swing takes less, times are
    shorter in proportion, and where it is quicker for its size, servos are stiffer, with the square.
    """

    stiffness: float = 15.0
    """Stiffness of a servo [weights · leg lengths/rad]."""
    damping: float = 0.02
    """Damping of a servo divided by its stiffness [s]."""
    ankle: float = 0.1
    """Stiffness of the spring of an ankle [weights · leg lengths/rad]."""
    ankle_damping: float = 0.004
    """Damping of an ankle divided by its stiffness [s]."""
    press: float = 0.003
    """How far below the surface a landing foot aims, so that it touches [leg lengths]."""
    probe: float = 0.3
    """Speed at which a foot that should stand, but does not touch, goes on towards the surface [leg lengths/s]."""
    ramp: float = 0.05
    """Time in which a foot takes over its load after landing, and gives it up before lifting off [s]."""
    patience: float = 0.3
    """How long the plan waits, with all feet down, for a foot that does not touch yet [s]."""
    spare: float = 1.08
    """The forces on the feet that motors aim at use this share of the least adhesion, or 0.6 of what there is if that is more."""
    settle: float = 0.03
    """Time in which a leg learns where its foot really stands, so that it does not pull on it [s]."""
    fallen: float = 0.5
    """The climber has fallen if its trunk is farther than this from the plan [leg lengths]."""
    encoder_noise: float = 5e-4
    """Standard deviation of the measured angles, new at every sample of the motion [rad]."""
    push: float = 0.03
    """Standard deviation of each component of a random force on the first body [weights]."""
    push_time: float = 0.05
    """Correlation time of that force [s]."""
    pose_noise: float = 1e-3
    """Standard deviation of the measured places of the feet, new at every sample [leg lengths]."""

    def at_pace(self, longer: float, quick: float) -> HoldOptions:
        """The same with times `longer` by a factor, and servos that move masses `quick` times as fast for their size."""
        times = ("damping", "ankle_damping", "patience", "ramp", "settle", "push_time")
        changed = {name: longer * getattr(self, name) for name in times}
        stiff = {name: quick**2 * getattr(self, name) for name in ("stiffness", "ankle")}
        return replace(self, probe=self.probe / longer, **changed, **stiff)


@dataclass(frozen=True, eq=False)
class PerformedClimb:
    """What became of a climb in physics."""

    fell: bool
    """Whether the trunk got lost."""
    seconds: float
    """When it ended [s]; later than planned if feet had to be waited for."""
    errors: Array
    """Largest distance of a point of the trunk from the plan, every time that it was looked at (n,) [m]."""
    trunk: Array
    """Where the first point of the trunk was, at these times (n, 3) [m]."""
    dt: float
    """Time between two of them [s]."""
    adhesion: float
    """The adhesion of each foot [weights]."""
    motion: Motion | None = None
    """What it did, where that was recorded."""
    pulls: Array | None = None
    """With how much each foot pulled on what it stands on (n, feet) [weights], where that was recorded."""

    @property
    def end_error(self) -> float:
        """Largest distance of a point of the trunk from the plan at the end [m]."""
        return float(self.errors[-1])

    def __str__(self) -> str:
        how = "fell" if self.fell else "arrived"
        off = f"{1e3 * self.end_error:.2f} mm from the plan (at most {1e3 * self.errors.max():.2f} mm)"
        return f"{how} after {self.seconds:.2f} s, {off}, adhesion {self.adhesion:.3f} weights a foot"


class ClimbCommand(NamedTuple):
    """What physics does until the next sample."""

    targets: Array
    """Where the servos pull their motors, velocity and torque included (motors,) [rad]."""
    sticks: NDArray[np.bool_]
    """Which feet stick (feet,)."""
    sample: int
    """Number of the sample of the plan; `turns` of the controller says where springs of ankles pull."""
    push: Array
    """A random force on the first body (3,) [N]."""


class ClimbController:
    """A climb in progress.

    done: the climb as planned
    adhesion: of each foot [weights]; None for 1.3 times what the motion needs
    friction: coefficient of friction of the feet
    options: servos and noise
    seed: of the noise; None for no noise

    Raises BunrakuError if feet have no ankles, the surface is a mesh, or the climb failed before its first step.
    """

    def __init__(
        self, done: Climb, *, adhesion: float | None, friction: float, options: HoldOptions, seed: int | None
    ) -> None:  # fmt: skip
        gecko = Gecko(done.motion.figure, done.roles)
        if not gecko.n_ankles:
            raise BunrakuError("feet without ankles\n  advice: perform climbs of figures whose feet are on ball joints")
        if not all(isinstance(obstacle.geometry, Box) for obstacle in done.scene.obstacles):
            raise BunrakuError("a climb over a mesh\n  advice: perform climbs along segments, on flat faces")
        if len(done.motion) < 2:
            raise BunrakuError(f"a climb without a motion: {done.outcome.why}\n  advice: see its outcome, and plan one that moves")
        adhesion = 1.3 * float(done.moving.adhesion.max()) if adhesion is None else adhesion
        self.gecko, self.adhesion, self.feet = gecko, adhesion, done.feet
        figure, Q = gecko.figure, np.asarray(done.motion.q)
        self.weight, self.leg = 9.81 * figure.mass, gecko.measures["leg"]
        swing = done.feet.quarter - done.feet.pause
        self.longer = swing / 0.25
        """How much longer a swing takes than that for which options are given."""
        self.options = options = options.at_pace(self.longer, PaceOptions().swing * math.sqrt(self.leg / 9.81) / swing)
        self.motors = [*gecko.active.tolist(), *gecko.tail.tolist()]
        self.dt = float(done.motion.t[1])
        self.kp = options.stiffness * self.weight * self.leg
        self.k_ankle = options.ankle * self.weight * self.leg
        feet = done.feet.part(slice(0, len(Q)))
        needed = needed_forces(gecko, Q, self.dt)
        least = np.asarray(done.moving.adhesion)
        aimed = np.minimum(np.maximum(options.spare * least, 0.6 * adhesion), 0.95 * adhesion)
        torque = torques(gecko, needed, feet.p, foot_forces(needed, feet, friction=friction, adhesion=aimed, ramp=options.ramp))
        v = np.gradient(Q[:, self.motors], self.dt, axis=0)
        self.targets = Q[:, self.motors] + options.damping * v + torque / self.kp
        self.sticks = ~feet.aloft
        index = figure.frame_index
        self.trunk = needed.frames[:, [index[name] for name in gecko.trunk]][..., :3, 3]
        above = needed.frames[:, [index[name] for name in gecko.holders]][..., :3, :3]
        self.turns: Array = np.swapaxes(above, 2, 3) @ feet.R
        """Rotations of the feet against the links above them, to which the springs of ankles pull (T, feet, 3, 3)."""
        self._legs = _leg_moves(gecko, Q)
        self._rng = None if seed is None else np.random.default_rng(seed)
        self._push, self._keep = np.zeros(3), float(np.exp(-self.dt / options.push_time))
        self._off = np.zeros((len(gecko.roles.feet), 3))  # where the feet stand, relative to the plan
        self._touches = np.ones(len(gecko.roles.feet), np.bool_)
        self._press = np.full(len(gecko.roles.feet), options.press * self.leg)
        self._t = self._waited = 0
        self.errors: list[float] = []
        """Largest distance of a point of the trunk from the plan after every sample [m]."""
        self._places: list[Array] = []

    @property
    def fell(self) -> bool:
        """Whether the trunk was too far from the plan after the last sample."""
        return bool(self.errors) and not self.errors[-1] < self.options.fallen * self.leg

    @property
    def ended(self) -> bool:
        """Whether the climb has arrived or fallen."""
        return self.fell or self._t >= len(self.targets)

    def command(self, feet: Array) -> ClimbCommand:
        """What to do until the next sample, if `feet` are at these places (feet, 3) [m]."""
        options, t, rng = self.options, self._t, self._rng
        seen, normal = feet - self.feet.p[t], self.feet.R[t, :, :, 2]
        if rng is not None:
            seen = seen + options.pose_noise * self.leg * rng.standard_normal(seen.shape)
        seen = np.where(self._touches[:, None], seen, self._off)  # a foot that may still slide is led, not followed
        seen = seen - (np.einsum("fi,fi->f", seen, normal) + self._press)[:, None] * normal
        self._off += min(self.dt / options.settle, 1.0) * (self.sticks[t][:, None] * seen - self._off)
        targets = self.targets[t] + np.einsum("fmi,fi->m", self._legs[t], self._off)
        if rng is not None:
            targets += options.encoder_noise * rng.standard_normal(len(targets))
            new = np.sqrt(1.0 - self._keep**2) * options.push * self.weight * rng.standard_normal(3)
            self._push = self._keep * self._push + new
        return ClimbCommand(targets, self.sticks[t], t, self._push)

    def look(self, trunk: Array, touches: NDArray[np.bool_]) -> None:
        """Goes on to the next sample, or waits. The `trunk` is here (n, 3) [m]; `touches` says which feet do (feet,)."""
        options, t = self.options, self._t
        finite = bool(np.isfinite(trunk).all())
        self._places.append(trunk[0])
        self.errors.append(float(np.linalg.norm(trunk - self.trunk[t], axis=1).max()) if finite else np.inf)
        self._touches, lost = touches, self.sticks[t] & ~touches
        self._press = np.where(lost, self._press + options.probe * self.leg * self.dt, options.press * self.leg)
        waits = bool(lost.any()) and bool(self.sticks[t].all()) and self._waited < options.patience / self.dt
        self._t, self._waited = (t, self._waited + 1) if waits else (t + 1, 0)

    def performed(self, motion: Motion | None = None, pulls: Array | None = None) -> PerformedClimb:
        """What became of the climb so far, with its `motion` and the `pulls` of its feet (n, feet) [weights] if these are known."""
        seconds = self.dt * len(self.errors)
        places = np.array(self._places)
        return PerformedClimb(self.fell, seconds, np.array(self.errors), places, self.dt, self.adhesion, motion, pulls)


def sticky_shape(figure: Figure, foot: str) -> Shape:
    """The shape of a `foot` of `figure` that sticks: the one nearest to its ankle."""
    return min((shape for shape in figure.shapes if shape.frame == foot), key=lambda shape: float(np.linalg.norm(shape.position)))


def _leg_moves(gecko: Gecko, Q: Array) -> Array:
    """How the motors of each leg move to shift its foot (T, feet, motors, 3) [rad/m], all other motors at rest."""
    n, m = len(gecko.roles.feet), len(gecko.active)
    X, J = np.empty((len(Q), len(gecko.body.carrier), 3)), np.empty((len(Q), 3 * len(gecko.body.carrier), m + 6))
    points_along(gecko.body, np.require(Q, float, ["C", "W"]), X, J)
    rows = J[:, : 3 * n, 6:].reshape(len(Q), n, 3, m)
    moves = np.abs(rows).max((0, 2)) > 0.0
    rows = rows * (moves & (moves.sum(0) == 1))[None, :, None]
    out = np.zeros((len(Q), n, m + len(gecko.tail), 3))
    across = np.swapaxes(rows, 2, 3)
    out[:, :, :m] = across @ np.linalg.inv(rows @ across + 1e-6 * gecko.measures["leg"] ** 2 * np.eye(3))
    return out
