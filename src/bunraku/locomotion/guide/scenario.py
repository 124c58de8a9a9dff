"""The paper's scenario (Fig. 9–13): guided down two steps by the feet, across the room by the trunk, to the door by the left hand.

The operator is a program that observes the humanoid and moves the stick toward the next goal, as a person would.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box
from bunraku.locomotion.guide.guide_command import STICK_DEADBAND, Command, GuidedPoint
from bunraku.locomotion.guide.session import Session
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]


class PaperRoom(NamedTuple):
    """The room of the paper's scenario, the start of the humanoid, and the goal of its left hand."""

    scene: Scene
    start: float
    """Initial x of the humanoid, on the upper step [m]."""
    handle: Array
    """Goal of the left hand (3,) [m]: in front of the door, at the height of its handle."""


def _paper_room() -> PaperRoom:
    stone, wood, brass = (0.78, 0.77, 0.74), (0.55, 0.38, 0.24), (0.85, 0.65, 0.25)
    scene = Scene(
        "the room of Fig. 9",
        (
            Obstacle("upper step", Box((0.5, 0.7, 0.04)), (0.0, 0.0, 0.02), color=stone, group="A"),
            Obstacle("lower step", Box((0.17, 0.7, 0.02)), (0.335, 0.0, 0.01), color=stone, group="A"),
            Obstacle("door", Box((0.03, 0.5, 0.8)), (1.25, 0.1, 0.4), color=wood, group="B"),
            Obstacle("handle", Box((0.02, 0.06, 0.012)), (1.235, 0.12, 0.33), color=brass, group="B"),
        ),
    )
    return PaperRoom(scene, 0.08, np.array([1.2, 0.12, 0.33]))


PAPER_ROOM = _paper_room()


def operator(session: Session, *, seen: Callable[[], Array] = lambda: np.zeros(3), stop: float = 0.98) -> Iterator[Command]:
    """Commands of an operator for a `session`; each is computed when it is requested.

    seen: returns the offset of the real left hand from the planned one (3,) [m]
    stop: x of the centre of mass at which walking ends [m]
    """
    yield from _down(session)
    yield from _across(session, stop)
    yield from _reach(session, seen)


def _down(session: Session) -> Iterator[Command]:
    """Foot by foot; at an edge, a foot is first lifted (single support) and then put down."""
    for _ in range(40):
        feet = session.points.feet
        if feet[:, 2].max() < 1e-6:
            return
        foot = 0 if feet[0, 0] <= feet[1, 0] + 1e-6 else 1
        name: GuidedPoint = "left_foot" if foot == 0 else "right_foot"
        if _edge_ahead(session, foot):
            lift = (0.7, 0.0) if foot == 0 else (0.0, 0.7)
            yield Command(name, (0.4, 0.0, 0.0), lift=lift)
            yield Command(name, (1.0, 0.0, 0.0))
        else:
            yield Command(name, (0.6, 0.0, 0.0))


def _edge_ahead(session: Session, foot: int) -> bool:
    guide, here = session.performer.guide, session.points.feet[foot].copy()
    z = here[2]
    here[0] += 0.6 * guide.humanoid.limits.forward
    return guide.ground.under(guide.humanoid.sole, here)[0] < z - 1e-3 or not guide.ground.under(guide.humanoid.sole, here)[1]


def _across(session: Session, stop: float) -> Iterator[Command]:
    step = 0.36 * session.performer.guide.humanoid.limits.forward
    for _ in range(80):
        x, y = session.points.com.p[:2]
        if stop - x < 0.2 * step:
            return
        ahead, aside, turn = min((stop - x) / step, 1.0), _stick(-y / step), _stick(-session.points.yaw / 0.2)
        yield Command("trunk", (float(ahead), aside, 0.0), (0.0, 0.0, turn))


def _reach(session: Session, seen: Callable[[], Array]) -> Iterator[Command]:
    reach = 0.35 * session.performer.guide.humanoid.limits.reach
    for _ in range(25):
        away = (PAPER_ROOM.handle - session.points.hands[0] - seen()) / reach
        if np.abs(away).max() < 1.5 * STICK_DEADBAND:
            return
        size = max(float(np.abs(away).max()), 1.0)
        x, y, z = (float(a) for a in away / size)
        yield Command("left_hand", (x, y, z))


def _stick(wanted: float) -> float:
    return 0.0 if abs(wanted) < 2 * STICK_DEADBAND else math.copysign(min(abs(wanted), 1.0), wanted)
