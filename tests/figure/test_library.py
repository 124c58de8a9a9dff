from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import lsq_linear, nnls

from bunraku.errors import UnknownName
from bunraku.figure import Figure, library, plain_kinematics
from bunraku.figure.mass import inertia_matrix
from bunraku.kinematics import pose
from bunraku.render.image import outline
from bunraku.spatial import se3, so3
from tests.differences import difference_quotient

REFERENCE = json.loads((Path(__file__).parent / "reference.json").read_text())["figures"]
ALL = pytest.mark.parametrize("name", library.names())

# name: dynamic variables, kinematic variables, bodies, strings, force inputs
COUNTS = {
    "pendulum": (1, 0, 1, 0, 0),
    "double_pendulum": (2, 0, 2, 0, 0),
    "chain": (5, 0, 5, 0, 0),
    "cart_pendulum": (2, 0, 2, 0, 1),
    "arm2d": (2, 2, 2, 1, 0),
    "arm3d": (4, 3, 2, 1, 0),
    "marionette22": (22, 18, 10, 6, 12),
    "marionette25": (25, 21, 10, 7, 0),
    "actor": (29, 39, 13, 13, 0),
    "hand": (26, 5, 16, 5, 0),
    "finger": (3, 2, 3, 2, 0),
    "crane": (6, 3, 2, 1, 0),
    "mannequin": (53, 0, 20, 0, 0),
    "mobile_manipulator": (9, 0, 7, 0, 9),
    "humanoid": (26, 0, 15, 0, 20),
    "gecko": (38, 0, 16, 0, 20),
}


def mass_matrix(figure: Figure, q: np.ndarray) -> np.ndarray:
    """Σ JᵀMJ over the bodies: slow and obvious."""
    here = pose(figure, q)
    M = np.zeros((figure.n_q, figure.n_q))
    for body in figure.bodies:
        if body.frame == "world":
            continue
        R = here.X(body.frame)[:3, :3]
        J = here.point_jacobian(body.frame, body.com)
        W = here.jacobian(body.frame)[3:]
        M += body.mass * J.T @ J + W.T @ R @ inertia_matrix(body.inertia) @ R.T @ W
    for variable in figure.variables:
        M[figure.index(variable.name), figure.index(variable.name)] += variable.armature
    return M[: figure.n_dynamic, : figure.n_dynamic]


def test_every_name_is_counted() -> None:
    assert set(library.names()) == set(COUNTS)


@ALL
def test_counts(name: str) -> None:
    figure = library.named(name)
    found = figure.n_dynamic, len(figure.kinematic), len(figure.bodies), len(figure.strings), len(figure.forces)
    assert found == COUNTS[name]
    assert figure.name == ("chain5" if name == "chain" else name)


@ALL
def test_starts_within_its_limits(name: str) -> None:
    figure = library.named(name)
    lower, upper = figure.limits
    assert np.all(lower <= figure.start)
    assert np.all(figure.start <= upper)


@ALL
def test_every_dynamic_variable_moves_mass(name: str) -> None:
    figure = library.named(name)
    M = mass_matrix(figure, figure.start)
    scale = 1.0 / np.sqrt(np.diag(M))
    assert np.linalg.eigvalsh(M * np.outer(scale, scale))[0] > 1e-6


def loops(figure: Figure, q: np.ndarray) -> np.ndarray:
    """How far the points of closures are apart."""
    here = pose(figure, q)
    return np.array([
        here.point(c.a.frame, c.a.position) - here.point(c.b.frame, c.b.position) for c in figure.closures
    ]).reshape(-1)  # fmt: skip


def heights(figure: Figure, q: np.ndarray) -> list[float]:
    """Of contact points above their planes."""
    X_W = plain_kinematics.poses(figure.frames, dict(zip(figure.names, q, strict=True)))
    return [
        float((plain_kinematics.point(X_W, c.point) - plain_kinematics.point(X_W, c.plane)) @ X_W[c.plane.frame][:3, :3] @ c.normal)
        for c in figure.contacts
    ]  # fmt: skip


