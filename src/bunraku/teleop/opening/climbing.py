"""A gecko that climbs."""

from __future__ import annotations

import math

from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.opening.recordings import Recording, recorded


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Climbing",
        [
            Entry(
                "Round a bend and up the wall",
                lambda: _shown("up_the_wall"),
                "One foot swings at a time, the others stay where they are. Turn on Trails, and follow it with F",
            ),
            Entry(
                "From the wall to the ceiling",
                lambda: _shown("to_the_ceiling"),
                "It pauses and leans so that its feet need less adhesion. Look from the Side",
            ),
        ],
    )


def _shown(name: str) -> Recorded:
    known = recorded(name)
    assert known.scene is not None
    return Recorded(known.motion, known.scene)


def up_the_wall() -> Recording:
    """Round a bend and up a wall."""
    from bunraku.locomotion.climb.climb import climb
    from bunraku.locomotion.climb.path_segments import Arc, Slope, Straight

    done = climb([Straight(0.1), Arc(0.2, 0.8), Straight(0.24), Slope(math.pi / 2), Straight(0.24)])
    return Recording(done.motion, scene=done.scene)


def to_the_ceiling() -> Recording:
    """From a wall to the ceiling, with pauses and leans."""
    from bunraku.locomotion.climb.climb import climb
    from bunraku.locomotion.climb.path_segments import Slope, Straight

    done = climb([Straight(0.1), Slope(math.pi / 2), Straight(0.3), Slope(math.pi / 2), Straight(0.3)], light=True)
    return Recording(done.motion, scene=done.scene)
