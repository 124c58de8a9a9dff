"""Tasks of inverse kinematics: what should be where, each with a weight and a priority.

A task has an error, zero where it is fulfilled, and its derivative with respect to q. Tasks of one priority are weighed against
each other; a task with a larger priority number never disturbs one with a smaller number. Without a target, a task keeps its
frame (or its variables) where they are. Targets are in the axes of `seen_from`, which may itself move.
"""

from __future__ import annotations

import abc
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, UnknownName
from bunraku.figure import WORLD, Figure
from bunraku.figure.frame import ORIGIN
from bunraku.kinematics.inverse.task_parts import TaskPart, between, bits, finite, unit
from bunraku.kinematics.inverse.task_rows import TaskKind

Array = NDArray[np.float64]


@dataclass(frozen=True, kw_only=True, eq=False)
class Task(abc.ABC):
    """Something that a figure should do; the base of all tasks."""

    weight: float = 1.0
    """How much its squared error counts beside tasks of the same priority."""
    priority: int = 0
    """Smaller comes first: a task never disturbs one with a smaller number."""
    name: str = ""
    """Its title in `aim` and `errors`; by default the name of its frame."""

    def __post_init__(self) -> None:
        if not 0.0 < self.weight < np.inf:
            raise BunrakuError(f"{self.title}: weight must be positive, got {self.weight}")

    @property
    def title(self) -> str:
        """Its name, or else its frame's, or else its kind."""
        return self.name or str(getattr(self, "frame", type(self).__name__.lower()))

    def parts(self, figure: Figure) -> Iterator[TaskPart]:
        """The records that kernels use, for a `figure`. Raises `BunrakuError` where the task names what it does not have."""
        yield from self._parts(figure)

    @abc.abstractmethod
    def _parts(self, figure: Figure) -> Iterator[TaskPart]: ...

    def aims(self, target: Any) -> tuple[tuple[float, ...], ...]:
        """The numbers of a `target`, for each part. Raises `BunrakuError` for one that does not fit the task."""
        raise BunrakuError(f"{self.title}: a {type(self).__name__} has no target")


@dataclass(frozen=True, kw_only=True, eq=False)
class _OfFrame(Task):
    """A task about one frame, whose target is an array of a fixed shape."""

    seen_from: str = WORLD
    """The frame in whose axes the target is given."""
    shape: ClassVar[tuple[int, ...]] = (3,)
    """Shape of a target."""

    def aims(self, target: Any) -> tuple[tuple[float, ...], ...]:
        """The numbers of a `target` of its shape."""
        return (tuple(finite(target, self.shape, f"{self.title}: target").ravel().tolist()),)

    def _aim(self, target: Any) -> tuple[float, ...] | None:
        return None if target is None else self.aims(target)[0]


@dataclass(frozen=True, eq=False)
class PointPosition(_OfFrame):
    """A point of a frame should be at a position, or have some of its coordinates."""

    frame: str
    target: ArrayLike | None = None
    """(3,) [m]."""
    position: ArrayLike = ORIGIN
    """The point, in the frame's axes [m]."""
    axes: str = "xyz"
    """The coordinates that count."""

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        fields = between(figure, self.frame, self.seen_from, finite(self.position, (3,), self.title))
        fields["axes"] = bits(self.axes, self.title)
        yield TaskPart(TaskKind.POINT, fields, self.weight**0.5, self._aim(self.target))


@dataclass(frozen=True, eq=False)
class FrameRotation(_OfFrame):
    """A frame should have a given orientation; the error is a rotation vector [rad]."""

    frame: str
    target: ArrayLike | None = None
    """A rotation matrix (3, 3)."""
    shape: ClassVar[tuple[int, ...]] = (3, 3)

    def aims(self, target: Any) -> tuple[tuple[float, ...], ...]:
        """The nine numbers of the rotation matrix `target`, by rows."""
        R = finite(target, (3, 3), f"{self.title}: target")
        if not np.allclose(R @ R.T, np.eye(3), atol=1e-6) or np.linalg.det(R) < 0.0:
            raise BunrakuError(f"{self.title}: target: not a rotation matrix")
        return (tuple(R.ravel().tolist()),)

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        fields = between(figure, self.frame, self.seen_from)
        yield TaskPart(TaskKind.TURN, {**fields, "axes": 7}, self.weight**0.5, self._aim(self.target))


