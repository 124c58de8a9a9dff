"""A judge of climbs that shares no kinematics, no distances and no differences with the code that makes them.

Frames come from the description of the figure by homogeneous transforms; distances to the slabs are signed distances of capsules to
boxes, found by a search along the capsule (the signed distance to a convex body is a convex function along a segment), and those to
meshes are coal's; speeds and accelerations are difference quotients. A motion is looked at `parts` times between every two samples,
where `Motion.sample` defines it.

    python -m tests.locomotion.climb.judge          # the paths of PATHS, one table
    python -m tests.locomotion.climb.judge wall     # one of them
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, field

import numpy as np

from bunraku.figure.shape import Box, Capsule, Mesh, Sphere


def rotation(q):
    """The matrix of a unit quaternion wxyz."""
    w, x, y, z = q
    return np.array([
        [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
        [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
        [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
    ])  # fmt: skip


def turned(axis, angle):
    """Rotations (T, 3, 3) about an axis by angles (T,), by Rodrigues' formula."""
    a = np.asarray(axis, float) / np.linalg.norm(axis)
    K = np.array([[0, -a[2], a[1]], [a[2], 0, -a[0]], [-a[1], a[0], 0]])
    s, c = np.sin(angle)[:, None, None], np.cos(angle)[:, None, None]
    return np.eye(3) + s * K + (1 - c) * (K @ K)


def frames_of(figure, Q):
    """Rotation (T, 3, 3) and position (T, 3) of every frame by name."""
    column = {name: k for k, name in enumerate(figure.names)}
    T = len(Q)
    found = {"world": (np.broadcast_to(np.eye(3), (T, 3, 3)), np.zeros((T, 3)))}
    for frame in figure.frames:
        R, p = found[frame.parent]
        p = p + R @ np.asarray(frame.position)
        R = R @ rotation(frame.rotation)
        v = frame.variable
        if v is not None and v.motion == "rotate":
            R = R @ turned(v.axis, Q[:, column[v.name]])
        elif v is not None and v.motion == "translate":
            p = p + np.einsum("tij,j->ti", R, v.axis) * Q[:, column[v.name], None]
        found[frame.name] = (R, p)
    return found


def ends_of(shape, frames):
    """Both ends (T, 3) of the segment inside a capsule or sphere, and its radius; other shapes are refused."""
    geometry = shape.geometry
    assert isinstance(geometry, Capsule | Sphere), f"the judge knows capsules and spheres, not {geometry}"
    half = np.array([0, 0, geometry.length / 2]) if isinstance(geometry, Capsule) else np.zeros(3)
    R, p = frames[shape.frame]
    own, at = rotation(shape.rotation), np.asarray(shape.position)
    return p + R @ (at - own @ half), p + R @ (at + own @ half), geometry.radius


def box_distance(x, half):
    """Signed distance of points (..., 3) from a box about the origin: negative inside."""
    out = np.abs(x) - half
    return np.linalg.norm(np.maximum(out, 0.0), axis=-1) + np.minimum(out.max(-1), 0.0)


def lowest_along(f, shape, rounds=30):
    """The smallest value of a convex function of [0, 1], for many at once, by golden sections; the ends count."""
    low, high, ratio = np.zeros(shape), np.ones(shape), (math.sqrt(5) - 1) / 2
    a, b = high - ratio * (high - low), low + ratio * (high - low)
    fa, fb = f(a), f(b)
    best = np.minimum(np.minimum(f(low), f(high)), np.minimum(fa, fb))
    for _ in range(rounds):
        left = fa <= fb
        high, low = np.where(left, b, high), np.where(left, low, a)
        new = np.where(left, high - ratio * (high - low), low + ratio * (high - low))
        value = f(new)
        a, b, fa, fb = np.where(left, new, b), np.where(left, a, new), np.where(left, value, fb), np.where(left, fa, value)
        best = np.minimum(best, value)
    return best


