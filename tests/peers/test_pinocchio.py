"""Every kinematic quantity of real robots, read by our URDF loader, against Pinocchio."""

from __future__ import annotations

import math
import warnings
from pathlib import Path

import numpy as np
import pinocchio as pin
import pytest

from bunraku.figure import WORLD
from bunraku.io.urdf import urdf_reader
from bunraku.kinematics import frames_along, pose
from tests.peers.robots import ROBOTS, Twin, mass_matrix, path_of, with_possible_inertias

TOLERANCE = 1e-10
SAMPLES = 30


def of(name: str) -> Twin:
    return Twin.of(path_of(name), ROBOTS[name][1])


def close(ours: np.ndarray, theirs: np.ndarray, scale: float = 1.0) -> bool:
    assert ours.shape == theirs.shape
    return bool(np.max(np.abs(ours - theirs), initial=0.0) <= TOLERANCE * scale)


@pytest.mark.parametrize("name", ROBOTS)
def test_same_variables_limits_and_mass(name: str) -> None:
    twin = of(name)
    figure, model = twin.figure, twin.model
    joints = [n for n, joint in twin.joints() if joint.nv == 1]
    assert sorted((*twin.base, *joints)) == sorted(figure.names)
    for joint_name in joints:
        joint = model.joints[model.getJointId(joint_name)]
        variable = figure.variables[figure.index(joint_name)]
        if joint.nq == 1:
            assert variable.lower == model.lowerPositionLimit[joint.idx_q]
            assert variable.upper == model.upperPositionLimit[joint.idx_q]
    moving = sum(b.mass for b in figure.bodies if b.frame != WORLD and pose(figure).jacobian(b.frame).any())
    assert math.isclose(moving, pin.computeTotalMass(model), rel_tol=1e-12)


@pytest.mark.parametrize("name", ROBOTS)
def test_kinematics(name: str) -> None:
    twin = of(name)
    figure, model, data = twin.figure, twin.model, twin.data
    links = {f.name: k for k, f in enumerate(model.frames) if f.type == pin.FrameType.BODY}
    letters = ("tx", "ty", "tz", "rz", "ry") if twin.floating else ()
    base = {f"{figure.frames[5].name}_{letter}" for letter in letters}
    assert {f.name for f in figure.frames} == set(links) - {"universe", WORLD} | base
    rng = np.random.default_rng(1)
    Q = np.array([twin.random(rng) for _ in range(SAMPLES)])
    along = frames_along(figure, Q)
    for q, X_W in zip(Q, along, strict=True):
        here, q_pin, v_dq = pose(figure, q), twin.q(q), twin.v_dq(q)
        pin.computeJointJacobians(model, data, q_pin)
        pin.updateFramePlacements(model, data)
        assert close(here.frames, X_W)
        for link, k in links.items():
            if link in ("universe", WORLD):
                continue
            assert close(here.X(link), data.oMf[k].homogeneous)
            J = pin.getFrameJacobian(model, data, k, pin.ReferenceFrame.LOCAL_WORLD_ALIGNED)
            assert close(here.jacobian(link), J @ v_dq)
        J_com = pin.jacobianCenterOfMass(model, data, q_pin)
        assert close(here.com, data.com[0])
        assert close(here.com_jacobian, J_com @ v_dq)


@pytest.mark.parametrize("name", ROBOTS)
def test_mass_matrix(name: str, tmp_path: Path) -> None:
    twin = Twin.of(with_possible_inertias(path_of(name), tmp_path), ROBOTS[name][1])
    rng = np.random.default_rng(2)
    for _ in range(SAMPLES):
        q = twin.random(rng)
        v_dq = twin.v_dq(q)
        M = pin.crba(twin.model, twin.data, twin.q(q))
        M = np.triu(M) + np.triu(M, 1).T
        scale = min(1.0, M.max())  # a hand's is small
        assert close(mass_matrix(pose(twin.figure, q)), v_dq.T @ M @ v_dq, scale)


@pytest.mark.parametrize("name", ["talos", "g1", "human", "solo12", "ur5", "panda", "tiago_pro", "baxter"])
def test_possible_inertias_are_read_as_they_are(name: str) -> None:
    """The rest of the robots have impossible ones, which are mended with a warning."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        urdf_reader.load(path_of(name))
    assert not any("impossible" in str(warning.message) for warning in caught)
