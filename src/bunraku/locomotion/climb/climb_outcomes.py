"""Outcomes of a climb. Ctrl-C gives `bunraku.outcome.STOPPED`."""

from __future__ import annotations

from bunraku.outcome import Outcome

CLIMBED = Outcome(True, "arrived")
CURVE_TOO_TIGHT = Outcome(
    False, "too tight", "the feet inside a curve would stand on its centre", advice="give the curve a larger radius"
)
FOOT_OUT_OF_REACH = Outcome(
    False, "unreachable", "a foot does not get to its place", advice="shorten the stride, or make the slope or the step smaller"
)
JOINT_AT_LIMIT = Outcome(
    False, "limits", "a joint would turn beyond its limits", advice="shorten the stride, or make the slope, step or turn smaller"
)
FEET_SLIP = Outcome(False, "slips", "no adhesion holds the feet", advice="give them friction, or a grip in more directions")
TIPS_OVER = Outcome(
    False, "tips", "two feet do not hold it until the others land", advice="go faster, shorten the stride, or crawl"
)
BODY_TOUCHES = Outcome(
    False, "collides", "the body does not fit through",
    advice="make the slope or the step smaller, or the straights between them longer",
)  # fmt: skip


class SurfaceOutcome:
    """Why there is no way over a mesh to the goal."""

    gap = Outcome(
        False, "no way", "start and goal are on separate surfaces", advice="choose a goal on the same surface, or close the gap"
    )
    buried = Outcome(False, "inside", "the goal is inside the surface", advice="choose places on its outside, or a little above it")
    narrow = Outcome(
        False, "too narrow", "the body does not fit through a passage", advice="choose another goal, or send a smaller climber"
    )
    footing = Outcome(
        False, "no footing", "the surface falls away or rises too steeply beside the body",
        advice="choose another goal, or send a smaller climber",
    )  # fmt: skip
    foothold = Outcome(False, "no foothold", "nowhere near is the surface flat enough", advice="choose another goal")