@ALL
def test_strings_closures_and_contacts_touch_at_the_start(name: str) -> None:
    figure = library.named(name)
    np.testing.assert_allclose(pose(figure, figure.start).gaps, 0.0, atol=1e-12)
    np.testing.assert_allclose(loops(figure, figure.start), 0.0, atol=1e-12)
    np.testing.assert_allclose(heights(figure, figure.start), 0.0, atol=1e-12)


@ALL
def test_looks(name: str) -> None:
    figure = library.named(name)
    colors = {shape.color for shape in figure.shapes}
    assert len(colors) >= 3
    assert all(0.0 <= c <= 1.0 for color in colors for c in color)


# -- the figures of an independent program -------------------------------------------------------------------------


def reference_poses(model: dict, values: dict[str, float]) -> dict[str, np.ndarray]:
    X_W = {"world": np.eye(4)}
    for name, parent, transform, value in model["frames"]:
        X = np.eye(4)
        amount = values[value] if isinstance(value, str) else value
        if transform == "const_se3":
            X[:3, 3] = amount
        elif transform[0] == "t":
            X["xyz".index(transform[1]), 3] = amount
        else:
            X[:3, :3] = so3.about("xyz".index(transform[1]), amount)
        X_W[name] = X_W[parent] @ X
    return X_W


# Their pendulum stands in the x–y plane, ours in x–z.
TURN = {"cart_pendulum": np.array([[1.0, 0, 0], [0, 0, -1], [0, 1, 0]])}


@pytest.mark.parametrize("name", REFERENCE)
@settings(max_examples=20)
@given(seed=st.integers(0, 2**32 - 1))
def test_same_bodies_in_the_same_places(name: str, seed: int) -> None:
    model, figure = REFERENCE[name], library.named(name)
    rng = np.random.default_rng(seed)
    values = {ours: rng.uniform(-2, 2) for ours in figure.names}
    theirs = {key: values[key.replace("_string-", "_")] for key in model["start"]}
    X_ref, X_W = reference_poses(model, theirs), plain_kinematics.poses(figure.frames, values)
    C = TURN.get(name, np.eye(3))

    def line(mass: float, com: np.ndarray, inertia: np.ndarray) -> list[float]:
        return [mass, *com, *inertia.reshape(-1)]

    expected = [
        line(mass, C @ X_ref[frame][:3, 3], C @ X_ref[frame][:3, :3] @ np.diag(moments) @ X_ref[frame][:3, :3].T @ C.T)
        for frame, mass, moments in model["bodies"]
    ]  # fmt: skip
    found = [
        line(b.mass, se3.transform(X_W[b.frame], b.com), R @ inertia_matrix(b.inertia) @ R.T)
        for b in figure.bodies for R in (X_W[b.frame][:3, :3],)
    ]  # fmt: skip
    for row in expected:  # the same bodies, in whatever order
        best = min(found, key=lambda other: np.abs(np.subtract(other, row)).max())
        np.testing.assert_allclose(best, row, atol=1e-12)
        found.remove(best)
    assert not found
    for label, hook, control, length in model["strings"]:
        string = next(s for s in figure.strings if s.name == label.removesuffix("_string"))
        np.testing.assert_allclose(plain_kinematics.point(X_W, string.hook), X_ref[hook][:3, 3], atol=1e-12)
        np.testing.assert_allclose(plain_kinematics.point(X_W, string.spindle), X_ref[control][:3, 3], atol=1e-12)
        assert string.variable == length.replace("_string-", "_")


@pytest.mark.parametrize("name", REFERENCE)
def test_same_start_gravity_damping_and_inputs(name: str) -> None:
    model, figure = REFERENCE[name], library.named(name)
    start = {key.replace("_string-", "_"): value for key, value in model["start"].items()}
    assert {n: figure.start[figure.index(n)] for n in figure.names} == pytest.approx(start, abs=1e-15)
    assert figure.gravity == (0.0, 0.0, -9.8)
    assert {v.damping for v in figure.variables if not v.kinematic} == {model["damping"]}
    assert [force.variable for force in figure.forces] == model["inputs"]
    assert list(figure.dynamic) == [n for n in start if n in figure.dynamic]


