"""A gecko that climbs."""

from __future__ import annotations

from bunraku.stage import Entry, Recorded

TITLE = "Climbing"


def entries() -> list[Entry]:
    return [Entry("Up a slope and round a bend", _climbs, "One foot at a time; the feet that hold do not drift")]


def _climbs() -> Recorded:
    from bunraku.locomotion.climb import climb
    from bunraku.locomotion.course import Curve, Slope, Straight

    done = climb([Straight(0.2), Slope(0.5), Straight(0.2), Curve(0.3, 0.6), Straight(0.12)], dt=0.01, optimized=False)
    return Recorded(done.motion, done.scene)
