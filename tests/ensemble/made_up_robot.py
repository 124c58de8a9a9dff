"""A small robot as its maker would describe it, in URDF: a box on two wheels and a caster, a column, and an arm of seven joints."""

from __future__ import annotations

from pathlib import Path

AXES = {"pan": "0 0 1", "lift": "0 1 0", "roll": "1 0 0", "elbow": "0 1 0", "twist": "1 0 0", "bend": "0 1 0", "spin": "1 0 0"}
LENGTHS = {"pan": 0.0, "lift": 0.06, "roll": 0.0, "elbow": 0.34, "twist": 0.0, "bend": 0.32, "spin": 0.02}
"""How far each joint is ahead of the one before it [m]."""


def _link(name: str, geometry: str, at: str = "0 0 0", rpy: str = "0 0 0") -> str:
    return (
        f'<link name="{name}"><inertial><mass value="2"/><inertia ixx="0.02" iyy="0.02" izz="0.02" ixy="0" ixz="0" iyz="0"/>'
        f'</inertial><collision><origin xyz="{at}" rpy="{rpy}"/><geometry>{geometry}</geometry></collision></link>'
    )


def _joint(name: str, kind: str, parent: str, child: str, at: str, axis: str = "0 0 1", limit: str = "") -> str:
    return (
        f'<joint name="{name}" type="{kind}"><origin xyz="{at}"/><parent link="{parent}"/><child link="{child}"/>'
        f'<axis xyz="{axis}"/>{limit}</joint>'
    )


def urdf() -> str:
    """The description."""
    parts = [_link("chassis", '<box size="0.5 0.4 0.2"/>', "0 0 0.1"), _link("column", '<cylinder radius="0.06" length="0.5"/>')]
    parts += [_joint("lift", "prismatic", "chassis", "column", "0 0 0.45", limit='<limit lower="0" upper="0.3" velocity="0.2"/>')]
    for side, y in (("left", 0.23), ("right", -0.23)):
        wheel = _link(f"{side}_rim", '<cylinder radius="0.1" length="0.04"/>', rpy="1.5707963267948966 0 0")
        parts += [wheel, _joint(f"{side}_wheel", "continuous", "chassis", f"{side}_rim", f"0 {y} 0.05", "0 1 0")]
    parts += [_link("caster", '<sphere radius="0.05"/>'), _joint("under", "fixed", "chassis", "caster", "-0.2 0 0")]
    before, at = "column", "0.02 0 0.3"
    for name, axis in AXES.items():
        away = LENGTHS[name]
        parts += [_link(name, f'<cylinder radius="0.035" length="{0.06 if away < 0.1 else 0.1}"/>')]
        parts += [_joint(f"arm_{name}", "revolute", before, name, at if name == "pan" else f"{away} 0 0", axis,
                         '<limit lower="-2.7" upper="2.7" velocity="2.5"/>')]  # fmt: skip
        before = name
    parts += [_link("hand", '<box size="0.1 0.08 0.03"/>'), _joint("mount", "fixed", before, "hand", "0.08 0 0")]
    parts += [_link("finger", '<box size="0.05 0.02 0.02"/>'),
              _joint("grip", "prismatic", "hand", "finger", "0.07 0 0", "0 1 0", '<limit lower="0" upper="0.04"/>')]  # fmt: skip
    return f'<robot name="helper">{"".join(parts)}</robot>'


ERRAND = """
carry: with_a_robot
scene:
  scene: hall
  obstacles:
    - {box: [0.3, 0.3, 2.0], at: [0.6, 1.5, 1.0], name: pillar}
object:
  shapes: [{box: [1.4, 0.6, 0.05], name: plank}]
  tilt: 0.2
  heights: [0.75, 1.25]
agents:
  person:
    kind: porter
    holds:
      left_palm: {at: [-0.68, 0.25, -0.05], z: [-1, 0, 0], x: [0, 0, 1]}
      right_palm: {at: [-0.68, -0.25, -0.05], z: [-1, 0, 0], x: [0, 0, 1]}
  robot:
    figure: helper.urdf
    moves: differential
    posture: {lift: 20 cm, arm_lift: 0.6, arm_elbow: -1.2}
    holds: {hand: {arm: arm_pan, at: [0.75, 0, 0], x: [-1, 0, 0], z: [0, 0, 1]}}
area: [[-4, 4], [-2.5, 2.5]]
start: {object: [-0.6, 0, 1.04], person: [-1.64, 0, 0], robot: [0.75, 0, 180 deg]}
goal: {object: [0.6, 0.2, 1.04], person: [-0.44, 0.2, 0], robot: [1.95, 0.2, 180 deg]}
margin: 1 cm
speed: 0.6
acceleration: 0.8
budget: 30 s
"""


def written(folder: Path) -> Path:
    """The errand's file, with the robot's beside it."""
    (folder / "helper.urdf").write_text(urdf())
    (folder / "errand.yaml").write_text(ERRAND)
    return folder / "errand.yaml"
