from __future__ import annotations

import math
import re
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest
from hypothesis import given, settings

from bunraku.dynamics import simulate
from bunraku.errors import BunrakuWarning, FigureError, FileError, MissingExtra
from bunraku.figure import Box, Cylinder, Drum, Effort, Figure, Mesh, Push, Sphere, build, library
from bunraku.io import load, save
from bunraku.io.mjcf import mjcf_file
from bunraku.kinematics import pose
from tests.io.mutated import mutated

ROBOT = """<mujoco model="sample">
  <compiler angle="degree"/>
  <default><default class="limb"><joint damping="0.3" armature="0.02" limited="true"/></default></default>
  <asset>
    <texture name="sky" type="skybox" builtin="gradient" rgb1="1 1 1" width="8" height="8"/>
    <texture name="wood" type="2d" file="missing.png"/>
    <material name="oak" texture="wood" rgba="0.6 0.4 0.2 1"/>
  </asset>
  <worldbody>
    <light pos="0 0 3"/>
    <geom name="floor" type="plane" size="0 0 1"/>
    <body name="trunk" pos="0 0 1">
      <freejoint name="root"/>
      <geom name="belly" type="box" size="0.1 0.2 0.3" material="oak"/>
      <body name="arm" pos="0 0.2 0.2" childclass="limb">
        <joint name="shoulder" axis="1 0 0" range="-90 45" stiffness="4" springref="10"/>
        <geom type="cylinder" fromto="0 0 0 0 0 -0.4" size="0.03" contype="0" conaffinity="0"/>
        <geom type="sphere" size="0.05" pos="0 0 -0.4" group="3"/>
        <site name="palm" pos="0 0 -0.4"/>
        <site name="finger" pos="0 0 -0.5"/>
      </body>
    </body>
    <body name="hand" mocap="true" pos="0 0.2 2"/>
    <site name="hook" pos="0 0.2 2"/>
  </worldbody>
  <tendon><spatial name="cord" limited="true" range="0 1.2"><site site="palm"/><site site="hook"/></spatial></tendon>
  <actuator>
    <motor name="pull" joint="shoulder" gear="5" ctrlrange="-2 2"/>
    <position name="servo" joint="shoulder"/>
  </actuator>
  <sensor><jointpos joint="shoulder"/></sensor>
  <contact><exclude body1="trunk" body2="arm"/></contact>
</mujoco>
"""


def quietly(text: str) -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        return mjcf_file.parse(text)


def test_bodies_and_joints() -> None:
    figure = quietly(ROBOT)
    assert figure.name == "sample"
    assert figure.dynamic == (*(f"root_{letter}" for letter in ("tx", "ty", "tz", "rz", "ry", "rx")), "shoulder")
    assert figure.kinematic == tuple(f"hand_{letter}" for letter in ("tx", "ty", "tz", "rz", "ry", "rx"))  # a mocap body
    assert [joint.kind for joint in figure.joints] == ["free", "hinge", "free"]
    shoulder = figure.variables[figure.index("shoulder")]
    assert (shoulder.axis, shoulder.damping, shoulder.armature, shoulder.stiffness) == ((1.0, 0.0, 0.0), 0.3, 0.02, 4.0)
    np.testing.assert_allclose([shoulder.lower, shoulder.upper, shoulder.rest], np.radians([-90, 45, 10]))
    assert shoulder.effort == 10.0  # gear × largest control
    np.testing.assert_allclose(pose(figure).point("arm"), [0, 0.2, 1.2])
    np.testing.assert_allclose(pose(figure).point("hand"), [0, 0.2, 2.0])
    assert math.isclose(figure.mass, 1000 * (0.2 * 0.4 * 0.6 + math.pi * 0.03**2 * 0.4 + 4 / 3 * math.pi * 0.05**3))


