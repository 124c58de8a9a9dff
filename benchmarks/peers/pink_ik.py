"""The task of `benchmarks/bench_inverse.py` for pink. Run in an environment of its own."""

from __future__ import annotations

import json
import sys

import numpy as np
import pink
import pinocchio as pin
from pink.tasks import ComTask, FrameTask, PostureTask
from tracking import Problem, measure


def main(path: str) -> None:
    problem = Problem.load(path)
    model = pin.buildModelFromUrdf(problem.urdf, pin.JointModelFreeFlyer())
    q = pin.neutral(model)
    for name, value in problem.joints.items():
        q[model.joints[model.getJointId(name)].idx_q] = value
    out = {}
    for key, words in (("free", {"limits": []}), ("limits", {})):
        configuration = pink.Configuration(model, model.createData(), q)
        feet = [FrameTask(foot, position_cost=1.0, orientation_cost=1.0) for foot in problem.feet]
        hand = FrameTask(problem.hand, position_cost=1.0, orientation_cost=1.0)
        com, posture = ComTask(cost=1.0), PostureTask(cost=problem.posture**0.5)
        tasks = [*feet, hand, com, posture]
        for task in tasks:
            task.set_target_from_configuration(configuration)
        if key == "limits":  # where the robot may be, not how fast it may go
            words = {"limits": [configuration.model.configuration_limit]}

        def reset(configuration=configuration) -> None:
            configuration.update(q)

        def solve(target: np.ndarray, configuration=configuration, hand=hand, tasks=tasks, words=words) -> None:
            hand.set_target(pin.SE3(target))
            v = pink.solve_ik(configuration, tasks, 1.0, solver="daqp", damping=problem.damping, **words)
            configuration.integrate_inplace(v, 1.0)

        def at(configuration=configuration) -> np.ndarray:
            return configuration.get_transform_frame_to_world(problem.hand).homogeneous

        out[key] = measure(problem, reset, solve, at)
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
