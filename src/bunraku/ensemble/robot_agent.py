"""An agent from any figure: a robot from a URDF, SDF or MJCF file that rolls on the floor and holds with its arms.

    tiago = robot_agent("tiago", bunraku.load("robot:tiago"), hold("gripper_link", (0.5, 0, 0), arm="arm_1_joint"))

The robot gets a base that moves on the floor, stands on its lowest shape, and is replaced in planning by the box around everything
but the arms that hold.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World, triangle_meshes
from bunraku.ensemble.members import Agent, Grasp
from bunraku.ensemble.whole_team import feet
from bunraku.errors import BunrakuError
from bunraku.figure import WORLD, Figure, Frame, Variable
from bunraku.figure.frame import Vector
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.figure.together import started
from bunraku.kinematics import pose
from bunraku.planning.ways.steer import Holonomic, Planar
from bunraku.scene import Scene
from bunraku.spatial import se3, so3
from bunraku.spatial.so3 import Quaternion

Array = NDArray[np.float64]


def robot_agent(
    name: str, figure: Figure, *holds: Grasp, base: tuple[str, ...] = (), moves: type[Planar] = Holonomic,
    posture: Mapping[str, float] | None = None,
) -> Agent:  # fmt: skip
    """An agent called `name` with this `figure`.

    holds: its tools, where they hold, and the first variable of the arm that ends in each
    base: variables of the figure that move it on the floor (x, y, heading); if there are none, the figure gets them
    moves: its steering
    posture: values of some variables at its start [rad or m], which stay so, but for arms that hold and wheels

    In collision checks, boxes and capsules cover its meshes. Those that touch each other in this posture, or that at most two
    moving joints separate, may always touch. Raises BunrakuError if no shape collides, or if it stands on legs, UnknownName if
    it has no variable of a name.
    """
    own = _covered(started(figure, dict(posture or {})))
    if not base:
        base = ("base_x", "base_y", "base_turn")
        own = _on_the_floor(own, *base)
    own.indices(base)
    agent = Agent(name, own, holds, base, Box((1.0, 1.0, 1.0)), (0.0, 0.0, 0.5), moves, facing=math.pi / 2)
    arms = {int(k) for hold in holds for k in agent.arm(hold).indices}
    low, high = _around(own, arms)
    own = own.replace(allowed=(*own.allowed, *_may_touch(own, arms)))
    own = own.replace(allowed=(*own.allowed, *World(own, Scene("nowhere", floor=None)).touching_at()))
    size, middle = high - low, 0.5 * (low + high)
    _require_wheels(agent)
    return replace(agent, figure=own, shape=Box(_vector(size)), at=_vector(middle))


def _require_wheels(agent: Agent) -> None:
    """Raises BunrakuError if an agent stands on something that joints move, such as legs, which would slide over the floor."""
    figure, tree = agent.figure, agent.figure.compiled.tree
    for frame in feet(agent):
        j = int(figure.compiled.frame_joint[figure.frame_index[frame]])
        above = [] if j < 0 else tree.chain[j, 1 : 1 + tree.chain[j, 0]].tolist()
        for name in (figure.names[int(tree.joints["variable"][i])] for i in above):
            if name not in agent.base and not any(word in name for word in ("wheel", "caster")):
                raise BunrakuError(
                    f"{agent.name} stands on {frame}, which {name} moves\n  advice: robots from files roll, legs do not walk; "
                    'names of joints of wheels contain "wheel" or "caster"'
                )


def _covered(figure: Figure) -> Figure:
    """The figure with boxes and capsules that collide instead of its meshes, which are only shown.

    A hand alone may have thirty meshes, and to measure the distances of all their pairs takes minutes.
    """
    shapes: list[Shape] = []
    for shape in figure.shapes:
        if not (shape.collides and isinstance(shape.geometry, Mesh)):
            shapes.append(shape)
            continue
        geometry, X = _cover(np.asarray(triangle_meshes.load(shape.geometry).vertices))
        X = se3.pose(shape.position, shape.rotation) @ X
        shapes += [replace(shape, collides=False)] if shape.visible else []
        own = replace(shape, geometry=geometry, visible=False, name=f"{shape.name}_cover")
        shapes.append(replace(own, position=_vector(X[:3, 3]), rotation=_quaternion(X)))
    return figure.replace(shapes=tuple(shapes))


def _cover(corners: Array) -> tuple[Box | Capsule, Array]:
    """The smallest of a box and three capsules along the axes that contain all corners (n, 3), and its pose (4, 4)."""
    low, high = corners.min(0), corners.max(0)
    size, middle = np.maximum(high - low, 1e-3), 0.5 * (low + high)
    found: list[tuple[float, Box | Capsule, Array]] = [(float(np.prod(size)), Box(_vector(size)), se3.pose(middle))]
    for k in range(3):
        off = corners - middle
        aside = np.linalg.norm(np.delete(off, k, 1), axis=1)
        radius = max(float(aside.max()), 1e-3)
        # A corner at this distance from the axis is within the round end if it is no higher than the end's surface there.
        length = max(2.0 * float((np.abs(off[:, k]) - np.sqrt(np.maximum(radius**2 - aside**2, 0.0))).max()), 1e-3)
        X = se3.pose(middle)
        X[:3, :3] = np.roll(np.eye(3), k + 1, axis=0)  # z onto the axis k
        found.append((math.pi * radius**2 * (length + 4.0 / 3.0 * radius), Capsule(radius, length), X))
    _, geometry, X = min(found, key=lambda one: one[0])
    return geometry, X


def _may_touch(figure: Figure, arms: set[int], *, joints: int = 2) -> list[tuple[str, str]]:
    """Pairs of frames with shapes that at most so many moving joints of a chain separate: those of `arms` and wheels.

    What no such joint separates, as the fingers of a hand, stays as it is. Covers are larger than what they cover, and those of a
    wrist overlap; limits of joints keep the links themselves apart.
    """
    tree, index, names = figure.compiled.tree, figure.frame_index, figure.names
    shaped = list(dict.fromkeys(shape.frame for shape in figure.shapes if shape.collides and shape.frame in index))
    moving: dict[str, list[int]] = {}
    for name in shaped:
        j = int(figure.compiled.frame_joint[index[name]])
        above = [] if j < 0 else [int(i) for i in tree.chain[j, 1 : 1 + tree.chain[j, 0]]]
        variables = [int(tree.joints["variable"][i]) for i in above]
        moving[name] = [k for k in variables if k in arms or "wheel" in names[k]]

    def near(a: list[int], b: list[int]) -> bool:
        shorter, longer = sorted((a, b), key=len)
        return longer[len(longer) - len(shorter) :] == shorter and len(longer) - len(shorter) <= joints

    return [(a, b) for a, b in itertools.combinations(shaped, 2) if near(moving[a], moving[b])]


def _on_the_floor(figure: Figure, x: str, y: str, turn: str) -> Figure:
    """The figure on a base with these variables, as high as its lowest shape needs; a free root is fixed to it."""
    free = {frame for group in figure.groups if group.kind == "free" for frame in group.frames}
    frames = [_fixed(frame) if frame.name in free else frame for frame in figure.frames]
    still = figure.replace(frames=tuple(frames), groups=tuple(group for group in figure.groups if group.kind != "free"))
    low, _ = _around(still, set())
    added = [
        Frame(x, variable=Variable(x, "translate", (1.0, 0.0, 0.0))),
        Frame(y, x, variable=Variable(y, "translate", (0.0, 1.0, 0.0))),
        Frame(turn, y, variable=Variable(turn, "rotate", (0.0, 0.0, 1.0))),
    ]
    up = np.array([0.0, 0.0, -low[2]])
    moved = [
        replace(frame, parent=turn, position=_vector(up + frame.position)) if frame.parent == WORLD else frame for frame in frames
    ]
    bodies = [replace(body, frame=turn, com=_vector(up + body.com)) if body.frame == WORLD else body for body in still.bodies]
    shapes = [
        replace(shape, frame=turn, position=_vector(up + shape.position)) if shape.frame == WORLD else shape
        for shape in still.shapes
    ]
    return still.replace(frames=(*added, *moved), bodies=tuple(bodies), shapes=tuple(shapes))


def _fixed(frame: Frame) -> Frame:
    """A frame without its variable, where that is at its start."""
    variable = frame.variable
    if variable is None:
        return frame
    along = variable.start * np.array(variable.axis)
    X = se3.pose(frame.position, frame.rotation)
    if variable.motion == "translate":
        X = X @ se3.pose(along)
    else:
        half = 0.5 * variable.start
        X = X @ se3.pose(rotation=(math.cos(half), *(math.sin(half) * np.array(variable.axis)).tolist()))
    return replace(frame, variable=None, position=_vector(X[:3, 3]), rotation=_quaternion(X))


def _around(figure: Figure, arms: set[int]) -> tuple[Array, Array]:
    """Lowest and highest coordinates of its colliding shapes at its start, but for those that the variables `arms` move."""
    tree = figure.compiled.tree
    here, joint = pose(figure, figure.start), figure.compiled.frame_joint
    ends = []
    for shape in figure.shapes:
        j = -1 if shape.frame == WORLD else int(joint[figure.frame_index[shape.frame]])
        above: list[int] = [] if j < 0 else tree.chain[j, 1 : 1 + tree.chain[j, 0]].tolist()
        if shape.collides and not any(int(tree.joints["variable"][i]) in arms for i in above):
            X = np.eye(4) if shape.frame == WORLD else here.X(shape.frame)
            ends.append(_ends(shape, X @ se3.pose(shape.position, shape.rotation)))
    if not ends:
        raise BunrakuError(f"{figure.name} has no shape that collides\n  advice: name a file with collision shapes, and its meshes")
    return np.min([low for low, _ in ends], axis=0), np.max([high for _, high in ends], axis=0)


def _ends(shape: Shape, X: Array) -> tuple[Array, Array]:
    """Lowest and highest coordinates of a shape at X."""
    axis = X[:3, 2]
    match shape.geometry:
        case Box(size):
            half = np.abs(X[:3, :3]) @ np.array(size) / 2
        case Sphere(radius):
            half = np.full(3, radius)
        case Capsule(radius, length):
            half = radius + 0.5 * length * np.abs(axis)
        case Cylinder(radius, length):
            half = radius * np.sqrt(np.maximum(1.0 - axis**2, 0.0)) + 0.5 * length * np.abs(axis)
        case Mesh():
            raise AssertionError("boxes have replaced the meshes that collide")
    return X[:3, 3] - half, X[:3, 3] + half


def _quaternion(X: Array) -> Quaternion:
    w, x, y, z = so3.quaternion(X[:3, :3]).tolist()
    return w, x, y, z


def _vector(x: Array) -> Vector:
    return float(x[0]), float(x[1]), float(x[2])
