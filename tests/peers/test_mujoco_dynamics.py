"""MuJoCo, whose tendons are springs that stiffen with its time step, converges to our motions and tensions as that shrinks."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.dynamics import settle, simulate
from bunraku.dynamics.continuous_events import impact
from bunraku.errors import BunrakuWarning
from bunraku.figure import Figure, library
from bunraku.io.mjcf import mjcf_file
from bunraku.motion import Motion

Array = NDArray[np.float64]
STEPS = (4e-3, 2e-3, 1e-3, 5e-4)
FINE = 2.5e-4
DURATION = 0.4


def peer(figure: Figure, q: Array, h: float) -> mujoco.MjModel:
    """The figure with its hands held at q, and tendons as stiff as a step of h bears."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        model = mujoco.MjModel.from_xml_string(mjcf_file.dumps(figure, meshes=False, q=q, kinematic="fixed"))
    model.opt.timestep, model.opt.integrator = h, mujoco.mjtIntegrator.mjINT_EULER
    model.opt.tolerance, model.opt.iterations = 1e-14, 200
    model.tendon_solref_lim[:] = (4.0 * h, 1.0)  # a limit that is much stiffer falls out of itself, and chatters
    model.tendon_solimp_lim[:] = (0.5, 0.5, 1e-3, 0.5, 2.0)
    return model


def theirs(figure: Figure, q: Array, v: Array, h: float) -> tuple[Array, Array]:
    """Configurations and tensions at the end of every step."""
    model = peer(figure, q, h)
    data, order = mujoco.MjData(model), [figure.index(model.joint(j).name) for j in range(model.njnt)]
    assert order == list(range(figure.n_dynamic))
    data.qpos[:], data.qvel[:] = q[order], v[order]
    Q, F = [], np.zeros((round(DURATION / h), model.ntendon))
    for k in range(len(F)):
        mujoco.mj_step(model, data)
        mujoco.mj_forward(model, data)
        Q.append(data.qpos.copy())
        for i in np.flatnonzero(data.efc_type == mujoco.mjtConstraint.mjCNSTR_LIMIT_TENDON):
            F[k, data.efc_id[i]] = data.efc_force[i]
    return np.array(Q), F


def kicked(figure: Figure, q: Array, size: float, seed: int = 1) -> Array:
    """A velocity that the strings allow."""
    v = np.zeros(figure.n_q)
    v[: figure.n_dynamic] = size * np.random.default_rng(seed).normal(size=figure.n_dynamic)
    return impact(figure, q, v)[0]


def errors(figure: Figure, q: Array, v: Array, after: float) -> tuple[Motion, Array, Array]:
    """Of MuJoCo's configurations, and of its tensions after some time: a limit begins with a jolt that dies away."""
    ours = simulate(figure, duration=DURATION, dt=FINE, q=q, v=v)
    off, pull = [], []
    for h in STEPS:
        Q, F = theirs(figure, q, v, h)
        every = round(h / FINE)
        late = h * np.arange(1, len(Q) + 1) > after
        late[-1] = False  # the end of our last step has not been pulled at yet
        off.append(np.abs(Q - ours.q[every::every, : figure.n_dynamic]).max())
        pull.append(np.abs(F - ours.tension[every::every])[late].max())
    return ours, np.array(off), np.array(pull)


def orders(off: Array) -> Array:
    return np.log2(off[:-1] / off[1:])


def test_a_taut_arm() -> None:
    """First order, as MuJoCo's Euler step is, in place and in tension."""
    figure = library.arm3d()
    ours, off, pull = errors(figure, figure.start, kicked(figure, figure.start, 0.3), 0.15)
    assert ours.tension.min() > 0.5
    np.testing.assert_allclose(orders(off), 1.0, atol=0.1)
    np.testing.assert_allclose(orders(pull), 1.0, atol=0.1)
    assert off[-1] < 1e-3
    assert pull[-1] < 1e-3 * ours.tension.max()


def test_an_arm_that_falls_into_its_string() -> None:
    """The catch, and the tension after it."""
    figure = library.arm2d()
    q = figure.start.copy()
    q[figure.index("hand_length")] += 0.03
    ours, off, pull = errors(figure, q, np.zeros(figure.n_q), 0.25)
    assert [mark.kind for mark in ours.marks] == ["impact"]
    np.testing.assert_allclose(orders(off), 1.0, atol=0.15)
    np.testing.assert_allclose(orders(pull)[1:], 1.0, atol=0.15)  # 4 ms are too coarse for it
    assert off[-1] < 1e-3


@pytest.mark.parametrize("seed", [1, 2, 3])
def test_a_marionette_that_is_shaken(seed: int) -> None:
    """Strings slacken and catch one after the other, and a spring makes each catch a little late: nearer all the same."""
    figure = library.marionette25()
    q = settle(figure)
    ours, off, _ = errors(figure, q, kicked(figure, q, 0.3, seed), 0.0)
    assert (ours.tension == 0.0).any(0).sum() >= 5
    assert off[-1] < off[0] / 4
    assert off[-1] < 0.012
