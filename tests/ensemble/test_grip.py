from __future__ import annotations

import numpy as np

from bunraku.ensemble.agents import hold, rover
from bunraku.ensemble.grip import Grip
from bunraku.ensemble.manipulate import hold as held_by
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Shape
from bunraku.kinematics.inverse.arm import closed_form


def held(*more):
    """A robot that stands still with a board whose edge it holds level, and what else hangs from the board."""
    robot = rover("robot", hold("tool", (0.4, 0.3, 0.0), z=(0, -1, 0), x=(0, 0, 1)))
    team = Team((robot,), Carried((Shape("world", Box((2.4, 0.6, 0.05)), name="board"), *more)))
    board = np.tile([0.0, 0.0, 1.05, 0.0, 0.0, 0.0], (9, 1))
    X = np.tile(np.eye(4), (9, 1, 1))
    X[:, 2, 3] = 1.05
    Q = np.tile(robot.figure.configuration(base_x=0.4, base_y=1.0, base_turn=-np.pi / 2), (9, 1))
    return robot, team, board, X @ robot.holds[0].X_OT, Q


def chosen(robot, team, board, X, Q, *, looks):
    arm, grip = closed_form(robot.figure, "tool"), Grip.of(team, robot, board)
    own = held_by(arm, X, Q, clear=grip.clear if looks else None)
    assert own.lost is None
    Q = Q.copy()
    Q[:, arm.indices] = own.angles
    return grip.clear(Q), own.angles[0]


def test_an_arm_bends_the_other_way_round_what_sticks_out_of_the_object():
    blind, first = chosen(*held(), looks=False)
    assert blind == 0.0
    awning = Shape("world", Box((0.5, 0.1, 0.2)), (0.4, 0.85, 0.05), name="awning")
    blind, same = chosen(*held(awning), looks=False)
    assert np.array_equal(same, first)
    assert blind < -0.01, "the easiest way is through it"
    clear, angles = chosen(*held(awning), looks=True)
    assert clear == 0.0
    assert abs(angles[4] - first[4]) > 1.0
