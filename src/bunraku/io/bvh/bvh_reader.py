"""BVH: a captured skeleton becomes a figure, and its samples a motion.

BVH has y up, degrees, and no unit of length. The figure keeps the file's axes below one frame that turns them upright,
so that every variable is a channel of the file, in radians and metres.
"""

from __future__ import annotations

import math
import warnings
from os import PathLike
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import WORLD, Capsule, Figure, Frame, Joint, Shape, Sphere, Variable
from bunraku.figure.frame import AXES, JOINT_MOTIONS, ORIGIN, Vector
from bunraku.io.bvh.bvh_text import BvhJoint, Clip, parse_bvh, read_bvh
from bunraku.io.bvh.bvh_writer import save_bvh
from bunraku.io.rig import Rig, RigOptions, departure, misfit, rig_motion
from bunraku.kinematics import frames_along
from bunraku.motion import Motion
from bunraku.spatial import so3

__all__ = ["load_bvh", "parse_bvh", "save_bvh"]
Array = NDArray[np.float64]
BVH_UNITS = {"cm": 0.01, "m": 1.0, "mm": 0.001, "CMU": 0.0254 / 0.45}  # in metres; the CMU clips count in inches / 0.45


def load_bvh(
    path: str | PathLike[str], *, scale: float | None = None, up: str | None = None, figure: Figure | None = None
) -> Motion:
    """The motion of the skeleton in the file at `path`.

    scale: the file's unit [m], 0.01 for centimetres. By default the one of cm, m, mm and CMU's unit in which the
        skeleton has the height of a person, or else cm; with a `figure`, the one in which it has its size
    up: the file's axis that points up, y or z; by default y, or with a `figure` the one that fits
    figure: whose skeleton it is, with joints called like its frames, as `save` writes them; by default one made from the file

    Raises FileError, which points at the fault, if the file is not BVH, or not of the `figure`.
    """
    path = Path(path)
    if up not in ("y", "z", None):
        raise FileError(f"unknown axis up={up!r}", path=str(path), advice="the axis that points up is y or z")
    if scale is not None and not 0.0 < scale < math.inf:
        raise FileError(
            f"scale={scale} is not a positive number", path=str(path), advice="give the file's unit in metres: 0.01 for centimetres"
        )
    clip = read_bvh(path)
    if figure is None:
        return _motion(clip, path, _unit(clip) if scale is None else scale, up or "y")
    units, axes = (scale,) if scale is not None else BVH_UNITS.values(), (up,) if up else ("y", "z")
    replaced = (True, False) if any(any(node.offset) for node in clip.nodes if _slides(node)) else (None,)
    read = [_motion(clip, path, unit, axis, how) for how in replaced for unit in units for axis in axes]
    rigs = [_rig(motion, clip) for motion in read]
    apart = np.array([misfit(rig, figure) for rig in rigs])
    fitting = np.flatnonzero(apart <= apart.min() + 1e-6).tolist()
    if len(fitting) > 1 and apart.min() < RigOptions().misfit:  # what the rest does not tell, the motion does
        away = {k: departure(rigs[k], figure) for k in fitting}
        fitting = [k for k in fitting if away[k] <= min(away.values()) + 1e-6]
    best = fitting[0]
    return rig_motion([rigs[best]], read[best].t, path, figure=figure)


def _motion(clip: Clip, path: Path, metres: float, up: str, replaced: bool | None = None) -> Motion:
    """In a unit of so many `metres`; `replaced` says whether positions replace offsets, where it is not to be guessed."""
    figure = _figure(clip, _name(path), metres, up, path, replaced)
    values = clip.values if len(clip.values) else np.zeros((1, clip.values.shape[1]))
    return Motion.of(figure, clip.dt * np.arange(len(values)), _configurations(clip, figure, values, metres))


