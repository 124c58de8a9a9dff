"""recheck: verifies a motion independently of the planners.

The inputs of the motion (its kinematic variables) are simulated again, with the time step of the motion and with a finer one. Both
simulations, and the straight lines between their samples, must be free of collisions. Strings must not pass through obstacles, must
not exceed their wound length, and must not push. Limits must hold.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from bunraku.collision import CollisionReport, World
from bunraku.collision.coal_extra import coal, has_coal
from bunraku.collision.coal_shapes import solid
from bunraku.dynamics import Simulation
from bunraku.errors import BunrakuError, MotionError
from bunraku.figure import Figure
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.ways import lengths_along, ways_along, wound_along
from bunraku.motion import Motion
from bunraku.planning.objection import Objection, Verdict, sorted_by_time
from bunraku.planning.strings.hand_limits import HandLimits
from bunraku.scene import Heightfield, Plane, Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class PlanRecheckOptions:
    """Tolerances of the rechecker."""

    parts: int = 4
    """Steps of the finer simulation for each step of the motion."""
    repeat_error: float = 1e-4
    """Largest deviation of a frame when the same inputs are simulated with the same step [m]."""
    finer_error: float = 0.03
    """Largest deviation of a frame when the same inputs are simulated with the finer step [m]."""
    gap: float = 1e-3
    """Largest amount by which a string may be too short for the distance that it spans [m]."""
    push: float = 1e-6
    """Largest force with which a string may push [N]."""
    thread: float = 5e-4
    """Radius of a string in the test against obstacles [m]: half of that in the planners."""
    rounding: float = 1e-6
    """Largest violation of a limit [m or rad]; divided by dt for limits of speed and acceleration."""


@dataclass(frozen=True, eq=False, repr=False)
class PlanVerdict(Verdict):
    """The rechecker's measurements and objections, earliest objection first."""

    objections: tuple[Objection, ...]
    repeat_error: float
    """Largest deviation of a frame when the same inputs are simulated with the same step [m]."""
    finer_error: float
    """Largest deviation of a frame when the same inputs are simulated with the finer step [m]."""
    gap: float
    """Largest amount by which a string is too short, in the motion and its finer simulation [m]."""
    tension: float
    """Smallest tension of a string [N]."""
    clearance: float
    """Smallest distance of any pair, in the motion and its finer simulation [m]."""
    fine: Motion
    """The simulation with the finer step."""
    unjudged: str = ""
    """What could not be checked, and why."""

    def numbers(self) -> str:
        """The measured numbers, in one line."""
        return (
            f"repeated to {1e3 * self.repeat_error:.2g} mm, with a finer step to {1e3 * self.finer_error:.2g} mm; "
            f"strings to {1e3 * self.gap:.2g} mm; {1e3 * self.clearance:.3g} mm clear"
            f"{'; not judged: ' + self.unjudged if self.unjudged else ''}"
        )


