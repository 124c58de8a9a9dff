"""Rigs: the bones that animation programs write, at rest and over time, and what becomes of them here.

A rig with the bones of a figure becomes a motion of that figure: each joint takes the values that put its bone where the file has
it. Any other rig becomes a figure of its own: a ball joint for each bone, a free joint for those that also move away.
"""

from __future__ import annotations

import json
import re
import warnings
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, BunrakuWarning, FileError
from bunraku.figure import WORLD, Capsule, Figure, Frame, Joint, Shape, Sphere, Variable
from bunraku.figure.frame import AXES, JOINT_MOTIONS, ORIGIN, Vector
from bunraku.figure.shape import WOOD, Color
from bunraku.io.skeleton import identifiers, numbered, skeleton
from bunraku.io.yaml.figure_file import parse_figure
from bunraku.kinematics.chain_fit import chain_along, fitted_chain
from bunraku.kinematics.ways import lengths_along
from bunraku.motion import Mark, Motion, Track
from bunraku.motion.orientation import zyx_along
from bunraku.spatial import se3, so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class RigOptions:
    """What of a rig counts as noise."""

    moved: float = 1e-4
    """A bone whose joint moves by less than this in the bone above [m] only turns."""
    misfit: float = 0.005
    """Largest distance of a joint from that of the figure, both at rest [m]."""
    farthest: float = 1e6
    """Largest coordinate of a bone [m]."""
    bones: int = 5_000
    """Most bones of a rig; more are a mistake."""


@dataclass(frozen=True, eq=False)
class Rig:
    """Bones, parents first, in metres with z up."""

    name: str
    bones: tuple[str, ...]
    parents: tuple[int, ...]
    """Numbers of the bones above; −1 where there is none."""
    rest: Array
    """X_WB at rest, (n, 4, 4)."""
    X: Array
    """X_WB at every sample, (T, n, 4, 4)."""
    colors: dict[int, Color] = field(default_factory=dict)
    """The colour of the mesh that each bone carries."""
    figure: str = ""
    """The figure that bunraku wrote into the file, as YAML."""
    groups: tuple[int, ...] = ()
    """A number for each bone, if any: how bones of different numbers are placed relative to each other at rest, means nothing."""
    tails: Array | None = None
    """Where each bone points at rest, (n, 3): unit vectors, zeros where it is not known."""
    zeroed: bool = False
    """Whether all angles of a figure are likely to be 0 at rest. Otherwise it is likely to be at its start."""


def rig_motion(
    rigs: Sequence[Rig], t: Array, path: str | PathLike[str], *, figure: Figure | None = None, marks: tuple[Mark, ...] = (),
    options: RigOptions = RigOptions(),
) -> Motion:  # fmt: skip
    """The motion of `rigs` at the times `t` [s].

    path: the file, for messages
    figure: whose bones they are, of all rigs that have most of its bones; by default the one that the file keeps, or else one
        made from the bones
    marks: moments with names
    options: what counts as noise

    Raises FileError if there is no rig, or none of this figure.
    """
    if not rigs:
        raise FileError("there is no skeleton", path=str(path), advice="export the armature with its meshes and its animation")
    for rig in rigs:
        if len(rig.bones) > options.bones:
            raise FileError(f"{len(rig.bones)} bones", path=str(path), advice=f"a skeleton has at most {options.bones}")
        if not all((np.abs(X) <= options.farthest).all() for X in (rig.X, rig.rest)):
            what = f"a bone of {rig.name} is farther than {options.farthest:g} m away, or nowhere"
            raise FileError(what, path=str(path), advice="is the file whole, and its unit right?")
    try:
        if figure is not None:
            known = [len(_matched(figure, rig)) for rig in rigs]
            rigs = [rig for rig, count in zip(rigs, known, strict=True) if count == max(known)]
        names = _different(rig.name or "skeleton" for rig in rigs)
        if figure is not None and len(rigs) == 1:
            names = [figure.name]
        tracks = (_track(rig, name, path, figure, options) for rig, name in zip(rigs, names, strict=True))
        return Motion(t, tuple(tracks), marks)
    except FileError:
        raise
    except BunrakuError as error:
        raise FileError(str(error).partition("\n")[0], path=str(path), advice="is the file whole?") from None


