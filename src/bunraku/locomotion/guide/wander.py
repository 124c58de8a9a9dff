"""wander: guides a humanoid with random commands and counts violations."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.com_zmp import SAMPLE_COLUMNS
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import GUIDED_POINTS, Command
from bunraku.locomotion.guide.move import Move
from bunraku.locomotion.guide.navigation_points import NO_FOOT

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Tally:
    """Counts from a run with random commands."""

    seconds: float
    moves: int
    steps: int
    violations: int
    """Ticks at which the ZMP was outside the support polygon."""
    least_margin: float
    fallbacks: int
    """Commands for which no move could be planned."""
    join: float
    """Largest jump of a position or velocity from one move to the next [m, m/s or rad]."""
    zmp_jump: float
    realised: float
    """Share of the moves that ended at their goal."""


def commands(seed: int) -> Iterator[Command]:
    """Endless random commands from a `seed`: they switch the guided point, let go of the stick, and hold it for a while."""
    rng = np.random.default_rng(seed)
    guided = GUIDED_POINTS[2]
    held = Command(guided)
    while True:
        if rng.random() < 0.3:
            guided = GUIDED_POINTS[int(rng.integers(5))]
        if rng.random() < 0.6:
            move, turn = rng.uniform(-1.0, 1.0, 3), rng.uniform(-1.0, 1.0, 3) * (rng.random() < 0.4)
            left, right = rng.uniform(0.0, 1.0, 2) * (rng.random(2) < 0.5)
            if rng.random() < 0.1:
                move, turn = np.zeros(3), np.zeros(3)
            held = Command(guided, tuple(move.tolist()), tuple(turn.tolist()), (float(left), float(right)))
        yield Command(guided, held.move, held.turn, held.lift)


def moves(guide: Guide, *, seconds: float, seed: int) -> Iterator[Move]:
    """Moves of a `guide` under random commands of a `seed`, for `seconds` seconds."""
    points, t = guide.start(), 0.0
    for command in commands(seed):
        move = guide.next(points, command)
        yield move
        points, t = move.end, t + move.segment.duration
        if t >= seconds:
            return


def wander(guide: Guide, *, seconds: float, seed: int, near: float = 0.005) -> Tally:
    """Counts for a `guide` during `seconds` seconds of random commands of a `seed`, each given when the move before it ends.

    A move counts as realised if the centre of mass ends within `near` [m] of its goal; feet and hands arrive exactly.
    """
    before: Move | None = None
    t, count, steps, violations, fallbacks, realised = 0.0, 0, 0, 0, 0, 0
    least, join, jump = np.inf, 0.0, 0.0
    for move in moves(guide, seconds=seconds, seed=seed):
        segment = move.segment
        margin = segment.margin
        violations += int((margin < 0.0).sum())
        least = min(least, float(margin.min()))
        fallbacks += move.goals.stops
        realised += segment.miss[0] <= near
        steps += move.goals.swings != NO_FOOT
        if before is not None:
            a, b = before.segment.samples[-1], segment.samples[0]
            join = max(join, float(np.abs(a[:6] - b[:6]).max()), seam(before, move))
            jump = max(jump, float(np.linalg.norm(a[SAMPLE_COLUMNS.zmp :] - b[SAMPLE_COLUMNS.zmp :])))
        t, count, before = t + segment.duration, count + 1, move
    return Tally(t, count, steps, violations, least, fallbacks, join, jump, realised / max(count, 1))


def seam(a: Move, b: Move) -> float:
    """Largest jump of feet, trunk, hands, axes of held hands and velocities of hands from move `a` to move `b` [m, rad, m/s]."""
    places = max(float(np.abs(x[-1] - y[0]).max()) for x, y in ((a.feet, b.feet), (a.trunk, b.trunk), (a.hands, b.hands)))
    for hand in np.flatnonzero(b.start.held):
        places = max(places, float(np.abs(a.hand_axes[-1, hand] - b.hand_axes[0, hand]).max()))
    ends = [np.zeros(3) if in_world else a.segment.samples[-1, 3:6] for in_world, _ in a.goals.hands]
    return max(places, float(np.abs(np.array(ends) - b.start.hand_speeds).max()))
