from __future__ import annotations

import importlib.metadata
import math
import warnings
from pathlib import Path

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import Body, Box, Capsule, Cylinder, Figure, Mesh, Sphere
from bunraku.figure.mass import inertia_matrix, inertia_tuple
from bunraku.io import load
from bunraku.io.urdf import urdf_reader
from bunraku.io.urdf.urdf_link import possible
from bunraku.kinematics import pose
from bunraku.spatial import so3
from tests.io.mutated import mutated

ROBOT = """<?xml version="1.0"?>
<robot name="sample">
  <material name="red"><color rgba="0.8 0.1 0.1 1"/></material>
  <link name="base">
    <inertial><origin xyz="0.1 0 0" rpy="0 0 1.5707963267948966"/><mass value="2"/>
      <inertia ixx="0.02" iyy="0.03" izz="0.04" ixy="0.001" ixz="0" iyz="0"/></inertial>
    <visual name="hull"><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry>
      <material name="red"/></visual>
    <collision><origin xyz="0 0 0.1" rpy="0.1 0.2 0.3"/><geometry><box size="0.1 0.2 0.3"/></geometry></collision>
    <collision><geometry><sphere radius="0.4"/></geometry></collision>
  </link>
  <link name="upper"/>
  <link name="fore">
    <visual><geometry><cylinder radius="0.1" length="0.5"/></geometry>
      <material name=""><color rgba="0 1 0 0.5"/></material></visual>
    <visual><geometry><capsule radius="0.1" length="0.5"/></geometry></visual>
  </link>
  <link name="slider"/>
  <link name="wheel"/>
  <link name="tool"/>
  <joint name="shoulder" type="revolute">
    <origin xyz="0 0 0.5" rpy="0 0.3 0"/><parent link="base"/><child link="upper"/><axis xyz="0 3 4"/>
    <limit lower="0.5" upper="2" effort="30" velocity="4"/><dynamics damping="0.7" friction="0.1"/>
  </joint>
  <joint name="elbow" type="revolute">
    <origin xyz="0 0 0.4"/><parent link="upper"/><child link="fore"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="0" velocity="0"/><mimic joint="shoulder" multiplier="-1"/>
  </joint>
  <joint name="slide" type="prismatic">
    <parent link="fore"/><child link="slider"/><limit lower="-0.1" upper="0.2" effort="5" velocity="1"/>
  </joint>
  <joint name="spin" type="continuous"><parent link="slider"/><child link="wheel"/><axis xyz="0 0 -1"/></joint>
  <joint name="mount" type="fixed"><origin xyz="0 0.1 0" rpy="1.5707963267948966 0 0"/>
    <parent link="wheel"/><child link="tool"/></joint>
  <transmission name="t"><type>x</type></transmission>
  <gazebo reference="base"/>
</robot>
"""


def quietly(text: str | bytes, **options: bool) -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        return urdf_reader.parse(text, **options)  # type: ignore[arg-type]


def test_joints() -> None:
    figure = quietly(ROBOT)
    assert figure.name == "sample"
    assert [f.name for f in figure.frames] == ["base", "upper", "fore", "slider", "wheel", "tool"]
    assert figure.names == ("shoulder", "elbow", "slide", "spin")
    shoulder, elbow, slide, spin = figure.variables
    assert (shoulder.motion, shoulder.axis) == ("rotate", (0.0, 0.6, 0.8))
    assert (shoulder.lower, shoulder.upper, shoulder.effort, shoulder.speed, shoulder.damping) == (0.5, 2.0, 30.0, 4.0, 0.7)
    assert shoulder.start == 0.5  # zero is outside
    assert (elbow.start, elbow.effort, elbow.speed) == (0.0, math.inf, math.inf)
    assert (slide.motion, slide.axis) == ("translate", (1.0, 0.0, 0.0))  # the default axis
    assert (spin.lower, spin.upper) == (-math.inf, math.inf)
    assert figure.frame("tool").variable is None


def test_frames_are_where_urdf_says() -> None:
    figure = quietly(ROBOT)
    at = pose(figure, figure.configuration(shoulder=0.7, elbow=0.2, slide=0.1, spin=1.0))
    turn = so3.rpy(0, 0.3, 0) @ so3.exp(0.7 * np.array([0, 0.6, 0.8]))
    elbow = np.array([0, 0, 0.5]) + turn @ [0, 0, 0.4]
    turn = turn @ so3.about(1, 0.2)
    wheel = elbow + turn @ [0.1, 0, 0]
    turn = turn @ so3.about(2, -1.0)
    np.testing.assert_allclose(at.point("tool"), wheel + turn @ [0, 0.1, 0], rtol=0, atol=1e-14)
    np.testing.assert_allclose(at.X("tool")[:3, :3], turn @ so3.about(0, math.pi / 2), rtol=0, atol=1e-14)


