"""Simulated figures without strings."""

from __future__ import annotations

import numpy as np

from bunraku.figure import Figure
from bunraku.figure.library import named
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FROM_SIDE, on_floor


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Physics",
        [
            Entry(
                "Double pendulum",
                lambda: _swing(named("double_pendulum"), 2.2),
                "Chaotic, yet its energy is constant: see the plot. Turn on Trails",
                front=FROM_SIDE,
            ),
            Entry(
                "A chain of ten",
                lambda: _swing(named("chain10"), 0.35),
                "Ten rods whip about for 20 s, and their energy does not drift. Play it slowly with [",
                front=FROM_SIDE,
            ),
            Entry(
                "Cart and pendulum",
                lambda: _swing(named("cart_pendulum"), 1.0),
                "The pendulum pushes its cart to and fro. Compare angle and position in the plots",
                front=FROM_SIDE,
            ),
        ],
    )


def _swing(f: Figure, angle: float) -> Recorded:
    from bunraku.dynamics import simulate

    q = np.array(f.start) + angle * np.array([v.motion == "rotate" and not v.kinematic for v in f.variables])
    return on_floor(simulate(f, duration=20.0, dt=0.01, q=q))
