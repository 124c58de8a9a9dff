"""Inverse kinematics in one call."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from numpy.typing import ArrayLike

from bunraku.figure import Figure
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solution import Solution, SolveStatus
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import Bound, Task
from bunraku.progress import Listener, Progress


def inverse_kinematics(
    figure: Figure, tasks: Sequence[Task], *, q: ArrayLike | None = None, moves: Iterable[str] | None = None,
    reluctance: Mapping[str, float] | None = None, joint_limits: bool = True, limits: Sequence[Bound] = (),
    options: InverseOptions = InverseOptions(), seed: int | None = None, progress: Listener | None = None,
) -> Solution:  # fmt: skip
    """The configuration of `figure` that fulfils some tasks, or comes as near as it can.

        found = inverse_kinematics(figure, [FramePose("left_sole"), PointPosition("left_palm", (0.4, 0.2, 1.2)), Posture()])

    For many targets of the same tasks, `Inverse` compiles them once.

    tasks: what should be where: `PointPosition`, `FramePose`, `LookAt`, `CentreOfMass`, `Posture` … of `bunraku.kinematics`.
    q: where the solve starts [rad or m], and what tasks without a target hold; by default the figure's start.
    moves: names of the variables that may move; by default all that move a frame.
    reluctance: factors by name; a variable with a factor of 3 moves less readily than the others, which have 1.
    joint_limits: whether the figure's joint limits are kept.
    limits: bounds that every step keeps, such as `Balance` or `Clearance`.
    options: when it ends, and how its steps are damped.
    seed: of the random starts where `options.tries` is more than 1; None means 0. Nothing else is random.
    progress: called after each try.

    Returns a `Solution`: `q`, `outcome`, `errors`. After Ctrl-C it is the best so far. Raises `BunrakuError` for tasks that
    name what the figure does not have, and `NotFinite` for q or targets that are not finite.
    """
    inverse = Inverse(
        figure, tasks, start=q, moves=moves, reluctance=reluctance, joint_limits=joint_limits, limits=limits, options=options
    )
    start, aims = inverse.trusted(q), inverse.aim()
    best = Solution(start, 0, SolveStatus.INTERRUPTED, inverse, aims)
    try:
        for k, best in enumerate(inverse.tries(start, aims, options, seed or 0), 1):
            if progress is not None:
                progress(Progress("solve", min(k / options.tries, 1.0), best.outcome.kind))
    except KeyboardInterrupt:
        return Solution(best.q, best.iterations, SolveStatus.INTERRUPTED, inverse, aims)
    return best
