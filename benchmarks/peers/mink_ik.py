"""The task of `benchmarks/bench_inverse.py` for mink. Run in an environment of its own."""

from __future__ import annotations

import json
import sys
from xml.etree import ElementTree

import mink
import mujoco
import numpy as np
from tracking import Problem, measure


def model_of(urdf: str) -> mujoco.MjModel:
    """MuJoCo reads URDF, but drops fixed links unless told otherwise, and fixes the root in the world."""
    root = ElementTree.parse(urdf).getroot()
    extension = ElementTree.SubElement(root, "mujoco")
    ElementTree.SubElement(extension, "compiler", fusestatic="false", balanceinertia="true")
    spec = mujoco.MjSpec.from_string(ElementTree.tostring(root, encoding="unicode"))
    base = next(iter({l.get("name") for l in root.iter("link")} - {c.get("link") for c in root.iter("child")}))
    spec.body(base).add_freejoint()
    return spec.compile()


def main(path: str) -> None:
    problem = Problem.load(path)
    model = model_of(problem.urdf)
    q = np.zeros(model.nq)
    q[3] = 1.0
    for name, value in problem.joints.items():
        q[model.joint(name).qposadr[0]] = value
    out = {}
    for key in ("free", "limits"):
        configuration = mink.Configuration(model, q)
        limits = [mink.ConfigurationLimit(model)] if key == "limits" else []
        feet = [mink.FrameTask(foot, "body", 1.0, 1.0) for foot in problem.feet]
        hand = mink.FrameTask(problem.hand, "body", 1.0, 1.0)
        com, posture = mink.ComTask(cost=1.0), mink.PostureTask(model, cost=problem.posture**0.5)
        tasks = [*feet, hand, com, posture]
        for task in tasks:
            task.set_target_from_configuration(configuration)

        def reset(configuration=configuration) -> None:
            configuration.update(q)

        def solve(target: np.ndarray, configuration=configuration, hand=hand, tasks=tasks, limits=limits) -> None:
            hand.set_target(mink.SE3.from_matrix(target))
            v = mink.solve_ik(configuration, tasks, 1.0, solver="daqp", damping=problem.damping, limits=limits)
            configuration.integrate_inplace(v, 1.0)

        def at(configuration=configuration) -> np.ndarray:
            return configuration.get_transform_frame_to_world(problem.hand, "body").as_matrix()

        out[key] = measure(problem, reset, solve, at)
    print(json.dumps(out))


if __name__ == "__main__":
    main(sys.argv[1])