def _rig(motion: Motion, clip: Clip) -> Rig:
    """The joints of a skeleton as bones. One that slides and has no OFFSET may be anywhere at rest."""
    figure, joints = motion.figure, _joint_names(clip)
    place = [figure.frame_index[joint] for joint in joints]
    still = frames_along(figure, figure.start[None])[0]
    rest, X = still[place], frames_along(figure, motion.q)[:, place]
    ends = [figure.frame_index.get(f"{joint}_end", k) for joint, k in zip(joints, place, strict=True)]
    tails = still[ends, :3, 3] - rest[:, :3, 3]
    tails /= np.maximum(np.linalg.norm(tails, axis=1, keepdims=True), 1e-9)
    groups: list[int] = []
    for k, node in enumerate(clip.nodes):
        slides = _slides(node) and not any(node.offset)
        groups.append(k if slides or node.parent < 0 else groups[node.parent])
    parents = tuple(node.parent for node in clip.nodes)
    names = tuple(node.name for node in clip.nodes)
    return Rig(figure.name, names, parents, rest, X, groups=tuple(groups), tails=tails, zeroed=True)


def _slides(node: BvhJoint) -> bool:
    return any(channel.endswith("position") for channel in node.channels)


def _name(path: Path) -> str:
    return path.stem or "skeleton"


def _unit(clip: Clip) -> float:
    """A guess: the first unit in which the skeleton is as tall as a person."""
    points = _rest_points(clip)
    height = float(np.max(np.ptp(points, axis=0)))
    return next((unit for unit in BVH_UNITS.values() if 1.2 <= height * unit <= 2.3), BVH_UNITS["cm"])


def _rest_points(clip: Clip) -> Array:
    """Where the joints and ends are with every rotation 0, in the file's units."""
    points: list[Array] = []
    ends: list[Array] = []
    for node in clip.nodes:
        base = points[node.parent] if node.parent >= 0 else np.zeros(3)
        points.append(base + node.offset)
        ends += [points[-1] + end for end in node.ends]
    return np.array(points + ends)


def _configurations(clip: Clip, figure: Figure, values: Array, scale: float) -> Array:
    """The variables, in the order of q, from the channels, in the order of the file."""
    q = np.zeros((len(values), figure.n_q))
    names = iter(_joint_names(clip))
    column = 0
    for node, name in zip(clip.nodes, names, strict=True):
        for channel in node.channels:
            factor = scale if channel.endswith("position") else math.pi / 180.0
            q[:, figure.index(f"{name}_{_letter(channel)}")] = values[:, column] * factor
            column += 1
    return q


# -- the figure ------------------------------------------------------------------------------------------------


def _figure(clip: Clip, name: str, scale: float, up: str, path: Path, replaced: bool | None) -> Figure:
    frames = [Frame("y_up", WORLD, rotation=(math.sqrt(0.5), math.sqrt(0.5), 0.0, 0.0))] if up == "y" else []
    root = frames[0].name if frames else WORLD
    groups: list[Joint] = []
    shapes: list[Shape] = []
    names = _joint_names(clip)
    renamed = [f"{n.name} is called {m}" for n, m in zip(clip.nodes, names, strict=True) if n.name != m]
    if renamed:
        warnings.warn(f"{path}: names used twice: {', '.join(renamed[:10])}", BunrakuWarning, stacklevel=3)
    thickness = 0.012 * float(np.max(np.ptp(_rest_points(clip), axis=0), initial=0.0)) * scale or 0.01
    column = 0
    for node, joint in zip(clip.nodes, names, strict=True):
        values = clip.values[:, column : column + len(node.channels)]
        column += len(node.channels)
        parent = names[node.parent] if node.parent >= 0 else root
        own = _joint_frames(node, joint, parent, values, scale, replaced)
        frames += own
        letters = tuple(_letter(channel) for channel in _ordered(node.channels))
        kind = next((kind for kind, motions in JOINT_MOTIONS.items() if motions == letters), None)
        if kind is not None:
            groups.append(Joint(joint, kind, tuple(frame.name for frame in own)))  # type: ignore[arg-type]
        if node.parent >= 0:
            shapes += _bone(parent, _scaled(node.offset, scale), thickness)
        for k, end in enumerate(node.ends):
            frames.append(Frame(f"{joint}_end{k or ''}", joint, _scaled(end, scale)))
            shapes += _bone(joint, _scaled(end, scale), thickness)
    return Figure(name, tuple(frames), shapes=tuple(shapes), groups=tuple(groups))