def recheck(
    motion: Motion, scene: Scene, *, limits: HandLimits | None = None, goal: Callable[[Figure, Array, Array], bool] | None = None,
    allowed: Iterable[tuple[str, str]] = (), v: ArrayLike | None = None, options: PlanRecheckOptions = PlanRecheckOptions(),
) -> PlanVerdict:  # fmt: skip
    """Checks a motion of one figure by simulating its inputs again.

    motion: motion of one figure on strings, with evenly spaced samples.
    scene: the obstacles.
    limits: limits of its kinematic variables; None checks the figure's own limits only.
    goal: `goal(figure, q, v)` is called at the end of the motion and of its finer simulation; None checks no goal.
    allowed: pairs of names of frames and obstacles that may touch.
    v: rates of the variables at the start [m/s or rad/s]; None starts at rest.
    options: tolerances.
    Returns measurements and objections; raises MotionError if there are fewer than two samples or they are unevenly spaced.
    """
    figure, dt, parts = motion.figure, _step(motion), options.parts
    K = motion.q[:, figure.n_dynamic :]
    again = _simulated(figure, motion.q[0], v, dt, K[1:])
    times = motion.t[0] + dt / parts * np.arange(1, parts * (len(motion) - 1) + 1)
    K_fine = CubicSpline(motion.t, K, bc_type="clamped" if v is None else "not-a-knot")(times)
    fine = _simulated(figure, motion.q[0], v, dt / parts, K_fine)
    repeat_error, finer_error = _apart(figure, motion.q, again.q), _apart(figure, motion.q, fine.q[::parts])
    found = _drifts(motion.t, repeat_error, options.repeat_error, "the same inputs lead")
    found += _drifts(motion.t, finer_error, options.finer_error, f"with a step of {1e3 * dt / parts:.3g} ms the inputs lead")
    world, clearance = World(figure, scene, allowed=allowed), np.inf
    both = (("the motion", motion), ("the finer motion", fine))
    for name, one in both:
        report = world.check(one, between=True)
        clearance = min(clearance, report.least)
        found += _hits(name, one.t, report)
        for k, what in pierced(figure, scene, one.q, thread=options.thread) if has_coal() else ():
            found.append(Objection("collision", f"in {name}, {what}", float(one.t[k]), np.nan))
    if limits is not None:
        found += _beyond(motion, limits, dt, options.rounding)
    found += _outside(motion, options.rounding)
    gaps = [_gaps(figure, one.q) for one in (motion, fine)]
    for one, gap in zip((motion, fine), gaps, strict=True):
        found += _over(one.t, gap, options.gap, "strings", "one is {:.3g} mm too short", scale=1e3)
    pulls = [(one.t, one.tension.min(1, initial=np.inf)) for one in (motion, again, fine) if one.tension is not None]
    for t, least in pulls:
        found += _over(t, -least, options.push, "strings", "one pushes with {:.3g} N")
    if goal is not None:
        for name, one in both:
            if not goal(figure, one.q[-1], _rates(one)):
                found.append(Objection("goal", f"{name} does not end in it", float(motion.t[-1]), np.nan))
    return PlanVerdict(
        sorted_by_time(found), float(repeat_error.max()), float(finer_error.max()), max(float(gap.max()) for gap in gaps),
        min(float(least.min()) for _, least in pulls), clearance, fine,
        "" if has_coal() else "strings that pass through obstacles (coal is not installed: pip install 'bunraku[coal]')",
    )  # fmt: skip


def _over(t: Array, values: Array, most: float, what: str, text: str, *, scale: float = 1.0) -> list[Objection]:
    """One objection, at the first time when a value exceeds `most` or is NaN; `text` has a place for the scaled largest value."""
    over = np.flatnonzero(~(values <= most))
    worst = float(values.max(initial=-np.inf))
    return [Objection(what, text.format(scale * worst), float(t[over[0]]), worst)] if len(over) else []


def _drifts(t: Array, far: Array, most: float, text: str) -> list[Objection]:
    """An objection if a deviation exceeds `most`; it is dated to when the deviation first exceeded half of that."""
    if (far <= most).all():
        return []
    begins = int(np.argmax(~(far <= 0.5 * most)))
    return [Objection("dynamics", f"{text} {1e3 * far.max():.3g} mm away", float(t[begins]), float(far.max()))]


def _hits(name: str, t: Array, report: CollisionReport) -> list[Objection]:
    """The first overlap at a sample, or else the first between two samples."""
    for hit in report.hits[:1]:
        text = f"in {name}, {hit.a} is {1e3 * hit.depth:.3g} mm deep in {hit.b}"
        return [Objection("collision", text, float(t[hit.first]), hit.depth)]
    for k, way in (report.passages or ())[:1]:
        text = f"in {name}, {way.a} meets {way.b} after {t[k]:.3g} s"
        return [Objection("collision", text, float(t[k]), max(-way.value, 0.0))]
    return []


def _step(motion: Motion) -> float:
    if len(motion) < 2:
        raise MotionError("a motion of one sample cannot be checked", advice="give two samples or more")
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
    """Rates at the last sample, by a second-order difference."""
    q, dt = motion.q[-3:], motion.t[-1] - motion.t[-2]
    return np.asarray((1.5 * q[-1] - 2.0 * q[-2] + 0.5 * q[-3]) / dt if len(q) == 3 else (q[-1] - q[-2]) / dt)


