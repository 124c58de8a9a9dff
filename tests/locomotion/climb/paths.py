"""Paths for judging climbs, and the paper's gait along each."""

from __future__ import annotations

import math

from bunraku.locomotion.climb.foot_swing import foot_paths
from bunraku.locomotion.climb.footsteps import footsteps
from bunraku.locomotion.climb.gecko import Gecko, gait, stand, wish, with_feet
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight

RIGHT = math.pi / 2


def deg(x):
    return math.radians(x)


EVERYTHING = (
    Straight(0.1), Arc(0.15, RIGHT), Straight(0.16), Slope(deg(45)), Straight(0.24), Slope(deg(-45)), Straight(0.24),
    Step(0.015), Straight(0.12), Step(-0.015), Straight(0.24), Slope(RIGHT), Straight(0.24), Arc(0.2, deg(45)), Straight(0.24),
    Slope(-RIGHT), Straight(0.26), Slope(RIGHT), Straight(0.22), Slope(RIGHT), Straight(0.22),
)  # fmt: skip
"""Floor, curve of 150 mm, up and down 45°, obstacle, wall, a turn on it, over its edge, the next wall, ceiling."""
PATHS = {
    "flat": (Straight(0.3),),
    "wall": (Straight(0.2), Slope(RIGHT), Straight(0.3)),
    "s-curve": (Straight(0.06), Arc(0.3, deg(45)), Arc(0.3, deg(-45)), Straight(0.06)),
    "s-curve-200": (Straight(0.06), Arc(0.2, deg(60)), Arc(0.2, deg(-60)), Straight(0.06)),
    "30": (Straight(0.2), Slope(deg(30)), Straight(0.3), Slope(deg(-30)), Straight(0.3)),
    "60": (Straight(0.2), Slope(deg(60)), Straight(0.3), Slope(deg(-60)), Straight(0.3)),
    "120-up": (Straight(0.2), Slope(deg(60)), Straight(0.1), Slope(deg(60)), Straight(0.3)),
    "120-down": (Straight(0.2), Slope(deg(-60)), Straight(0.1), Slope(deg(-60)), Straight(0.3)),
    "stairs": (Straight(0.2), Step(0.015), Straight(0.18), Step(0.015), Straight(0.18), Step(0.015), Straight(0.3)),
    "step": (Straight(0.2), Step(0.02), Straight(0.1), Step(-0.02), Straight(0.2)),
    "fin": (
        Straight(0.2), Slope(RIGHT), Straight(0.12), Slope(-RIGHT), Straight(0.06), Slope(-RIGHT), Straight(0.12), Slope(RIGHT),
        Straight(0.3),
    ),
    "ceiling-and-back": (
        Straight(0.1), Slope(RIGHT), Straight(0.3), Slope(RIGHT), Straight(0.9), Slope(RIGHT), Straight(0.3), Slope(RIGHT),
        Straight(0.15),
    ),
    "turn-on-wall": (Straight(0.06), Slope(RIGHT), Straight(0.3), Arc(0.25, RIGHT), Straight(0.06)),
    "everything": EVERYTHING,
}  # fmt: skip


def paper_of(done):
    """The paper's gait on the same course: configurations at its own samples, 5 ms apart."""
    gecko, dt = Gecko(done.motion.figure), 0.005
    m = gecko.measures
    plan = footsteps(done.course, front=m["front"], rear=m["rear"])
    swing = done.feet.quarter - done.feet.pause
    lengths = {"centre": m["sole"], "lift": m["leg"] / 6, "clear": m["leg"] / 20}
    feet = foot_paths(plan, **lengths, quarter=swing, dt=dt, pause=done.feet.pause, soles=gecko.soles)
    want = wish(gecko, done.course, feet, paper=True)
    Q, _ = gait(gecko, stand(gecko, done.course, feet, want)[0], feet, want)
    return with_feet(gecko, Q, feet)[: round(done.motion.t[-1] / dt) + 1]