def test_inertia_is_turned_into_the_links_axes() -> None:
    (body,) = quietly(ROBOT).bodies
    assert (body.mass, body.com) == (2.0, (0.1, 0.0, 0.0))
    turned = [[0.03, -0.001, 0], [-0.001, 0.02, 0], [0, 0, 0.04]]
    np.testing.assert_allclose(inertia_matrix(body.inertia), turned, atol=1e-15)


def test_shapes_and_materials() -> None:
    hull, shell, arm, pill = quietly(ROBOT).shapes
    assert (hull.geometry, hull.color, hull.name) == (Box((0.1, 0.2, 0.3)), (0.8, 0.1, 0.1), "hull")
    assert (hull.collides, hull.visible) == (True, True)  # what looks and collides the same is one shape
    assert (shell.geometry, shell.collides, shell.visible) == (Sphere(0.4), True, False)
    assert (arm.geometry, arm.color, arm.collides) == (Cylinder(0.1, 0.5), (0.0, 1.0, 0.0), False)
    assert (pill.frame, pill.geometry) == ("fore", Capsule(0.1, 0.5))


def test_one_warning_names_everything() -> None:
    with pytest.warns(BunrakuWarning) as caught:
        urdf_reader.parse(ROBOT, path="robots/sample.urdf")
    assert len(caught) == 1
    message = str(caught[0].message)
    assert message.startswith("robots/sample.urdf: not everything could be kept")
    for part in ("elements left out: transmission, gazebo", "dry friction left out: shoulder", "mimic joints", "elbow"):
        assert part in message
    assert caught[0].filename == __file__  # points at who called


def test_nothing_left_out_nothing_said() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        urdf_reader.parse('<robot name="r"><link name="a"/></robot>')


# -- roots and joints with several variables ---------------------------------------------------------------------


def joined(kind: str, *, parent: str = "base", inside: str = "") -> str:
    joint = f'<joint name="j" type="{kind}"><parent link="{parent}"/><child link="b"/>{inside}</joint>'
    return f'<robot name="r"><link name="{parent}"/><link name="b"/>{joint}</robot>'


def test_floating_base() -> None:
    figure = quietly(ROBOT, floating_base=True)
    assert figure.names[:6] == tuple(f"base_{letter}" for letter in ("tx", "ty", "tz", "rz", "ry", "rx"))
    assert figure.joints[0].kind == "free"
    assert figure.joints[0].frames[-1] == "base"


def test_floating_and_spherical_joints() -> None:
    free = urdf_reader.parse(joined("floating"))
    assert free.names == tuple(f"j_{letter}" for letter in ("tx", "ty", "tz", "rz", "ry", "rx"))
    assert [joint.kind for joint in free.joints] == ["free"]
    ball = urdf_reader.parse(joined("spherical"))
    assert ball.names == ("j_rz", "j_ry", "j_rx")
    assert [joint.kind for joint in ball.joints] == ["ball"]


@pytest.mark.parametrize("axis", [(0, 0, 1), (0, 1, 0), (1, 2, -2)])
def test_planar_joint_moves_in_its_plane(axis: tuple[float, float, float]) -> None:
    text = " ".join(map(str, axis))
    figure = urdf_reader.parse(joined("planar", inside=f'<origin xyz="0.1 0.2 0.3" rpy="0.4 0.5 0.6"/><axis xyz="{text}"/>'))
    assert figure.names == ("j_tx", "j_ty", "j_rz")
    R, normal = so3.rpy(0.4, 0.5, 0.6), np.array(axis) / np.linalg.norm(axis)
    still = pose(figure)
    np.testing.assert_allclose(still.X("b")[:3, :3], R, atol=1e-14)
    moved = pose(figure, [0.3, -0.2, 0.7])
    shift = R.T @ (moved.point("b") - still.point("b"))
    assert abs(shift @ normal) < 1e-14
    assert abs(np.linalg.norm(shift) - math.hypot(0.3, 0.2)) < 1e-14
    np.testing.assert_allclose(moved.X("b")[:3, :3], R @ so3.exp(0.7 * normal), atol=1e-14)


def test_a_root_called_world_is_the_world() -> None:
    figure = urdf_reader.parse(joined("continuous", parent="world"))
    assert [(f.name, f.parent) for f in figure.frames] == [("b", "world")]
    free = urdf_reader.parse(joined("continuous", parent="world"), floating_base=True)
    assert free.frames[-2].name == "world_link"


