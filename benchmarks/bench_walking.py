"""Walking and holding: processor time for 268 samples and for twice as many, of a person, and of a person and a robot with a plank.

A paper of 2005 took 0.8 s for locomotion and 0.4 s for manipulation on a machine of 500 MHz, and its animation doubled with the
samples; here 0.1 s and 0.05 s are wanted, and no more than double.
"""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np

from benchmarks.table import Ratio
from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.animate import animate
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Shape, library
from bunraku.locomotion.walk import walk
from bunraku.planning.ways.path import through
from bunraku.planning.ways.path_timing import PathTiming, timed
from bunraku.scene import Scene

RATIOS = {
    "walking.doubled_ratio": Ratio("walking.person_536_us", "walking.person_268_us", at_most=2.0),
    "walking.wanted_ratio": Ratio("walking.person_268_us", "walking.wanted_locomotion_us", at_most=1.0),
    "holding.wanted_ratio": Ratio("holding.manipulation_268_us", "holding.wanted_us", at_most=1.0),
}
NOTES = {
    "walking.person_268_us": "12 s along a curve at 0.7 m/s, joints within 0.19 rad a sample",
    "holding.manipulation_268_us": "both arms of the person and that of the robot, in closed form",
    "walking.wanted_locomotion_us": "0.1 s",
    "holding.wanted_us": "0.05 s",
}
PERSON = library.named("mannequin")


def _walk(samples: int) -> None:
    t = np.linspace(0.0, 12.0, samples)
    s = 7.0 * (t / 12.0 - np.sin(2.0 * np.pi * t / 12.0) / (2.0 * np.pi))
    walk(PERSON, t, np.stack([2.0 * np.sin(s / 2.0), 2.0 - 2.0 * np.cos(s / 2.0), s / 2.0], 1), gentle=0.19 * 268 / samples)


def _carried() -> tuple[Team, PathTiming]:
    """Along a plank of 1.5 m, by 2 m and a turn."""
    grips = [hold(f"{side}_palm", (-0.7, s * 0.33, 0.0), z=(-1, 0, 0), x=(0, 0, 1)) for side, s in (("left", 1), ("right", -1))]
    plank = Carried((Shape("world", Box((1.5, 0.6, 0.06))),), tilt=0.3, heights=(0.8, 1.2))
    team = Team((porter("person", *grips), rover("robot", hold("tool", (0.62, 0.0, 0.05), x=(0, 1, 0)))), plank)

    def standing(x: float, y: float, yaw: float) -> np.ndarray:
        way = 1.08 * np.array([np.cos(yaw), np.sin(yaw)])
        bases = {"person": (x - way[0], y - way[1], yaw), "robot": (x + way[0], y + way[1], yaw + np.pi)}
        return team.configuration(bases, (x, y, 1.04, yaw, 0.0, 0.0))

    space = team.space(Scene("hall"), ((-4.0, 4.0), (-3.0, 3.0)))
    stops = [standing(-2.0, 0.0, 0.0), standing(0.0, 0.6, 0.6), standing(1.0, 2.0, 1.2)]
    return team, timed(through(space, stops), speed=0.7, acceleration=0.8)


def _processor(function: Callable[[], object]) -> float:
    """Microseconds of the processor, the least of a few calls after the first."""
    function()
    times = []
    for _ in range(7):
        begun = time.process_time()
        function()
        times.append(time.process_time() - begun)
    return 1e6 * min(times)


def bench_walking() -> dict[str, float]:
    times = {f"walking.person_{count}_us": _processor(lambda count=count: _walk(count)) for count in (268, 536)}  # type: ignore[misc]
    return times | {"walking.wanted_locomotion_us": 1e5}


def bench_holding() -> dict[str, float]:
    team, timing = _carried()
    stages = [animate(team, timing, samples=268).seconds for _ in range(8)]
    own = {f"holding.{stage}_268_us": 1e6 * min(run[stage] for run in stages) for stage in ("locomotion", "manipulation")}
    return own | {"holding.wanted_us": 5e4}