# -- one by one ----------------------------------------------------------------------------------------------------


def balance(figure: Figure) -> tuple[np.ndarray, float]:
    """Tensions that come nearest to holding the figure still at its start, and the largest effort that is left [N·m or N]."""
    n = figure.n_dynamic
    springs = [v.stiffness * (v.start - v.rest) for v in figure.variables[:n]]
    load = figure.mass * 9.81 * pose(figure, figure.start).com_jacobian[2, :n] + springs

    def gaps(x: np.ndarray) -> np.ndarray:
        q = np.concatenate([x, figure.start[n:]])
        return np.concatenate([pose(figure, q).gaps, loops(figure, q)])

    A = difference_quotient(gaps, figure.start[:n])
    lower = np.where(np.arange(len(A)) < len(figure.strings), 0.0, -np.inf)  # strings pull, closures push as well
    found = lsq_linear(A.T, -load, (lower, np.inf), tol=1e-14)
    return found.x[: len(figure.strings)], float(np.abs(found.fun).max())


def test_marionette25_hangs_still() -> None:
    tensions, left = balance(library.marionette25())
    assert left < 1e-3  # of about 13 N
    assert np.all(tensions > 0.1)


def test_the_hand_holds_its_ball_still() -> None:
    tensions, left = balance(library.hand())
    assert left < 2e-3  # N, where the ball weighs 0.6 N and presses harder: the angles are given to four digits
    assert tensions.max() > 2.0


def test_arms_of_the_marionettes_paper() -> None:
    assert library.arm2d().names == ("shoulder", "elbow", "hand_x", "hand_length")
    assert library.arm3d().names == (
        "shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow", "hand_x", "hand_y", "hand_length",
    )  # fmt: skip
    flat = library.arm2d()
    for q in np.random.default_rng(0).uniform(-3, 3, (20, 4)):
        assert pose(flat, q).point("tip")[1] == pytest.approx(0.0, abs=1e-12)


def test_a_positive_angle_swings_toward_x() -> None:
    for name, variable in (("pendulum", "angle"), ("cart_pendulum", "theta"), ("arm2d", "shoulder")):
        figure = library.named(name)
        q = np.zeros(figure.n_q)
        q[figure.index(variable)] = 0.3
        tip = pose(figure, q).point("tip")
        assert tip[0] > 0.1
        assert tip[2] < 0


def test_mannequin() -> None:
    figure = library.mannequin()
    assert len(figure.joints) == 18
    assert figure.mass == pytest.approx(75.0, rel=1e-6)
    straight = figure.configuration(np.zeros(53), pelvis_tz=0.945)
    points = outline(figure, pose(figure, straight).frames)
    assert np.ptp(points[:, 2]) == pytest.approx(1.75, abs=0.02)
    assert points[:, 2].min() == pytest.approx(0.0, abs=1e-9)
    assert pose(figure, figure.start).com[1] == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("side", ["left", "right"])
def test_arm_of_the_mannequin_has_the_closed_form(side: str) -> None:
    """Three axes meet in the shoulder, three in the wrist, and the elbow's axis is square to both links."""
    figure = library.mannequin()
    chain = [f for f in figure.frames if f.name.startswith((f"{side}_shoulder", f"{side}_elbow", f"{side}_wrist"))]
    assert len(chain) == 7
    assert [f.position != (0.0, 0.0, 0.0) for f in chain] == [True, False, False, True, True, False, False]
    elbow, wrist = chain[3], chain[4]
    assert np.dot(elbow.variable.axis, elbow.position) == 0.0
    assert np.dot(elbow.variable.axis, wrist.position) == 0.0


def test_wrist_of_the_manipulator_is_spherical() -> None:
    figure = library.mobile_manipulator()
    for q in np.random.default_rng(1).uniform(-1, 1, (10, 9)):
        here = pose(figure, q)
        np.testing.assert_allclose(here.point("wrist_bend"), here.point("wrist_roll"), atol=1e-12)
        np.testing.assert_allclose(here.point("wrist_turn"), here.point("wrist_roll"), atol=1e-12)


