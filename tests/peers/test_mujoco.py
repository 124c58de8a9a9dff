"""The MJCF that we write has our mass matrix, frames, strings and weight in MuJoCo; what we read has MuJoCo's."""

from __future__ import annotations

import warnings
from functools import cache

import mujoco
import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.errors import BunrakuWarning
from bunraku.figure import Drum, Figure, build, library
from bunraku.io.mjcf import mjcf_file
from bunraku.io.mjcf.mjcf_codes import MjcfOptions
from bunraku.kinematics import Pose, pose
from tests.peers.robots import ROBOTS, figure_of, mass_matrix, path_of

TOLERANCE = 1e-9
SAMPLES = 20
NAMES = (*library.names(), "chain20")


@cache
def named(name: str) -> Figure:
    return library.named(name) if name in NAMES else figure_of(path_of(name), ROBOTS[name][1])


class Twin:
    """MuJoCo's model of MJCF text, asked in our q."""

    def __init__(self, figure: Figure, text: str) -> None:
        self.figure = figure
        self.model = mujoco.MjModel.from_xml_string(text)
        self.data = mujoco.MjData(self.model)
        self.order = [figure.index(self.model.joint(j).name) for j in range(self.model.njnt)]

    def at(self, q: np.ndarray, v: np.ndarray | None = None) -> mujoco.MjData:
        self.data.qpos[:] = q[self.order]
        self.data.qvel[:] = 0.0 if v is None else v[self.order]
        mujoco.mj_forward(self.model, self.data)
        return self.data

    def mass_matrix(self) -> np.ndarray:
        M = np.zeros((self.model.nv, self.model.nv))
        mujoco.mj_fullM(self.model, self.data, M)
        return M


def written(figure: Figure, **options: object) -> Twin:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        return Twin(figure, mjcf_file.dumps(figure, meshes=False, **options))  # type: ignore[arg-type]


def random(figure: Figure, rng: np.random.Generator) -> np.ndarray:
    lower, upper = (np.clip(limit, -np.pi, np.pi) for limit in figure.limits)
    return rng.uniform(lower, upper)


def weight(here: Pose) -> np.ndarray:
    """What holds the figure still against gravity."""
    g = np.array(here.figure.gravity)
    parts = (-body.mass * here.point_jacobian(body.frame, body.com).T @ g for body in here.figure.bodies)
    return np.sum([*parts, np.zeros(here.figure.n_q)], axis=0)


@pytest.mark.parametrize("name", [*NAMES, *ROBOTS])
def test_written_figure_is_the_same_in_mujoco(name: str) -> None:
    figure, rng = named(name), np.random.default_rng(3)
    twin = written(figure)
    rotors = np.diag([MjcfOptions.rotor * figure.variables[k].kinematic for k in twin.order])
    for _ in range(SAMPLES):
        q = random(figure, rng)
        here, data = pose(figure, q), twin.at(q)
        M = mass_matrix(here)[np.ix_(twin.order, twin.order)]
        np.testing.assert_allclose(twin.mass_matrix() - rotors, M, rtol=0.0, atol=TOLERANCE)
        np.testing.assert_allclose(data.qfrc_bias, weight(here)[twin.order], rtol=0.0, atol=TOLERANCE)
        for frame in figure.frames:
            body = data.body(frame.name)
            np.testing.assert_allclose(body.xpos, here.X(frame.name)[:3, 3], rtol=0.0, atol=TOLERANCE)
            np.testing.assert_allclose(body.xmat.reshape(3, 3), here.X(frame.name)[:3, :3], rtol=0.0, atol=TOLERANCE)
        for gap, rope in zip(here.gaps, (*figure.strings, *figure.wires), strict=True):
            if isinstance(rope.spindle, Drum):
                continue  # MuJoCo has none
            length = gap + rope.wound(0.0 if rope.variable is None else float(q[figure.index(rope.variable)]))
            np.testing.assert_allclose(data.tendon(rope.name).length, length, rtol=0.0, atol=TOLERANCE)


@pytest.mark.parametrize("name", [name for name in NAMES if name != "crane"])
def test_joints_are_in_the_order_of_q(name: str) -> None:
    """Where a tree allows it, and the library's do, but for the crane: its jib is the puppeteer's and carries what swings."""
    twin = written(named(name))
    assert twin.order == list(range(len(twin.order)))
    assert len(twin.order) == named(name).n_q - len(named(name).lengths)


