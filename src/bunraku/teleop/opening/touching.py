"""Figures that touch: a chair to sit down on, a ball to kick, a hand to hold, a tower to knock over."""

from __future__ import annotations

from bunraku.figure.library import named
from bunraku.stage import Entry, Live
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FACE_Y, STAGE


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Touch",
        [
            Entry(
                "A puppet and a chair", _chair, "Drag its body back and then down: it sits. Lift a knee while it does", front=FACE_Y
            ),
            Entry("Kick the ball", _ball, "Drag the right foot forward, low above the floor, and let the ball roll", front=FACE_Y),
            Entry("Hand in hand", _hands, "Lift one hand: the other goes along, until you pull too hard", front=FACE_Y),
            Entry("A tower", _tower, "Four crates and a ball. Roll the ball into them, or pull one out from below"),
        ],
    )


def _chair() -> Live:
    from bunraku.figure.library.props import chair
    from bunraku.figure.together import with_props
    from bunraku.teleop.simulated_figure import Simulated

    puppet = with_props(named("marionette25"), {"chair": chair(seat=0.19, width=0.17, at=(0.0, -0.16, 0.0))})
    return Simulated(puppet, scene=STAGE, dt=0.01, touch="all")


def _ball() -> Live:
    from bunraku.figure.library.props import football
    from bunraku.figure.together import with_props
    from bunraku.teleop.simulated_figure import Simulated

    puppet = with_props(named("marionette25"), {"ball": football(at=(0.045, 0.18, 0.05))})
    rules = {"own": [["ball", "floor", {"restitution": 0.6, "rolling": 0.005}]]}
    rules["own"] += [["ball", leg, {"restitution": 0.6}] for leg in ("lknee_rx", "rknee_rx")]
    return Simulated(puppet, scene=STAGE, dt=0.01, touch=rules)


def _hands() -> Live:
    from bunraku.figure.together import together
    from bunraku.teleop.simulated_figure import Simulated, placed

    apart = 0.1349050855  # [m] of each from the middle; the fingers just touch, and hold each other from the first step on
    puppet = named("marionette25")
    pair = together("pair", {"left": placed(puppet, (-apart, 0.0, 0.0)), "right": placed(puppet, (apart, 0.0, 0.0))})
    hold = {"own": [["left.relbow_rx", "right.lelbow_rx", {"adhesion": 3.0, "friction": 1.0}]]}
    return Simulated(pair, scene=STAGE, dt=0.01, touch=hold)


def _tower() -> Live:
    from bunraku.figure.library.props import crate, football
    from bunraku.figure.together import together
    from bunraku.teleop.simulated_figure import Simulated

    crates = {f"crate{k}": crate(at=(0.01 * (k % 2), 0.0, 0.05 + 0.1 * k)) for k in range(4)}
    tower = together("tower", {**crates, "ball": football(radius=0.08, mass=0.6, at=(0.4, 0.0, 0.08))})
    return Simulated(tower, scene=STAGE, dt=0.01, touch={"own": [["ball", "floor", {"rolling": 0.002}]]})
