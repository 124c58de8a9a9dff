"""The gecko as the gait sees it, and the paper's gait: whole-body increments with the feet where they belong.

Three feet stand, so that their triangle is a frame fixed in space (eq. 1–5); here the body is a free frame instead, all
four feet are equations (the closure of eq. 7–11 among them), and the body's own motion costs nothing. What is left free
is the same 13-dimensional null space, with no joint singled out as dependent.
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
from bunraku.locomotion.climb.footsteps import FEET
from bunraku.locomotion.climb.gecko_kernels import Body, walk
from bunraku.locomotion.climb.smooth_kernels import Apart
from bunraku.motion.orientation import zyx_along
from bunraku.spatial import so3

Array = NDArray[np.float64]
BODY = ("neck", "waist", "bottom")
SOFT = ("tail", "lower_leg", "pupil", "toe")
"""Capsules that may touch what the gecko climbs on: a tail drags, and a lower leg ends in the foot."""
FREE = 1e4  # how much more readily the body moves than a joint turns


HEAD = ("skull", "snout", "eye")
ARMS = ("front_left_elbow", "front_right_elbow")
LEGS = ("rear_left_elbow", "rear_right_elbow")
FOOT = 0.013  # a ball about the end of a lower leg that holds the foot without its toes [m]
TRUNK = ("chest", "chest_belly", "flank", "rear", "rear_belly")


@dataclass(frozen=True, eq=False)
class Ball:
    """A ball on a joint, of a shape; `end` where it is one of the two of a capsule, which lies between them."""

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
    """A figure with four legs of a gecko: what moves, what is fixed to what, and its measures [m]."""

    figure: Figure

    def __post_init__(self) -> None:
        known = set(self.figure.frame_index)
        for name in (*BODY, *(f"{leg}_{part}" for leg in FEET for part in ("elbow", "foot", "pad"))):
            if name not in known:
                advice = "climbing wants a gecko: neck, waist, bottom, and four legs with elbow, foot and pad"
                raise FigureError(f"no frame {name!r}", kind="figure", name=self.figure.name, advice=advice)

    @cached_property
    def active(self) -> NDArray[np.int64]:
        """Indices of the 19 motors' variables."""
        passive = {f"{leg}_foot_{axis}" for leg in FEET for axis in ("rz", "ry", "rx")}
        return np.array([k for k, name in enumerate(self.figure.names) if k >= 6 and name not in passive])

    @cached_property
    def start(self) -> Array:
        return np.asarray(self.figure.start, float)

    @cached_property
    def body(self) -> Body:
        """For kernels: feet, then neck, waist, bottom."""
        compiled, standing = self.figure.compiled, pose(self.figure, self.start)
        frames = (*(f"{leg}_foot" for leg in FEET), *BODY)
        holders = (*(f"{leg}_elbow" for leg in FEET), *BODY)
        carrier = np.array([compiled.frame_joint[self.figure.frame_index[name]] for name in holders])
        local = []
        for frame, j in zip(frames, carrier, strict=True):
            X = standing.X(compiled.joint_frame[j])
            local.append(X[:3, :3].T @ (standing.X(frame)[:3, 3] - X[:3, 3]))
        column = np.full(self.figure.n_q, -1)
        column[:6], column[self.active] = np.arange(6), 6 + np.arange(len(self.active))
        return Body(compiled.tree.joints, compiled.tree.chain, carrier, np.array(local), column, self.active)

    @cached_property
    def _balls(self) -> list[Ball]:
        """Five balls along every capsule that collides, and spheres."""
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
    def skin(self) -> tuple[Body, Array]:
        """Centres, for kernels, and radii of the balls at the ends of every capsule that must stay clear of the surface."""
        balls = [b for b in self._balls if b.end and b.shape not in SOFT and not b.frame.endswith("_foot")]
        carrier, local, radius = _columns(balls)
        kept = [k for k in range(len(balls)) if not _inside(k, carrier, local, radius)]
        return self.body._replace(carrier=carrier[kept], local=local[kept]), radius[kept]

    @cached_property
    def apart(self) -> Apart:
        """What comes near each other when a gecko bends: head and arms, chest and hind part, trunk and feet, tail and legs."""
        balls = [b for b in self._balls if b.shape != "lower_leg" or b.local.any()]  # the other end is the elbow
        balls = [dataclasses.replace(b, radius=FOOT) if b.end and b.shape == "lower_leg" else b for b in balls]
        head = [b for b in balls if b.shape in HEAD]
        arms, legs = ([b for b in balls if b.frame in ends and b.shape in ("elbow", "lower_leg")] for ends in (ARMS, LEGS))
        front = [b for b in balls if b.frame == "chest" and b.shape in TRUNK]
        rear = [b for b in balls if b.frame == "waist_pitch" and b.shape in TRUNK]
        hands, feet = ([b for b in limbs if b.end] for limbs in (arms, legs))
        chest = [b for b in front if b.end and b.local[0] < 0.0]
        hind = [b for b in rear if b.end and b.local[0] > -0.03]
        tail = [b for b in balls if b.frame == "waist_pitch" and b.shape in ("flank", "tail") and b.end]
        balls = [*head, *arms, *front, *rear, *(b for b in tail if b not in rear), *legs]
        place = {id(b): k for k, b in enumerate(balls)}
        near = ((head, arms), (chest, hind), (front, hands), (rear, feet), (tail, legs))
        pairs = [(place[id(a)], place[id(b)]) for one, two in near for a in one for b in two]
        first, second = np.array(pairs, np.int64).reshape(-1, 2).T
        return Apart(*_columns(balls), np.ascontiguousarray(first), np.ascontiguousarray(second))

    @cached_property
    def masses(self) -> tuple[Body, Array]:
        """Centres of all bodies, for kernels, and their shares of the weight."""
        compiled, index = self.figure.compiled, self.figure.frame_index
        bodies = [body for body in self.figure.bodies if body.mass > 0.0]
        carrier = np.array([compiled.frame_joint[index[body.frame]] for body in bodies])
        local = np.array([compiled.frame_X[index[body.frame]][:3] @ [*body.com, 1.0] for body in bodies])
        mass = np.array([body.mass for body in bodies])
        return self.body._replace(carrier=carrier, local=local), mass / mass.sum()

    @cached_property
    def measures(self) -> dict[str, float]:
        """Of the standing gecko: height of the body, where the feet are from it, the foot's own height, the leg's length."""
        standing = pose(self.figure, self.start)
        chest = self.start[:3]
        foot = {leg: standing.X(f"{leg}_foot")[:3, 3] - chest for leg in FEET}
        sole = float(standing.X("front_left_foot")[2, 3] - standing.X("front_left_pad")[2, 3])
        parts = ("front_left_shoulder", "front_left_elbow", "front_left_foot")
        places = [standing.X(name)[:3, 3] for name in parts]
        leg = sum(float(np.linalg.norm(b - a)) for a, b in itertools.pairwise(places))
        return {
            "height": float(chest[2]), "front": float(foot["front_left"][0]), "rear": float(foot["rear_left"][0]),
            "spread": float(foot["front_left"][1]), "sole": sole, "leg": leg,
        }  # fmt: skip

    def limits(self) -> tuple[Array, Array]:
        lower, upper = self.figure.limits
        return np.asarray(lower)[self.active], np.asarray(upper)[self.active]