@pytest.mark.parametrize("name", NAMES)
def test_kinematic_variables_may_be_constants(name: str) -> None:
    figure, rng = named(name), np.random.default_rng(4)
    q = random(figure, rng)
    twin = written(figure, q=q, kinematic="fixed")
    assert {figure.names[k] for k in twin.order} == set(figure.dynamic)
    here, data = pose(figure, q), twin.at(q)
    own = np.ix_(twin.order, twin.order)
    np.testing.assert_allclose(twin.mass_matrix(), mass_matrix(here)[own], rtol=0.0, atol=TOLERANCE)
    for frame in figure.frames:
        np.testing.assert_allclose(data.body(frame.name).xpos, here.X(frame.name)[:3, 3], rtol=0.0, atol=TOLERANCE)
    for k, rope in enumerate(figure.strings):
        if isinstance(rope.spindle, Drum):
            continue
        limit = twin.model.tendon_range[twin.model.tendon(rope.name).id, 1]
        np.testing.assert_allclose(data.tendon(rope.name).length - limit, here.gaps[k], rtol=0.0, atol=TOLERANCE)


@pytest.mark.parametrize("name", ["marionette22", "marionette25", "arm3d"])
def test_a_marionette_hangs(name: str) -> None:
    """One second from the keyframe: no string breaks its length, and the puppeteer's hands stay where they are."""
    figure = named(name)
    twin = written(figure)
    mujoco.mj_resetDataKeyframe(twin.model, twin.data, 0)
    np.testing.assert_array_equal(twin.data.qpos, figure.start[twin.order])
    for _ in range(1000):
        mujoco.mj_step(twin.model, twin.data)
    kinematic = [k for k, index in enumerate(twin.order) if figure.variables[index].kinematic]
    assert np.abs(twin.data.qpos - figure.start[twin.order])[kinematic].max() < 1e-3
    q = figure.start.copy()
    q[twin.order] = twin.data.qpos
    assert pose(figure, q).gaps.max() < 2e-3


def contraption() -> Figure:
    """One of everything that can be written exactly."""
    b = build
    return b.figure(
        "contraption",
        b.ball("shoulder", b.capsule(0.03, to=(0, 0, -0.3), mass=0.4),
            b.ry("elbow", b.capsule(0.02, to=(0.1, 0.05, -0.2), mass=0.3), b.fixed("wrist", at=(0.1, 0.05, -0.2)),
               at=(0, 0, -0.3), limits=(-1.0, 2.0), stiffness=3.0,
               rest=0.4, damping=0.2, armature=0.05, effort=9.0), at=(0, 0.1, 1.0)),
        b.tz("lift", b.rx("swing", b.capsule(0.02, to=(0, 0.3, 0), mass=0.5), at=(0.1, 0.2, 0.3)), at=(0, 0.4, 0.5)),
        b.spindle("hand", at=(0, 0.2, 2.0)),
        strings=[
            b.string("long", "wrist", "hand_spindle", through=[("shoulder", (0.05, 0, 0))]),
            b.string("short", ("swing", (0, 0.3, 0)), ("world", (0, 0.6, 2.0)), 1.5),
            b.wire("rod", ("swing", (0, 0.1, 0)), ("world", (0, 0.6, 0.2)), 0.7),
        ],
        springs=[b.spring("rubber", "wrist", ("world", (0.3, 0.0, 0.4)), 20.0, 0.1, 2.0)],
        forces=[b.effort("elbow", gain=2.5), b.push("wind", ("wrist", (0.01, 0.0, 0.0)), (1.0, 2.0, 0.5)),
                b.push("jet", ("wrist", (0.0, 0.02, 0.0)), (0.3, 0.0, 1.0), turns=True)],
        closures=[b.closure("pin", ("wrist", (0, 0, 0)), ("swing", (0, 0.3, 0)))],
        gravity=(0.5, -0.3, -9.0),
    )  # fmt: skip


def test_springs_dampers_and_efforts_act_as_ours() -> None:
    """Generalized forces by hand against MuJoCo's."""
    it, rng = contraption(), np.random.default_rng(5)
    twin = written(it)
    for _ in range(10):
        q, v, u = rng.uniform(-1, 1, it.n_q), rng.uniform(-1, 1, it.n_q), rng.uniform(-1, 1, 3)
        for value, name in zip(u, ("elbow_effort", "wind", "jet"), strict=True):
            twin.data.actuator(name).ctrl = value
        here, data = pose(it, q), twin.at(q, v)
        variable, k = it.variables[it.index("elbow")], it.index("elbow")
        passive = np.zeros(it.n_q)
        passive[k] = -variable.stiffness * (q[k] - variable.rest) - variable.damping * v[k]
        a, b = here.point("wrist"), np.array([0.3, 0.0, 0.4])
        J = here.point_jacobian("wrist")
        along = (a - b) / np.linalg.norm(a - b)
        passive -= J.T @ along * (20.0 * (np.linalg.norm(a - b) - 0.1) + 2.0 * along @ J @ v)
        np.testing.assert_allclose(data.qfrc_passive, passive[twin.order], rtol=0.0, atol=TOLERANCE)
        applied = np.zeros(it.n_q)
        applied[k] = 2.5 * u[0]
        applied += u[1] * here.point_jacobian("wrist", (0.01, 0, 0)).T @ [1.0, 2.0, 0.5]
        applied += u[2] * here.point_jacobian("wrist", (0, 0.02, 0)).T @ here.X("wrist")[:3, :3] @ [0.3, 0.0, 1.0]
        dynamic = [j for j, index in enumerate(twin.order) if not it.variables[index].kinematic]
        # The wound string pulls too: leave it out by asking for less.
        pull = data.actuator("long_length").force[0] * _length_dq(here, "long")
        total = (applied + pull)[twin.order]
        np.testing.assert_allclose(data.qfrc_actuator[dynamic], total[dynamic], rtol=0.0, atol=1e-7)


