from __future__ import annotations

import tempfile
import warnings
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings

import bunraku
from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import Box, Cylinder, Figure
from bunraku.io.sdf.sdf_reader import load_sdf
from bunraku.kinematics import pose
from bunraku.spatial import se3, so3
from tests.io.mutated import mutated

ARM = """<?xml version="1.0"?>
<sdf version="1.9">
  <model name="arm">
    <pose>1 2 0.5 0 0 0.3</pose>
    <frame name="mark" attached_to="upper"><pose>0 0 0.4 0 0 0</pose></frame>
    <link name="base">
      <inertial><mass>2</mass><inertia><ixx>0.02</ixx><iyy>0.03</iyy><izz>0.04</izz></inertia></inertial>
      <visual name="foot"><geometry><box><size>0.1 0.2 0.3</size></box></geometry>
        <material><diffuse>0.1 0.2 0.3 1</diffuse></material></visual>
    </link>
    <link name="upper"><pose degrees="true">0.1 0 0.2 0 90 0</pose>
      <collision name="rod"><pose>0 0 0.2 0 0 0</pose>
        <geometry><cylinder><radius>0.02</radius><length>0.4</length></cylinder></geometry>
      </collision></link>
    <link name="hand"><pose relative_to="mark" rotation_format="quat_xyzw">0 0.05 0 0 0 0 1</pose></link>
    <link name="tip"><pose relative_to="hand">0 0 0.1 0 0 0</pose></link>
    <joint name="shoulder" type="revolute"><pose>0 0 -0.05 0 0 0</pose><parent>base</parent><child>upper</child>
      <axis><xyz expressed_in="__model__">0 1 0</xyz>
        <limit><lower>-1</lower><upper>2</upper><effort>-1</effort><velocity>3</velocity></limit>
        <dynamics><damping>0.4</damping><spring_stiffness>5</spring_stiffness><spring_reference>0.1</spring_reference></dynamics></axis>
    </joint>
    <joint name="wrist" type="universal"><parent>upper</parent><child>hand</child>
      <axis><xyz>1 0 0</xyz></axis><axis2><xyz>0 1 0</xyz><limit><lower>-1e16</lower><upper>1e16</upper></limit></axis2></joint>
    <joint name="nail" type="fixed"><parent>hand</parent><child>tip</child></joint>
    <joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint>
  </model>
</sdf>
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "model.sdf"
    path.write_text(text, encoding="utf-8")
    return path


def test_poses_axes_and_limits(tmp_path: Path) -> None:
    arm = bunraku.load(written(tmp_path, ARM))
    assert isinstance(arm, Figure)
    assert arm.names == ("shoulder", "wrist_1", "wrist_2")
    shoulder = arm.variables[0]
    assert (shoulder.lower, shoulder.upper, shoulder.speed, shoulder.effort) == (-1.0, 2.0, 3.0, np.inf)
    assert (shoulder.stiffness, shoulder.rest, shoulder.damping) == (5.0, 0.1, 0.4)
    assert arm.variables[2].upper == np.inf
    # By hand: the model stands at (1, 2, 0.5), turned by 0.3 about z; the upper arm lies along its x axis.
    model = se3.pose((1, 2, 0.5), so3.about(2, 0.3))
    at_rest = pose(arm, np.zeros(3))
    assert np.allclose(at_rest.X("upper"), model @ se3.pose((0.1, 0, 0.2), so3.about(1, np.pi / 2)), atol=1e-12)
    assert np.allclose(at_rest.point("tip"), se3.transform(model, (0.6, 0.05, 0.2)), atol=1e-12)
    # The shoulder turns about the y axis of the model, through a point 0.05 m before the arm.
    pivot = np.array([0.05, 0.0, 0.2])
    turned = pivot + so3.about(1, 0.7) @ (np.array([0.6, 0.05, 0.2]) - pivot)
    assert np.allclose(pose(arm, [0.7, 0.0, 0.0]).point("tip"), se3.transform(model, turned), atol=1e-12)
    # The wrist turns about its own x, then y.
    local = so3.about(0, 0.4) @ so3.about(1, -0.9) @ (0.0, 0.0, 0.1)
    hand = at_rest.X("hand")
    assert np.allclose(pose(arm, [0.0, 0.4, -0.9]).point("tip"), hand[:3, 3] + hand[:3, :3] @ local, atol=1e-12)


def test_shapes_and_masses(tmp_path: Path) -> None:
    arm = load_sdf(written(tmp_path, ARM))
    foot, rod = arm.shapes
    assert foot.geometry == Box((0.1, 0.2, 0.3))
    assert foot.color == (0.1, 0.2, 0.3)
    assert (foot.visible, foot.collides) == (True, False)
    assert rod.geometry == Cylinder(0.02, 0.4)
    assert rod.position == (0.0, 0.0, 0.2)
    assert arm.bodies[0].mass == 2.0
    assert arm.bodies[0].inertia[:3] == (0.02, 0.03, 0.04)


def test_a_model_floats_unless_something_holds_it(tmp_path: Path) -> None:
    free = load_sdf(
        written(tmp_path, ARM.replace('<joint name="hold" type="fixed"><parent>world</parent><child>base</child></joint>', ""))
    )
    assert free.groups[0].kind == "free"
    held = load_sdf(written(tmp_path, ARM))
    assert np.allclose(pose(free, free.start).point("tip"), pose(held, held.start).point("tip"), atol=1e-12)
    text = ARM.replace('<model name="arm">', '<model name="arm"><static>true</static>')
    assert load_sdf(written(tmp_path, text.replace("hold", "h"))).n_dynamic == 3


LOOP = """<sdf version="1.7"><model name="four_bar"><static>1</static>
  <link name="ground"/>
  <link name="left"><pose>0 0 0 0 0 0</pose></link><link name="right"><pose>1 0 0 0 0 0</pose></link>
  <link name="bar"><pose>0 0 1 0 0 0</pose></link>
  <joint name="a" type="revolute"><parent>ground</parent><child>left</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="b" type="revolute"><parent>ground</parent><child>right</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="c" type="revolute"><parent>left</parent><child>bar</child><axis><xyz>0 1 0</xyz></axis></joint>
  <joint name="d" type="revolute"><pose>1 0 0 0 0 0</pose>
    <parent>right</parent><child>bar</child><axis><xyz>0 1 0</xyz></axis></joint>
