"""The rechecker and an independent judge of other code agree: on what is right, and on motions that were spoilt on purpose."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.ensemble.errand import Errand
from bunraku.ensemble.recheck_speeds import WorldSpeeds
from bunraku.ensemble.recheck_team import recheck
from bunraku.figure import Box
from bunraku.scene import Obstacle, Scene
from tests.ensemble.agreement import asked, made
from tests.ensemble.judge import judge
from tests.ensemble.waiters import HIGH, altered, moved, waiters

ALLOWED = WorldSpeeds(0.3, 0.8, 0.4)
PLATE = Obstacle("plate", Box((0.3, 0.3, 0.1)), (0.0, 0.0, HIGH + 0.2))


def lifted(samples: int = 120, duration: float = 4.0):
    """The tray goes up and down, from rest to rest; nobody steps anywhere."""
    s = np.linspace(0.0, 1.0, samples)
    return moved(np.zeros(samples), HIGH + 0.04 * (1.0 - np.cos(2.0 * np.pi * s)), duration=duration)


def judged(motion, scene):
    q = np.zeros(waiters().figure.n_q)
    return judge(Errand(waiters(), scene, ((-3.0, 3.0), (-3.0, 3.0)), q, q), motion)


def whatever_the_judge_minds(found) -> set[str]:
    """The same words as those of the rechecker's objections."""
    out = set()
    if found.worst("speed") > 1.01 * ALLOWED.speed or found.worst("acceleration") > 1.01 * ALLOWED.acceleration:
        out.add("speed")
    if found.worst("turning") > 1.01 * ALLOWED.turning or found.worst("joint_speed") > 1.01 * 9.0:
        out.add("speed")
    out |= {"closure"} if found.closure > 2e-3 else set()
    out |= {"feet"} if found.worst("slide") > 6e-3 else set()
    out |= {"collision"} if found.clearance < 0.0 else set()
    return out


SPOILT = {
    "right": (lambda m: m, set()),
    "in a tenth of the time": (lambda m: m.replace(t=0.1 * m.t), {"speed"}),
    "a jerk of the object": (lambda m: altered(m, "object", "object_tx", lambda q: q + 1e-3, samples=[55]), {"speed", "closure?"}),
    "a robot that glides away": (
        lambda m: altered(m, "robot", "base_x", lambda q: q + 0.02 * np.linspace(0, 1, len(q)) ** 2), {"closure", "speed?"}
    ),
    "a base that turns": (
        lambda m: altered(m, "robot", "base_turn", lambda q: q + np.linspace(0, 3, len(q))), {"closure", "speed"}
    ),
    "feet that slide": (lambda m: altered(m, "person", "left_hip_ry", lambda q: q + np.linspace(0, 0.02, len(q))), {"feet"}),
    "a hand that opens between samples": (
        lambda m: altered(m, "person", "left_elbow", lambda q: q + 0.02 * (np.arange(len(q)) == 30)), {"closure", "speed?"}
    ),
    "a neck that jerks": (lambda m: altered(m, "person", "neck_rz", lambda q: q + 0.45, samples=[35]), {"speed"}),
    "up to the plate": (lambda m: altered(m, "object", "object_tz", lambda q: q + 0.16), {"collision", "closure", "speed?"}),
}  # fmt: skip


@pytest.mark.parametrize("name", SPOILT)
def test_judge_and_rechecker_agree(name):
    spoil, expected = SPOILT[name]
    motion, scene = spoil(lifted()), Scene("hall", (PLATE,))
    mine = {objection.what for objection in recheck(waiters(), motion, scene, allowed=ALLOWED).objections}
    other = whatever_the_judge_minds(judged(motion, scene))
    sure, perhaps = {word for word in expected if "?" not in word}, {word.rstrip("?") for word in expected}
    assert sure <= mine & {"speed", "closure", "feet", "collision"} <= perhaps, mine
    assert sure <= other <= perhaps, other


@pytest.mark.slow
def test_they_agree_on_motions_of_many_errands():
    """`python -m tests.ensemble.agreement 7 --varied 60` asks about more."""
    every = dict(asked(made(1, 40, 4, ["tray", "too_heavy", "stairs"])))
    assert len(every) >= 10
    for name, own in every.items():
        assert own.agree, (name, own.mine, own.other)
        assert own.why or own.apart < 2e-3, name