def _inside(k: int, carrier: NDArray[np.int64], local: Array, radius: Array) -> bool:
    """Whether ball k lies within another on the same joint; of two equal ones, the later does."""
    deep = np.linalg.norm(local - local[k], axis=1) + radius[k] <= radius + 1e-12
    rivals = np.flatnonzero((carrier == carrier[k]) & deep)
    return any(radius[i] > radius[k] or i < k for i in rivals if i != k)


@dataclass(frozen=True)
class Gains:
    """α, β and γ of eq. 13 and 14; heights count in lengths of the leg."""

    alpha: float = 0.5
    beta: float = 0.5
    gamma: float = 0.05


@dataclass(frozen=True, eq=False)
class Wish:
    """What the null space is for: planes (normals, heights) of neck, waist and bottom, and joint angles, at each sample.

    There may be several planes for each, in turns: neck, waist, bottom, neck, …
    """

    normals: Array
    heights: Array
    joints: Array

    def every(self, count: int, until: int) -> Wish:
        """Only every so many samples, of those before a sample."""
        few = slice(None, until, count)
        return Wish(*(np.ascontiguousarray(a[few]) for a in (self.normals, self.heights, self.joints)))


def wish(gecko: Gecko, course: Course, feet: FootPaths, *, bend: float = 0.25, paper: bool = False, switched: bool = True) -> Wish:
    """Body along the course, and the posture of a gecko that bends its waist left and right once a cycle.

    In the paper only heights are wished for, and two postures, each for half a cycle (its Fig. 4); `switched=False` goes from
    one to the other smoothly. Else the three points are wished for altogether, so that the body bends in time for a corner.
    """
    cycle = 4.0 * feet.quarter
    u = course.stride * feet.t / cycle
    places = pose(gecko.figure, gecko.start)
    at = [float(places.X(name)[0, 3] - gecko.start[0]) for name in BODY]
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