def test_shapes_strings_and_forces() -> None:
    figure = quietly(ROBOT)
    belly, tube, fist = figure.shapes
    assert (belly.geometry, belly.name, belly.frame) == (Box((0.2, 0.4, 0.6)), "belly", "trunk")
    np.testing.assert_allclose(belly.color, (0.6, 0.4, 0.2), atol=1e-6)
    assert isinstance(tube.geometry, Cylinder)
    assert math.isclose(tube.geometry.length, 0.4)
    assert (tube.collides, tube.visible) == (False, True)
    assert (fist.geometry, fist.collides, fist.visible) == (Sphere(0.05), True, False)
    (cord,) = figure.strings
    assert (cord.length, cord.hook.frame, cord.spindle.frame) == (1.2, "arm", "world")
    assert figure.forces == (Effort("pull", "shoulder", 5.0),)
    assert figure.allowed == (("trunk", "arm"),)
    assert figure.frame("finger").parent == "arm"  # a site that nothing else uses


def test_one_warning_names_what_is_left_out() -> None:
    with pytest.warns(BunrakuWarning) as caught:
        mjcf_file.parse(ROBOT, path="sample.xml")
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("sample.xml: not everything")
    assert "planes, which a scene has left out: floor" in message
    assert "actuators that are not plain motors left out: servo" in message
    assert caught[0].filename == __file__


def test_the_first_keyframe_is_the_start() -> None:
    half = math.sqrt(0.5)
    key = f'<keyframe><key qpos="1 2 3 {half} 0 0 {half} 0.5"/></keyframe></mujoco>'
    figure = quietly(ROBOT.replace("</mujoco>", key))
    np.testing.assert_allclose(figure.start[:7], [1, 2, 3, math.pi / 2, 0, 0, 0.5], atol=1e-12)


def test_gravity_may_be_off() -> None:
    assert quietly(ROBOT).gravity == (0.0, 0.0, -9.81)
    off = ROBOT.replace("<default>", '<option gravity="0 0 -5"><flag gravity="disable"/></option><default>', 1)
    assert quietly(off).gravity == (0.0, 0.0, 0.0)


def test_included_files_may_lie_beside_the_model(tmp_path: Path) -> None:
    """Where they were dropped or copied without their folders; a file in the right place is preferred."""
    body = '<mujoco><worldbody><body name="{}"><joint/><geom size="1"/></body></worldbody></mujoco>'
    (tmp_path / "part.xml").write_text(body.format("beside"))
    (tmp_path / "whole.xml").write_text('<mujoco><include file="parts/part.xml"/></mujoco>')
    assert "beside" in {frame.name for frame in load(tmp_path / "whole.xml").frames}
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "part.xml").write_text(body.format("inside"))
    assert "inside" in {frame.name for frame in load(tmp_path / "whole.xml").frames}


def test_files_include_others_and_have_meshes(tmp_path: Path) -> None:
    (tmp_path / "meshes").mkdir()
    corners = ((0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1))
    faces = "f 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
    (tmp_path / "meshes" / "corner.obj").write_text("".join("v {} {} {}\n".format(*c) for c in corners) + faces)
    (tmp_path / "part.xml").write_text(
        '<mujoco><worldbody><body name="b"><joint name="j"/>'
        '<geom type="mesh" mesh="corner" pos="1 2 3" euler="0 0 90"/></body></worldbody></mujoco>'
    )
    main = tmp_path / "main.xml"
    main.write_text(
        '<mujoco><compiler meshdir="meshes"/><asset><mesh name="corner" file="corner.obj" scale="1 2 3"/></asset>'
        '<include file="part.xml"/></mujoco>'
    )
    (shape,) = load(main).shapes
    assert isinstance(shape.geometry, Mesh)
    assert Path(shape.geometry.file).samefile(tmp_path / "meshes" / "corner.obj")
    assert shape.geometry.scale == (1.0, 2.0, 3.0)
    np.testing.assert_allclose(shape.position, (1, 2, 3), atol=1e-6)  # where the file puts it, not where MuJoCo does
    np.testing.assert_allclose(np.abs(shape.rotation), (math.sqrt(0.5), 0, 0, math.sqrt(0.5)), atol=1e-6)


