"""Motions found by optimal control: the nearest that a figure can get to a reference, which is drawn as a ghost."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from bunraku.figure.library import named
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.opening.recordings import Recording, recorded
from bunraku.teleop.viewing_places import FACE_Y, FROM_SIDE, on_floor

if TYPE_CHECKING:
    from bunraku.control.cost import Term


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Control",
        [
            Entry(
                "A marionette imitates a wave",
                lambda: _shown("wave"),
                "Six strings move 22 joints as the person does, who is the ghost. Hide it with G",
                front=FACE_Y,
            ),
            Entry(
                "A marionette imitates a walk",
                lambda: _shown("walk"),
                "The ghost walks; the puppet does what strings can do. Hover a string for its tension",
                front=FACE_Y,
            ),
            Entry(
                "A cart swings its pendulum up",
                lambda: _shown("swing_up"),
                "Found by optimal control: back first, then up and over. Look at the angle in the plot",
                front=FROM_SIDE,
            ),
        ],
    )


def _shown(name: str) -> Recorded:
    known = recorded(name)
    return on_floor(known.motion, reference=known.reference)


def imitated(gesture: str) -> Recording:
    """What six strings can do of a `gesture` of a person, which is the reference."""
    from bunraku.control import Acceleration, Configuration, Momentum, Speed, gestures, optimize
    from bunraku.control.imitate import imitate

    figure = named("marionette22")
    reference = imitate(getattr(gestures, gesture)(), figure)
    weight = dict.fromkeys(figure.dynamic, 10.0) | dict.fromkeys(figure.names[:6], 100.0) | dict.fromkeys(figure.kinematic, 1.0)
    cost: list[Term] = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.1)]
    found = optimize(figure, cost, duration=10.0, q=reference.q[0], inputs=figure.kinematic, guess=reference, tolerance=1e-6)
    return Recording(found.motion, reference)


def swung_up() -> Recording:
    """A cart that swings its pendulum up."""
    from bunraku.control import Configuration, Forces, Momentum, optimize

    figure = named("cart_pendulum")

    def wish(t: float) -> float:
        return math.pi / 2 * (1 - math.cos(math.pi / 2 * (t - 3))) if 3 <= t <= 7 else 0.0

    cost: list[Term] = [Configuration({"x": 1.0, "theta": 100.0}, {"x": 0.0, "theta": wish}), Momentum(0.01), Forces(0.001)]
    return Recording(optimize(figure, cost, duration=10.0, q=figure.configuration(x=0, theta=0)).motion)