@dataclass(frozen=True, eq=False)
class FramePose(_OfFrame):
    """A frame should have a given pose: position and orientation."""

    frame: str
    target: ArrayLike | None = None
    """X (4, 4)."""
    lever: float = 1.0
    """An angle counts like the distance that it moves the end of a lever this long [m]."""

    def _both(self) -> tuple[PointPosition, FrameRotation]:
        turn = self.weight * self.lever**2
        return (
            PointPosition(self.frame, weight=self.weight, name=self.title, seen_from=self.seen_from),
            FrameRotation(self.frame, weight=turn, name=self.title, seen_from=self.seen_from),
        )

    def aims(self, target: Any) -> tuple[tuple[float, ...], ...]:
        """Position and rotation of the pose `target` (4, 4)."""
        X = finite(target, (4, 4), f"{self.title}: target")
        return tuple(X[:3, 3].tolist()), *self._both()[1].aims(X[:3, :3])

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        aims = (None, None) if self.target is None else self.aims(self.target)
        for task, aim in zip(self._both(), aims, strict=True):
            for part in task.parts(figure):
                yield TaskPart(part.kind, part.fields, part.weight, aim)


@dataclass(frozen=True, eq=False)
class Direction(_OfFrame):
    """An axis of a frame should point along a direction; the error is the rotation vector between them [rad]."""

    frame: str
    target: ArrayLike | None = None
    """A direction (3,) of any length."""
    axis: ArrayLike = (1.0, 0.0, 0.0)
    """In the frame's axes."""

    def aims(self, target: Any) -> tuple[tuple[float, ...], ...]:
        """The unit vector along the direction `target` (3,)."""
        return (tuple(unit(target, f"{self.title}: target").tolist()),)

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        fields = between(figure, self.frame, self.seen_from)
        fields |= {"axes": 7, "a": fields["R"] @ unit(self.axis, f"{self.title}: axis")}
        yield TaskPart(TaskKind.AXIS, fields, self.weight**0.5, self._aim(self.target))


@dataclass(frozen=True, eq=False)
class LookAt(_OfFrame):
    """An axis of a frame, through a point of it, should point at a position; the error is a rotation vector [rad]."""

    frame: str
    target: ArrayLike
    """The position to look at, (3,) [m]."""
    axis: ArrayLike = (1.0, 0.0, 0.0)
    """In the frame's axes."""
    position: ArrayLike = ORIGIN
    """The point to look from, such as an eye, in the frame's axes [m]."""

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        fields = between(figure, self.frame, self.seen_from, finite(self.position, (3,), self.title))
        fields |= {"axes": 7, "a": fields["R"] @ unit(self.axis, f"{self.title}: axis")}
        yield TaskPart(TaskKind.LOOK, fields, self.weight**0.5, self._aim(self.target))


@dataclass(frozen=True, eq=False)
class CentreOfMass(_OfFrame):
    """The centre of mass of everything that moves should be at a position, or have some of its coordinates."""

    target: ArrayLike | None = None
    """(3,) [m]."""
    axes: str = "xyz"
    """The coordinates that count: "xy" for balance."""

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        if not figure.compiled.tree.joints["mass"].sum() > 0.0:
            raise BunrakuError(f"{figure.name} has no moving mass, and so no centre of mass")
        fields = between(figure, WORLD, self.seen_from) | {"axes": bits(self.axes, self.title)}
        yield TaskPart(TaskKind.COM, fields, self.weight**0.5, self._aim(self.target))