def _length_dq(here: Pose, name: str) -> np.ndarray:
    rope = next(s for s in here.figure.strings if s.name == name)
    points, rates = [], []
    for at in rope.path:
        points.append(here.point(at.frame, at.position))
        rates.append(here.point_jacobian(at.frame, at.position))
    out = np.zeros(here.figure.n_q)
    for k in range(len(points) - 1):
        way = points[k + 1] - points[k]
        out += (rates[k + 1] - rates[k]).T @ way / np.linalg.norm(way)
    return out


def test_equations_have_the_residuals_of_ours() -> None:
    it, rng = contraption(), np.random.default_rng(6)
    twin = written(it)
    for _ in range(5):
        q = rng.uniform(-1, 1, it.n_q)
        here, data = pose(it, q), twin.at(q)
        rows = data.efc_type == int(mujoco.mjtConstraint.mjCNSTR_EQUALITY)
        pin = here.point("wrist") - here.point("swing", (0, 0.3, 0))
        np.testing.assert_allclose(sorted(data.efc_pos[rows]), sorted([here.gaps[2], *pin]), rtol=0.0, atol=TOLERANCE)


# -- reading ---------------------------------------------------------------------------------------------------

FEATURES = """
<mujoco model="features">
  <compiler angle="degree" eulerseq="zyx" autolimits="true"/>
  <option gravity="0 0.5 -9"/>
  <default>
    <geom density="700"/>
    <default class="limb"><geom type="capsule" size="0.03"/><joint damping="0.3" armature="0.02"/></default>
  </default>
  <worldbody>
    <body name="trunk" pos="0.1 0.2 0.9" euler="20 10 -30">
      <freejoint name="root"/>
      <geom type="box" size="0.1 0.15 0.2" pos="0.01 0 0.02" euler="5 0 10"/>
      <body name="thigh" pos="0 0.1 -0.2" quat="0.9 0.1 0.2 0.3" childclass="limb">
        <joint name="hip_a" axis="1 0 0.2" pos="0.01 0.02 0.03" range="-40 60" stiffness="4" springref="15"/>
        <joint name="hip_b" axis="0 1 0" pos="-0.02 0 0.05" ref="25"/>
        <joint name="hip_slide" type="slide" axis="1 1 0" ref="0.1" pos="0 0 0.1"/>
        <geom fromto="0 0 0 0 0 -0.3"/>
        <body name="shank" pos="0 0 -0.35">
          <joint name="knee" type="ball" pos="0 0 0.02"/>
          <geom fromto="0 0 0 0.02 0 -0.3"/>
          <body name="toe" pos="0.1 0 -0.3"><geom type="sphere" size="0.04" mass="0.2"/>
            <site name="tip" pos="0.02 0 0" euler="0 0 40"/></body>
        </body>
      </body>
      <body name="rider" pos="0 0 0.3">
        <joint type="slide" axis="0 0 2"/><joint axis="0 0 1"/>
        <inertial pos="0.01 0.02 0.03" mass="1.5" fullinertia="0.02 0.03 0.04 0.001 -0.002 0.003"/>
        <geom type="cylinder" size="0.05 0.1" contype="0" conaffinity="0" group="2" rgba="0.1 0.2 0.3 1"/>
      </body>
    </body>
    <body name="lever" pos="1 0 0.5"><joint name="tilt" axis="0 1 0" range="-90 90"/>
      <geom class="limb" fromto="0 0 0 0.4 0 0"/><site name="eye" pos="0.4 0 0"/></body>
    <body name="other" pos="1 0.3 0.5"><joint name="tilt2" axis="0 1 0"/><geom class="limb" fromto="0 0 0 0.4 0 0"/></body>
    <site name="nail" pos="1.4 0 1.5"/>
  </worldbody>
  <tendon><spatial name="cord" range="0 1.2"><site site="nail"/><site site="eye"/><site site="tip"/></spatial></tendon>
  <equality>
    <weld name="stuck" body1="lever" body2="other"/>
    <connect name="held" body1="lever" body2="other" anchor="0.2 0.1 0.05"/>
  </equality>
  <actuator><motor name="drive" joint="tilt" gear="3" ctrlrange="-2 2"/></actuator>
  <contact><exclude body1="trunk" body2="shank"/></contact>
</mujoco>
"""


