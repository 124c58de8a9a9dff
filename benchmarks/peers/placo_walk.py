"""placo walks for `benchmarks/bench_guiding.py`: eight steps of a biped as high as ours. Run in an environment of its own."""

from __future__ import annotations

import json
import tempfile
import time
from pathlib import Path

import numpy as np
import placo

STEPS = 8
LINK = (
    '<link name="{0}"><inertial><mass value="{1}"/>'
    '<inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>'
)
JOINT = (
    '<joint name="{0}" type="revolute"><parent link="{1}"/><child link="{0}_link"/><origin xyz="{2}"/><axis xyz="0 1 0"/>'
    '<limit lower="-2" upper="2" effort="5" velocity="6"/></joint>'
    '<link name="{0}_link"/><joint name="{0}_end" type="fixed"><parent link="{0}_link"/><child link="{3}"/>'
    '<origin xyz="{4}"/></joint>'
)


def biped() -> str:
    """A trunk with a head and two stiff legs: the pattern generator asks for no more."""
    parts = [LINK.format(name, mass) for name, mass in (("trunk", 5.0), ("left_foot", 0.3), ("right_foot", 0.3), ("camera", 0.3))]
    parts.append(JOINT.format("left_hip", "trunk", "0 0.0385 0", "left_foot", "0 0 -0.3"))
    parts.append(JOINT.format("right_hip", "trunk", "0 -0.0385 0", "right_foot", "0 0 -0.3"))
    parts.append(JOINT.format("head", "trunk", "0 0 0.1", "camera", "0 0 0.05"))
    return f'<robot name="biped">{"".join(parts)}</robot>'


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "robot.urdf"
        path.write_text(biped(), encoding="utf-8")
        robot = placo.HumanoidRobot(folder, int(placo.Flags.ignore_collisions))
    own = placo.HumanoidParameters()
    own.single_support_duration, own.single_support_timesteps = 0.25, 10
    own.double_support_ratio, own.startend_double_support_ratio = 1.0, 1.5
    own.planned_timesteps, own.walk_com_height = 48, 0.31
    own.feet_spacing, own.foot_length, own.foot_width, own.foot_zmp_target_x = 0.077, 0.099, 0.072, 0.0
    own.walk_max_dx_forward, own.walk_foot_height, own.zmp_margin = 0.08, 0.02, 0.008
    planner = placo.FootstepsPlannerRepetitive(own)
    planner.configure(0.08, 0.0, 0.0, STEPS)
    left, right = np.eye(4), np.eye(4)
    left[1, 3], right[1, 3] = 0.0385, -0.0385
    supports = placo.FootstepsPlanner.make_supports(planner.plan(placo.HumanoidRobot_Side.left, left, right), 0.0, True, True, True)
    walk = placo.WalkPatternGenerator(robot, own)
    times = []
    for _ in range(200):
        start = time.perf_counter()
        walk.plan(supports, np.array([0.0, 0.0, 0.31]), 0.0)
        times.append(time.perf_counter() - start)
    print(json.dumps({"us": 1e6 * min(times) / STEPS}))


if __name__ == "__main__":
    main()