def _track(rig: Rig, name: str, path: str | PathLike[str], figure: Figure | None, options: RigOptions) -> Track:
    if figure is None and rig.figure:
        figure = parse_figure(rig.figure, f"{path}:figure")
    if figure is None:
        figure, q = _own_figure(rig, options)
    else:
        q = followed(rig, figure, path, options)
    return Track(figure, q, name=name)


# -- a figure with these bones -------------------------------------------------------------------------------------


def followed(rig: Rig, figure: Figure, path: str | PathLike[str], options: RigOptions = RigOptions()) -> Array:
    """The configurations (T, n_q) of a `figure` that put its bones where those of the `rig` are.

    path: the file, for messages
    options: how far joints at rest may be from those of the figure

    Strings are just taut. Warns of bones that the rig does not have; raises FileError if it is the rig of another figure.
    """
    own, found = skeleton(figure), _matched(figure, rig)
    if not found:
        advice = "load it without figure=, and transfer the motion by bunraku.kinematics.retarget.retarget"
        raise FileError(f"{rig.name} has no bone of {figure.name}", path=str(path), advice=advice)
    rest, apart = _rest(figure, rig, found)
    if apart > options.misfit:
        what = f"it is not the skeleton of {figure.name}: at rest, a joint is {1e3 * apart:.0f} mm from its place"
        raise FileError(
            what, path=str(path), advice="load it without figure=, and transfer the motion by bunraku.kinematics.retarget.retarget"
        )
    theirs = list(found.values())
    wanted = dict(zip(found, np.moveaxis(rig.X[:, theirs] @ se3.inverse(rig.rest[theirs]) @ rest, 1, 0), strict=True))
    q = np.tile(figure.start, (len(rig.X), 1))
    X: dict[str, Array] = {WORLD: np.broadcast_to(np.eye(4), (len(q), 4, 4))}
    for k, name in enumerate(own.names):
        if k in wanted and name not in X:
            chain = _chain(figure, name, X)
            fitted_chain(figure, chain, X[chain[0].parent], wanted[k], q)
            X |= chain_along(chain, X[chain[0].parent], q, figure)
    reach, wound = lengths_along(figure, q), {variable.name for variable in figure.lengths}
    for k, rope in enumerate(figure.strings):
        if rope.variable in wound:
            q[:, figure.index(rope.variable)] = rope.winding(reach[:, k])
    still = [frame.variable.name for frame in figure.frames if frame.variable is not None and frame.name not in X]
    if still:
        listed = ", ".join(still[:8]) + " …" * (len(still) > 8)
        warnings.warn(
            BunrakuWarning(f"{path}: variables whose bones the file does not have stay at the start: {listed}"), stacklevel=3
        )
    return q


def misfit(rig: Rig, figure: Figure) -> float:
    """How far a joint of the `rig` is from its place in the `figure`, both at rest [m]; infinite where they share no bone."""
    found = _matched(figure, rig)
    return _rest(figure, rig, found)[1] if found else float("inf")


