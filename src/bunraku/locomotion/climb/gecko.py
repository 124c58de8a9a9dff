"""The gecko as the gait needs it, and the paper's gait: whole-body increments that keep the feet on their footholds.

In the paper the triangle of three standing feet is the fixed frame (eq. 1–5). Here the body is a free frame instead, all four feet
are constraints (including the loop closure of eq. 7–11), and moving the body costs nothing. The null space is the same, with 13
dimensions, and no joint is singled out as dependent.
"""

from __future__ import annotations

import dataclasses
import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Capsule, Sphere
from bunraku.kinematics import frames_along, pose
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.footsteps import GECKO_FEET
from bunraku.locomotion.climb.gecko_kernels import GeckoPoints, walk
from bunraku.locomotion.climb.smooth_kernels import NearBalls
from bunraku.motion.orientation import zyx_along
from bunraku.spatial import so3

Array = NDArray[np.float64]
SPINE_POINTS = ("neck", "waist", "bottom")
"""Frames of the body whose heights and positions the gait follows."""
MAY_TOUCH = ("tail", "lower_leg", "pupil", "toe")
"""Shapes that may touch the climbed surface: a tail drags, and a lower leg ends in the foot."""


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball of a shape, fixed to the joint `carrier`; `end` is true for the two balls at the ends of a capsule."""

    shape: str
    frame: str
    carrier: int
    local: Array
    radius: float
    end: bool


def _columns(balls: list[Ball]) -> tuple[NDArray[np.int64], Array, Array]:
    carrier = np.array([b.carrier for b in balls], np.int64)
    return carrier, np.array([b.local for b in balls]).reshape(-1, 3), np.array([b.radius for b in balls], float)


@dataclass(frozen=True, eq=False)
class Gecko:
    """A figure with the four legs of a gecko: its moving parts, the points fixed to them, and its dimensions [m]."""

    figure: Figure

    def __post_init__(self) -> None:
        known = set(self.figure.frame_index)
        for name in (*SPINE_POINTS, *(f"{leg}_{part}" for leg in GECKO_FEET.names for part in ("elbow", "foot", "pad"))):
            if name not in known:
                advice = "climb with a gecko: neck, waist, bottom, and four legs with elbow, foot and pad"
                raise FigureError(f"no frame {name!r}", kind="figure", name=self.figure.name, advice=advice)

    @cached_property
    def active(self) -> NDArray[np.int64]:
        """Indices of the variables of the 19 motors."""
        passive = {f"{leg}_foot_{axis}" for leg in GECKO_FEET.names for axis in ("rz", "ry", "rx")}
        return np.array([k for k, name in enumerate(self.figure.names) if k >= 6 and name not in passive])

    @cached_property
    def start(self) -> Array:
        """The standing configuration (n_q,)."""
        return np.asarray(self.figure.start, float)

    @cached_property
    def body(self) -> GeckoPoints:
        """The points that kernels track: feet, then neck, waist, bottom."""
        compiled, standing = self.figure.compiled, pose(self.figure, self.start)
        frames = (*(f"{leg}_foot" for leg in GECKO_FEET.names), *SPINE_POINTS)
        holders = (*(f"{leg}_elbow" for leg in GECKO_FEET.names), *SPINE_POINTS)
        carrier = np.array([compiled.frame_joint[self.figure.frame_index[name]] for name in holders])
        local = []
        for frame, j in zip(frames, carrier, strict=True):
            X = standing.X(compiled.joint_frame[j])
            local.append(X[:3, :3].T @ (standing.X(frame)[:3, 3] - X[:3, 3]))
        column = np.full(self.figure.n_q, -1)
        column[:6], column[self.active] = np.arange(6), 6 + np.arange(len(self.active))
        return GeckoPoints(compiled.tree.joints, compiled.tree.chain, carrier, np.array(local), column, self.active)

    @cached_property
    def _balls(self) -> list[Ball]:
        """Five balls along every capsule that can collide, and one for every sphere."""
        compiled, index = self.figure.compiled, self.figure.frame_index
        balls = []
        for shape in self.figure.shapes:
            geometry = shape.geometry
            if shape.collides and isinstance(geometry, Capsule | Sphere):
                half = geometry.length / 2.0 if isinstance(geometry, Capsule) else 0.0
                for along in (-1.0, -0.5, 0.0, 0.5, 1.0) if half else (0.0,):
                    at = np.asarray(shape.position) + so3.matrix(shape.rotation) @ [0.0, 0.0, along * half]
                    k = index[shape.frame]
                    local = compiled.frame_X[k][:3] @ [*at, 1.0]
                    joint, end = int(compiled.frame_joint[k]), abs(along) == 1.0
                    balls.append(Ball(shape.name, shape.frame, joint, local, geometry.radius, end))
        return balls

    @cached_property
    def skin(self) -> tuple[GeckoPoints, Array]:
        """Centres (for kernels) and radii [m] of the balls at the ends of every capsule that must stay clear of the surface."""
        balls = [b for b in self._balls if b.end and b.shape not in MAY_TOUCH and not b.frame.endswith("_foot")]
        carrier, local, radius = _columns(balls)
        kept = [k for k in range(len(balls)) if not _inside(k, carrier, local, radius)]
        return self.body._replace(carrier=carrier[kept], local=local[kept]), radius[kept]

    @cached_property
    def apart(self) -> NearBalls:
        """Pairs that come near each other when a gecko bends: head and arms, chest and hind part, trunk and feet, tail and legs."""
        trunk = ("chest", "chest_belly", "flank", "rear", "rear_belly")
        foot = 0.013  # radius of a ball at the end of a lower leg that contains the foot without its toes [m]
        balls = [b for b in self._balls if b.shape != "lower_leg" or b.local.any()]  # leaves out the end at the elbow
        balls = [dataclasses.replace(b, radius=foot) if b.end and b.shape == "lower_leg" else b for b in balls]
        head = [b for b in balls if b.shape in ("skull", "snout", "eye")]
        limbs = [b for b in balls if b.frame.endswith("_elbow") and b.shape in ("elbow", "lower_leg")]
        arms, legs = ([b for b in limbs if b.frame.startswith(end)] for end in ("front", "rear"))
        front = [b for b in balls if b.frame == "chest" and b.shape in trunk]
        rear = [b for b in balls if b.frame == "waist_pitch" and b.shape in trunk]
        hands, feet = ([b for b in both if b.end] for both in (arms, legs))
        chest = [b for b in front if b.end and b.local[0] < 0.0]
        hind = [b for b in rear if b.end and b.local[0] > -0.03]
        tail = [b for b in balls if b.frame == "waist_pitch" and b.shape in ("flank", "tail") and b.end]
        balls = [*head, *arms, *front, *rear, *(b for b in tail if b not in rear), *legs]
        place = {id(b): k for k, b in enumerate(balls)}
        near = ((head, arms), (chest, hind), (front, hands), (rear, feet), (tail, legs))
        pairs = [(place[id(a)], place[id(b)]) for one, two in near for a in one for b in two]
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        return NearBalls(*_columns(balls), np.ascontiguousarray(first), np.ascontiguousarray(second))

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
        """Dimensions of the standing gecko [m]: height of the body, position of the feet, height of a foot, length of a leg."""
        standing = pose(self.figure, self.start)
        chest = self.start[:3]
        foot = {leg: standing.X(f"{leg}_foot")[:3, 3] - chest for leg in GECKO_FEET.names}
        sole = float(standing.X("front_left_foot")[2, 3] - standing.X("front_left_pad")[2, 3])
        parts = ("front_left_shoulder", "front_left_elbow", "front_left_foot")
        places = [standing.X(name)[:3, 3] for name in parts]
        leg = sum(float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(places))
        return {
            "height": float(chest[2]), "front": float(foot["front_left"][0]), "rear": float(foot["rear_left"][0]),
            "spread": float(foot["front_left"][1]), "sole": sole, "leg": leg,
        }  # fmt: skip

    def limits(self) -> tuple[Array, Array]:
        """Lower and upper limits of the active joints [rad]."""
        lower, upper = self.figure.limits
        return np.asarray(lower)[self.active], np.asarray(upper)[self.active]


def _inside(k: int, carrier: NDArray[np.int64], local: Array, radius: Array) -> bool:
    """Whether ball k lies inside another ball of the same joint; of two equal balls, the later one does."""
    deep = np.linalg.norm(local - local[k], axis=1) + radius[k] <= radius + 1e-12
    rivals = np.flatnonzero((carrier == carrier[k]) & deep)
    return any(radius[i] > radius[k] or i < k for i in rivals if i != k)


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

    def every(self, count: int, until: int) -> Wish:
        """Every `count`-th sample of those before the sample `until`."""
        few = slice(None, until, count)
        return Wish(*(np.ascontiguousarray(a[few]) for a in (self.normals, self.heights, self.joints)))


def wish(gecko: Gecko, course: Course, feet: FootPaths, *, bend: float = 0.25, paper: bool = False, switched: bool = True) -> Wish:
    """What a `gecko` follows along a `course`: the path of the body, and a waist that bends left and right once per cycle.

    feet: the paths of the feet; their cycle sets the pace
    bend: largest angle of the waist [rad]
    paper: follow only heights, and two postures, each for half a cycle (Fig. 4); otherwise follow the positions of
        the three points, so that the body bends in time for a corner
    switched: with `paper`, jump from one posture to the other; otherwise change smoothly
    """
    cycle = 4.0 * feet.quarter
    u = course.stride * feet.t / cycle
    places = pose(gecko.figure, gecko.start)
    at = [float(places.X(name)[0, 3] - gecko.start[0]) for name in SPINE_POINTS]
    tracks = [course.body(u + x) for x in at]
    axes = (2,) if paper else (2, 0, 1)
    normals = np.stack([R[:, :, axis] for axis in axes for _, R in tracks], 1)
    heights = np.stack([np.einsum("ti,ti->t", p, R[:, :, axis]) for axis in axes for p, R in tracks], 1)
    joints = np.tile(gecko.start[gecko.active], (len(u), 1))
    yaw = [gecko.figure.names[k] for k in gecko.active].index("waist_yaw")
    if paper and switched:
        joints[:, yaw] += bend * np.sign(np.sin(2.0 * np.pi * (feet.t + 1e-9) / cycle))
    else:
        joints[:, yaw] += bend * np.cos(2.0 * np.pi * feet.t / cycle + np.pi / 4.0)
    return Wish(normals, heights, joints)


def _ease(gecko: Gecko) -> Array:
    """Inverse metric of the columns: joints have weight, the body moves almost freely, and a leg length counts as one radian."""
    out, free = np.ones(len(gecko.active) + 6), 1e4
    out[:3], out[3:6] = free * gecko.measures["leg"] ** 2, free
    return out


def stand(gecko: Gecko, course: Course, feet: FootPaths, want: Wish, *, steps: int = 400) -> tuple[Array, float]:
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
    out = Q.copy()
    names, index = gecko.figure.names, gecko.figure.frame_index
    X = frames_along(gecko.figure, out)
    for k, leg in enumerate(GECKO_FEET.names):
        first = names.index(f"{leg}_foot_rz")
        R = np.swapaxes(X[:, index[f"{leg}_elbow"], :3, :3], 1, 2) @ feet.R[: len(Q), k]
        out[:, first : first + 3] = zyx_along(R)
    return out