</model></sdf>"""


def test_a_loop_becomes_a_closure(tmp_path: Path) -> None:
    bars = load_sdf(written(tmp_path, LOOP))
    (closure,) = bars.closures
    assert (closure.name, closure.kind) == ("d", "hinge")
    for angle in (0.0, 0.3):  # a parallelogram stays closed
        at = pose(bars, bars.configuration(a=angle, b=angle, c=-angle))
        assert np.allclose(at.point(closure.a.frame), at.point(closure.b.frame), atol=1e-12)
        assert np.allclose(at.X(closure.a.frame)[:3, 2], at.X(closure.b.frame)[:3, 2], atol=1e-12)
    broken = pose(bars, bars.configuration(a=0.3, b=0.2))
    assert np.linalg.norm(broken.point("d_parent") - broken.point("d_child")) > 0.01


@pytest.mark.parametrize("name", ["talos", "panda", "anymal"])
def test_a_robot_written_as_sdf_moves_as_pinocchio_says(name: str, tmp_path: Path, pinocchio: ModuleType) -> None:
    """Pinocchio reads the URDF file; its placements and inertias, written as SDF, must give the same kinematics and masses."""
    from tests.peers import robots

    path, floating = robots.path_of(name), robots.ROBOTS[name][1]
    twin = robots.Twin.of(path, floating)
    model, data = twin.model, twin.data
    pinocchio.forwardKinematics(model, data, twin.q(np.zeros(twin.figure.n_q)))
    lines = ['<sdf version="1.7"><model name="robot">', "" if floating else "<static>1</static>"]
    rng = np.random.default_rng(1)
    shift = {}
    for j in range(0 if not floating else 1, model.njoints):
        # The link's own axes are anywhere: only the joint must be where Pinocchio has it.
        shift[j] = se3.pose(rng.normal(size=3), so3.exp(rng.normal(size=3))) if j > 1 else np.eye(4)
        X = data.oMi[j].homogeneous @ shift[j]
        I = model.inertias[j]
        com = np.linalg.inv(shift[j]) @ np.append(I.lever, 1.0)
        R = shift[j][:3, :3].T
        M = R @ I.inertia @ R.T
        moments = "".join(f"<i{'xyz'[a]}{'xyz'[b]}>{M[a, b]!r}</i{'xyz'[a]}{'xyz'[b]}>" for a in range(3) for b in range(a, 3))
        moments = moments.replace("np.float64(", "").replace(")", "")
        lines.append(f'<link name="{model.names[j]}"><pose>{sdf_pose(X)}</pose><inertial><pose>{sdf_pose(se3.pose(com[:3]))}</pose>'
                     f"<mass>{I.mass!r}</mass><inertia>{moments}</inertia></inertial></link>")  # fmt: skip
    for j in range(2 if floating else 1, model.njoints):
        kind = model.joints[j].shortname()
        motion = model.joints[j].createData()
        model.joints[j].calc(motion, np.array([1.0, 0.0]) if model.joints[j].nq == 2 else np.zeros(1))
        S = np.array(motion.S).reshape(6)
        axis = S[:3] if np.any(S[:3]) else S[3:]
        word = "prismatic" if np.any(S[:3]) else "revolute"
        assert "Revolute" in kind or "Prismatic" in kind or kind.startswith(("JointModelR", "JointModelP")), kind
        lines.append(f'<joint name="{model.names[j]}_j" type="{word}"><pose>{sdf_pose(np.linalg.inv(shift[j]))}</pose>'
                     f"<parent>{model.names[model.parents[j]]}</parent><child>{model.names[j]}</child>"
                     f"<axis><xyz>{' '.join(repr(float(x)) for x in axis)}</xyz></axis></joint>")  # fmt: skip
    own = load_sdf(written(tmp_path, "\n".join([*lines, "</model></sdf>"])))
    assert own.n_q == twin.figure.n_q
    for _ in range(5):
        q = twin.random(rng)
        mine = np.zeros(own.n_q)
        for variable, value in zip(twin.figure.names, q, strict=True):
            base = variable.rpartition("_")[2]
            target = f"{variable}_j" if f"{variable}_j" in own.names else f"root_joint_{base}"
            mine[own.index(target)] = value
        at = pose(own, mine)
        pinocchio.forwardKinematics(model, data, twin.q(q))
        for j in range(2, model.njoints):
            assert np.allclose(at.X(model.names[j]), data.oMi[j].homogeneous @ shift[j], atol=1e-9), model.names[j]
        masses: Any = pinocchio.crba(model, data, twin.q(q))
        masses = np.triu(masses) + np.triu(masses, 1).T
        J = twin.v_dq(q)
        order = [own.index(f"{v}_j" if f"{v}_j" in own.names else f"root_joint_{v.rpartition('_')[2]}") for v in twin.figure.names]
        assert np.allclose(robots.mass_matrix(at)[np.ix_(order, order)], J.T @ masses @ J, atol=1e-8)


def sdf_pose(X: np.ndarray) -> str:
    z, y, x = so3.angles_zyx(X[:3, :3])
    return " ".join(repr(float(value)) for value in (*X[:3, 3], x, y, z))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (("<child>upper</child>", "<child>uper</child>"), "no link is called 'uper'[\\s\\S]*did you mean upper"),
        (('relative_to="mark"', 'relative_to="tip"'), "relative to itself"),
        (("<mass>2</mass>", "<mass>two</mass>"), "model.sdf:7.*'two' is not a number"),
        (('type="universal"', 'type="univrsal"'), "did you mean universal"),
        (("0 1 0</xyz>\n        <limit>", "0 0 0</xyz>\n        <limit>"), "no direction"),
        (('<sdf version="1.9">', '<sdf version="1.9"><model name="other"/>'), "2 models[\\s\\S]*model='other' or 'arm'"),
    ],
)
def test_faults_are_shown_where_they_are(change: tuple[str, str], message: str, tmp_path: Path) -> None:
    assert change[0] in ARM
    with pytest.raises(FileError, match=message):
        load_sdf(written(tmp_path, ARM.replace(*change)))


def test_what_is_left_out_is_named(tmp_path: Path) -> None:
    text = ARM.replace("<pose>1 2 0.5 0 0 0.3</pose>", '<plugin name="p" filename="x"/>').replace(
        "<box><size>0.1 0.2 0.3</size></box>", "<mesh><uri>model://nowhere/a.stl</uri></mesh>"
    )
    with pytest.warns(BunrakuWarning, match=r"model/plugin[\s\S]*meshes not found: model://nowhere/a.stl"):
        load_sdf(written(tmp_path, text))


@given(mutated(ARM))
@settings(max_examples=150)
def test_damaged_files_give_a_clear_error_or_a_figure(text: str) -> None:
    with warnings.catch_warnings(), tempfile.TemporaryDirectory() as folder:
        warnings.simplefilter("ignore", BunrakuWarning)
        path = Path(folder) / "model.sdf"
        path.write_bytes(text.encode("utf-8", "surrogatepass"))
        try:
            figure = load_sdf(path)
        except FileError:
            return
        assert isinstance(figure, Figure)
