"""The gecko: its gait, adhesion and whole-motion optimisation on one path with every condition."""

from __future__ import annotations

import functools
import math
import time
from typing import Any

import numpy as np

from benchmarks.table import best_of
from bunraku.figure import library
from bunraku.locomotion.climb.adhesion import adhesion_along
from bunraku.locomotion.climb.climb import ClimbOptions
from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.foot_swing import foot_paths
from bunraku.locomotion.climb.footsteps import footsteps
from bunraku.locomotion.climb.gain_search import accelerations, tune
from bunraku.locomotion.climb.gecko import Gecko, gait, stand, wish, with_feet
from bunraku.locomotion.climb.light_climb import bearable
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight
from bunraku.locomotion.climb.smooth_motion import smooth

RIGHT, HALF = math.pi / 2, math.pi / 4
EVERYTHING = (
    Straight(0.1), Arc(0.15, RIGHT), Straight(0.16), Slope(HALF), Straight(0.24), Slope(-HALF), Straight(0.24),
    Step(0.015), Straight(0.12), Step(-0.015), Straight(0.24), Slope(RIGHT), Straight(0.24), Arc(0.2, HALF), Straight(0.24),
    Slope(-RIGHT), Straight(0.26), Slope(RIGHT), Straight(0.22), Slope(RIGHT), Straight(0.22),
)  # fmt: skip
NOTES = {
    "gecko.ik_us": "one step of the whole-body gait, feet exact",
    "gecko.adhesion_us": "the least adhesion of one posture: six equations, 25 unknowns",
    "gecko.directed_us": "the same with directional adhesion",
    "gecko.optimise26_s": "whole-motion optimisation of 26 cycles, 5201 samples, by the clock",
    "gecko.optimise26_cpu_s": "the same in seconds of the processor, which a busy machine does not change",
    "gecko.max_before": "rad/s²: the paper's gait, α = β = 0.5, γ = 0.05, dt = 5 ms, two postures in turns, 47 cycles",
    "gecko.sum_before": "rad/s: the same, ∫Σ|q̈| dt",
    "gecko.max_after": "rad/s²: whole-motion optimisation",
    "gecko.max_reduction": "percent",
    "gecko.max_reduction_smooth": "percent, against a baseline whose posture changes smoothly",
    "gecko.max_reduction_tuned": "percent, by the paper's way: (α, β) by gradient descent and golden section",
}


@functools.cache
def problem(cycles: int | None = None) -> dict[str, Any]:
    gecko = Gecko(library.named("gecko"))
    m = gecko.measures
    course = Course(EVERYTHING, height=m["height"], spread=m["spread"])
    feet = foot_paths(footsteps(course, front=m["front"], rear=m["rear"], cycles=cycles), centre=m["sole"])
    want = wish(gecko, course, feet)
    guess, _ = gait(gecko, stand(gecko, course, feet, want)[0], feet, want, gains=ClimbOptions().guess)
    return {"gecko": gecko, "course": course, "feet": feet, "want": want, "guess": guess, "further": bearable(gecko)}


def bench_step() -> dict[str, float]:
    p = problem()
    q, _ = stand(p["gecko"], p["course"], p["feet"], p["want"])
    seconds = best_of(lambda: gait(p["gecko"], q, p["feet"], p["want"]))
    return {"gecko.ik_us": seconds / len(p["feet"].t)}


def bench_adhesion() -> dict[str, float]:
    p = problem()
    Q = with_feet(p["gecko"], p["guess"], p["feet"])
    free = best_of(lambda: adhesion_along(p["gecko"], Q, p["feet"]))
    directed = best_of(lambda: adhesion_along(p["gecko"], Q, p["feet"], grip=math.tan(math.radians(30))))
    return {"gecko.adhesion_us": free / len(Q), "gecko.directed_us": directed / len(Q)}


def bench_optimise() -> dict[str, float]:
    p = problem(26)
    wall, cpu = [], []
    for _ in range(2):
        start, processor = time.perf_counter(), time.process_time()
        smooth(p["gecko"], p["course"], p["guess"], p["feet"], p["want"], further=p["further"])
        wall.append(time.perf_counter() - start)
        cpu.append(time.process_time() - processor)
    return {"gecko.optimise26_s": min(wall), "gecko.optimise26_cpu_s": min(cpu)}


def bench_reductions() -> dict[str, float]:
    p = problem()
    gecko, feet, course = p["gecko"], p["feet"], p["course"]
    after = np.abs(accelerations(gecko, smooth(gecko, course, p["guess"], feet, p["want"], further=p["further"]).Q, 0.005))
    out: dict[str, float] = {"gecko.max_after": after.max(), "gecko.sum_after": 0.005 * after.sum()}
    for suffix, switched in (("", True), ("_smooth", False)):
        want = wish(gecko, course, feet, paper=True, switched=switched)
        q, _ = stand(gecko, course, feet, want)
        before = np.abs(accelerations(gecko, gait(gecko, q, feet, want)[0], 0.005))
        out |= {f"gecko.max_before{suffix}": before.max(), f"gecko.sum_before{suffix}": 0.005 * before.sum()}
        out |= {f"gecko.max_reduction{suffix}": _percent(after.max(), before.max())}
        out |= {f"gecko.sum_reduction{suffix}": _percent(after.sum(), before.sum())}
        if switched:
            tuned = np.abs(accelerations(gecko, tune(gecko, q, feet, want).Q, 0.005))
            out |= {"gecko.max_reduction_tuned": _percent(tuned.max(), before.max())}
            out |= {"gecko.sum_reduction_tuned": _percent(tuned.sum(), before.sum())}
    return {name: float(value) for name, value in out.items()}


def _percent(after: float, before: float) -> float:
    return 100.0 * (1.0 - after / before)
