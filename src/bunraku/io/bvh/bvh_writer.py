"""BVH export of any motion.

A BVH joint has no rotation of its own at rest: its axes there are the file's. So every rotation is written relative to
the figure's rest, which is q with all rotations 0 and all slides at their start.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from os import PathLike

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import ORIGIN, Frame
from bunraku.io.skeleton import numbered
from bunraku.kinematics import frames_along
from bunraku.motion import Motion, Track
from bunraku.motion.orientation import zyx_along
from bunraku.motion.still import as_motion
from bunraku.spatial import so3
from bunraku.writing import writing

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WrittenJoint:
    """A joint of the file: its position at rest relative to its parent, its channels, and their values (T, n)."""

    name: str
    parent: int
    offset: Array
    channels: tuple[str, ...]
    values: Array
    end: Array


def save_bvh(
    thing: Motion | Figure, path: str | PathLike[str], *, scale: float = 0.01, up: str = "y", track: str | None = None
) -> None:
    """Writes the motion of one figure (or a figure at its start) as BVH.

    thing: the motion, or the figure
    path: the file
    scale: unit of length in the file [m]
    up: the file's axis that points up, y or z
    track: which figure, where the motion has several

    BVH has evenly spaced samples: a motion with others is resampled at its average step. Raises FileError if the figure has
    no moving frame or `track` is missing.
    """
    motion = as_motion(thing, path)
    if up not in ("y", "z") or not 0.0 < scale < math.inf:
        raise FileError(
            f"up={up!r}, scale={scale} are not possible", path=str(path), advice="up is y or z; 0.01 writes centimetres"
        )
    if track is None and len(motion.tracks) > 1:
        names = " or ".join(map(repr, motion.names))
        raise FileError("a BVH file holds one figure", path=str(path), advice=f"choose one: track={names}")
    dt = motion.duration / (len(motion) - 1) if len(motion) > 1 else 1.0 / 60.0
    if len(motion) > 2 and np.max(np.abs(np.diff(motion.t) - dt)) > 1e-6 * dt:
        motion = motion.resample(times=np.linspace(motion.t[0], motion.t[-1], len(motion)))
    chosen = motion.track(track) if track is not None else motion.only
    axes = so3.about(0, -math.pi / 2) if up == "y" else np.eye(3)  # from the figure's axes to the file's
    nodes = _nodes(chosen, axes / scale)
    if not nodes:
        raise FileError(
            f"{chosen.figure.name} has no variable that moves a frame", path=str(path), advice="there is nothing to write"
        )
    with writing(path) as temporary:
        temporary.write_text(_text(nodes, dt), encoding="utf-8")


# -- joints ----------------------------------------------------------------------------------------------------


def _groups(figure: Figure) -> list[list[Frame]]:
    """Moving frames at one point, one after the other: slides first, then rotations."""
    children: dict[str, int] = {}
    for frame in figure.frames:
        children[frame.parent] = children.get(frame.parent, 0) + 1
    ending: dict[str, list[Frame]] = {}
    out: list[list[Frame]] = []
    for frame in figure.frames:
        if frame.variable is None:
            continue
        group = ending.pop(frame.parent, None) if children[frame.parent] == 1 else None
        plain = frame.position == ORIGIN and frame.rotation == so3.IDENTITY
        if group is None or not plain or not _follows(group, frame):
            group = []
            out.append(group)
        group.append(frame)
        ending[frame.name] = group
    return out


def _follows(group: list[Frame], frame: Frame) -> bool:
    motions = [f.variable.motion for f in (*group, frame) if f.variable is not None]
    return motions == sorted(motions, key=("translate", "rotate").index) if "screw" not in motions else False


def _nodes(track: Track, K: Array) -> list[WrittenJoint]:
    figure = track.figure
    rest_q = np.array([0.0 if v.motion in ("rotate", "screw") else v.start for v in figure.variables])
    rest = frames_along(figure, rest_q[None])[0]
    place = {frame.name: k for k, frame in enumerate(figure.frames)}
    groups = _groups(figure)
    owner = _owners(figure, groups)
    tops = sum(owner[group[0].parent] < 0 for group in groups)
    extra = int(tops > 1)  # several trees are put under one ROOT: most readers accept only one
    names = numbered(map(_plain_name, [figure.name][:extra] + [group[-1].name for group in groups]))
    nodes = [_whole(names[0], len(track))] if extra else []
    X = frames_along(figure, track.q)
    unit = float(np.linalg.norm(K[0]))
    A = K / unit
    turned = {-1: np.broadcast_to(np.eye(3), (len(track), 3, 3))}
    origin = {-1: np.zeros((len(track), 3))}
    rest_origin = {-1: np.zeros(3)}
    for g, group in enumerate(groups):
        k = place[group[-1].name]
        parent = owner[group[0].parent]
        turned[g] = A @ X[:, k, :3, :3] @ rest[k, :3, :3].T @ A.T
        origin[g], rest_origin[g] = X[:, k, :3, 3] @ K.T, K @ rest[k, :3, 3]
        slides = any(f.variable is not None and f.variable.motion != "rotate" for f in group)
        offset = rest_origin[g] - rest_origin[parent]
        channels, values = _rotations(group, turned[parent].swapaxes(1, 2) @ turned[g], A, rest, place, track)
        if slides:
            local = np.einsum("tji,tj->ti", turned[parent], origin[g] - origin[parent])
            # Readers disagree whether positions replace the offset or are added to it: with an offset of zero, it is the same.
            offset = np.zeros(3)
            channels = ("Xposition", "Yposition", "Zposition", *channels)
            values = np.hstack([local, values])
        end = K @ (_end(figure, group[-1].name, owner, g, rest, place) - rest[k, :3, 3])
        nodes.append(WrittenJoint(names[g + extra], parent + extra, offset, channels, values, end))
    return nodes


def _owners(figure: Figure, groups: list[list[Frame]]) -> dict[str, int]:
    """The group that carries each frame."""
    owner = {WORLD: -1}
    moving = {frame.name: g for g, group in enumerate(groups) for frame in group}
    for frame in figure.frames:
        owner[frame.name] = moving.get(frame.name, owner[frame.parent])
    return owner


def _whole(name: str, samples: int) -> WrittenJoint:
    channels = ("Xposition", "Yposition", "Zposition", "Zrotation", "Yrotation", "Xrotation")
    return WrittenJoint(name, -1, np.zeros(3), channels, np.zeros((samples, 6)), np.zeros(3))


def _rotations(
    group: list[Frame], R: Array, A: Array, rest: Array, place: dict[str, int], track: Track
) -> tuple[tuple[str, ...], Array]:
    """Channels and their values [degrees]. Variables that turn about the file's own axes are written as they are."""
    axes = ""
    columns = []
    for frame in group:
        variable = frame.variable
        if variable is None or variable.motion == "translate":
            continue
        axis = A @ rest[place[frame.name], :3, :3] @ variable.axis
        k = int(np.argmax(np.abs(axis)))
        aligned = abs(abs(axis[k]) - 1.0) < 1e-12
        axes += "XYZ"[k] if aligned else "?"
        columns.append(track.column(variable.name) * np.sign(axis[k]))
    if not axes:
        return (), np.zeros((len(R), 0))
    order = "ZYX"
    if "?" in axes or len(set(axes)) < len(axes):
        degrees = np.degrees(zyx_along(R))
    else:
        if "".join(c for c in order if c in axes) != axes:
            order = axes + "".join(c for c in order if c not in axes)
        zero = np.zeros(len(R))
        degrees = np.degrees(np.stack([columns[axes.index(c)] if c in axes else zero for c in order], 1))
    return tuple(f"{c}rotation" for c in order), degrees


