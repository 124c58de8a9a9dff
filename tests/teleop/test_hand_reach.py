from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays
from scipy.optimize import minimize

from bunraku.figure import library
from bunraku.teleop.hand_reach import least, reachable

entries = st.floats(-2.0, 2.0).map(lambda x: round(x, 3))


@given(arrays.arrays(float, (4, 3), elements=entries), arrays.arrays(float, 4, elements=entries))
def test_least_is_feasible_and_no_other_point_is_shorter(C: np.ndarray, d: np.ndarray) -> None:
    found = least(C, d)
    if found is None:
        return
    x, multipliers = found
    assert (multipliers >= 0.0).all()
    # What is feasible within rounding: nearly parallel rows may leave a little.
    if np.linalg.norm(x) > 1e3:
        return
    assert (C @ x <= d + 1e-6 * (1.0 + np.abs(d))).all()
    inside = {"type": "ineq", "fun": lambda y: d - C @ y}
    peer = minimize(lambda y: y @ y, x, jac=lambda y: 2 * y, constraints=inside, method="SLSQP")
    if peer.success and (C @ peer.x <= d + 1e-9).all():
        assert x @ x <= peer.x @ peer.x + 1e-6 * (1.0 + peer.x @ peer.x)


def test_what_cannot_be_is_none() -> None:
    assert least(np.array([[1.0, 0.0], [-1.0, 0.0]]), np.array([-1.0, -1.0])) is None


def test_a_step_within_reach_is_made_whole() -> None:
    figure = library.named("arm3d")
    n = figure.n_dynamic
    out = np.zeros(figure.n_q - n)
    out[figure.index(figure.strings[0].variable or "") - n] = 0.01  # paid out
    done, held = reachable(figure, figure.start, out, tight=np.zeros(1, bool), give=0.0)
    np.testing.assert_array_equal(done, out)
    assert not held.any()


def test_a_tight_string_is_given_way_to() -> None:
    figure = library.named("arm3d")
    n = figure.n_dynamic
    k = figure.index(figure.strings[0].variable or "") - n
    wind = np.zeros(figure.n_q - n)
    wind[k] = -0.01
    done, held = reachable(figure, figure.start, wind, tight=np.ones(1, bool), give=0.002)
    assert done[k] > 0.0
    assert held.tolist() == [True]


def test_at_full_stretch_a_hand_goes_no_farther() -> None:
    """A pendulum that hangs straight below its spindle: winding lifts it; no turn of the joint can help."""
    from bunraku.figure.build import figure, fixed, rx, sphere, spindle, string

    f = figure(
        "stiff", rx("turn", sphere(0.05, at=(0, 0, -1), mass=1.0), fixed("bob", at=(0, 0, -1))),
        spindle("top", at=(0, 0, 0.5), moves="z"), strings=[string("rope", "bob", "top_spindle")],
    )  # fmt: skip
    dk = np.zeros(f.n_q - f.n_dynamic)
    dk[f.index("rope_length") - f.n_dynamic] = -0.01
    done, held = reachable(f, f.start, dk, tight=np.zeros(1, bool), give=0.0)
    # Nothing, or up and in by the same: the carriage may come along.
    assert done[f.index("rope_length") - f.n_dynamic] == pytest.approx(done[f.index("top_z") - f.n_dynamic], abs=1e-9)
    assert held.tolist() == [True]
