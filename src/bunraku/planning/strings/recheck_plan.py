"""recheck: is a motion what it says it is? By other means than those of the planners.

"Solved" is not "valid". The inputs of the motion (its kinematic variables) are simulated again, with the step that it has and
with a finer one; both, and every way from sample to sample, must be free of collisions, strings must not pass through
obstacles, limits must hold, and strings must never be longer than they are wound or push.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import coal
import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from bunraku.brief import brief
from bunraku.collision import Report as Check
from bunraku.collision import World
from bunraku.collision.coal_shapes import solid
from bunraku.dynamics import Simulation
from bunraku.errors import BunrakuError, MotionError
from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import Point
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.planning.strings.hand_limits import Limits
from bunraku.scene import Heightfield, Plane, Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
SAME, FINER, STRING = 1e-4, 0.03, 1e-3  # [m] that may be between the motion and its repetition; of a string's gap
SLACKEST = -1e-6  # [N] of a tension
THREAD = 5e-4  # [m]: half as thick as a string is taken to be
ROUNDING = 1e-6


@dataclass(frozen=True, eq=False)
class Report:
    """What the rechecker measured, and what it objects to."""

    objections: tuple[str, ...]
    same: float
    """The farthest that a frame is from where the same inputs bring it, with the same step [m]."""
    finer: float
    """The same with the finer step [m]."""
    gap: float
    """The most that a string is too short for, over all three motions [m]."""
    tension: float
    """The least tension of a string [N]."""
    clearance: float
    """Of the nearest pair of things, over all three motions [m]."""
    fine: Motion
    """The motion with the finer step."""
    since: float
    """When the earliest of what is objected to begins [s]; infinite where there is nothing."""

    __repr__ = brief

    @property
    def accepted(self) -> bool:
        return not self.objections

    def __str__(self) -> str:
        numbers = (
            f"repeated to {1e3 * self.same:.2g} mm, with a finer step to {1e3 * self.finer:.2g} mm; "
            f"strings to {1e3 * self.gap:.2g} mm; {1e3 * self.clearance:.3g} mm clear"
        )
        return "\n".join([f"{'accepted' if self.accepted else 'refused'}: {numbers}", *self.objections])


def recheck(
    motion: Motion, scene: Scene, *, limits: Limits | None = None, goal: Callable[[Figure, Array, Array], bool] | None = None,
    allowed: Iterable[tuple[str, str]] = (), v: ArrayLike | None = None, parts: int = 4,
    same: float = SAME, finer: float = FINER, string: float = STRING,
) -> Report:  # fmt: skip
    """Checks a motion of one figure with evenly spaced samples that begins at rest, or with the rates `v`.

    `goal(figure, q, v)` is asked at the end of the motion and of its finer repetition; `allowed` pairs may touch. Steps are
    divided into `parts` for the finer one.
    """
    figure, dt = motion.figure, _step(motion)
    K = motion.q[:, figure.n_dynamic :]
    again = _simulated(figure, motion.q[0], v, dt, K[1:])
    times = motion.t[0] + dt / parts * np.arange(1, parts * (len(motion) - 1) + 1)
    K_fine = CubicSpline(motion.t, K, bc_type="clamped" if v is None else "not-a-knot")(times)
    fine = _simulated(figure, motion.q[0], v, dt / parts, K_fine)
    found: list[tuple[float, str]] = []
    far_same, far_fine = _apart(figure, motion.q, again.q), _apart(figure, motion.q, fine.q[::parts])
    found += _drifts(motion.t, far_same, same, "the same inputs lead")
    found += _drifts(motion.t, far_fine, finer, f"with a step of {1e3 * dt / parts:.3g} ms the inputs lead")
    world, clearance = World(figure, scene, allowed=allowed), np.inf
    for name, one in (("the motion", motion), ("the finer motion", fine)):
        report = world.check(one, between=True)
        clearance = min(clearance, report.least)
        found += [(t, f"collision: in {name}, {what}") for t, what in _hits(one.t, report)]
        found += [(one.t[k], f"collision: in {name}, {what}") for k, what in pierced(figure, scene, one.q)]
    found += [(motion.t[0], text) for text in (_beyond(motion, limits, dt) if limits is not None else []) + _outside(motion)]
    gap = max(_gaps(figure, one.q) for one in (motion, fine))
    tension = min(float(one.tension.min(initial=np.inf)) for one in (motion, again, fine) if one.tension is not None)
    if not gap <= string:
        found.append((motion.t[0], f"strings: one is {1e3 * gap:.3g} mm too short"))
    if not tension >= SLACKEST:
        found.append((motion.t[0], f"strings: one pushes with {-tension:.3g} N"))
    if goal is not None:
        for name, one in (("the motion", motion), ("the finer motion", fine)):
            if not goal(figure, one.q[-1], _rates(one)):
                found.append((motion.t[-1], f"goal: {name} does not end in it"))
    since = min((float(t) for t, _ in found), default=np.inf)
    objections = tuple(text for _, text in found)
    return Report(objections, float(far_same.max()), float(far_fine.max()), gap, tension, clearance, fine, since)


def _drifts(t: Array, far: Array, most: float, text: str) -> list[tuple[float, str]]:
    if (far <= most).all():
        return []
    begins = int(np.argmax(~(far <= 0.5 * most)))
    return [(float(t[begins]), f"dynamics: {text} {1e3 * far.max():.3g} mm away")]


def _hits(t: Array, report: Check) -> list[tuple[float, str]]:
    """The first overlap at a sample, and the first between two."""
    out = [(float(t[hit.first]), f"{hit.a} is {1e3 * hit.depth:.3g} mm deep in {hit.b}") for hit in report.hits[:1]]
    ways = [(float(t[k]), f"{way.a} meets {way.b} after {t[k]:.3g} s") for k, way in (report.passages or ())[:1]]
    return out or ways


def _step(motion: Motion) -> float:
    if len(motion) < 2:
        raise MotionError("a motion of one sample moves nowhere", advice="give two samples or more")
    steps = np.diff(motion.t)
    if np.ptp(steps) > 1e-6 * steps.mean():
        raise MotionError("the samples are not evenly spaced", advice="motion.resample(dt)")
    return float(steps.mean())


def _simulated(figure: Figure, q: Array, v: ArrayLike | None, dt: float, K: Array) -> Motion:
    simulation = Simulation(figure, q, v, dt=dt)
    steps = simulation.run(K, energy=False)
    ropes = len(figure.strings) + len(figure.wires)
    tension = steps.impulse[:, :ropes] / dt
    Q = np.vstack([q, steps.q])
    return Motion.of(figure, dt * np.arange(len(Q)), Q, tension=np.vstack([tension[:1], tension]))


def _rates(motion: Motion) -> Array:
    """At the last sample, to second order."""
    q, dt = motion.q[-3:], motion.t[-1] - motion.t[-2]
    return np.asarray((1.5 * q[-1] - 2.0 * q[-2] + 0.5 * q[-3]) / dt if len(q) == 3 else (q[-1] - q[-2]) / dt)


def _apart(figure: Figure, Q: Array, Q_other: Array) -> Array:
    """How far any frame is from its twin, at every sample."""
    if len(Q) != len(Q_other):
        raise BunrakuError(f"{len(Q)} samples against {len(Q_other)}")
    a, b = (frames_along(figure, q)[:, :, :3, 3] for q in (Q, Q_other))
    return np.asarray(np.linalg.norm(a - b, axis=2).max(1))


def _gaps(figure: Figure, Q: Array) -> float:
    """The largest gap of a string, from where its points are."""
    worst = -np.inf
    for string in (*figure.strings, *figure.wires):
        points = _path(figure, Q, string.path)
        length = string.length + (0.0 if string.variable is None else string.ratio * Q[:, figure.index(string.variable)])
        gap = np.linalg.norm(np.diff(points, axis=1), axis=2).sum(1) - length
        worst = max(worst, float((gap if string.pulls_only else np.abs(gap)).max()))
    return max(worst, 0.0)


def _path(figure: Figure, Q: Array, path: Iterable[Point]) -> Array:
    """The points of a string at every sample, (T, points, 3)."""
    frames = frames_along(figure, Q)
    out = []
    for at in path:
        if at.frame == WORLD:
            out.append(np.tile(at.position, (len(Q), 1)))
            continue
        X = frames[:, figure.frame_index[at.frame]]
        out.append(X[:, :3, :3] @ np.asarray(at.position, float) + X[:, :3, 3])
    return np.stack(out, 1)


def pierced(figure: Figure, scene: Scene, Q: Array) -> Iterator[tuple[int, str]]:
    """Strings that pass through obstacles, drawn straight, by coal: the first sample, and which."""
    solids = [(o.name, solid(o.geometry), o) for o in scene.obstacles if not isinstance(o.geometry, Plane | Heightfield)]
    for string in (*figure.strings, *figure.wires):
        points = _path(figure, Q, string.path)
        for obstacle, shape, o in solids:
            still = coal.Transform3s(*_parts(se3.pose(o.position, o.rotation)))
            k = next((k for k, row in enumerate(points) if _pierced(row, shape.coal, still)), None)
            if k is not None:
                yield k, f"the string {string.name} passes through {obstacle}"


def _parts(X: Array) -> tuple[Array, Array]:
    return X[:3, :3], X[:3, 3]


def _pierced(points: Array, shape: object, still: object) -> bool:
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    for a, b in pairwise(points):
        length = float(np.linalg.norm(b - a))
        if length < 1e-9:
            continue
        z = (b - a) / length
        x = np.cross(z, [0.0, 1.0, 0.0] if abs(z[0]) > 0.9 else [1.0, 0.0, 0.0])
        x /= np.linalg.norm(x)
        X = coal.Transform3s(np.column_stack([x, np.cross(z, x), z]), 0.5 * (a + b))
        result.clear()
        if coal.collide(coal.Capsule(THREAD, length), X, shape, still, request, result):
            return True
    return False


def _beyond(motion: Motion, limits: Limits, dt: float) -> list[str]:
    """The kinematic variables against their limits; the figure's own are looked at for all variables."""
    figure, K = motion.figure, motion.q[:, motion.figure.n_dynamic :]
    speed = np.abs(np.diff(K, axis=0)) / dt
    acceleration = np.abs(np.diff(K, 2, axis=0)) / dt**2
    values = (limits.lower - K.min(0), K.max(0) - limits.upper, speed.max(0, initial=0.0) - limits.speed,
              acceleration.max(0, initial=0.0) - limits.acceleration)  # fmt: skip
    out = []
    for what, over in zip(("below its limit", "above its limit", "too fast", "too abrupt"), values, strict=True):
        slack = 1e-6 if "limit" in what else 1e-6 / dt
        out += [f"limits: {figure.kinematic[k]} is {what} by {over[k]:.3g}" for k in np.flatnonzero(over > slack)]
    return out


def _outside(motion: Motion) -> list[str]:
    """Variables beyond the figure's own limits; the angles of a ball are a chart, and their limits no stops."""
    figure = motion.figure
    chart = {name for group in figure.groups for name in group.frames}
    carrier = {f.variable.name: f.name for f in figure.frames if f.variable is not None}
    out = []
    for k, variable in enumerate(figure.variables):
        if carrier.get(variable.name) in chart:
            continue
        low, high = float(motion.q[:, k].min()), float(motion.q[:, k].max())
        if low < variable.lower - ROUNDING or high > variable.upper + ROUNDING:
            ends = f"{variable.lower:.4g} … {variable.upper:.4g}"
            out.append(f"limits: {variable.name} goes from {low:.4g} to {high:.4g}, beyond {ends}")
    return out