@pytest.mark.parametrize("bend", [0.0, 0.35])
def test_humanoid_stands_on_its_soles(bend: float) -> None:
    figure = library.humanoid(bend=bend)
    assert figure.mass == pytest.approx(6.5)
    here = pose(figure, figure.start)
    for side in ("left", "right"):
        np.testing.assert_allclose(here.X(f"{side}_sole")[:3, :3], np.eye(3), atol=1e-12)
        assert here.point(f"{side}_sole")[2] == pytest.approx(0.0, abs=1e-12)
    if bend == 0.0:
        assert outline(figure, here.frames)[:, 2].max() == pytest.approx(0.58, abs=1e-3)
    corners = np.array([here.point(c.point.frame, c.point.position) for c in figure.contacts])
    assert corners[:, 0].min() < here.com[0] < corners[:, 0].max()


def test_gecko_sprawls_flat_on_the_floor() -> None:
    figure = library.gecko()
    here = pose(figure, figure.start)
    for leg in ("front_left", "front_right", "rear_left", "rear_right"):
        np.testing.assert_allclose(here.X(f"{leg}_foot")[:3, :3], np.eye(3), atol=1e-12)
        assert here.point(f"{leg}_pad")[2] == pytest.approx(0.0, abs=1e-12)
    front, rear = here.point("front_left_pad"), here.point("rear_right_pad")
    assert front[0] > here.point("chest")[0]
    assert rear[0] < here.point("bottom")[0]
    driven = {force.variable for force in figure.forces}
    assert all(math.isfinite(v.speed) == (v.name in driven) for v in figure.variables)


def test_pads_of_the_hand_touch_the_ball_from_around() -> None:
    figure = library.hand()
    here = pose(figure, figure.start)
    radius = next(s.geometry.radius for s in figure.shapes if s.name == "ball")
    away = np.array([here.point(f"{f}_pad") - here.point("ball") for f in ("thumb", "index", "middle", "ring", "little")])
    np.testing.assert_allclose(np.linalg.norm(away, axis=1), radius + 0.0075, atol=5e-5)
    # Held: the centre is inside the hull of the five touching directions and the palm's.
    directions = np.vstack([away / np.linalg.norm(away, axis=1, keepdims=True), [-1.0, 0.0, 0.0]])
    weights, residual = nnls(np.vstack([directions.T, np.ones(6)]), np.array([0.0, 0.0, 0.0, 1.0]))
    assert residual < 1e-9
    assert weights.sum() == pytest.approx(1.0)


def test_pulling_a_tendon_bends_its_finger() -> None:
    figure = library.hand()
    for finger in ("thumb", "index", "middle", "ring", "little"):
        k = next(i for i, s in enumerate(figure.strings) if s.name == f"{finger}_tendon")
        for joint in ("base", "middle", "tip"):
            bent = figure.index(f"{finger}_{joint}")
            straighter, more = (pose(figure, figure.start + d * np.eye(figure.n_q)[bent]).gaps[k] for d in (-0.01, 0.01))
            assert more < straighter


def test_grip_by_contact() -> None:
    figure = library.hand(grip="contact")
    assert len(figure.contacts) == 5
    assert not figure.closures
    np.testing.assert_allclose(heights(figure, figure.start), 0.0, atol=1e-12)
    ball = figure.configuration(ball_tx=figure.start[figure.index("ball_tx")] + 0.01)  # away from the palm, into the fingers
    assert min(heights(figure, ball)) < -1e-3


def test_options_reach_the_figure() -> None:
    assert library.chain(3, length=0.5, mass=2.0).mass == 6.0
    assert library.pendulum(length=2.0).frame("tip").position == (0.0, 0.0, -2.0)
    assert library.mannequin(mass=50.0).mass == pytest.approx(50.0)
    assert {v.damping for v in library.marionette22(damping=0.5).variables if not v.kinematic} == {0.5}


def test_names() -> None:
    assert library.named("chain12").n_q == 12
    for unknown in ("marionete22", "chain0", "chain-3", "", "named"):
        with pytest.raises(UnknownName):
            library.named(unknown)
    with pytest.raises(UnknownName, match="marionette22"):
        library.named("marionete22")