def above(a, b, radius, boxes, within=0.0125):
    """Signed distance (T,) of capsules from the nearest of some boxes; exact below `within` [m], else a lower bound."""
    out = np.full(len(a), np.inf)
    half = np.linalg.norm(b - a, axis=1) / 2 + radius
    for R, p, size in boxes:
        x, y = (a - p) @ R, (b - p) @ R
        rough = box_distance((x + y) / 2, size) - half
        out = np.minimum(out, np.where(rough > within, rough, np.inf))
        near = np.flatnonzero(rough <= within)
        if len(near):
            s, d = x[near], y[near] - x[near]
            exact = lowest_along(lambda w, s=s, d=d, size=size: box_distance(s + w[:, None] * d, size), len(near)) - radius
            out[near] = np.minimum(out[near], exact)
    return out


def boxes_of(scene):
    found = []
    for obstacle in scene.obstacles:
        assert isinstance(obstacle.geometry, Box)
        found.append((rotation(obstacle.rotation), np.asarray(obstacle.position), np.asarray(obstacle.geometry.size) / 2))
    return found


class JudgedMesh:
    """The triangles of a mesh obstacle, for coal, which shares no code with bunraku's distances from capsules to meshes."""

    def __init__(self, obstacle):
        import coal
        import trimesh

        mesh = trimesh.load(obstacle.geometry.file, force="mesh", process=False)
        mesh.apply_scale(obstacle.geometry.scale)
        assert tuple(obstacle.position) == (0, 0, 0)
        self.mesh, self.coal, self.model = mesh, coal, coal.BVHModelOBBRSS()
        self.model.beginModel(len(mesh.faces), 3 * len(mesh.faces))
        for corners in mesh.triangles:
            self.model.addTriangle(*corners)
        self.model.endModel()

    def windings(self, x):
        """How often the surface winds around a point: the sum of the solid angles of its triangles, over 4π."""
        a, b, c = np.moveaxis(self.mesh.triangles - x, 1, 0)
        la, lb, lc = (np.linalg.norm(v, axis=1) for v in (a, b, c))
        volume = (a * np.cross(b, c)).sum(1)
        return float(
            2
            * np.arctan2(volume, la * lb * lc + (a * b).sum(1) * lc + (b * c).sum(1) * la + (c * a).sum(1) * lb).sum()
            / (4 * np.pi)
        )

    def above(self, a, b, radius, within=0.0125):
        """Distance (T,) of capsules that begin outside; exact below `within` [m], else a lower bound. A capsule that crosses the
        surface has a distance of at most zero, and none gets inside without crossing it: samples are close together."""
        coal, length = self.coal, float(np.linalg.norm(b[0] - a[0]))
        shape = coal.Capsule(radius, length) if length > 1e-9 else coal.Sphere(radius)
        assert self.windings((a[0] + b[0]) / 2) < 0.5, "a part begins inside"
        moved = np.maximum(np.linalg.norm(np.diff(a, axis=0), axis=1), np.linalg.norm(np.diff(b, axis=0), axis=1))
        still, request, out, bound = coal.Transform3s(), coal.DistanceRequest(), np.empty(len(a)), -math.inf
        for t in range(len(a)):
            bound -= float(moved[t - 1]) if t else 0.0
            if bound <= within:
                z = (b[t] - a[t]) / length if length > 1e-9 else np.array([0.0, 0.0, 1.0])
                x = np.cross(z, [1.0, 0, 0] if abs(z[0]) < 0.7 else [0, 1.0, 0])
                x /= np.linalg.norm(x)
                pose = coal.Transform3s(np.stack([x, np.cross(z, x), z], 1), (a[t] + b[t]) / 2)
                result = coal.DistanceResult()
                bound = coal.distance(self.model, still, shape, pose, request, result)
            out[t] = bound
        return out


def surface_of(scene):
    """A function that tells the distances of capsules from a scene of slabs, or of one mesh."""
    if any(isinstance(obstacle.geometry, Mesh) for obstacle in scene.obstacles):
        (obstacle,) = scene.obstacles
        return JudgedMesh(obstacle).above
    boxes = boxes_of(scene)
    return lambda a, b, radius: above(a, b, radius, boxes)