# -- meshes ------------------------------------------------------------------------------------------------------


def with_mesh(name: str) -> str:
    visual = f'<visual><geometry><mesh filename="{name}" scale="1 2 3"/></geometry></visual>'
    return f'<robot name="r">\n<link name="a">\n{visual}</link></robot>'


@pytest.fixture
def folders(tmp_path: Path) -> Path:
    """pkg/meshes/a.stl and pkg/urdf/r.urdf, and elsewhere/other/a.stl."""
    for name in ("pkg/meshes/a.stl", "pkg/urdf/r.urdf", "elsewhere/other/a.stl", "pkg/meshes/a.ogre"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("")
    return tmp_path


@pytest.mark.parametrize(
    "name", ["package://pkg/meshes/a.stl", "../meshes/a.stl", "file://{}/pkg/meshes/a.stl", "package://other/a.stl"]
)
def test_meshes_are_found(folders: Path, name: str) -> None:
    file = folders / "pkg/urdf/r.urdf"
    file.write_text(with_mesh(name.format(folders)))
    (shape,) = urdf_reader.load(file, packages=[folders / "elsewhere"]).shapes
    assert isinstance(shape.geometry, Mesh)
    assert shape.geometry.scale == (1.0, 2.0, 3.0)
    found = folders / ("elsewhere/other/a.stl" if "other" in name else "pkg/meshes/a.stl")
    assert Path(shape.geometry.file).samefile(found)


def test_a_mesh_that_is_missing(folders: Path) -> None:
    file = folders / "pkg/urdf/r.urdf"
    file.write_text(with_mesh("package://pkg/none.stl"))
    with pytest.warns(BunrakuWarning, match=r"meshes not found: package://pkg/none\.stl"):
        assert urdf_reader.load(file).shapes == ()
    with pytest.raises(FileError, match="does not exist") as caught:
        urdf_reader.load(file, need_meshes=True)
    assert (caught.value.line, caught.value.column) == (3, 25)
    file.write_text(with_mesh("package://pkg/meshes/a.ogre"))
    with pytest.warns(BunrakuWarning, match="unknown format"):
        urdf_reader.load(file)


# -- inertias that no body can have ------------------------------------------------------------------------------

MATRICES = st.tuples(*[st.floats(-3, 3)] * 6).map(inertia_matrix)


@given(MATRICES)
def test_mended_inertia_is_possible(I: np.ndarray) -> None:
    mended = possible(I)
    Body("f", 1.0, inertia=inertia_tuple(mended))
    np.testing.assert_allclose(possible(mended), mended, atol=1e-12)


@given(MATRICES, st.lists(st.floats(0, 3), min_size=3, max_size=3))
def test_mended_inertia_is_near(I: np.ndarray, spread: list[float]) -> None:
    """None of the possible ones is nearer; any positive ∫ r rᵀ dm gives one."""
    moments, axes = np.linalg.eigh(I)
    a, b, c = spread
    other = axes @ np.diag([b + c, a + c, a + b]) @ axes.T
    assert np.linalg.norm(possible(I) - I) <= np.linalg.norm(other - I) + 1e-12
    if moments[0] >= 0 and moments[0] + moments[1] >= moments[2]:
        np.testing.assert_array_equal(possible(I), I)


def test_mended_inertia_is_named() -> None:
    inertial = '<inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="9"/></inertial>'
    text = f'<robot name="r"><link name="a">{inertial}</link></robot>'
    with pytest.warns(BunrakuWarning, match="impossible inertias, now the nearest that a body can have: a"):
        (body,) = urdf_reader.parse(text).bodies
    np.testing.assert_allclose(sorted(body.inertia[:3]), [10 / 3, 10 / 3, 20 / 3])


# -- what is wrong -----------------------------------------------------------------------------------------------

BROKEN = [  # what to replace, with what, what the line to point at holds (if not that), and what to say
    ('name="sample"', 'name="sample"><', "", "not XML"),
    ("</robot>\n", "<end>", "", "not XML: no element found"),
    ("<robot", "<robots", "</robot>", "mismatched tag"),
    ('<link name="tool"/>', "<link/>", "", "<link> has no name"),
    ('<link name="tool"/>', '<link name="wheel"/>', "", "a second link called 'wheel'"),
    ('<link name="tool"/>', '<link name="tools"/>', '<child link="tool"/>', "no link is called 'tool'"),
    ('<link name="tool"/>', '<link name="tool"/><link name="lost"/>', "", "'lost' is the child of no joint"),
    ('name="elbow"', 'name="shoulder"', "", "a second joint called 'shoulder'"),
    ('type="prismatic"', 'type="prismatik"', "", "unknown joint type 'prismatik'"),
    ('type="prismatic"', "", '<joint name="slide"', "<joint> has no type"),
    ('<parent link="base"/>', "", 'name="shoulder"', "<joint> has no <parent>"),
    ('<child link="upper"/>', "<child/>", "", "<child> has no link"),
    ('<parent link="base"/>', '<parent link="tool"/>', 'name="shoulder"', "the joints form a cycle"),
    ('<child link="tool"/>', '<child link="fore"/>', 'name="mount"', "'fore' is already the child of joint 'elbow'"),
    ('xyz="0 3 4"', 'xyz="0 0 0"', "", "the axis has no direction"),
    ('xyz="0 3 4"', 'xyz="0 3"', "", "expected 3 numbers, got 2 words"),
    ('xyz="0 3 4"', 'xyz="0 3 four"', "", "'four' is not a number"),
    ('xyz="0 0 0.5"', 'xyz="0 0 nan"', "", "nan is not finite"),
    ('rpy="0 0.3 0"', 'rpy="0 0,3 0"', "", "'0,3' is not a number"),
    ('lower="0.5" upper="2"', 'lower="2" upper="0.5"', "", "lower 2.0 is above upper 0.5"),
    ('damping="0.7"', 'damping="-1"', "", "must be zero or positive"),
    ('<limit lower="-0.1" upper="0.2" effort="5" velocity="1"/>', "", 'name="slide"', "joint 'slide' has no <limit>"),
    ('<mass value="2"/>', '<mass value="-2"/>', "<inertia ", "is not a mass"),
    ('<mass value="2"/>', '<mass value="2 kg"/>', "", "expected 1 number, got 2 words"),
    ('<mass value="2"/>', "", "<inertial>", "<inertial> has no <mass>"),
    ('ixx="0.02"', 'ixx="inf"', "", "inf is not finite"),
    ('<box size="0.1 0.2 0.3"/>', '<box size="0.1 -0.2 0.3"/>', "", "must be positive"),
    ('<box size="0.1 0.2 0.3"/>', "<ball/>", "", "unknown geometry <ball>"),
    ('<sphere radius="0.4"/>', "", "<geometry></geometry>", "<geometry> is empty"),
    ('rgba="0.8 0.1 0.1 1"', 'rgba="0.8 0.1 0.1"', "", "expected 4 numbers, got 3 words"),
    ('<origin xyz="0 0 0.4"/>', '<origin xyz="0 0 0.4"/><origin/>', "", "a second <origin>"),
]  # fmt: skip


@pytest.mark.parametrize(("old", "new", "where", "message"), BROKEN)
def test_broken_files(tmp_path: Path, old: str, new: str, where: str, message: str) -> None:
    assert old in ROBOT
    file = tmp_path / "broken.urdf"
    file.write_text(ROBOT.replace(old, new, 1))
    with pytest.raises(FileError) as caught:
        load(file)
    error = caught.value
    assert message in error.message
    assert error.path == str(file)
    assert (where or new) in file.read_text().splitlines()[(error.line or 0) - 1]
    assert error.column
    assert error.advice
    assert "^" in str(error)


def test_a_xacro_file_says_so() -> None:
    with pytest.raises(FileError, match="no link") as caught:
        urdf_reader.parse('<robot xmlns:xacro="http://wiki.ros.org/xacro"><xacro:include filename="x"/></robot>')
    assert "xacro robot.urdf.xacro > robot.urdf" in caught.value.advice


def outcome(text: str) -> Figure | FileError:
    try:
        return quietly(text, floating_base=True)
    except FileError as error:
        return error


@settings(max_examples=120)
@given(mutated(ROBOT))
@example(ROBOT.replace('"tool"', '"base_tx"'))
def test_mutations_give_a_figure_or_one_error(text: str) -> None:
    result = outcome(text)
    assert isinstance(result, Figure) or result.advice


# -- real ones ---------------------------------------------------------------------------------------------------


def test_every_real_robot_loads() -> None:
    """Each with one warning at most."""
    files = importlib.metadata.files("example-robot-data") or []
    robots = [Path(file.locate()) for file in files if file.suffix == ".urdf"]
    robots = [path for path in robots if path.name != "ur3.urdf"]  # which holds nothing
    assert len(robots) > 60
    for path in robots:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            figure = load(path)
        assert len(caught) <= 1
        assert figure.mass > 0.0