@dataclass(frozen=True, eq=False)
class Posture(Task):
    """Variables should have given values; without a target, those of the `start` of `Inverse`.

    Its priority is 100 by default: it gives way to every task with a smaller number.
    """

    target: ArrayLike | Mapping[str, float] | None = None
    """A whole q, or a few values by name [rad or m]; None keeps the variables where `Inverse` starts."""
    variables: Sequence[str] | None = None
    """Names of the variables that count, where the target is a whole q; by default all."""
    priority: int = field(default=100, kw_only=True)

    def wanted(self, figure: Figure, target: Any = None) -> dict[int, float | None]:
        """The wanted values by index in q of `figure`, for its own `target` or another; None: as it is."""
        target = self.target if target is None else target
        if isinstance(target, Mapping):
            return {figure.index(name): float(value) for name, value in target.items()}
        chosen = range(figure.n_q) if self.variables is None else figure.indices(self.variables).tolist()
        if target is None:
            return dict.fromkeys(chosen)
        q = finite(target, (figure.n_q,), f"{self.title}: target")
        return {k: float(q[k]) for k in chosen}

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        for k, value in self.wanted(figure).items():
            yield TaskPart(TaskKind.VALUE, {"index": k}, self.weight**0.5, None if value is None else (value,))


@dataclass(frozen=True, eq=False)
class Closing(Task):
    """Loops should be closed, wires have their length, and strings be just taut. Errors are gaps [m]."""

    links: Sequence[str] | None = None
    """Names of closures, wires or strings; by default all closures."""

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        names = figure.compiled.link_names
        wanted = tuple(c.name for c in figure.closures) if self.links is None else self.links
        for link in wanted:
            found = [k for k, name in enumerate(names) if name == link or name.startswith(f"{link}.")]
            if not found:
                known = (*(c.name for c in figure.closures), *(s.name for s in (*figure.wires, *figure.strings)))
                raise UnknownName("closure, wire or string", link, known)
            for k in found:
                yield TaskPart(TaskKind.LINK, {"index": k}, self.weight**0.5, ())


@dataclass(frozen=True, kw_only=True, eq=False)
class Bound(Task):
    """Values that must not be negative. Among the tasks it reduces violations; among the limits it prevents them."""

    count: int = 8
    """At most this many values are considered at once: the smallest."""

    @abc.abstractmethod
    def values(self, figure: Figure, q: Array) -> tuple[Array, Array]:
        """The values (k,) at `q` of `figure`, and their derivatives (k, n)."""

    def _parts(self, figure: Figure) -> Iterator[TaskPart]:
        yield TaskPart(TaskKind.GIVEN, {"axes": self.count}, self.weight**0.5, ())

    def smallest(self, figure: Figure, q: Array) -> tuple[Array, Array]:
        """The `count` smallest values at `q` of `figure`, and their derivatives; where there are fewer, rows that always hold."""
        value, value_dq = (np.asarray(x, float) for x in self.values(figure, q))
        if value_dq.shape != (len(value), figure.n_q):
            raise BunrakuError(f"{self.title}: derivatives have shape {value_dq.shape}, not {(len(value), figure.n_q)}")
        if len(value) > self.count:
            nearest = np.argsort(value, kind="stable")[: self.count]
            value, value_dq = value[nearest], value_dq[nearest]
        spare = self.count - len(value)
        return np.append(value, np.full(spare, np.inf)), np.concatenate([value_dq, np.zeros((spare, figure.n_q))])


@dataclass(frozen=True, eq=False)
class Clearance(Bound):
    """Distances stay above a margin."""

    distances: Callable[[Array], tuple[ArrayLike, ArrayLike]]
    """Maps q to distances (k,) [m] and their derivatives (k, n): see `bunraku.collision.World.clearances`."""
    margin: float = 0.0
    """[m]."""

    def values(self, figure: Figure, q: Array) -> tuple[Array, Array]:
        """Distances at `q` minus the margin (k,) [m], and their derivatives (k, n); `figure` is not used."""
        distance, distance_dq = self.distances(q)
        return np.asarray(distance, float) - self.margin, np.asarray(distance_dq, float)
