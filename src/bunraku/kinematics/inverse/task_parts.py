"""Parts of tasks: the records that kernels use, before they are put into arrays, and checks of the arguments of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import ORIGIN
from bunraku.kinematics.inverse.task_rows import TaskKind
from bunraku.spatial import se3

Array = NDArray[np.float64]
Fields = dict[str, Any]


@dataclass(frozen=True)
class TaskPart:
    """One record of a task."""

    kind: TaskKind
    fields: Fields
    """Fields of the record, by name."""
    weight: float
    """The square root of the task's weight."""
    aim: tuple[float, ...] | None
    """Its target; None: its value at the start."""

    @property
    def n_rows(self) -> int:
        """How many rows of errors it has."""
        match self.kind:
            case TaskKind.GIVEN:
                return int(self.fields["axes"])
            case TaskKind.LINK | TaskKind.VALUE:
                return 1
            case _:
                return int(self.fields["axes"]).bit_count()


def finite(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    """`values` as an array of this `shape`; raises `BunrakuError` for another and `NotFinite` for NaN, naming `what`."""
    out = np.asarray(values, float)
    if out.shape != shape:
        raise BunrakuError(f"{what}: expected {' × '.join(map(str, shape))} numbers, got an array of shape {np.shape(values)}")
    if not np.isfinite(out).all():
        raise NotFinite(f"{what}: expected finite numbers, got {out.ravel()[~np.isfinite(out.ravel())][0]}")
    return out


def unit(values: ArrayLike, what: str) -> Array:
    """The direction of three `values`; raises `BunrakuError` where they have none, naming `what`."""
    out = finite(values, (3,), what)
    size = float(np.linalg.norm(out))
    if size < 1e-12:
        raise BunrakuError(f"{what}: a vector of length 0 has no direction")
    return out / size


def carrier(figure: Figure, frame: str) -> tuple[int, Array]:
    """The joint of `figure` that carries a `frame` (−1: none), and X of the frame in the joint's axes (4, 4).

    Raises `UnknownName` where there is no such frame.
    """
    if frame == WORLD:
        return -1, np.eye(4)
    if frame not in figure.frame_index:
        raise UnknownName("frame", frame, tuple(figure.frame_index))
    f = figure.frame_index[frame]
    return int(figure.compiled.frame_joint[f]), figure.compiled.frame_X[f]


def between(figure: Figure, frame: str, seen_from: str, position: ArrayLike = ORIGIN) -> Fields:
    """Fields of a record for the point at `position` of `frame` in `figure`, measured in the axes of the frame `seen_from`."""
    joint, X = carrier(figure, frame)
    base, Y = carrier(figure, seen_from)
    moved = int(seen_from != WORLD)
    return {
        "joint": joint, "viewer": base, "moved": moved, "x": se3.transform(X, position), "R": X[:3, :3], "b": Y[:3, 3],
        "B": Y[:3, :3],
    }  # fmt: skip


def bits(axes: str, what: str) -> int:
    """A bit for each of the `axes`, letters of "xyz"; raises `BunrakuError` for others, naming `what`."""
    if not axes or set(axes) - set("xyz"):
        raise BunrakuError(f"{what}: expected some of the axes x, y, z, got {axes!r}")
    return sum(1 << "xyz".index(a) for a in set(axes))
