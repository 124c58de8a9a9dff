"""The task of `benchmarks/bench_inverse.py` for placo. Run in an environment of its own."""

from __future__ import annotations

import json
import sys

import numpy as np
import placo
from tracking import Problem, measure


def main(path: str) -> None:
    problem = Problem.load(path)
    robot = placo.RobotWrapper(problem.urdf, placo.Flags.ignore_collisions)
    out = {}
    for key, hard, limits in (("free", False, False), ("limits", False, True), ("strict", True, False)):
        for name, value in problem.joints.items():
            robot.set_joint(name, value)
        robot.set_T_world_fbase(np.eye(4))
        robot.update_kinematics()
        solver = placo.KinematicsSolver(robot)
        solver.enable_joint_limits(limits)
        solver.enable_velocity_limits(False)
        for foot in problem.feet:
            task = solver.add_frame_task(foot, robot.get_T_world_frame(foot))
            task.configure(foot, "hard" if hard else "soft", 1.0, 1.0)
        solver.add_com_task(robot.com_world()).configure("com", "soft", 1.0)
        hand = solver.add_frame_task(problem.hand, robot.get_T_world_frame(problem.hand))
        hand.configure("hand", "soft", 1.0, 1.0)
        posture = solver.add_joints_task()
        posture.set_joints(problem.joints)
        posture.configure("posture", "soft", problem.posture)
        solver.add_regularization_task(problem.damping)

        def reset(start: np.ndarray = robot.state.q.copy()) -> None:
            robot.state.q = start
            robot.update_kinematics()

        def solve(target: np.ndarray, hand=hand, solver=solver) -> None:
            hand.T_world_frame = target
            solver.solve(True)
            robot.update_kinematics()

        out[key] = measure(problem, reset, solve, lambda: robot.get_T_world_frame(problem.hand))
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