def _apart(figure: Figure, Q: Array, Q_other: Array) -> Array:
    """Largest distance of any frame between two motions, at every sample."""
    if len(Q) != len(Q_other):
        raise BunrakuError(f"{len(Q)} samples against {len(Q_other)}")
    a, b = (frames_along(figure, q)[:, :, :3, 3] for q in (Q, Q_other))
    return np.asarray(np.linalg.norm(a - b, axis=2).max(1))


def _gaps(figure: Figure, Q: Array) -> Array:
    """By how much the worst string is too short at each sample [m], from the positions of its points."""
    worst = np.zeros(len(Q))
    gaps = lengths_along(figure, Q) - wound_along(figure, Q)
    for string, gap in zip((*figure.strings, *figure.wires), gaps.T, strict=True):
        if not string.elastic:
            worst = np.maximum(worst, gap if string.pulls_only else np.abs(gap))
    return worst


def pierced(figure: Figure, scene: Scene, Q: Array, *, thread: float) -> Iterator[tuple[int, str]]:
    """Strings of the `figure` that pass through obstacles of the `scene` at configurations `Q` (T, n_q), according to coal.

    Strings run straight and over their pulleys, and have the radius `thread` [m]. Yields the first sample, and which string.
    """
    solids = [(o.name, solid(o.geometry), o) for o in scene.obstacles if not isinstance(o.geometry, Plane | Heightfield)]
    for string in (*figure.strings, *figure.wires):
        ways = ways_along(figure, Q, string)
        for obstacle, shape, o in solids:
            still = coal.Transform3s(*_parts(se3.pose(o.position, o.rotation)))
            pierced = (any(_pierced(one.points, shape.coal, still, thread) for one in way) for way in ways)
            k = next((k for k, hit in enumerate(pierced) if hit), None)
            if k is not None:
                yield k, f"the string {string.name} passes through {obstacle}"


def _parts(X: Array) -> tuple[Array, Array]:
    return X[:3, :3], X[:3, 3]


def _pierced(points: Array, shape: object, still: object, thread: float) -> bool:
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
        if coal.collide(coal.Capsule(thread, length), X, shape, still, request, result):
            return True
    return False


def _beyond(motion: Motion, limits: HandLimits, dt: float, rounding: float) -> list[Objection]:
    """Checks the kinematic variables against the limits that the planner was given."""
    figure, K = motion.figure, motion.q[:, motion.figure.n_dynamic :]
    speed = np.abs(np.diff(K, axis=0)) / dt
    acceleration = np.abs(np.diff(K, 2, axis=0)) / dt**2
    checks = (
        ("below its limit", limits.lower - K, rounding), ("above its limit", K - limits.upper, rounding),
        ("too fast", speed - limits.speed, rounding / dt), ("too abrupt", acceleration - limits.acceleration, rounding / dt),
    )  # fmt: skip
    out = []
    for text, over, most in checks:
        for k, name in enumerate(figure.kinematic):
            out += _over(motion.t, over[:, k], most, "limits", f"{name} is {text} by {{:.3g}}")
    return out


def _outside(motion: Motion, rounding: float) -> list[Objection]:
    """Checks the figure's own limits. Ball joints are skipped: their angles are local coordinates, whose limits are not stops."""
    figure = motion.figure
    chart = {name for group in figure.groups for name in group.frames}
    carrier = {f.variable.name: f.name for f in figure.frames if f.variable is not None}
    out = []
    for k, variable in enumerate(figure.variables):
        if carrier.get(variable.name) not in chart:
            q = motion.q[:, k]
            ends = f"goes from {q.min():.4g} to {q.max():.4g}, beyond {variable.lower:.4g} … {variable.upper:.4g}"
            beyond = np.maximum(variable.lower - q, q - variable.upper)
            out += _over(motion.t, beyond, rounding, "limits", f"{variable.name} {ends}")
    return out
