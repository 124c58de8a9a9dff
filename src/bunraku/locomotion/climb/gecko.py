"""The gecko as the gait needs it, and the paper's gait: whole-body increments that keep the feet on their footholds.

In the paper the triangle of three standing feet is the fixed frame (eq. 1–5). Here the body is a free frame instead, all four feet
are constraints (including the loop closure of eq. 7–11), and moving the body costs nothing. The null space is the same, with 13
dimensions, and no joint is singled out as dependent.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.coal_shapes import solid
from bunraku.figure.figure import Figure
from bunraku.kinematics import frames_along, pose
from bunraku.locomotion.climb.any_course import AnyCourse
from bunraku.locomotion.climb.climber_roles import GECKO_ROLES, ClimberRoles
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.footholds import LegShape
from bunraku.locomotion.climb.gecko_kernels import GeckoPoints, walk
from bunraku.locomotion.climb.smooth_kernels import NearBalls
from bunraku.motion.orientation import zyx_along
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball of a shape, fixed to the joint `carrier`; `end`: at an end of a capsule, `alone`: a sphere."""

    shape: str
    frame: str
    carrier: int
    local: Array
    radius: float
    end: bool
    alone: bool


def _columns(balls: list[Ball]) -> tuple[NDArray[np.int64], Array, Array]:
    carrier = np.array([b.carrier for b in balls], np.int64)
    return carrier, np.array([b.local for b in balls]).reshape(-1, 3), np.array([b.radius for b in balls], float)