def ease(gecko: Gecko) -> Array:
    """Inverse metric: joints count, the body is free, and a leg's length is as good as a radian."""
    out = np.ones(len(gecko.active) + 6)
    out[:3], out[3:6] = FREE * gecko.measures["leg"] ** 2, FREE
    return out


def stand(gecko: Gecko, course: Course, feet: FootPaths, want: Wish, *, steps: int = 400) -> tuple[Array, float]:
    """The configuration to start in, and how far its feet are off [m]."""
    p, R = course.body(np.zeros(1))
    q = gecko.start.copy()
    q[:3], q[3:6] = p[0], so3.angles_zyx(R[0])
    start = q.copy()
    repeat = [np.repeat(a[:1], steps, 0) for a in (feet.p, want.normals, want.heights, want.joints)]
    Q, error = np.empty((steps, len(q))), np.full(steps, np.inf)
    feet_p, normals, heights, joints = repeat
    walk(gecko.body, q, feet_p, normals, heights, joints, ease(gecko), 0.5, 0.5, 0.05, gecko.measures["leg"], 1, Q, error)
    if not np.isfinite(error[-1]):  # out of reach: as it stands by itself
        return start, np.inf
    return Q[-1], float(error[-1])


def gait(gecko: Gecko, q: Array, feet: FootPaths, want: Wish, *, gains: Gains = Gains(), correct: int = 1) -> tuple[Array, Array]:  # noqa: B008
    """The paper's gait from q on: configurations (T, n_q), and how far the worst foot is off (T,) [m]; shorter where it fails."""
    Q, error = np.empty((len(feet.t), len(q))), np.full(len(feet.t), np.inf)
    reached = walk(
        gecko.body, q.copy(), feet.p, want.normals, want.heights, want.joints, ease(gecko), gains.alpha, gains.beta, gains.gamma,
        gecko.measures["leg"], correct, Q, error,
    )  # fmt: skip
    return Q[:reached], error[:reached]


def with_feet(gecko: Gecko, Q: Array, feet: FootPaths) -> Array:
    """The same with the passive feet turned flat onto what they stick to."""
    out = Q.copy()
    names, index = gecko.figure.names, gecko.figure.frame_index
    X = frames_along(gecko.figure, out)
    for k, leg in enumerate(FEET):
        first = names.index(f"{leg}_foot_rz")
        R = np.swapaxes(X[:, index[f"{leg}_elbow"], :3, :3], 1, 2) @ feet.R[: len(Q), k]
        out[:, first : first + 3] = zyx_along(R)
    return out
