"""Compiles tasks into the flat arrays that the kernels of inverse kinematics use."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics import tree
from bunraku.kinematics.inverse.task_parts import TaskPart
from bunraku.kinematics.inverse.task_plan import Column, TaskPlan
from bunraku.kinematics.inverse.task_rows import AIM_SIZE, TASK_RECORD, TaskKind
from bunraku.kinematics.inverse.tasks import Bound, Posture, Task

Array = NDArray[np.float64]


@dataclass(frozen=True)
class CompiledTasks:
    """The arrays, and which records and rows in them belong to which task."""

    plan: TaskPlan
    aims: Array
    """The target of every record, then the wanted posture."""
    slots: tuple[tuple[int, ...], ...]
    """The records of each task."""
    row_task: tuple[int, ...]
    """The task of each row."""
    bounds: tuple[tuple[Bound, int], ...]
    """Tasks that are bounds, whose rows Python computes, each with its first row among those."""
    n_given: int
    """How many rows Python computes."""

    def sizes(self, e: Array) -> list[float]:
        """Σ (weight · error)² of the levels, highest first, for the errors `e` of all rows."""
        squares = (self.plan.weights * e) ** 2
        return [float(squares[a:b].sum()) for a, b in itertools.pairwise(self.plan.levels)]

    def anywhere(self, q: Array, random: np.random.Generator) -> Array:
        """`q` with its moving variables drawn from `random`: within their limits, or within π of q where there are none."""
        columns = self.plan.columns
        lower = np.where(np.isfinite(columns[Column.LOWER]), columns[Column.LOWER], q - np.pi)
        upper = np.where(np.isfinite(columns[Column.UPPER]), columns[Column.UPPER], q + np.pi)
        return np.where(columns[Column.RELUCTANCE] > 0.0, random.uniform(lower, upper), q)


def levels_of(tasks: Sequence[Task]) -> dict[int, int]:
    """The level of each priority of the `tasks`, highest first."""
    return {priority: level for level, priority in enumerate(sorted({task.priority for task in tasks}))}


def compile_tasks(
    figure: Figure, tasks: Sequence[Task], q: Array, moves: Iterable[str] | None, reluctance: Mapping[str, float],
    joint_limits: bool, *, rotate: bool = True,
) -> CompiledTasks:  # fmt: skip
    """The `tasks` for a `figure`.

    q: the configuration that tasks without a target hold. moves, reluctance, joint_limits: as for `Inverse`.
    rotate: whether ball joints without limits may be moved as rotations.

    Raises `BunrakuError` for tasks that name what the figure does not have.
    """
    level = levels_of(tasks)
    last = max(level, default=0)
    soft = [task for task in tasks if isinstance(task, Posture) and task.priority == last]
    columns = _columns(figure, moves, reluctance, joint_limits)
    rest = _posture(figure, soft, q, columns)
    here = _Here(figure, q)

    records: list[np.void] = []
    aims: list[Array] = []
    slots: dict[int, list[int]] = {k: [] for k in range(len(tasks))}
    weights: list[float] = []
    row_task: list[int] = []
    bounds: list[tuple[Bound, int]] = []
    first_rows = [0]
    n_given = 0
    for priority in level:
        for k, task in enumerate(tasks):
            if task.priority != priority or task in soft:
                continue
            for part in task.parts(figure):
                slots[k].append(len(records))
                record = _record(part, len(weights))
                if isinstance(task, Bound):
                    record["index"] = n_given
                    bounds.append((task, n_given))
                    n_given += task.count
                records.append(record)
                aims.append(here.aim(part))
                weights += [part.weight] * part.n_rows
                row_task += [k] * part.n_rows
        first_rows.append(len(weights))
    record_array = np.array(records, TASK_RECORD) if records else np.zeros(0, TASK_RECORD)
    compiled = figure.compiled.tree
    plan = TaskPlan(
        joints=compiled.joints, chain=compiled.chain, points=compiled.points, links=compiled.links,
        records=record_array.view(type(compiled.joints)),
        balls=_balls(figure, record_array, columns, rotate=rotate and not bounds),
        weights=np.array(weights), levels=np.array(first_rows if level else [0, 0], np.int64), columns=columns,
    )  # fmt: skip
    own = tuple(tuple(slots[k]) for k in range(len(tasks)))
    return CompiledTasks(plan, np.concatenate([*aims, rest]), own, tuple(row_task), tuple(bounds), n_given)


def _record(part: TaskPart, row: int) -> np.void:
    record = np.zeros((), TASK_RECORD)
    record["kind"], record["row"], record["joint"], record["viewer"] = part.kind, row, -1, -1
    for field, value in part.fields.items():
        record[field] = value
    return record  # type: ignore[return-value]


def _columns(figure: Figure, moves: Iterable[str] | None, reluctance: Mapping[str, float], joint_limits: bool) -> Array:
    columns = np.zeros((5, figure.n_q))
    if moves is None:  # the length of a string moves no frame
        moves = [v.name for v in figure.variables if v.motion != "length"]
    columns[Column.RELUCTANCE, figure.indices(moves)] = 1.0
    for name, value in reluctance.items():
        if not 0.0 < value < np.inf:
            message = f"reluctance of {name}: must be positive, got {value}"
            raise BunrakuError(f"{message}\n  advice: leave {name} out of `moves` instead")
        columns[Column.RELUCTANCE, figure.index(name)] *= value**2
    columns[Column.LOWER], columns[Column.UPPER] = figure.limits if joint_limits else (-np.inf, np.inf)
    columns[Column.SPEED] = [v.speed for v in figure.variables]
    return columns


def _posture(figure: Figure, soft: Sequence[Posture], q: Array, columns: Array) -> Array:
    """The wanted values of soft postures: where two want the same variable, their weighted mean."""
    moment = np.zeros(figure.n_q)
    for task in soft:
        for k, value in task.wanted(figure).items():
            columns[Column.POSTURE, k] += task.weight
            moment[k] += task.weight * (q[k] if value is None else value)
    weight = columns[Column.POSTURE]
    return np.asarray(np.where(weight > 0.0, moment / np.where(weight > 0.0, weight, 1.0), q))


class _Here:
    """Poses at q, for tasks that hold their frames there."""

    def __init__(self, figure: Figure, q: Array) -> None:
        joints = figure.compiled.tree.joints
        n = len(joints)
        self.q = q
        self.R, self.p, S = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 6))
        tree.forward(joints, q, self.R, self.p, S)
        if joints["mass"].sum() > 0.0:
            self.com = tree.centre_of_mass(joints, self.R, self.p, S, figure.n_q)[1]

    def _joint(self, j: int) -> tuple[Array, Array]:
        return (np.eye(3), np.zeros(3)) if j < 0 else (self.R[j].T, self.p[j])

    def aim(self, part: TaskPart) -> Array:
        """The target of the task `part`; if it has none, its value at q, so that it stays where it is."""
        out = np.zeros(AIM_SIZE)
        if part.aim is not None:
            out[: len(part.aim)] = part.aim
            return out
        if part.kind == TaskKind.VALUE:
            out[0] = self.q[part.fields["index"]]
            return out
        R, p = self._joint(part.fields["joint"])
        Rb, pb = self._joint(part.fields["viewer"])
        B, b = Rb @ part.fields["B"], pb + Rb @ part.fields["b"]
        match part.kind:
            case TaskKind.POINT:
                here = B.T @ (p + R @ part.fields["x"] - b)
            case TaskKind.TURN:
                here = (B.T @ R @ part.fields["R"]).ravel()
            case TaskKind.COM:
                here = B.T @ (self.com - b)
            case _:
                here = B.T @ R @ part.fields["a"]
        out[: len(here)] = here
        return out


def _balls(figure: Figure, records: NDArray[np.void], columns: Array, rotate: bool) -> NDArray[np.int64]:
    """Ball and free joints that may be moved as rotations: no task, limit or weight concerns only one of their angles."""
    out = []
    compiled, tree_ = figure.compiled, figure.compiled.tree
    parents = tree_.joints["parent"].tolist()
    busy = {*records["joint"].tolist(), *records["viewer"].tolist(), *tree_.points["joint"].tolist()}
    busy |= set(np.flatnonzero(tree_.joints["mass"] > 0.0).tolist())
    valued = set(records["index"][records["kind"] == TaskKind.VALUE].tolist())
    for group in figure.groups:
        joints = [int(compiled.frame_joint[figure.frame_index[frame]]) for frame in group.frames[-3:]]
        variables = [int(tree_.joints["variable"][j]) for j in joints]
        c = columns[:, variables]
        alone = all(j not in busy and parents.count(j) == 1 for j in joints[:2])
        free = np.isinf(c[Column.LOWER :]).all() and (c[Column.RELUCTANCE] > 0.0).all()
        even = np.ptp(c[Column.RELUCTANCE]) == np.ptp(c[Column.POSTURE]) == 0.0
        if rotate and alone and free and even and not valued & set(variables):
            out.append([*joints, *variables])
    return np.array(out, np.int64).reshape(-1, 6)