def relative_turn(R, lag):
    """Angular velocity times a time (T − lag, 3) between rotations (T, 3, 3) `lag` samples apart, in the moving frame."""
    D = np.swapaxes(R[:-lag], 1, 2) @ R[lag:]
    c = np.clip((np.trace(D, axis1=1, axis2=2) - 1) / 2, -1, 1)
    w = np.stack([D[:, 2, 1] - D[:, 1, 2], D[:, 0, 2] - D[:, 2, 0], D[:, 1, 0] - D[:, 0, 1]], 1)
    s = np.linalg.norm(w, axis=1) / 2
    angle = np.arctan2(s, c)
    return w * np.where(s > 1e-9, angle / np.maximum(2 * s, 1e-300), 0.5)[:, None]


@dataclass
class Roughness:
    """Accelerations: the largest, and the integral over time of their sum over joints, ankles or points of the trunk."""

    joints: tuple[float, float]  # rad/s², rad/s
    ankles: tuple[float, float]  # rad/s², rad/s
    trunk: tuple[float, float]  # m/s², m/s

    def against(self, other):
        return {
            name: tuple(
                100 * (a / b - 1) if b else math.nan for a, b in zip(getattr(self, name), getattr(other, name), strict=True)
            )
            for name in ("joints", "ankles", "trunk")
        }


def roughness(figure, Q, dt, *, feet, legs, trunk, joints, over=0.005):
    """Accelerations at the samples of a motion, by differences `over` 5 ms, the paper's interval. `joints` are names of variables
    with motors; an ankle turns between `legs` and `feet`, whatever the angles that describe it."""
    frames = frames_of(figure, Q)
    lag = round(over / dt)
    assert abs(lag * dt - over) < 1e-9
    square = (lag * dt) ** 2
    column = [figure.names.index(name) for name in joints]
    ankles = []

    def second(x):
        return (x[2 * lag :] - 2 * x[lag:-lag] + x[: -2 * lag]) / square

    q = np.abs(second(Q[:, column]))
    for foot, leg in zip(feet, legs, strict=True):
        turn = relative_turn(np.swapaxes(frames[leg][0], 1, 2) @ frames[foot][0], lag)
        ankles.append(np.linalg.norm(turn[lag:] - turn[:-lag], axis=1) / square)
    points = [np.linalg.norm(second(frames[name][1]), axis=1) for name in trunk]

    def both(values):
        values = np.asarray(values)
        return float(values.max()), float(values.sum() * dt)

    return Roughness(both(q), both(ankles), both(points))


@dataclass
class Verdict:
    """What a climb looks like from outside [mm, mm/s, ...]."""

    landing: float  # fastest foot within one sample of the time at which it comes to rest or leaves its place, mm/s
    early: float  # fastest foot one sample earlier or later than that, mm/s
    slip: float  # largest way of a standing foot from its first place, mm
    hover: tuple[float, float]  # lowest and highest standing foot over the surface, mm
    clearance: dict = field(default_factory=dict)  # least distance from the surface by group of shapes, mm
    inside: int = 0  # samples in which anything is in the surface
    selves: float = math.inf  # least distance of two parts that are not neighbours, mm
    ours: Roughness | None = None
    paper: Roughness | None = None
    angles: float = 0.0  # largest excess of any variable over its limits, rad
    lean: float = 0.0  # largest angle between a lower leg and the normal of its foot, deg


def link_of(figure, frame, holders, parent):
    """The nearest frame at or above `frame` that moves by itself and holds shapes."""
    while frame not in holders:
        frame = parent[frame]
    return frame


def own_distance(figure, frames):
    """Least distance [m] between shapes of links that are not neighbours."""
    moving = {f.name: f.variable is not None for f in figure.frames}
    parent = {f.name: f.parent for f in figure.frames}

    def carrier(name):
        while name != "world" and not moving[name]:
            name = parent[name]
        return name

    shapes = [s for s in figure.shapes if s.collides]
    links = {carrier(s.frame) for s in shapes}

    def above_of(link):
        name = parent[link]
        while name != "world" and carrier(name) not in links:
            name = parent[carrier(name)]
        return carrier(name)

    up = {link: above_of(link) for link in links}
    segments = {}
    for s in shapes:
        segments.setdefault(carrier(s.frame), []).append(ends_of(s, frames))
    best, names = math.inf, sorted(links)
    for i, one in enumerate(names):
        for two in names[i + 1 :]:
            if up[one] == two or up[two] == one:
                continue
            for a, b, r in segments[one]:
                for c, d, s in segments[two]:
                    gap = np.linalg.norm((a + b - c - d) / 2, axis=1) - r - s
                    gap -= (np.linalg.norm(b - a, axis=1) + np.linalg.norm(d - c, axis=1)) / 2
                    near = np.flatnonzero(gap < min(best, 0.01))
                    if len(near):
                        best = min(best, float((between(a[near], b[near], c[near], d[near]) - r - s).min()))
    return best


