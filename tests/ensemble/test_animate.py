from __future__ import annotations

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.animate import AnimateOptions, animate
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Shape
from bunraku.kinematics import pose
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.path import through
from bunraku.planning.ways.path_timing import timed
from bunraku.planning.ways.steer import Bezier, Differential, Holonomic
from bunraku.scene import Obstacle, Scene

SLAB = Carried((Shape("world", Box((1.5, 0.8, 0.06)), name="slab"),), tilt=0.3, heights=(0.6, 1.3))
AREA = ((-4.0, 4.0), (-3.0, 3.0))


def pair(**words):
    ends = (("left", -1), ("right", 1))
    robots = [rover(name, hold("tool", (0.73 * s, 0.0, -0.02), z=(-s, 0, 1), x=(0, 1, 0)), **words) for name, s in ends]
    return Team(tuple(robots), SLAB)


def standing(team, x, y):
    return team.configuration({"left": (x, y - 1.45, np.pi / 2), "right": (x, y + 1.45, -np.pi / 2)}, (x, y, 1.0, np.pi / 2, 0, 0))


@pytest.mark.parametrize("words", [{}, {"moves": Differential}], ids=["roll", "drive"])
def test_hands_hold_on(words):
    team = pair(**words)
    scene = Scene("hall", (Obstacle("pillar", Box((0.4, 0.4, 2.0)), (0.0, 0.4, 1.0)),))
    space = team.space(scene, AREA, margin=0.02)
    path = find(space, standing(team, -2.0, 0.0), standing(team, 2.0, 0.0), seed=1).path
    animation = animate(team, timed(path, speed=0.7, acceleration=0.8))
    assert animation.held, animation.trouble
    assert animation.closure < 1e-6
    assert animation.jump < 0.2
    motion = animation.motion
    assert motion.names == ("left", "right", "object")
    for k in (0, len(motion) // 2, -1):  # by forward kinematics, independent of how arms were solved
        X_WO = pose(motion.track("object").figure, motion.track("object").q[k]).X("object")
        for agent in team.agents:
            track = motion.track(agent.name)
            assert np.allclose(pose(track.figure, track.q[k]).X("tool"), X_WO @ agent.holds[0].X_OT, atol=1e-9)
    verdict = recheck(team, motion, scene)
    assert verdict.accepted, f"nobody touches anything, not even himself: {verdict}"


def test_who_drives_rolls_without_slip():
    team = pair(moves=Differential)
    space = team.space(Scene("hall"), AREA)
    path = find(space, standing(team, -2.0, 0.0), standing(team, 2.0, 0.5), seed=0).path
    motion = timed(path).motion(1 / 240)
    base = team.in_world(motion.q)[0]["left"]
    step, heading = np.diff(base[:, :2], axis=0), 0.5 * (base[1:, 2] + base[:-1, 2])
    sideways = np.cos(heading) * step[:, 1] - np.sin(heading) * step[:, 0]
    assert np.abs(sideways).max() < 1e-6


def test_what_no_arm_can_hold_is_said():
    team = pair()
    space = team.space(Scene("hall"), AREA)
    q = standing(team, 0.0, 0.0)
    bases, held = team.in_world(q)
    bases["right"] = bases["right"] + [0.0, 0.0, np.pi]  # the turret goes round, but not for ever: stretched too far
    bases["right"][1] += 0.6
    far = team.configuration(bases, held)
    animation = animate(team, timed(through(space, [q, far])), samples=50)
    assert not animation.held
    assert "right's tool cannot hold" in animation.trouble
    assert 0 < animation.sample < 50


# -- people ----------------------------------------------------------------------------------------------------------

PLANK = Carried((Shape("world", Box((1.5, 0.6, 0.06)), name="plank"),), tilt=0.3, heights=(0.8, 1.2))


def person_and_robot(moves):
    grips = [hold(f"{side}_palm", (-0.7, s * 0.33, 0.0), z=(-1, 0, 0), x=(0, 0, 1)) for side, s in (("left", 1), ("right", -1))]
    robot = rover("robot", hold("tool", (0.73, 0.0, -0.02), z=(-1, 0, 1), x=(0, 1, 0)))
    return Team((porter("ann", *grips, moves=moves), robot), PLANK)


def facing(team, x, y, yaw):
    way = np.array([np.cos(yaw), np.sin(yaw)])
    ann, robot = (x, y) - 1.08 * way, (x, y) + 1.45 * way
    return team.configuration({"ann": (*ann, yaw), "robot": (*robot, yaw + np.pi)}, (x, y, 1.04, yaw, 0, 0))


@pytest.mark.parametrize(
    ("moves", "places"),
    [
        (Bezier, [(-2.0, 0.0, 0.0), (0.0, 0.6, 0.6), (1.0, 2.0, 1.2)]),
        (Holonomic, [(2.0, 0.0, 0.0), (-2.0, 0.0, 0.0)]),
        (Holonomic, [(0.0, -1.5, 0.0), (0.0, 1.5, 0.0)]),
        (Holonomic, [(0.0, 0.0, 0.0), (0.0, 0.0, 1.5)]),
    ],
    ids=["forward", "backward", "sideways", "turning"],
)
def test_people_hold_with_both_hands_while_they_walk(moves, places):
    team = person_and_robot(moves)
    stops = [facing(team, *place) for place in places]
    assert team.reaches(np.array(stops)).all()
    path = through(team.space(Scene("hall"), AREA), stops)
    animation = animate(team, timed(path, speed=0.7, acceleration=0.8), options=AnimateOptions(steadiness=0.0))
    assert animation.held, animation.trouble
    assert animation.closure < 1e-6
    assert animation.jump < 0.2
    assert animation.slide < 1e-6
    ann = animation.motion.track("ann")
    lower, upper = ann.figure.limits
    assert ((ann.q >= lower) & (ann.q <= upper)).all()
    base = team.in_world(timed(path, speed=0.7, acceleration=0.8).samples(len(ann)).q)[0]["ann"]
    assert np.array_equal(ann.q[:, ann.figure.indices(("pelvis_tx", "pelvis_ty", "pelvis_rz"))], base)
