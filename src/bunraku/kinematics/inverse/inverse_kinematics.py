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
    options: InverseOptions = InverseOptions(),
    seed: int | None = None, progress: Listener | None = None,
) -> Solution:  # fmt: skip
    """The configuration of a figure that fulfils some tasks, or comes as near as it can.

        found = inverse_kinematics(figure, [FramePose("left_sole"), PointPosition("left_palm", (0.4, 0.2, 1.2)), Posture()])

    `Inverse` is for the same tasks with many targets: it compiles them once.

    tasks: what should be where; see `bunraku.kinematics.inverse.tasks`.
    q: the configuration to start from, and where tasks without a target hold things [rad, m]; the figure's start without it.
    moves: names of the variables that may move; all that move a frame without it.
    reluctance: factors by which some variables move less willingly than the others (1), by name.
    joint_limits: whether the figure's joint limits are kept.
    limits: bounds of one's own that hold all the way, such as `Balance` or `Clearance`.
    options: when it ends, and how careful its steps are.
    seed: of the random starts where `options.tries` is more than 1; 0 without it.
    progress: is told after each try.

    Returns a `Solution`: `q`, `outcome`, `errors`. After Ctrl-C it is the best so far. Raises `BunrakuError` for tasks that
    speak of what the figure does not have, and `NotFinite` for q or targets that are not finite.
    """
    inverse = Inverse(figure, tasks, start=q, moves=moves, reluctance=reluctance, joint_limits=joint_limits, limits=limits)
    start = inverse.trusted(q)
    best = Solution(start, 0, SolveStatus.INTERRUPTED, inverse, inverse.aims)
    try:
        for k, best in enumerate(inverse.tries(start, inverse.aims, options, seed or 0), 1):
            if progress is not None:
                progress(Progress("solve", min(k / options.tries, 1.0), best.outcome.kind))
    except KeyboardInterrupt:
        return Solution(best.q, best.iterations, SolveStatus.INTERRUPTED, inverse, inverse.aims)
    return best