def between(a, b, c, d):
    """Distances (T,) of segments a–b and c–d: the distance of a point of one from the other is convex along it."""

    def from_other(w):
        x = a + w[:, None] * (b - a)
        along = d - c
        size = np.maximum((along**2).sum(1), 1e-30)
        u = np.clip(((x - c) * along).sum(1) / size, 0, 1)
        return np.linalg.norm(x - c - u[:, None] * along, axis=1)

    return lowest_along(from_other, len(a))


def stances(p, size=1.0):
    """First and last samples of every time in which a foot at p (T, 3) stays within 0.5 µm of one place for ten samples or more;
    of a climber `size` times as large as the gecko, within so many times as much."""
    found, k = [], 0
    while k < len(p) - 10:
        place = p[k + 5]
        near = np.linalg.norm(p - place, axis=1) < 5e-7 * size
        if near[k + 1 : k + 10].all():
            first = last = k + 5
            while first > 0 and near[first - 1]:
                first -= 1
            while last < len(p) - 1 and near[last + 1]:
                last += 1
            found.append((first, last))
            k = last + 1
        else:
            k += 1
    return found


LEGS = ("front_left", "front_right", "rear_left", "rear_right")


def judge(done, *, parts=2, paper=None, legs=LEGS, ankle="elbow", trunk=("neck", "waist", "bottom"), selves=True, size=1.0):
    """The verdict on a climb: a result with a motion, a scene, and the swings that it says it has. `size` is as in `stances`."""
    motion, figure = done.motion, done.motion.figure
    dt = float(motion.t[1] - motion.t[0])
    fine = np.linspace(motion.t[0], motion.t[-1], parts * (len(motion) - 1) + 1)
    Q = motion.sample(fine)
    frames = frames_of(figure, Q)
    heights = surface_of(done.scene)
    clearance, feet_over = {}, {leg: np.full(len(fine), np.inf) for leg in legs}
    for shape in figure.shapes:
        if not shape.collides:
            continue
        height = heights(*ends_of(shape, frames))
        foot = next((leg for leg in legs if shape.frame == f"{leg}_foot"), None)
        if foot:
            feet_over[foot] = np.minimum(feet_over[foot], height)
        group = "feet" if foot else shape.name if shape.name in ("tail", "lower_leg", "ankle", "upper_leg", "elbow") else "trunk"
        clearance[group] = np.minimum(clearance.get(group, np.inf), height)
    inside = int((np.minimum.reduce(list(clearance.values())) < 0).sum())
    landing = slip = early = 0.0
    lowest, highest = math.inf, -math.inf
    for leg in legs:
        p = frames[f"{leg}_foot"][1]
        speed = (
            np.linalg.norm(np.diff(p, axis=0), axis=1).reshape(-1, parts).max(1) * parts / dt
        )  # fastest in each interval of samples
        for first, last in stances(p[::parts], size):
            still = slice(parts * first, parts * last + 1)
            slip = max(slip, float(np.linalg.norm(p[still] - p[parts * first], axis=1).max()))
            lowest, highest = min(lowest, float(feet_over[leg][still].min())), max(highest, float(feet_over[leg][still].max()))
            if first > 0:
                landing = max(landing, float(speed[first - 1 : first + 1].max()))
                early = max(early, float(speed[max(first - 2, 0)]))
            if last < len(speed):
                landing = max(landing, float(speed[last - 1 : last + 1].max()))
                early = max(early, float(speed[min(last + 1, len(speed) - 1)]))
    joints = [f.name for f in figure.variables[6:] if not any(f.name.startswith(f"{leg}_foot_") for leg in legs)]
    parts_of = {
        "feet": [f"{leg}_foot" for leg in legs],
        "legs": [f"{leg}_{ankle}" for leg in legs],
        "trunk": trunk,
        "joints": joints,
    }
    lean = 0.0
    for foot, leg in zip(parts_of["feet"], parts_of["legs"], strict=True):
        along = frames[leg][1] - frames[foot][1]
        up = (along * frames[foot][0][:, :, 2]).sum(1) / np.linalg.norm(along, axis=1)
        lean = max(lean, float(np.degrees(np.arccos(up.min()))))
    lower, upper = (np.asarray(x) for x in figure.limits)
    beyond = np.maximum(lower - Q, Q - upper)[:, 6:].max()
    rough = roughness(figure, motion.q, dt, **parts_of, over=0.005 * math.sqrt(size))
    return Verdict(
        1e3 * landing, 1e3 * early,
        1e3 * slip, (1e3 * lowest, 1e3 * highest), {k: 1e3 * float(v.min()) for k, v in clearance.items()}, inside,
        1e3 * own_distance(figure, frames) if selves else math.nan, rough,
        None if paper is None else roughness(figure, paper, 0.005, **parts_of), float(max(beyond, 0.0)), lean,
    )  # fmt: skip