@dataclass(frozen=True, eq=False)
class Gecko:
    """A figure that climbs: its moving parts by their `roles`, the points fixed to them, and its dimensions [m]."""

    figure: Figure
    roles: ClimberRoles = GECKO_ROLES

    def __post_init__(self) -> None:
        self.roles.check(self.figure)

    @property
    def trunk(self) -> tuple[str, ...]:
        """Frames of the body whose heights and positions the gait follows, front to back."""
        return self.roles.trunk

    @cached_property
    def ankles(self) -> tuple[tuple[int, ...], ...]:
        """For every foot that turns freely on a ball joint, the indices of its three variables."""
        return self.roles.ankles(self.figure)

    @property
    def n_ankles(self) -> int:
        """Number of ankles: one for each foot, or none."""
        return len(self.ankles)

    @cached_property
    def tail(self) -> NDArray[np.int64]:
        """Indices of the variables of the tail."""
        return np.array([self.figure.names.index(name) for name in self.roles.tail], np.int64)

    @cached_property
    def active(self) -> NDArray[np.int64]:
        """Indices of the variables of the motors that move body and legs: all but ankles and tail."""
        others = {*range(6), *(k for ankle in self.ankles for k in ankle), *self.tail.tolist()}
        return np.array([k for k in range(self.figure.n_q) if k not in others])

    @cached_property
    def start(self) -> Array:
        """The standing configuration (n_q,)."""
        return np.asarray(self.figure.start, float)

    @cached_property
    def holders(self) -> tuple[str, ...]:
        """The frame that carries each foot: the link above its ankle, or the foot itself."""
        return self.roles.holders(self.figure)

    @cached_property
    def body(self) -> GeckoPoints:
        """The points that kernels track: feet, then points of the trunk."""
        compiled, standing = self.figure.compiled, pose(self.figure, self.start)
        frames, holders = (*self.roles.feet, *self.trunk), (*self.holders, *self.trunk)
        carrier = np.array([compiled.frame_joint[self.figure.frame_index[name]] for name in holders])
        local = []
        for frame, j in zip(frames, carrier, strict=True):
            X = standing.X(compiled.joint_frame[j])
            local.append(X[:3, :3].T @ (standing.X(frame)[:3, 3] - X[:3, 3]))
        column = np.full(self.figure.n_q, -1)
        column[:6], column[self.active] = np.arange(6), 6 + np.arange(len(self.active))
        return GeckoPoints(compiled.tree.joints, compiled.tree.chain, carrier, np.array(local), column, self.active)

    @cached_property
    def leg_shape(self) -> LegShape | None:
        """The shape of the legs, by which footholds are chosen; None if feet are not on ankles."""
        if not self.n_ankles:
            return None
        standing = pose(self.figure, self.start)
        foot, *_, shoulder = self.roles.leg_joints(self.figure, standing)
        elbow, from_body = standing.X(self.holders[0])[:3, 3], shoulder - self.start[:3]
        thick = max((b.radius for b in self._balls if b.frame == self.holders[0]), default=0.0)
        upper, lower = float(np.linalg.norm(shoulder - elbow)), float(np.linalg.norm(elbow - foot))
        return LegShape(upper, lower, thick, abs(float(from_body[1])), float(from_body[2]))

    @cached_property
    def shanks(self) -> Array:
        """Unit vectors from the ankles up the links that carry the feet, in the frames of `body` (ankles, 3)."""
        standing, n = pose(self.figure, self.start), self.n_ankles
        found = []
        for foot, holder, j in zip(self.roles.feet[:n], self.holders[:n], self.body.carrier[:n], strict=True):
            along = standing.X(holder)[:3, 3] - standing.X(foot)[:3, 3]
            X = standing.X(self.figure.compiled.joint_frame[j])
            found.append(X[:3, :3].T @ along / np.linalg.norm(along))
        return np.array(found).reshape(-1, 3)

    @cached_property
    def _balls(self) -> list[Ball]:
        """Five balls along every capsule that can collide, or that contains another shape that can, and one for every sphere."""
        compiled, index = self.figure.compiled, self.figure.frame_index
        balls = []
        for shape in self.figure.shapes:
            if not shape.collides or shape.frame not in index:
                continue
            around = solid(shape.geometry)
            alone = bool(np.linalg.norm(around.end - around.start) < 1e-12)
            for along in (-1.0, -0.5, 0.0, 0.5, 1.0) if not alone else (0.0,):
                inner = (around.start + around.end) / 2.0 + along * (around.end - around.start) / 2.0
                k = index[shape.frame]
                local = compiled.frame_X[k][:3] @ [*(np.asarray(shape.position) + so3.matrix(shape.rotation) @ inner), 1.0]
                joint, end = int(compiled.frame_joint[k]), abs(along) == 1.0
                balls.append(Ball(shape.name, shape.frame, joint, local, around.radius, end, alone))
        return balls

    @cached_property
    def _tail_frames(self) -> set[str]:
        """Frames that the tail carries."""
        found: set[str] = set()
        for frame in self.figure.frames:
            if frame.parent in found or (frame.variable is not None and frame.variable.name in self.roles.tail):
                found.add(frame.name)
        return found

    @cached_property
    def skin(self) -> tuple[GeckoPoints, Array, NDArray[np.bool_]]:
        """Centres (for kernels) and radii [m] of balls along all but feet and tail; and which are of links that end in feet.

        The end of a link at its foot is left out: its height is that of the foot.
        """
        n, thick = len(self.roles.feet), float(self.soles[1].max()) if not self.n_ankles else 0.0
        feet = list(zip(self.body.carrier[:n].tolist(), self.body.local[:n], strict=True))

        def at_foot(b: Ball) -> bool:
            return any(b.carrier == j and np.linalg.norm(b.local - x) < 1e-9 + thick for j, x in feet)

        off = self._tail_frames | set(self.roles.feet)
        balls = [b for b in self._balls if b.frame not in off and not at_foot(b)]
        carrier, local, radius = _columns(balls)
        kept = [k for k in range(len(balls)) if not _inside(k, carrier, local, radius)]
        near = np.isin(carrier, self.body.carrier[: len(self.roles.feet)])
        return self.body._replace(carrier=carrier[kept], local=local[kept]), radius[kept], near[kept]

    @cached_property
    def soles(self) -> tuple[Array, Array]:
        """Balls that fill each foot: centres relative to the foot, in its axes (feet, balls, 3), and radii (feet, balls) [m]."""
        standing, found = pose(self.figure, self.start), []
        for foot in self.roles.feet:
            X, own = standing.X(foot), []
            for b in self._balls:
                if b.frame == foot and (b.end or b.alone):
                    x = standing.X(self.figure.compiled.joint_frame[b.carrier])
                    own.append((X[:3, :3].T @ (x[:3, :3] @ b.local + x[:3, 3] - X[:3, 3]), b.radius))
            centre, radius = np.array([x for x, _ in own]).reshape(-1, 3), np.array([r for _, r in own])
            kept = [k for k in range(len(own)) if not _inside(k, np.zeros(len(own), np.int64), centre, radius)]
            found.append([own[k] for k in kept] or [(np.zeros(3), 0.0)])
        count = max(map(len, found))
        full = [own + own[:1] * (count - len(own)) for own in found]
        return np.array([[x for x, _ in own] for own in full]), np.array([[r for _, r in own] for own in full])

    @cached_property
    def apart(self) -> NearBalls:
        """Pairs that come near when a climber bends: lower legs and trunk, two lower legs, front and hind part of the trunk.

        A ball at the end of a leg contains the foot without its toes. Pairs that overlap in the standing posture are left out.
        """
        n, standing = len(self.roles.feet), pose(self.figure, self.start)
        thick = (self.soles[1] - np.minimum(self.soles[0][..., 2], 0.0)).max(1)  # from a foot's centre down to its sole
        carrier, at = self.body.carrier[:n], self.body.local[:n]
        off = self._tail_frames | (set(self.roles.feet) if self.n_ankles else set())
        balls, group = [], []
        for b in self._balls:
            for k in np.flatnonzero(carrier == b.carrier).tolist():
                if (b.end or b.alone) and b.frame not in off and not _covered(b, self._balls):
                    inner = np.linalg.norm(b.local - at[k]) < 1e-9
                    balls.append(dataclasses.replace(b, radius=max(b.radius, 2.0 * float(thick[k]))) if inner else b)
                    group.append(k)
            for k, frame in enumerate(self.trunk):
                joint = self.figure.compiled.frame_joint[self.figure.frame_index[frame]]
                if joint == b.carrier and b.frame not in off and (b.end or b.alone) and not _covered(b, self._balls):
                    balls.append(b)
                    group.append(n + k)
        X = [standing.X(self.figure.compiled.joint_frame[b.carrier]) for b in balls]
        centre = np.array([x[:3, :3] @ b.local + x[:3, 3] for x, b in zip(X, balls, strict=True)])
        which, radius = np.array(group), np.array([b.radius for b in balls])
        first, second = np.triu_indices(len(balls), 1)
        one, two = which[first], which[second]
        gap = np.linalg.norm(centre[first] - centre[second], axis=1) - radius[first] - radius[second]
        trunk = (one >= n) & (two >= n)
        wanted = np.where(trunk, (np.abs(one - two) > 1) & (gap < 0.25 * self.measures["leg"]), one != two) & (gap > 0.0)
        return NearBalls(*_columns(balls), np.ascontiguousarray(first[wanted]), np.ascontiguousarray(second[wanted]))

    @cached_property
    def masses(self) -> tuple[GeckoPoints, Array]:
        """Centres of mass of all bodies (for kernels), and their shares of the weight."""
        compiled, index = self.figure.compiled, self.figure.frame_index
        bodies = [body for body in self.figure.bodies if body.mass > 0.0]
        carrier = np.array([compiled.frame_joint[index[body.frame]] for body in bodies])
        local = np.array([compiled.frame_X[index[body.frame]][:3] @ [*body.com, 1.0] for body in bodies])
        mass = np.array([body.mass for body in bodies])
        return self.body._replace(carrier=carrier, local=local), mass / mass.sum()

    @cached_property
    def measures(self) -> dict[str, float]:
        """Dimensions of the standing climber [m].

        height: of its reference point; front, rear: how far ahead of it the feet stand; spread: how far to the side; sole: height
        of a foot's centre when it stands; leg: length of a leg; ahead, behind: how far everything but the tail extends; foot: how
        far a foot extends ahead and behind; tail: how far the tail extends behind the reference point.
        """
        standing, feet = pose(self.figure, self.start), self.roles.feet
        foot = np.array([standing.X(name)[:3, 3] - self.start[:3] for name in feet])
        leg = self.roles.leg(self.figure, standing)
        local, radius = self.soles
        low = float(-(local[0, :, 2] - radius[0]).min())
        x: list[float] = []
        off, tail = self._tail_frames, [0.0]
        for b in self._balls:
            X = standing.X(self.figure.compiled.joint_frame[b.carrier])
            at = float((X[:3, :3] @ b.local + X[:3, 3])[0] - self.start[0])
            (tail if b.frame in off else x).extend((at - b.radius, at + b.radius))
        x += [float(a) for a in foot[:, 0]]
        return {
            "height": float(self.start[2] - standing.X(feet[0])[2, 3]) + low, "front": float(foot[:2, 0].mean()),
            "rear": float(foot[-2:, 0].mean()), "spread": float(np.abs(foot[:, 1]).mean()), "sole": low + 1e-4 * leg, "leg": leg,
            "ahead": max(x) + 0.25 * leg, "behind": -min(x) + 0.25 * leg,
            "foot": float((np.abs(local[..., 0]) + radius).max()), "tail": -min(tail),
        }  # fmt: skip

    def tail_balls(self, angles: Array) -> tuple[Array, Array, str]:
        """Balls along the tail at `angles` (k, variables): centres (k, n, 3) and radii (n,) [m] in the frame that carries it, and
        this frame's name."""
        frames = {frame.name: frame for frame in self.figure.frames}
        root = next(f.parent for f in self.figure.frames if f.variable is not None and f.variable.name == self.roles.tail[0])
        while frames[root].variable is None:
            root = frames[root].parent
        balls, out = [b for b in self._balls if b.frame in self._tail_frames and (b.end or b.alone)], []
        for angle in angles:
            q = self.start.copy()
            q[self.tail] = angle
            standing = pose(self.figure, q)
            X = standing.X(root)
            at = [standing.X(self.figure.compiled.joint_frame[b.carrier]) for b in balls]
            out.append([X[:3, :3].T @ (x[:3, :3] @ b.local + x[:3, 3] - X[:3, 3]) for x, b in zip(at, balls, strict=True)])
        return np.array(out), np.array([b.radius for b in balls]), root

    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the active joints [rad]."""
        lower, upper = self.figure.limits
        return np.asarray(lower)[self.active], np.asarray(upper)[self.active]


def _inside(k: int, carrier: NDArray[np.int64], local: Array, radius: Array) -> bool:
    """Whether ball k lies inside another ball of the same joint; of two equal balls, the later one does."""
    deep = np.linalg.norm(local - local[k], axis=1) + radius[k] <= radius + 1e-12
    rivals = np.flatnonzero((carrier == carrier[k]) & deep)
    return any(radius[i] > radius[k] or i < k for i in rivals if i != k)


def _covered(ball: Ball, balls: list[Ball]) -> bool:
    """Whether another, larger ball of the same joint contains nearly all of this one."""
    near = [b for b in balls if b.carrier == ball.carrier and b.radius > ball.radius]
    return any(np.linalg.norm(b.local - ball.local) + 0.5 * ball.radius < b.radius for b in near)


@dataclass(frozen=True)
class GaitGains:
    """α, β and γ of eq. 13 and 14; heights are measured in leg lengths."""

    alpha: float = 0.5
    """Gain α of the posture."""
    beta: float = 0.5
    """Gain β of the heights of neck, waist and bottom."""
    gamma: float = 0.05
    """Step size γ down the gradient."""


@dataclass(frozen=True, eq=False)
class Wish:
    """What the gait should follow in the null space of the feet, at each sample: planes for neck, waist and bottom (`normals`
    (T, k, 3), `heights` (T, k) [m]), and angles of the `joints` (T, n) [rad].

    There may be several planes for each point, in this order: neck, waist, bottom, neck, …
    """

    normals: Array
    heights: Array
    joints: Array

    def every(self, count: int, until: int, since: int = 0) -> Wish:
        """Every `count`-th sample from the sample `since` to before the sample `until`."""
        few = slice(since, until, count)
        return Wish(*(np.ascontiguousarray(a[few]) for a in (self.normals, self.heights, self.joints)))


def wish(
    gecko: Gecko, course: AnyCourse, feet: FootPaths, *, bend: float = 0.25, paper: bool = False, switched: bool = True
) -> Wish:
    """What a `gecko` follows along a `course`: the path of the body, and a waist that bends left and right once per cycle.

    feet: the paths of the feet; their cycle sets the pace
    bend: largest angle of the waist [rad]
    paper: follow only heights, and two postures, each for half a cycle (Fig. 4); otherwise follow the positions of
        the three points, so that the body bends in time for a corner
    switched: with `paper`, jump from one posture to the other; otherwise change smoothly
    """
    cycle = feet.cycle
    u = course.pace.at(feet.t / cycle)
    places = pose(gecko.figure, gecko.start)
    at = [float(places.X(name)[0, 3] - gecko.start[0]) for name in gecko.trunk]
    tracks = [course.body(u + x) for x in at]
    axes = (2,) if paper else (2, 0, 1)
    normals = np.stack([R[:, :, axis] for axis in axes for _, R in tracks], 1)
    heights = np.stack([np.einsum("ti,ti->t", p, R[:, :, axis]) for axis in axes for p, R in tracks], 1)
    joints = np.tile(gecko.start[gecko.active], (len(u), 1))
    yaw = [k for k, i in enumerate(gecko.active) if gecko.figure.names[i] in gecko.roles.bends]
    if paper and switched:
        joints[:, yaw] += bend * np.sign(np.sin(2.0 * np.pi * (feet.t + 1e-9) / cycle))[:, None]
    else:
        lead = np.pi / 4.0 if feet.parts > 2 else 0.0  # in a trot it bends to one side while half of the feet swing
        joints[:, yaw] += bend * np.cos(2.0 * np.pi * feet.t / cycle + lead)[:, None]
    return Wish(normals, heights, joints)


def _ease(gecko: Gecko) -> Array:
    """Inverse metric of the columns: joints have weight, the body moves almost freely, and a leg length counts as one radian."""
    out, free = np.ones(len(gecko.active) + 6), 1e4
    out[:3], out[3:6] = free * gecko.measures["leg"] ** 2, free
    return out


def stand(gecko: Gecko, course: AnyCourse, feet: FootPaths, want: Wish, *, steps: int = 400) -> tuple[Array, float]:
    """The configuration in which a `gecko` starts a `course`, and the distance of its worst foot from its foothold [m].

    It iterates the gait on the first sample of `feet` and `want` for `steps` steps. The distance is infinite if the feet are out of
    reach.
    """
    p, R = course.body(np.zeros(1))
    q = gecko.start.copy()
    q[:3], q[3:6] = p[0], so3.angles_zyx(R[0])
    start = q.copy()
    repeat = [np.repeat(a[:1], steps, 0) for a in (feet.p, want.normals, want.heights, want.joints)]
    Q, error = np.empty((steps, len(q))), np.full(steps, np.inf)
    feet_p, normals, heights, joints = repeat
    walk(gecko.body, q, feet_p, normals, heights, joints, _ease(gecko), 0.5, 0.5, 0.05, gecko.measures["leg"], 1, Q, error)
    if not np.isfinite(error[-1]):  # out of reach
        return start, np.inf
    return Q[-1], float(error[-1])


def gait(
    gecko: Gecko, q: Array, feet: FootPaths, want: Wish, *, gains: GaitGains = GaitGains(), correct: int = 1
) -> tuple[Array, Array]:  # fmt: skip
    """The paper's gait: configurations (T, n_q), and the distance of the worst foot from its foothold (T,) [m].

    gecko: the gecko
    q: the first configuration (n_q,)
    feet: the paths of the feet
    want: what the null space follows
    gains: gains of the null space
    correct: number of extra Newton steps of the feet per sample

    Both arrays are shorter than `feet` if the gait fails.
    """
    Q, error = np.empty((len(feet.t), len(q))), np.full(len(feet.t), np.inf)
    reached = walk(
        gecko.body, q.copy(), feet.p, want.normals, want.heights, want.joints, _ease(gecko), gains.alpha, gains.beta, gains.gamma,
        gecko.measures["leg"], correct, Q, error,
    )  # fmt: skip
    return Q[:reached], error[:reached]


def with_feet(gecko: Gecko, Q: Array, feet: FootPaths) -> Array:
    """Configurations `Q` of a `gecko` with its passive feet turned flat onto the surface, as in `feet`."""
    out, index = Q.copy(), gecko.figure.frame_index
    holders = [index[name] for name in gecko.holders[: gecko.n_ankles]]
    X = np.concatenate([frames_along(gecko.figure, Q[part])[:, holders, :3, :3] for part in blocks(len(Q))])
    for k, ankle in enumerate(gecko.ankles):
        out[:, ankle] = zyx_along(np.swapaxes(X[:, k], 1, 2) @ feet.R[: len(Q), k])
    return out


def blocks(count: int, size: int = 4000) -> list[slice]:
    """`count` samples as slices of at most `size`: poses of all frames at once would take gigabytes on a long path."""
    return [slice(k, min(k + size, count)) for k in range(0, count, size)]