# -- there and back ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", library.names())
def test_what_is_written_is_read_back(tmp_path: Path, name: str) -> None:
    before = library.named(name)
    file = tmp_path / "figure.xml"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        save(before, file)
        after = load(file)
    assert after.name == before.name
    assert set(after.names) == set(before.names)
    q = before.start + np.random.default_rng(1).uniform(-0.5, 0.5, before.n_q)
    here, there = pose(before, q), pose(after, after.configuration(**dict(zip(before.names, q.tolist(), strict=True))))
    for frame in before.frames:
        np.testing.assert_allclose(there.X(frame.name), here.X(frame.name), rtol=0, atol=1e-12)
    np.testing.assert_allclose(there.com, here.com, rtol=0, atol=1e-9)
    ropes = (*before.strings, *before.wires)
    known = [gap for gap, rope in zip(here.gaps, ropes, strict=True) if not isinstance(rope.spindle, Drum)]  # MuJoCo has none
    np.testing.assert_allclose(there.gaps, known, rtol=0, atol=1e-12)
    np.testing.assert_allclose([after.start[after.index(n)] for n in before.names], before.start)
    assert len(after.contacts) == len(before.contacts)
    assert sorted((s.frame, type(s.geometry).__name__, s.collides, s.visible) for s in after.shapes) == sorted(
        (s.frame, type(s.geometry).__name__, s.collides, s.visible) for s in before.shapes
    )


def test_forces_and_closures_are_read_back() -> None:
    b = build
    before = b.figure(
        "f", b.rx("a", b.sphere(0.1, mass=1.0), effort=6.0), b.ry("c", b.sphere(0.1, mass=1.0), at=(1, 0, 0)),
        strings=[b.wire("rod", ("a", (0, 0, 0.2)), ("world", (0, 0, 1.0)), 0.9)],
        springs=[b.spring("rubber", "a", ("c", (0, 0, 0.1)), 20.0, 0.3, 2.0)],
        forces=[
            b.effort("a", gain=2.0), b.push("jet", ("c", (0, 0.1, 0)), (1, 2, 3), turns=True),
            b.push("wind", "a", (0, 1, 0)),
        ],
        closures=[b.closure("pin", "a", ("c", (0, 0.5, 0))), b.closure("weld", "a", "c", "weld")],
        contacts=[b.contact("foot", ("a", (0, 0, -0.1)), ("world", (0, 0, -0.2)), (0, 0.6, 0.8), 0.7)],
    )  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        after = mjcf_file.parse(mjcf_file.dumps(before))
    assert after.variables[0].effort == 6.0
    assert after.springs == before.springs
    assert {force.name: force for force in after.forces}["a_effort"] == before.forces[0]
    pushes = {force.name: force for force in after.forces if isinstance(force, Push)}
    assert pushes["jet"] == before.forces[1]
    assert pushes["wind"] == before.forces[2]
    (rod,) = after.wires
    assert math.isclose(rod.length, 0.9)
    pin, weld = sorted(after.closures, key=lambda closure: closure.name)
    assert (pin.a, pin.b, pin.kind, weld.kind) == (before.closures[0].a, before.closures[0].b, "point", "weld")
    (foot,) = after.contacts
    np.testing.assert_allclose([*foot.plane.position, *foot.normal], [0, 0, -0.2, 0, 0.6, 0.8], atol=1e-12)
    assert (foot.name, foot.friction) == ("foot", 0.7)


# -- writing -----------------------------------------------------------------------------------------------------


def test_what_mujoco_does_not_have_is_named() -> None:
    b = build
    figure = b.figure(
        "f", b.rz("drum", b.sphere(0.1, mass=1.0)), b.rx("a", b.sphere(0.1, mass=1.0), b.mesh("hat.dae")),
        strings=[b.string("line", "a", ("world", (0, 0, 2)), "drum")],
        closures=[b.closure("rail", "a", "world", "plane")],
        contacts=[b.contact("touch", "a", "drum")],
    )  # fmt: skip
    with pytest.warns(BunrakuWarning) as caught:
        mjcf_file.dumps(figure)
    message = str(caught[0].message)
    assert len(caught) == 1
    for part in ("a joint winds them: line", "point on a plane, which MuJoCo does not have: rail", "moves", "hat.dae"):
        assert part in message
    assert caught[0].filename == __file__


def test_a_screw_cannot_be_written() -> None:
    figure = build.figure("f", build.screw("z", 0.1, "bolt", build.sphere(0.1, mass=1.0)))
    with pytest.raises(FigureError, match="MuJoCo has no screw joint"):
        mjcf_file.dumps(figure)