def departure(rig: Rig, figure: Figure) -> float:
    """How far the bones of the `figure` remain from those of the `rig` [m], or turned away [rad], at worst of some samples."""
    rig = replace(rig, X=rig.X[:: 1 + len(rig.X) // 100])
    own, found = skeleton(figure), _matched(figure, rig)
    ours, theirs = list(found), list(found.values())
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        q = followed(rig, figure, rig.name)
    wanted = rig.X[:, theirs] @ se3.inverse(rig.rest[theirs]) @ _rest(figure, rig, found)[0]
    return float(np.abs(own.along(q)[:, ours] @ se3.inverse(own.X_FB[ours]) - wanted).max())


def _matched(figure: Figure, rig: Rig) -> dict[int, int]:
    """The bones of the figure, and those of the rig that have their names, as programs write them.

    Of all ways to write names, with or without that of the rig before them, the one that finds most bones is taken.
    """
    own = skeleton(figure).names
    before = Counter(name[: slash.end()] for name in rig.bones for slash in re.finditer("/", name))
    spellings = [(prefix, "") for prefix, _ in before.most_common(3)]  # what is before names in the file, and before ours
    best: dict[int, int] = {}
    for spelled in (list, _words, identifiers):
        for theirs, ours in (("", ""), *spellings, ("", f"{rig.name}/")):
            known = {name: k for k, name in reversed(list(enumerate(spelled(one.removeprefix(theirs) for one in rig.bones))))}
            found = {k: known[name] for k, name in enumerate(spelled(ours + one for one in own)) if name in known}
            best = found if len(found) > len(best) else best
    return best


def _words(names: Iterable[str]) -> list[str]:
    """The `names` without blanks and signs; those that become equal get a number."""
    return numbered(re.sub(r"\W", "_", name) for name in names)


def _rest(figure: Figure, rig: Rig, found: dict[int, int]) -> tuple[Array, float]:
    """X_WF (n, 4, 4) of the bones that were `found`, while the file's are at rest, and how far a joint is from its place [m].

    Programs write the start of a figure as its rest, or all angles 0; the one that fits better is taken, or, where joints fit
    both, the one whose bones point where those of the file do. Where the rest of the file is elsewhere in the world, the figure
    is put there.
    """
    zero = np.array([0.0 if v.motion in ("rotate", "screw") else v.start for v in figure.variables])
    own, ours, theirs = skeleton(figure), list(found), list(found.values())
    both = np.stack([zero, figure.start] if rig.zeroed else [figure.start, zero])
    X_WB = own.along(both)[:, ours]
    X = X_WB @ se3.inverse(own.X_FB[ours])
    apart = rig.rest[theirs, :3, 3] - X[..., :3, 3]
    groups = np.array(rig.groups)[theirs] if rig.groups else np.zeros(len(theirs), int)
    for group in np.unique(groups):
        shift = np.mean(apart[:, groups == group], axis=1, keepdims=True)
        X[..., :3, 3][:, groups == group] += shift
        apart[:, groups == group] -= shift
    worst = np.linalg.norm(apart, axis=-1).max(1)
    best = int(worst[1] < worst[0] - 1e-6)
    if rig.tails is not None and abs(worst[1] - worst[0]) <= 1e-6:
        along = (X_WB[..., :3, 1] * rig.tails[theirs]).sum((1, 2))
        best = int(along[1] > along[0] + 1e-6)
    return np.asarray(X[best]), float(worst[best])


def _chain(figure: Figure, name: str, known: dict[str, Array]) -> list[Frame]:
    """The frames from the nearest one that is known down to `name`."""
    out = []
    while name not in known:
        out.append(figure.frame(name))
        name = out[-1].parent
    return out[::-1]


# -- a figure of its own -------------------------------------------------------------------------------------------


def _own_figure(rig: Rig, options: RigOptions) -> tuple[Figure, Array]:
    """A figure with the bones of the `rig`, at rest when all variables are 0, and its configurations."""
    parents = np.array(rig.parents)

    def local(X: Array) -> Array:
        above = np.where((parents < 0)[:, None, None], np.eye(4), X[..., parents, :, :])
        return np.asarray(se3.inverse(above) @ X)

    rest = local(rig.rest)
    moved = se3.inverse(rest) @ local(rig.X)
    names = _joint_names(rig.bones)
    frames: list[Frame] = []
    groups: list[Joint] = []
    columns: dict[str, Array] = {}
    for k, (name, parent) in enumerate(zip(names, rig.parents, strict=True)):
        slides = parent < 0 or float(np.abs(moved[:, k, :3, 3]).max()) > options.moved
        kind: Literal["free", "ball"] = "free" if slides else "ball"
        place = names[parent] if parent >= 0 else WORLD
        position, rotation = _vector(rest[k, :3, 3]), so3.quaternion(rest[k, :3, :3])
        values = np.hstack([moved[:, k, :3, 3], zyx_along(moved[:, k, :3, :3])])[:, 0 if slides else 3 :]
        own: list[str] = []
        for letters, value in zip(JOINT_MOTIONS[kind], values.T, strict=True):
            motion: Literal["translate", "rotate"] = "translate" if letters[0] == "t" else "rotate"
            variable = Variable(f"{name}_{letters}", motion, AXES[letters[1]], kinematic=True)
            own.append(name if letters == "rx" else variable.name)
            w, x, y, z = rotation.tolist()
            frames.append(Frame(own[-1], place, position, (w, x, y, z), variable))
            columns[variable.name] = value
            place, position, rotation = own[-1], ORIGIN, np.array(so3.IDENTITY)
        groups.append(Joint(name, kind, tuple(own)))
    figure = Figure(rig.name or "skeleton", tuple(frames), shapes=tuple(_shapes(rig, names, rest)), groups=tuple(groups))
    return figure, np.stack([columns[variable.name] for variable in figure.variables], 1)


def _joint_names(bones: Sequence[str]) -> list[str]:
    """The names of the bones, with numbers where one is used twice or like that of a variable."""
    taken = {"", WORLD}
    out = []
    for bone in bones:
        name, k = bone, 2
        while {name, *(f"{name}_{letters}" for letters in JOINT_MOTIONS["free"])} & taken:
            name, k = f"{bone}_{k}", k + 1
        taken |= {name, *(f"{name}_{letters}" for letters in JOINT_MOTIONS["free"])}
        out.append(name)
    return out


def _shapes(rig: Rig, names: list[str], rest: Array) -> Iterable[Shape]:
    """A capsule from each bone to those below it, a ball where there are none, in the colours of the meshes."""
    size = float(np.ptp(rig.rest[:, :3, 3], axis=0).max(initial=0.0)) or 1.0
    thickness = 0.012 * size
    for k, name in enumerate(names):
        color = rig.colors.get(k, WOOD)
        ends = [rest[j, :3, 3] for j, parent in enumerate(rig.parents) if parent == k]
        long = [end for end in ends if np.linalg.norm(end) > 3 * thickness]
        for end in long:
            w, x, y, z = so3.quaternion(so3.onto_z((end / np.linalg.norm(end)).tolist())).tolist()
            length = float(np.linalg.norm(end))
            yield Shape(name, Capsule(thickness, length), _vector(end / 2), (w, x, y, z), color, collides=False)
        if not long:
            yield Shape(name, Sphere(thickness), color=color, collides=False)


def _vector(values: Array) -> Vector:
    x, y, z = (float(v) for v in values)
    return (x, y, z)


def _different(names: Iterable[str]) -> list[str]:
    out: list[str] = []
    for name in names:
        k, one = 2, name
        while one in out:
            one, k = f"{name} {k}", k + 1
        out.append(one)
    return out


# -- for readers ---------------------------------------------------------------------------------------------------


def rigid(X: Array, unit: float = 1.0) -> Array:
    """Transforms `X` (…, 4, 4) without scale and shear, and with lengths in metres instead of `unit` [m]."""
    U, _, V = np.linalg.svd(np.nan_to_num(X[..., :3, :3]))
    flip = np.ones((*X.shape[:-2], 3))
    flip[..., 2] = np.sign(np.linalg.det(U @ V))
    out = np.zeros_like(X)
    out[..., :3, :3] = (U * flip[..., None, :]) @ V
    out[..., :3, 3] = unit * X[..., :3, 3]
    out[..., 3, 3] = 1.0
    return out


def painted(meshes: Iterable[tuple[Color, NDArray[np.int64], Array]]) -> dict[int, Color]:
    """For each bone the colour of the mesh that has the most vertices on it.

    meshes: the colour of each, and the bones (n, k) of its vertices with their weights (n, k)
    """
    votes: dict[int, Counter[Color]] = {}
    for color, joints, weights in meshes:
        main = joints[np.arange(len(joints)), np.argmax(weights, 1)]
        for bone, count in zip(*np.unique(main, return_counts=True), strict=True):
            votes.setdefault(int(bone), Counter())[color] += int(count)
    return {bone: counts.most_common(1)[0][0] for bone, counts in votes.items()}


def read_marks(text: str) -> tuple[Mark, ...]:
    """The marks that bunraku wrote as JSON `text`; none where it is something else."""
    try:
        return tuple(Mark(float(one["t"]), str(one["text"]), str(one["kind"])) for one in json.loads(text))
    except (TypeError, ValueError, KeyError, RecursionError):
        return ()
