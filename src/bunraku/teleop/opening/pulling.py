"""Live figures to drag and pull."""

from __future__ import annotations

from bunraku.figure.library import named
from bunraku.stage import Entry, Live
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FACE_Y, at_hand


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Your hands",
        [
            Entry("Pull the strings", lambda: at_hand(named("marionette25")),
                  "Drag the ends of strings, or limbs; the mouse wheel winds a string", front=FACE_Y),
            Entry("An arm on one string", lambda: at_hand(named("arm3d")), "Two limbs, one string", front=FACE_Y),
            Entry("A hand on five strings", lambda: at_hand(named("hand")), "One string bends each finger"),
            Entry("A troupe", _troupe, "Five marionettes; a gamepad or the driving keys move them all", front=FACE_Y),
            Entry("Pose a mannequin", lambda: at_hand(named("mannequin")), "Drag a hand, a foot or the head"),
            Entry("Pose a humanoid", lambda: at_hand(named("humanoid")), "Joints stop at their limits"),
        ],
    )  # fmt: skip


def _troupe() -> Live:
    from bunraku.teleop.simulated_figure import Simulated, placed

    places = ((-0.5 * k, 0.25 * (k % 2), 0.0) for k in range(-2, 3))
    figures = [placed(named("marionette25"), at, name=f"puppet {k + 1}") for k, at in enumerate(places)]
    return Simulated(*figures, dt=0.01)
