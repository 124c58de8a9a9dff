"""Parts of tasks: the records that kernels use, before they are laid out, and what checks the words of tasks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import ORIGIN
from bunraku.kinematics.inverse import task_rows
from bunraku.spatial import se3

Array = NDArray[np.float64]
Fields = dict[str, Any]


@dataclass(frozen=True)
class Part:
    """One record of a task: its kind and fields, the square root of its weight, and what it is aimed at."""

    kind: int
    fields: Fields
    weight: float
    aim: tuple[float, ...] | None

    @property
    def n_rows(self) -> int:
        if self.kind == task_rows.GIVEN:
            return int(self.fields["axes"])
        if self.kind in (task_rows.LINK, task_rows.VALUE):
            return task_rows.N_ROWS[self.kind]
        return int(self.fields["axes"]).bit_count()


def finite(values: ArrayLike, shape: tuple[int, ...], what: str) -> Array:
    out = np.asarray(values, float)
    if out.shape != shape:
        raise BunrakuError(f"{what}: needs {' × '.join(map(str, shape))} numbers, not {np.shape(values)}")
    if not np.isfinite(out).all():
        raise NotFinite(f"{what}: {out.ravel()[~np.isfinite(out.ravel())][0]} among the numbers\n  advice: give finite ones")
    return out


def unit(values: ArrayLike, what: str) -> Array:
    out = finite(values, (3,), what)
    size = float(np.linalg.norm(out))
    if size < 1e-12:
        raise BunrakuError(f"{what}: has no direction")
    return out / size


def carrier(figure: Figure, frame: str) -> tuple[int, Array]:
    """The joint that carries a frame, and the frame's pose in the joint's axes."""
    if frame == WORLD:
        return -1, np.eye(4)
    if frame not in figure.frame_index:
        raise UnknownName("frame", frame, tuple(figure.frame_index))
    f = figure.frame_index[frame]
    return int(figure.compiled.frame_joint[f]), figure.compiled.frame_X[f]


def between(figure: Figure, frame: str, seen_from: str, position: ArrayLike = ORIGIN) -> Fields:
    """Fields that say where a point of a frame is carried, and who looks at it."""
    joint, X = carrier(figure, frame)
    base, Y = carrier(figure, seen_from)
    moved = int(seen_from != WORLD)
    return {
        "joint": joint, "viewer": base, "moved": moved, "x": se3.transform(X, position), "R": X[:3, :3], "b": Y[:3, 3],
        "B": Y[:3, :3],
    }  # fmt: skip


def bits(axes: str, what: str) -> int:
    if not axes or set(axes) - set("xyz"):
        raise BunrakuError(f"{what}: axes are some of x, y, z, not {axes!r}")
    return sum(1 << "xyz".index(a) for a in set(axes))