def told(name, done, verdict, seconds):
    print(f"== {name}: {str(done.outcome).splitlines()[0]}; {len(done.motion)} samples, {seconds:.1f} s")
    low, high = verdict.hover
    print(
        f"   landing {verdict.landing:.2f} mm/s ({verdict.early:.1f} a sample away)  slip {verdict.slip:.4f} mm"
        f"  soles {low:.4f} to {high:.4f} mm over the surface"
    )
    print(
        "   clearance [mm] "
        + "  ".join(f"{k} {v:.3f}" for k, v in verdict.clearance.items())
        + f"; samples inside {verdict.inside}"
    )
    print(
        f"   itself {verdict.selves:.2f} mm; lean {verdict.lean:.1f} deg; beyond limits {verdict.angles:.4f} rad; "
        f"reported clearance {1e3 * done.clearance.min():.3f} mm, legs {1e3 * done.leg_clearance.min():.3f}"
    )
    change = verdict.ours.against(verdict.paper)
    for kind in ("joints", "ankles", "trunk"):
        (m, s), (pm, ps), (cm, cs) = getattr(verdict.ours, kind), getattr(verdict.paper, kind), change[kind]
        print(f"   {kind:7s} peak {m:8.2f} against {pm:8.2f} ({cm:+6.1f} %)   sum {s:8.1f} against {ps:8.1f} ({cs:+6.1f} %)")
    adhesion = done.adhesion.adhesion
    print(f"   adhesion {adhesion.max():.3f}", flush=True)


def main(names):
    import time

    from bunraku.locomotion.climb.climb import climb
    from tests.locomotion.climb.paths import PATHS, paper_of

    rows = []
    for name in names or PATHS:
        start = time.process_time()
        done = climb(PATHS[name])
        seconds = time.process_time() - start
        verdict = judge(done, paper=paper_of(done))
        told(name, done, verdict, seconds)
        rows.append(row_of(name, done, verdict))
    print("\n".join(rows))


def row_of(name, done, verdict):
    """A row of the table in docs/climbing.md."""
    body = min(v for k, v in verdict.clearance.items() if k not in ("feet", "lower_leg", "ankle", "elbow"))
    change = verdict.ours.against(verdict.paper)
    percent = " | ".join(f"{round(x):+d} %".replace("-", "−") for kind in ("joints", "ankles", "trunk") for x in change[kind])
    return (
        f"| {name} | {verdict.landing:.2f} | {verdict.lean:.0f}° | {verdict.inside} | {1e3 * done.clearance.min():.2f} "
        f"| {body:.2f} | {verdict.selves:.1f} | {percent} |"
    )


if __name__ == "__main__":
    main(sys.argv[1:])
