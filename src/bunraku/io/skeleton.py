"""Skeleton: the bones of a figure, as animation programs use them: one for each part that moves as a whole."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.figure import WORLD, Figure
from bunraku.kinematics import frames_along
from bunraku.render.triangles import triangles
from bunraku.spatial import se3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Skeleton:
    """Bones, parents first. Frames that only pass a motion on, as two of the three frames of a ball joint do, have no bone.

    The y axis of a bone points along it: to its only child, or else to the middle of its shapes.
    """

    figure: Figure
    names: tuple[str, ...]
    """The frame at the beginning of each bone."""
    parents: tuple[int, ...]
    """Numbers of the bones above; −1 where there is none."""
    of_frame: dict[str, int]
    """The bone that carries each frame, and the world; −1 where there is none."""
    X_FB: Array
    """Each bone in its frame, (n, 4, 4)."""
    rest: Array
    """X_WB of each bone at the start of the figure, (n, 4, 4)."""

    def along(self, q: ArrayLike) -> Array:
        """X_WB (T, n, 4, 4) at configurations `q` (T, n_q)."""
        return np.asarray(_frames(self.figure, self.names, np.asarray(q, float)) @ self.X_FB)

    def frames_at_rest(self) -> dict[str, Array]:
        """X_WF of the world and of every frame, by name, at the start of the figure."""
        names = (WORLD, *self.figure.frame_index)
        return dict(zip(names, _frames(self.figure, names, self.figure.start[None])[0], strict=True))

    def in_parents(self, X_WB: Array) -> Array:
        """The bones `X_WB` (…, n, 4, 4) relative to the bones above them; those that have none stay as they are."""
        parents = np.array(self.parents)
        above = np.where((parents < 0)[:, None, None], np.eye(4), X_WB[..., parents, :, :])
        return np.asarray(se3.inverse(above) @ X_WB)


def skeleton(figure: Figure) -> Skeleton:
    """The bones of a `figure`."""
    part = {WORLD: WORLD}  # the frame that moves each frame
    above: dict[str, str] = {}  # the part above each part
    for frame in figure.frames:
        part[frame.name] = frame.name if frame.variable is not None else part[frame.parent]
        if frame.variable is not None:
            above[frame.name] = part[frame.parent]
    used = _used(figure)
    children = Counter(above.values())
    kept = [name for name in (WORLD, *above) if any(part[f] == name for f in used) or (name in above and children[name] != 1)]
    number = {name: k for k, name in enumerate(kept)}
    for name in above:
        number.setdefault(name, -2)  # passes its motion on

    def bone(name: str, step: dict[str, str]) -> int:
        while number.get(name, -1) == -2:
            name = step[name]
        return number.get(name, -1)

    below = {parent: child for child, parent in above.items()}
    of_frame = {frame: bone(name, below) for frame, name in part.items()}
    parents = tuple(bone(above[name], above) if name in above else -1 for name in kept)
    names = tuple(_ground(figure, used, part) if name == WORLD else name for name in kept)
    frames = _frames(figure, names, figure.start[None])[0]
    shown = [shape for shape in figure.shapes if shape.visible]
    corners: dict[int, list[Array]] = {}
    for shape, X in zip(shown, _frames(figure, tuple(shape.frame for shape in shown), figure.start[None])[0], strict=True):
        here = X @ se3.pose(shape.position, shape.rotation)
        corners.setdefault(of_frame[shape.frame], []).append(se3.transform(here, triangles(shape.geometry).vertices))
    X_FB = np.tile(np.eye(4), (len(kept), 1, 1))
    for k in range(len(kept)):
        X_FB[k, :3, :3] = _axes(frames[k][:3, :3].T @ _direction(k, parents, frames, corners.get(k, [])))
    return Skeleton(figure, names, parents, of_frame, X_FB, frames @ X_FB)


def identifiers(names: Iterable[str]) -> list[str]:
    """The `names` in ASCII letters, digits and underscores, as USD requires; those that become equal get a number."""
    return numbered(re.sub(r"^(?=[0-9]|$)", "_", re.sub(r"[^0-9A-Za-z_]", "_", name)) for name in names)


def numbered(names: Iterable[str]) -> list[str]:
    """The `names`, with _1, _2, … after those that came before."""
    out: dict[str, None] = {}
    for name in names:
        different, k = name, 1
        while different in out:
            different, k = f"{name}_{k}", k + 1
        out[different] = None
    return list(out)


def _used(figure: Figure) -> list[str]:
    """Frames that hold something to see or weigh."""
    ends = [point.frame for rope in (*figure.strings, *figure.wires) if not rope.wraps for point in rope.path]
    return [*(body.frame for body in figure.bodies), *(shape.frame for shape in figure.shapes if shape.visible), *ends]


def _ground(figure: Figure, used: list[str], part: dict[str, str]) -> str:
    """The frame at which the bone of what never moves begins: the first that holds something."""
    return next((f.name for f in figure.frames if part[f.name] == WORLD and f.name in used), WORLD)


def _frames(figure: Figure, names: tuple[str, ...], q: Array) -> Array:
    X = np.concatenate([frames_along(figure, q), np.broadcast_to(np.eye(4), (len(q), 1, 4, 4))], 1)
    place = figure.frame_index | {WORLD: len(figure.frames)}
    return X[:, [place[name] for name in names]]


def _direction(bone: int, parents: tuple[int, ...], frames: Array, corners: list[Array]) -> Array:
    """Where a bone with these corners of its shapes points, in the world; up where nothing tells."""
    start = frames[bone, :3, 3]
    ends = [frames[k, :3, 3] for k, parent in enumerate(parents) if parent == bone]
    middle = [] if not corners else [(np.vstack(corners).min(0) + np.vstack(corners).max(0)) / 2]
    for end in (*(ends if len(ends) == 1 else []), *middle, *ends):
        length = float(np.linalg.norm(end - start))
        if length > 1e-6:
            return np.asarray((end - start) / length)
    return np.array([0.0, 0.0, 1.0])


def _axes(y: Array) -> Array:
    """The rotation matrix whose second column is the unit vector `y`, and whose first is near the x axis, if it can be."""
    near = np.eye(3)[0 if abs(y[0]) < 0.9 else 2]
    x = near - (near @ y) * y
    x /= np.linalg.norm(x)
    return np.stack([x, y, np.cross(x, y)], 1)