def features() -> tuple[Figure, mujoco.MjModel, mujoco.MjData]:
    model = mujoco.MjModel.from_xml_string(FEATURES)
    with pytest.warns(BunrakuWarning, match="of ball and free joints left out: knee"):
        return mjcf_file.parse(FEATURES), model, mujoco.MjData(model)


def to_qpos(figure: Figure, model: mujoco.MjModel, q: np.ndarray) -> np.ndarray:
    """Quaternions where MuJoCo has them."""
    out = np.empty(model.nq)
    for j in range(model.njnt):
        at = model.jnt_qposadr[j]
        name = model.joint(j).name or {"slide": "rider_joint0", "hinge": "rider_joint"}[kind(model, j)]

        def several(*letters: str, name: str = name) -> np.ndarray:
            return np.array([q[figure.index(f"{name}_{letter}")] for letter in letters])

        if kind(model, j) in ("free", "ball"):
            turn = Rotation.from_euler("ZYX", several("rz", "ry", "rx")).as_quat()[[3, 0, 1, 2]]
            out[at : at + (7 if kind(model, j) == "free" else 4)] = (
                [*several("tx", "ty", "tz"), *turn] if kind(model, j) == "free" else turn
            )
        else:
            out[at] = q[figure.index(name)]
    return out


def kind(model: mujoco.MjModel, j: int) -> str:
    return mujoco.mjtJoint(model.jnt_type[j]).name.removeprefix("mjJNT_").lower()


def test_read_figure_moves_as_in_mujoco() -> None:
    figure, model, data = features()
    rng = np.random.default_rng(7)
    for k in range(SAMPLES):
        q = figure.start + (rng.uniform(-1, 1, figure.n_q) if k else 0.0)
        data.qpos[:] = to_qpos(figure, model, q)
        mujoco.mj_forward(model, data)
        if k == 0:
            np.testing.assert_allclose(data.qpos, model.qpos0, rtol=0.0, atol=1e-12)
        here = pose(figure, q)
        for b in range(1, model.nbody):
            X = here.X(model.body(b).name)
            np.testing.assert_allclose(X[:3, 3], data.xpos[b], rtol=0.0, atol=1e-10)
            np.testing.assert_allclose(X[:3, :3], data.xmat[b].reshape(3, 3), rtol=0.0, atol=1e-10)
        assert abs(here.gaps[0] - (data.ten_length[0] - 1.2)) < 1e-10
        np.testing.assert_allclose(here.com, data.subtree_com[0], rtol=0.0, atol=1e-10)


def test_read_inertia_is_mujocos() -> None:
    """Kinetic energy at random speeds: MuJoCo's speeds of ball and free joints are found by differences of poses."""
    figure, model, data = features()
    rng = np.random.default_rng(8)
    rotors = [k for k, variable in enumerate(figure.variables) if variable.armature]
    assert len(rotors) == 3
    for _ in range(5):
        q, v = figure.start + rng.uniform(-1, 1, figure.n_q), rng.uniform(-1, 1, figure.n_q)
        step = 1e-6
        before, after = (to_qpos(figure, model, q + s * step * v) for s in (-1, 1))
        mujoco.mj_differentiatePos(model, data.qvel, 2 * step, before, after)
        data.qpos[:] = to_qpos(figure, model, q)
        mujoco.mj_forward(model, data)
        Mv = np.zeros(model.nv)
        mujoco.mj_mulM(model, data, Mv, data.qvel)
        ball_rotor = 0.02 * np.sum(data.qvel[model.joint("knee").dofadr[0] :][:3] ** 2)  # named as left out
        ours = v @ mass_matrix(pose(figure, q)) @ v
        assert abs(ours - (data.qvel @ Mv - ball_rotor)) < 1e-7 * ours


def test_read_closures_hold_at_the_start() -> None:
    figure, _, _ = features()
    at = pose(figure)
    for loop in figure.closures:
        a, b = (at.point(end.frame, end.position) for end in (loop.a, loop.b))
        np.testing.assert_allclose(a, b, rtol=0.0, atol=1e-12)
        if loop.kind == "weld":
            np.testing.assert_allclose(at.X(loop.a.frame), at.X(loop.b.frame), rtol=0.0, atol=1e-12)
    assert {(loop.name, loop.kind) for loop in figure.closures} == {("stuck", "weld"), ("held", "point")}
