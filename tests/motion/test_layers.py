"""Layers of keyed offsets: what is seen is the recording plus the curves, and every edit can be taken back."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from bunraku.errors import MotionError, NotFinite, UnknownName
from bunraku.figure import library
from bunraku.motion import Curve, Key, Layer, Motion, layered, together
from bunraku.motion.layers import held_by_limits, keyed
from tests.stage.toys import puppet, waving

Array = NDArray[np.float64]
PUPPET = waving(puppet())
numbers = st.floats(-3.0, 3.0)
times = st.lists(st.floats(-1.0, 3.0).map(lambda t: round(t, 3)), min_size=2, max_size=8, unique=True)


@st.composite
def curves(draw: Any, variable: str = "left_arm_rz") -> Curve:
    at = draw(times)
    return Curve("puppet", variable, tuple(Key(t, draw(numbers)) for t in at))


@st.composite
def layers(draw: Any) -> tuple[Layer, ...]:
    names = ("left_arm_rz", "right_arm_ry", "left_x")  # none has limits
    return tuple(
        Layer(
            f"layer {k}", tuple(draw(curves(name)) for name in names[: draw(st.integers(0, 3))]), draw(numbers), draw(st.booleans())
        )
        for k in range(draw(st.integers(1, 3)))
    )


@given(curves())
def test_a_curve_passes_through_its_keys_and_never_beyond_two_neighbours(curve: Curve) -> None:
    x, y = np.array([k.t for k in curve.keys]), np.array([k.offset for k in curve.keys])
    np.testing.assert_array_equal(curve.at(x)[0], y)
    fine = np.linspace(x[0] - 1.0, x[-1] + 1.0, 2001)
    offset, rate = curve.at(fine)
    k = np.clip(np.searchsorted(x, fine, side="right") - 1, 0, len(x) - 2)
    assert np.all(offset >= np.minimum(y[k], y[k + 1]) - 1e-12)
    assert np.all(offset <= np.maximum(y[k], y[k + 1]) + 1e-12)
    assert np.all(offset[fine <= x[0]] == y[0])
    assert np.all(offset[fine >= x[-1]] == y[-1])
    assert np.all(rate[(fine < x[0]) | (fine > x[-1])] == 0.0)


@given(curves())
def test_a_curve_is_smooth_and_its_rate_is_its_derivative(curve: Curve) -> None:
    x = np.array([k.t for k in curve.keys])
    h = 1e-6 * np.diff(x).min()
    for t in np.concatenate([x, (x[1:] + x[:-1]) / 2]):
        (before, _), (after, _) = curve.at(t - h), curve.at(t + h)
        steepest = np.abs(np.diff([k.offset for k in curve.keys]) / np.diff(x)).max()
        assert (after - before) / (2 * h) == pytest.approx(curve.at(t)[1], abs=1e-3 * steepest + 1e-6)


@given(times, st.data())
def test_inner_slopes_are_those_of_another_implementation(at: list[float], data: Any) -> None:
    """SciPy's monotone spline differs only at its ends, where ours are flat."""
    x = np.sort(np.array(at))
    y = np.array([data.draw(numbers) for _ in at])
    theirs = PchipInterpolator(x, y).derivative()(x)
    rates = Curve("puppet", "left_x", tuple(Key(*pair) for pair in zip(x, y, strict=True))).at(x)[1]
    np.testing.assert_allclose(rates[1:-1], theirs[1:-1], rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(rates[[0, -1]], 0.0, atol=1e-12)


@given(layers())
@settings(max_examples=50)
def test_what_is_seen_is_the_recording_plus_the_curves(some: tuple[Layer, ...]) -> None:
    seen, wanted = layered(PUPPET, some), np.array(PUPPET.q)
    for layer in some:
        for curve in layer.curves:
            if not layer.muted:
                wanted[:, PUPPET.figure.index(curve.variable)] += layer.weight * curve.at(PUPPET.t)[0]
    np.testing.assert_allclose(seen.q, wanted, atol=1e-12)
    changed = bool(np.any(wanted != PUPPET.q))
    assert (seen.tension is None) == changed
    assert seen.marks == PUPPET.marks


@given(layers())
@settings(max_examples=50)
def test_muted_layers_and_layers_without_weight_change_nothing(some: tuple[Layer, ...]) -> None:
    assert layered(PUPPET, [replace(layer, muted=True) for layer in some]) == PUPPET
    assert layered(PUPPET, [replace(layer, weight=0.0) for layer in some]) == PUPPET


@given(layers())
@settings(max_examples=50)
def test_merging_one_layer_after_the_other_is_all_of_them(some: tuple[Layer, ...]) -> None:
    baked = PUPPET
    for layer in some:
        baked = layered(baked, [layer])
    np.testing.assert_allclose(baked.q, layered(PUPPET, some).q, atol=1e-12)


@given(layers(), st.floats(0.0, 2.0), numbers)
@settings(max_examples=50)
def test_a_key_gives_the_value_that_was_asked_for(some: tuple[Layer, ...], t: float, value: float) -> None:
    at = float(PUPPET.t[np.argmin(np.abs(PUPPET.t - t))])
    some = (replace(some[0], muted=False, weight=some[0].weight or 1.0), *some[1:])
    if abs(some[0].weight) < 1e-3:
        return
    new = keyed(PUPPET, some, 0, "puppet", at, {"right_arm_rx": value})
    seen = layered(PUPPET, new)
    assert seen.sample(at)[seen.figure.index("right_arm_rx")] == pytest.approx(value, abs=1e-9)
    assert new[0].unkeyed("puppet", "right_arm_rx", at) == some[0]  # and can be taken back


@given(layers(), numbers)
@settings(max_examples=50)
def test_layers_move_with_their_motion(some: tuple[Layer, ...], by: float) -> None:
    shifted = layered(PUPPET.shift(by), [layer.shift(by) for layer in some])
    np.testing.assert_allclose(shifted.q, layered(PUPPET, some).q, atol=1e-6)  # keys may be as close as a millisecond


@pytest.mark.parametrize("name", ["marionette22", "marionette25", "mannequin", "humanoid"])
def test_a_mirrored_motion_has_mirrored_layers(name: str) -> None:
    figure, rng = library.named(name), np.random.default_rng(7)
    free = [v.name for v in figure.variables if np.isinf([v.lower, v.upper]).all()]
    motion = Motion.of(figure, np.arange(4.0), figure.start + 0.1 * rng.normal(size=(4, figure.n_q)))
    keys = {variable: (Key(0.0, float(rng.normal())), Key(2.5, float(rng.normal()))) for variable in free}
    layer = Layer("bend", tuple(Curve(figure.name, variable, own) for variable, own in keys.items()), weight=0.7)
    mirrored = layered(motion.mirror(), [layer.mirror(motion)])
    np.testing.assert_allclose(mirrored.q, layered(motion, [layer]).mirror().q, atol=1e-12)


def test_velocities_follow() -> None:
    t = np.linspace(0.0, 2.0, 2001)
    figure = library.pendulum()
    motion = Motion.of(figure, t, np.sin(t)[:, None], v=np.cos(t)[:, None])
    variable = figure.names[0]
    seen = layered(motion, [Layer("a", (Curve(figure.name, variable, (Key(0.2, 0.0), Key(1.0, 0.5), Key(1.7, -0.2))),), 2.0)])
    assert seen.v is not None
    np.testing.assert_allclose(np.gradient(seen.q[:, 0], t, edge_order=2), seen.v[:, 0], atol=5e-3)


def test_joints_stop_at_their_limits() -> None:
    elbow = PUPPET.figure.index("left_elbow")  # from −0.1 to 2.0
    layer = Layer("too far", (Curve("puppet", "left_elbow", (Key(0.0, 5.0),)),))
    assert layered(PUPPET, [layer]).q[:, elbow].max() == 2.0
    assert held_by_limits(PUPPET, [layer]) == (("puppet", "left_elbow"),)
    assert held_by_limits(PUPPET, [replace(layer, muted=True)]) == ()
    beyond = np.array(PUPPET.q)
    beyond[:, elbow] = np.linspace(1.9, 2.3, len(beyond))  # a recording may be beyond: a soft stop gives
    motion = PUPPET.replace(tracks=(replace(PUPPET.only, q=beyond),))
    seen = layered(motion, [layer]).q[:, elbow]
    np.testing.assert_array_equal(seen, np.maximum(2.0, beyond[:, elbow]))
    inward = layered(motion, [Layer("back", (Curve("puppet", "left_elbow", (Key(0.0, -1.0),)),))])
    np.testing.assert_allclose(inward.q[:, elbow], beyond[:, elbow] - 1.0)


def test_only_the_track_that_is_meant_changes() -> None:
    both = together(PUPPET, waving(puppet("twin")))
    seen = layered(both, [Layer("a", (Curve("twin", "left_x", (Key(0.0, 0.1),)),))])
    assert seen.tracks[0] is both.tracks[0]
    np.testing.assert_allclose(seen.track("twin").column("left_x"), both.track("twin").column("left_x") + 0.1)


def test_wrong_layers_are_refused() -> None:
    with pytest.raises(MotionError, match="no key"):
        Curve("puppet", "left_x", ())
    with pytest.raises(MotionError, match="two keys at t = 1 s"):
        Curve("puppet", "left_x", (Key(1.0, 0.0), Key(1.0, 2.0)))
    with pytest.raises(NotFinite):
        Key(0.0, float("nan"))
    with pytest.raises(NotFinite):
        Layer("a", weight=float("inf"))
    curve = Curve("puppet", "left_x", (Key(0.0, 1.0),))
    with pytest.raises(MotionError, match="two curves"):
        Layer("a", (curve, curve))
    with pytest.raises(UnknownName, match="left_z"):
        layered(PUPPET, [Layer("a", (replace(curve, variable="left_z"),))])
    with pytest.raises(UnknownName, match="nobody"):
        layered(PUPPET, [Layer("a", (replace(curve, track="nobody"),))])
    with pytest.raises(MotionError, match="no key of 'left_x' at 3 s"):
        Layer("a", (curve,)).unkeyed("puppet", "left_x", 3.0)
    for layer in (Layer("a", muted=True), Layer("a", weight=0.0)):
        with pytest.raises(MotionError, match="would not be seen"):
            keyed(PUPPET, [layer], 0, "puppet", 0.0, {"left_x": 1.0})