def _end(figure: Figure, frame: str, owner: dict[str, int], g: int, rest: Array, place: dict[str, int]) -> Array:
    """The far end of a joint's last bone: its farthest fixed frame, or else the far end of its farthest shape."""
    here = rest[place[frame], :3, 3]
    ends = [rest[place[f.name], :3, 3] for f in figure.frames if f.variable is None and owner[f.name] == g]
    if not ends:
        X = rest[place[frame]]
        ends = [here + 2.0 * (X[:3, :3] @ s.position) for s in figure.shapes if s.frame == frame]
    return max(ends, key=lambda p: float(np.linalg.norm(p - here)), default=here)


# -- text ------------------------------------------------------------------------------------------------------


def _plain_name(name: str) -> str:
    """The name without blanks and braces: many readers end a name at a blank."""
    return "_".join(name.replace("{", "(").replace("}", ")").split())


def _text(nodes: list[WrittenJoint], dt: float) -> str:
    children: dict[int, list[int]] = {}
    for k, node in enumerate(nodes):
        children.setdefault(node.parent, []).append(k)
    lines = ["HIERARCHY"]
    order: list[int] = []
    stack: list[tuple[int, int, bool]] = [(k, 0, False) for k in reversed(children[-1])]
    while stack:
        k, depth, done = stack.pop()
        tab = "\t" * depth
        if done:
            lines.append(f"{tab}}}")
            continue
        node = nodes[k]
        order.append(k)
        lines += [f"{tab}{'JOINT' if depth else 'ROOT'} {node.name}", f"{tab}{{", f"{tab}\tOFFSET {_numbers(node.offset)}"]
        lines.append(f"{tab}\tCHANNELS {' '.join([str(len(node.channels)), *node.channels])}")
        below = children.get(k, [])
        if not below:
            lines += [f"{tab}\tEnd Site", f"{tab}\t{{", f"{tab}\t\tOFFSET {_numbers(node.end)}", f"{tab}\t}}"]
        stack.append((k, depth, True))
        stack.extend((child, depth + 1, False) for child in reversed(below))
    values = np.hstack([nodes[k].values for k in order])
    lines += ["MOTION", f"Frames: {len(values)}", f"Frame Time: {dt:.12g}"]
    row = " ".join(["%.8f"] * values.shape[1])
    lines += [row % tuple(sample) for sample in (values + 0.0).tolist()]
    return "\n".join(lines) + "\n"


def _numbers(vector: Array) -> str:
    return " ".join(f"{x + 0.0:.8f}" for x in vector)
