"""Motions spoilt on purpose, each in its own way: the rechecker and the independent judge both refuse them, for the same reason."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.team import OBJECT
from bunraku.figure import Box
from bunraku.io import save
from bunraku.motion import Motion, Track
from bunraku.scene import Obstacle
from tests.ensemble.judge import WrittenMotion, refused
from tests.ensemble.trials import errands
from tests.ensemble.waiters import altered

BASES = {"person": ("pelvis_tx", "pelvis_ty"), "robot": ("base_x", "base_y"), OBJECT: ("object_tx", "object_ty")}
pytestmark = pytest.mark.slow


@functools.cache
def carried():
    errand = load_errand(errands()["short"])
    done = carry(errand, seed=5)
    assert done.outcome.ok, done
    return errand, done.motion


def moved(m, x=0.0, y=0.0):
    for name, (first, second) in BASES.items():
        m = altered(altered(m, name, first, lambda q: q + x), name, second, lambda q: q + y)
    return m


def part(m, rows, t=None):
    return Motion(m.t[rows] if t is None else t, tuple(Track(own.figure, own.q[rows], name=own.name) for own in m.tracks))


def every(m, name, which, values):
    for variable in [v for v in m.track(name).figure.names if which in v]:
        m = altered(m, name, variable, values)
    return m


def without_a_stretch(m):
    n = len(m)
    rows = np.r_[0 : n // 2 - 8, n // 2 + 8 : n]
    return part(m, rows, m.t[: len(rows)])


def hurried_in_the_middle(m):
    n = len(m)
    dt = np.diff(m.t)
    dt[n // 2 - 20 : n // 2 + 20] /= 3.0
    return m.replace(t=np.append(0.0, np.cumsum(dt)))


def arms_exchanged(m):
    arm = ("left_shoulder", "left_elbow", "left_wrist")
    for left in [v for v in m.track("person").figure.names if v.startswith(arm)]:
        right = left.replace("left", "right")
        a, b = (m.track("person").q[:, m.track("person").figure.index(v)].copy() for v in (left, right))
        m = altered(altered(m, "person", left, lambda q, b=b: b), "person", right, lambda q, a=a: a)
    return m


def with_obstacle(scene, obstacle):
    return replace(scene, obstacles=(*scene.obstacles, obstacle))


def ramp(size):
    return lambda q: q + size * np.linspace(0.0, 1.0, len(q)) ** 2


def bump(size):
    return lambda q: q + size * np.sin(np.pi * np.linspace(0.0, 1.0, len(q))) ** 2


def middle(m):
    return [len(m) // 2]


WAYS = {
    "in half of the time": (lambda m: m.replace(t=0.5 * m.t), "speed"),
    "a twentieth too fast": (lambda m: m.replace(t=m.t / 1.05), "speed"),
    "hurried in the middle": (hurried_in_the_middle, "speed"),
    "one sample late": (lambda m: m.replace(t=m.t + 0.7 * np.diff(m.t).min() * (np.arange(len(m)) == len(m) // 2)), "speed"),
    "a stretch left out": (without_a_stretch, "speed"),
    "the object jerks": (lambda m: altered(m, OBJECT, "object_tx", lambda q: q + 2e-3, samples=middle(m)), "speed"),
    "the object beside the hands": (lambda m: altered(m, OBJECT, "object_ty", lambda q: q + 3e-3), "closure"),
    "the object turned in the hands": (lambda m: altered(m, OBJECT, "object_rz", lambda q: q + 4e-3), "closure"),
    "the object sinks out of the hands": (lambda m: altered(m, OBJECT, "object_tz", bump(-0.02)), "closure"),
    "the object too high": (lambda m: altered(m, OBJECT, "object_tz", lambda q: q + 0.3), "object"),
    "the object too low": (lambda m: altered(m, OBJECT, "object_tz", bump(-0.4)), "object"),
    "the object tilted": (lambda m: altered(m, OBJECT, "object_rx", bump(0.3)), "object"),
    "the object pitched": (lambda m: altered(m, OBJECT, "object_ry", bump(0.3)), "object"),
    "the robot glides away": (lambda m: altered(m, "robot", "base_x", ramp(0.03)), "closure"),
    "the robot slips sideways": (lambda m: altered(m, "robot", "base_y", bump(0.03)), "slip"),
    "the robot turns": (lambda m: altered(m, "robot", "base_turn", ramp(0.5)), "closure"),
    "wheels that stand still": (lambda m: every(m, "robot", "wheel", lambda q: q[0] + 0.0 * q), "slip"),
    "wheels that turn backward": (lambda m: every(m, "robot", "wheel", lambda q: -q), "slip"),
    "one wheel too fast": (lambda m: altered(m, "robot", next(v for v in m.track("robot").figure.names if "wheel" in v),
                                             lambda q: 1.2 * q), "slip"),
    "the person sinks": (lambda m: altered(m, "person", "pelvis_tz", bump(-0.03)), "footing"),
    "the person floats": (lambda m: altered(m, "person", "pelvis_tz", bump(0.04)), "footing"),
    "a foot that slides": (lambda m: altered(m, "person", "left_hip_ry", ramp(0.03)), "feet"),
    "legs that do not walk": (lambda m: every(every(m, "person", "hip", lambda q: q[0] + 0 * q), "person", "knee",
                                              lambda q: q[0] + 0 * q), "feet"),
    "a knee beyond its limit": (lambda m: altered(m, "person", "left_knee_ry", lambda q: q - 0.3), "limits"),
    "an elbow that opens": (lambda m: altered(m, "person", "left_elbow", lambda q: q + 0.05, samples=middle(m)), "closure"),
    "arms exchanged": (arms_exchanged, "closure"),
    "a neck that jerks": (lambda m: altered(m, "person", "neck_rz", lambda q: q + 0.45, samples=middle(m)), "speed"),
    "the chest in the object": (lambda m: altered(m, "person", "pelvis_tx", bump(0.45)), "collision"),
    "somewhere else": (lambda m: moved(m, y=-0.3), "arrival"),
    "into the pillar": (lambda m: moved(m, y=0.75), "collision"),
    "not as far as the goal": (lambda m: part(m, np.arange(int(0.8 * len(m)))), "arrival"),
    "from the middle on": (lambda m: part(m, np.arange(len(m) // 2, len(m)), m.t[: len(m) - len(m) // 2]), "arrival"),
    "from the goal to the start": (lambda m: part(m, np.arange(len(m))[::-1], m.t), "arrival"),
    "few samples": (lambda m: part(m, np.unique(np.append(np.arange(0, len(m), 40), len(m) - 1))), "feet"),
    "outside of the area": (lambda m: moved(m, x=4.0), "area"),
}  # fmt: skip
PROMISES = {
    "a lower speed was promised": (lambda e: replace(e, speed=0.5 * e.speed), "speed"),
    "a lower acceleration was promised": (lambda e: replace(e, acceleration=0.5 * e.acceleration), "speed"),
    "an obstacle within the margin": (lambda e: replace(e, scene=with_obstacle(e.scene, BESIDE)), "collision"),
    "an obstacle in the way": (lambda e: replace(e, scene=with_obstacle(e.scene, POST)), "collision"),
    "another goal was promised": (lambda e: replace(e, goal=e.goal + 0.02 * (np.arange(len(e.goal)) == 0)), "arrival"),
}
BESIDE = Obstacle("beside", Box((0.1, 0.1, 0.3)), (0.0, 0.4 + 0.05 + 0.004, 1.02))
"""4 mm beside the slab, which must keep 1 cm."""
POST = Obstacle("post", Box((0.1, 0.1, 0.5)), (1.2, 0.0, 1.0))


def rechecked(errand, motion):
    verdict = recheck(
        errand.team, motion, errand.scene, margin=errand.margin, heights=errand.heights, ground=errand.ground,
        allowed=errand.allowed, ends=(errand.start, errand.goal), area=errand.area,
    )  # fmt: skip
    return {objection.what for objection in verdict.objections}


def judged(errand, motion, folder):
    path = folder / "motion.csv"
    save(motion, path)
    figures = {agent.name: agent.figure for agent in errand.team.agents} | {OBJECT: errand.team.object_figure}
    return refused(errand, WrittenMotion(path, figures))


def test_what_is_right_is_accepted(tmp_path):
    errand, motion = carried()
    assert not rechecked(errand, motion)
    assert not judged(errand, motion, tmp_path)


@pytest.mark.parametrize("name", [*WAYS, *PROMISES])
def test_both_refuse(name, tmp_path):
    errand, motion = carried()
    if name in WAYS:
        spoil, why = WAYS[name]
        motion = spoil(motion)
    else:
        promise, why = PROMISES[name]
        errand = promise(errand)
    assert why in rechecked(errand, motion)
    assert why in judged(errand, motion, tmp_path)


def test_there_are_thirty_ways():
    assert len(WAYS) + len(PROMISES) >= 30
