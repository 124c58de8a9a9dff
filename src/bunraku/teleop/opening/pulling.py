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
            Entry(
                "Pull the strings",
                lambda: at_hand(named("marionette25")),
                "Drag the end of a string sideways, or up to wind it. Drag a limb; click it to pin it",
                front=FACE_Y,
            ),
            Entry(
                "An arm on one string",
                lambda: at_hand(named("arm3d")),
                "Let the string out with the mouse wheel and catch the arm again: see the tension jump",
                front=FACE_Y,
            ),
            Entry(
                "A hand on five strings",
                lambda: at_hand(named("hand")),
                "One string bends each finger. Wind one with the mouse wheel and let the ball go",
            ),
            Entry(
                "A troupe",
                _troupe,
                "Five marionettes on one control: W A S D, or the left stick of a gamepad, moves them all",
                front=FACE_Y,
            ),
            Entry(
                "Pose a mannequin",
                lambda: at_hand(named("mannequin")),
                "Drag a hand, the head or a foot: feet stay on the floor. Lean until it is off balance. A click pins a limb",
            ),
            Entry(
                "Pose a humanoid",
                lambda: at_hand(named("humanoid")),
                "Drag its trunk down: it crouches, and joints stop at their limits. A click pins a limb",
            ),
        ],
    )


def _troupe() -> Live:
    from bunraku.figure.library.costume import dressed
    from bunraku.teleop.simulated_figure import Simulated, placed

    places = ((-0.5 * k, 0.25 * (k % 2), 0.0) for k in range(-2, 3))
    figures = [placed(dressed(named("marionette25"), k), at, name=f"puppet {k + 1}") for k, at in enumerate(places)]
    return Simulated(*figures, dt=0.01)
