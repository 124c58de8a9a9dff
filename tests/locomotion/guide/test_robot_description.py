"""Onboarding: a made-up robot describes itself, keeps the motors of its file, and is told what it lacks."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import FileError
from bunraku.locomotion.guide.first_steps import first_steps
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid_file import parse_humanoid, planner_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.robot_description import described
from bunraku.locomotion.guide.session import Session
from bunraku.scene import Scene
from bunraku.teleop.mujoco_robot import MujocoRobot

mujoco = pytest.importorskip("mujoco")
BOXY = """\
<mujoco model="boxy">
  <default>
    <position kp="90" kv="3" forcerange="-20 20"/>
    <joint armature="0.004" damping="0.1" frictionloss="0.05" range="-1.8 1.8"/>
  </default>
  <compiler angle="radian" autolimits="true"/>
  <worldbody>
    <body name="pelvis" pos="0 0 0.62"><freejoint/><geom type="box" size="0.06 0.08 0.05" mass="2"/>
      {legs}
      <body name="chest" pos="0 0 0.1"><joint name="waist" axis="0 0 1"/>
        <geom type="box" size="0.06 0.09 0.1" pos="0 0 0.1" mass="3"/>
        {arms}
      </body>
    </body>
  </worldbody>
  <actuator>{motors}</actuator>
</mujoco>
"""
LEG = """
<body name="{s}_hip" pos="0 {y} -0.05"><joint name="{s}_hip_yaw" axis="0 0 1"/><geom size="0.02" mass="0.2"/>
  <body name="{s}_hip2"><joint name="{s}_hip_roll" axis="1 0 0"/><geom size="0.02" mass="0.2"/>
    <body name="{s}_thigh"><joint name="{s}_hip_pitch" axis="0 1 0"/>
      <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.03" mass="1"/>
      <body name="{s}_shin" pos="0 0 -0.25"><joint name="{s}_knee" axis="0 {k} 0" range="{r}"/>
        <geom type="capsule" fromto="0 0 0 0 0 -0.25" size="0.025" mass="0.7"/>
        <body name="{s}_ankle" pos="0 0 -0.25"><joint name="{s}_ankle_pitch" axis="0 1 0"/><geom size="0.02" mass="0.1"/>
          <body name="{s}_foot" quat="0.7071068 0 0 0.7071068"><joint name="{s}_ankle_roll" axis="0 -1 0"/>
            <geom type="box" size="0.04 0.08 0.01" pos="0 -0.02 -0.06" mass="0.3"/>
          </body></body></body></body></body></body>
"""
ARM = """
<body name="{s}_arm" pos="0 {z} 0.18"><joint name="{s}_shoulder_pitch" axis="0 1 0"/><geom size="0.03" mass="0.2"/>
  <body name="{s}_arm2"><joint name="{s}_shoulder_roll" axis="1 0 0"/>
    <geom type="capsule" fromto="0 0 0 0 0 -0.18" size="0.02" mass="0.4"/>
    <body name="{s}_elbow" pos="0 0 -0.18"><joint name="{s}_elbow_pitch" axis="0 1 0" range="-2.2 0"/><geom size="0.02" mass="0.2"/>
      <body name="{s}_hand" pos="0 0 -0.16"><joint name="{s}_wrist" axis="0 0 1"/><geom size="0.02" mass="0.1"/></body>
    </body></body></body>
