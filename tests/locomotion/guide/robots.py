"""Real humanoids of example-robot-data, each by a few lines."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from xml.etree import ElementTree

ROBOTS = {
    "talos": (
        "talos_data/robots/talos_reduced.urdf",
        """\
feet: [left_sole_link, right_sole_link]
sole: {size: [0.2, 0.12]}
hands: [gripper_left_base_link, gripper_right_base_link]
trunk: torso_2_link
home: {leg_left_3_joint: -0.45, leg_left_4_joint: 0.9, leg_left_5_joint: -0.45,
       leg_right_3_joint: -0.45, leg_right_4_joint: 0.9, leg_right_5_joint: -0.45,
       arm_left_1_joint: 0.3, arm_left_2_joint: 0.4, arm_left_3_joint: -0.5, arm_left_4_joint: -1.4,
       gripper_left_joint: -0.3, gripper_right_joint: -0.3,
       arm_right_1_joint: -0.3, arm_right_2_joint: -0.4, arm_right_3_joint: 0.5, arm_right_4_joint: -1.4}
""",
    ),
    "g1": (
        "g1_description/urdf/g1_29dof_rev_1_0.urdf",
        """\
feet: [left_ankle_roll_link, right_ankle_roll_link]
sole: {size: [0.12, 0.06], at: [0.02, 0, -0.03]}
hands: [left_wrist_yaw_link, right_wrist_yaw_link]
trunk: torso_link
home: {left_hip_pitch_joint: -0.35, left_knee_joint: 0.7, left_ankle_pitch_joint: -0.35,
       right_hip_pitch_joint: -0.35, right_knee_joint: 0.7, right_ankle_pitch_joint: -0.35,
       left_shoulder_roll_joint: 0.2, right_shoulder_roll_joint: -0.2, left_elbow_joint: 0.6, right_elbow_joint: 0.6}
""",
    ),
    "icub": (  # its ankles bear it on less than its soles
        "icub_description/robots/icub_reduced.urdf",
        """\
feet: [l_sole, r_sole]
sole: {size: [0.12, 0.064], at: [0.01, 0, 0]}
hands: [l_hand, r_hand]
trunk: chest
home: {l_hip_pitch: 0.45, l_knee: -0.8, l_ankle_pitch: -0.35, r_hip_pitch: 0.45, r_knee: -0.8, r_ankle_pitch: -0.35,
       l_shoulder_pitch: -0.3, l_shoulder_roll: 0.4, l_elbow: 0.8, r_shoulder_pitch: -0.3, r_shoulder_roll: 0.4, r_elbow: 0.8}
""",
    ),
}


def written(name: str, folder: Path, *, meshes: bool = False) -> Path:
    """A humanoid file; without meshes, which only take time where nobody looks."""
    ending, words = ROBOTS[name]
    files = importlib.metadata.files("example-robot-data") or []
    source = next(f for f in files if str(f).endswith(f"example-robot-data/robots/{ending}")).locate()
    if not meshes:
        tree = ElementTree.parse(source)
        for link in tree.iter("link"):
            for shape in (*link.findall("visual"), *link.findall("collision")):
                link.remove(shape)
        source = folder / "robot.urdf"
        tree.write(source)
    path = folder / f"{name}.yaml"
    path.write_text(f"humanoid: {name}\nfigure: {source}\n{words}", encoding="utf-8")
    return path