def _joint_names(clip: Clip) -> list[str]:
    """The file's names, with a number appended where one is used twice or clashes with a name that this reader makes."""
    made = {"", WORLD, "y_up"}  # the frame that turns the file's y axis upright
    count: dict[str, int] = {}
    out = []
    for node in clip.nodes:
        name = node.name
        while _made(name, node) & made:
            count[node.name] = count.get(node.name, 1) + 1
            name = f"{node.name}_{count[node.name]}"
        made |= _made(name, node)
        out.append(name)
    return out


def _made(name: str, node: BvhJoint) -> set[str]:
    """The names of the frames and variables of a joint."""
    ends = {f"{name}_end{k or ''}" for k in range(len(node.ends))}
    return {name, *ends, *(f"{name}_{_letter(channel)}" for channel in node.channels)}


def _letter(channel: str) -> str:
    """Zrotation is rz, Xposition is tx."""
    return ("t" if channel.endswith("position") else "r") + channel[0].lower()


def _ordered(channels: tuple[str, ...]) -> tuple[str, ...]:
    """Positions come first, wherever they are written, as x, y, z; rotations keep their order."""
    positions = sorted(channel for channel in channels if channel.endswith("position"))
    return (*positions, *(channel for channel in channels if not channel.endswith("position")))


def _joint_frames(node: BvhJoint, name: str, parent: str, values: Array, scale: float, replaced: bool | None) -> list[Frame]:
    """A frame for each channel; the last carries the joint's name. No channel: a frame that does not move."""
    position = _mount(node, values, scale, replaced)
    if not node.channels:
        return [Frame(name, parent, position)]
    out = []
    channels = _ordered(node.channels)
    rest = np.array(node.offset) * scale - position  # where positions replace the offset, they start at it
    for channel in channels:
        letter = _letter(channel)
        start = float(rest["xyz".index(letter[1])]) if letter[0] == "t" else 0.0
        motion = "translate" if letter[0] == "t" else "rotate"
        # Kinematic: a skeleton without masses moves as the file says.
        variable = Variable(f"{name}_{letter}", motion, AXES[letter[1]], kinematic=True, start=start)  # type: ignore[arg-type]
        last = channel == channels[-1]
        out.append(Frame(name if last else variable.name, parent, position, variable=variable))
        parent, position = out[-1].name, ORIGIN
    return out


def _mount(node: BvhJoint, values: Array, scale: float, replaced: bool | None) -> Vector:
    """Where the joint is before its channels move it.

    Some programs write positions that replace the OFFSET, others positions that are added to it. The numbers show which:
    positions that replace it stay nearer to it than to zero.
    """
    offset = np.array(node.offset)
    axes = ["XYZ".index(c[0]) for c in node.channels if c.endswith("position")]
    moved = values[:, [k for k, c in enumerate(node.channels) if c.endswith("position")]]
    if replaced is None:
        replaced = bool(len(moved)) and bool(np.abs(moved - offset[axes]).sum() < np.abs(moved).sum())
    if replaced:
        offset[axes] = 0.0
    return _scaled(offset, scale)


def _scaled(offset: tuple[float, float, float] | Array, scale: float) -> Vector:
    x, y, z = (float(c) * scale for c in offset)
    return (x, y, z)


def _bone(frame: str, to: Vector, thickness: float) -> list[Shape]:
    """A capsule from a joint to the next, or a ball where that is short, so that the skeleton is visible."""
    length = math.hypot(*to)
    if length < 3 * thickness:
        return [Shape(frame, Sphere(thickness), collides=False)]
    direction = np.array(to) / length
    w, x, y, z = so3.quaternion(so3.onto_z(direction.tolist())).tolist()
    middle = _scaled(to, 0.5)
    return [Shape(frame, Capsule(thickness, length), middle, (w, x, y, z), collides=False)]