"""


def boxy(folder: Path, *, arms: bool = True, without: str = "") -> Path:
    """A made-up robot: feet whose frames are turned by a quarter, a right knee that bends the other way round, position servos."""
    left = {"s": "left", "y": 0.07, "z": 0.13, "k": 1, "r": "0 2.2"}
    right = {"s": "right", "y": -0.07, "z": -0.13, "k": -1, "r": "-2.2 0"}
    legs, limbs = ("".join(part.format(**own) for own in (left, right)) for part in (LEG, ARM))
    text = BOXY.format(legs=legs, arms=limbs if arms else "", motors="")
    joints = re.findall(r'joint name="([a-z_]+)"', text)
    text = BOXY.format(legs=legs, arms=limbs if arms else "", motors="".join(f'<position joint="{name}"/>' for name in joints))
    for joint in [name for name in joints if without and name.endswith(without)]:
        text = re.sub(f'<(joint|position) (name|joint)="{joint}"[^>]*/>', "", text)
    path = folder / "boxy.xml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_robot_describes_itself(tmp_path: Path) -> None:
    """What nobody told: feet and their undersides, hands, trunk, a level home with bent knees; and it takes a step."""
    text = described(boxy(tmp_path), tmp_path)
    assert len(text.splitlines()) <= 10
    assert "feet: [left_foot, right_foot]" in text
    assert "sole: {size: [0.16, 0.08], at: [0, -0.02, -0.07]}" in text
    assert "hands: [left_hand, right_hand]" in text
    assert "trunk: chest" in text
    own = parse_humanoid(text, tmp_path / "boxy.yaml")
    here = own.pose
    assert np.allclose([here.point(foot)[2] for foot in own.feet], 0.0, atol=1e-4)
    assert np.allclose([here.X(foot)[:3, :3] for foot in own.feet], np.eye(3), atol=2e-3), "x forward, z up"
    assert np.allclose(here.com[:2], 0.0, atol=2e-3)
    assert own.home[own.figure.index("left_knee")] == pytest.approx(0.7, abs=0.1)
    assert own.home[own.figure.index("right_knee")] == pytest.approx(-0.7, abs=0.1)
    lines = list(first_steps(own))
    assert not any("refused" in line for line in lines), lines
    assert "% of its effort" in lines[0]


def test_the_command_writes_it_and_check_reads_it(tmp_path: Path) -> None:
    """The path to the model is relative to the file, wherever that is."""
    from typer.testing import CliRunner

    from bunraku.cli import app

    (tmp_path / "files").mkdir()
    out = tmp_path / "files" / "boxy.yaml"
    done = CliRunner().invoke(app, ["guide", str(boxy(tmp_path)), "--describe", "-o", str(out)])
    assert done.exit_code == 0, done.output
    assert "figure: ../boxy.xml" in out.read_text(encoding="utf-8")
    checked = CliRunner().invoke(app, ["check", str(out)])
    assert checked.exit_code == 0, checked.output
    assert "a step forward: 0." in checked.output


def test_motors_are_those_of_the_file(tmp_path: Path) -> None:
    """Force ranges, gains, dry friction, armature and damping: as MuJoCo itself reads them."""
    source = boxy(tmp_path)
    own = parse_humanoid(described(source, tmp_path), tmp_path / "boxy.yaml")
    assert {variable.effort for variable in own.figure.variables[6:]} == {20.0}
    theirs, ours = mujoco.MjModel.from_xml_path(str(source)), MujocoRobot(own, Scene("floor"), own.home).model
    for name in own.figure.names[6:]:
        a, b = (model.joint(name).dofadr[0] for model in (theirs, ours))
        for word in ("dof_frictionloss", "dof_armature", "dof_damping"):
            assert getattr(ours, word)[b] == pytest.approx(getattr(theirs, word)[a]), (name, word)
    assert np.allclose(ours.actuator_gainprm[:, 0], 90.0)
    assert np.allclose(ours.actuator_biasprm[:, 2], -3.0)
    assert np.allclose(ours.actuator_forcerange, [-20.0, 20.0])


def test_a_robot_without_arms_walks_and_says_that_it_has_none(tmp_path: Path) -> None:
    text = described(boxy(tmp_path, arms=False), tmp_path)
    assert "hands" not in text
    session = Session(Performer(Guide(own := parse_humanoid(text, tmp_path / "boxy.yaml"), planner=planner_of(own))))
    start = session.points.com.p[0]
    session.run([Command("trunk", (1.0, 0.0, 0.0))] * 3)
    assert session.points.com.p[0] > start + 0.05
    assert session.obey(Command("left_hand", (1.0, 0.0, 0.0))).notice == "it has no arms"


def test_legs_of_five_joints_are_refused(tmp_path: Path) -> None:
    text = described(boxy(tmp_path, without="ankle_roll"), tmp_path)
    with pytest.raises(FileError, match="hangs on 5 joints, too few"):
        parse_humanoid(text, tmp_path / "boxy.yaml")


def test_a_tilted_home_is_levelled_or_refused(tmp_path: Path) -> None:
    text = described(boxy(tmp_path), tmp_path)
    tilted = re.sub(r"left_ankle_pitch: (-?[0-9.]+)", lambda found: f"left_ankle_pitch: {float(found[1]) + 0.05}", text)
    own = parse_humanoid(tilted, tmp_path / "boxy.yaml")
    assert own.notes == ("the soles were tilted by 2.9° at home: levelled",)
    assert np.allclose([own.pose.X(foot)[2, 2] for foot in own.feet], 1.0, atol=1e-5)


def test_weak_ankles_use_less_of_their_soles(tmp_path: Path) -> None:
    strong = parse_humanoid(described(boxy(tmp_path), tmp_path), tmp_path / "boxy.yaml")
    path = boxy(tmp_path)
    path.write_text(
        re.sub('<position joint="([a-z]+_ankle_pitch)"/>', r'<position joint="\1" forcerange="-4 4"/>', path.read_text())
    )
    own = parse_humanoid(described(path, tmp_path), tmp_path / "boxy.yaml")
    assert np.array_equal(strong.bearing, strong.sole)
    half = 0.75 * 4.0 / (own.figure.mass * 9.81)
    assert np.ptp(own.bearing[:, 0]) == pytest.approx(2.0 * half, rel=0.01)
    assert np.allclose(own.bearing.mean(0), 0.0, atol=1e-3), "it stands where its ankles bear it best"
    assert np.ptp(own.sole[:, 0]) == pytest.approx(0.16, abs=1e-3)