def test_names_are_escaped(tmp_path: Path) -> None:
    figure = build.figure("<\"&'é", build.rx("a<\"&'>", build.sphere(0.1, mass=1.0)))
    after = mjcf_file.parse(mjcf_file.dumps(figure))
    assert (after.name, after.names) == (figure.name, figure.names)


def test_only_figures_are_written(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="expected a figure, got a str"):
        save("hello", tmp_path / "a.xml")
    assert list(tmp_path.iterdir()) == []


# -- what is wrong -----------------------------------------------------------------------------------------------

BROKEN = [  # what to replace, with what, what the line to point at holds (if not that), and what to say
    ("</mujoco>", "</mujoko>", "", "not XML: mismatched tag"),
    ("<mujoco", "<mujoko", "</mujoco>", "not XML"),
    ("<light", "<lamp", "", "unrecognized element"),
    ("axis=", "axes=", "", "unrecognized attribute: 'axes'"),
    ('axis="1 0 0"', 'axis="1 0 x"', "", "bad format in attribute 'axis'"),
    ('axis="1 0 0"', 'axis="1 0 nan"', "", "axis: not a number"),
    ('range="-90 45"', 'range="45 -90"', "", "range"),
    ('childclass="limb"', 'childclass="limp"', "", "unknown default childclass"),
    ('name="palm"', 'name="hook"', "", "repeated name 'hook'"),
    ('site="palm"', 'site="pole"', "", "'pole'"),
    ('joint="shoulder" gear', 'joint="elbow" gear', "", "elbow"),
    ('size="0.05"', 'size="-0.05"', "", "size 0 must be positive"),
    ('pos="0 0.2 0.2"', 'pos="inf 0 0"', "", "not a finite number"),
    ('<body name="hand"', '<include file="nowhere.xml"/><body name="hand"', "", "text cannot include a file"),
    ("<light", '<replicate count="100000"><geom size="1"/></replicate><light', "", "too many copies: 100000"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "where", "message"), BROKEN)
def test_broken_files(old: str, new: str, where: str, message: str) -> None:
    assert old in ROBOT
    text = ROBOT.replace(old, new, 1)
    with pytest.raises(FileError) as caught:
        mjcf_file.parse(text, path="broken.xml")
    error = caught.value
    assert message in error.message
    assert str(error).startswith(f"broken.xml:{error.line}:{error.column}: ")
    assert (where or new) in text.splitlines()[(error.line or 0) - 1]
    assert error.advice
    assert "^" in str(error)


def test_a_urdf_file_says_so(tmp_path: Path) -> None:
    file = tmp_path / "robot.xml"
    file.write_text('<robot name="r"><link name="a"/></robot>')
    with pytest.raises(FileError, match="expected <mujoco>, got <robot>"):
        load(file)


def test_without_mujoco(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "mujoco", None)
    with pytest.raises(MissingExtra, match=re.escape("pip install 'bunraku[mujoco]'")):
        mjcf_file.parse(ROBOT)
    assert mjcf_file.dumps(library.named("pendulum")).startswith("<mujoco")  # which needs nothing


def outcome(text: str) -> Figure | FileError:
    try:
        return quietly(text)
    except FileError as error:
        return error


@settings(max_examples=120)
@given(mutated(ROBOT))
def test_mutations_give_a_figure_or_one_error(text: str) -> None:
    result = outcome(text)
    assert isinstance(result, Figure) or (result.advice and result.line)


def test_a_joint_stops_in_mujoco_where_it_stops_here() -> None:
    """A rod that falls onto its stop from the level, at 5 rad/s: it hardly gives, and lies there."""
    fig = build.figure("rod", build.rx("hinge", build.capsule(0.02, to=(0, 0.5, 0), mass=1.0), limits=(-1.0, 0.5)))
    model = mujoco.MjModel.from_xml_string(mjcf_file.dumps(fig))
    data = mujoco.MjData(model)
    lowest = 0.0
    for _ in range(1000):
        mujoco.mj_step(model, data)
        lowest = min(lowest, data.qpos[0])
    assert -1.02 < lowest < -1.0
    assert data.qpos[0] == pytest.approx(simulate(fig, duration=1.0).q[-1, 0], abs=2e-3)
