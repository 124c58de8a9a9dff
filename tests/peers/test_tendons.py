"""Tendons that wrap: lengths and moment arms are MuJoCo's, whatever they run over; and we write them back."""

from __future__ import annotations

import warnings

import mujoco
import numpy as np
import pytest

from bunraku.dynamics.quantities import gap_derivatives
from bunraku.errors import BunrakuWarning
from bunraku.figure import Branch, Figure, Pulley
from bunraku.io.mjcf import mjcf_file
from tests.exact_tendons import ExactTendons

ARM = """
<mujoco>
  <worldbody>
    <site name="wall" pos="0.1 0.3 1.1"/>
    <geom name="post" type="cylinder" size="0.06 0.2" pos="0.05 0.1 1" euler="80 10 0"/>
    <site name="post_side" pos="0.05 0.3 1.2"/>
    <body name="upper" pos="0 0 1">
      <joint name="swing" axis="0 0.2 1" range="-90 90"/>
      <joint name="lift" axis="0 1 0" range="-60 60"/>
      <geom type="capsule" fromto="0 0 0 0.4 0 0" size="0.02"/>
      <site name="collar" pos="0.2 0.05 0.05"/>
      <geom name="knob" type="sphere" size="0.05" pos="0.3 0.01 0.02"/>
      <site name="knob_side" pos="0.3 0.01 0.2"/>
      <geom name="ring" type="cylinder" size="0.04 0.01" pos="0.25 0.2 0.1" euler="0 70 20"/>
      <geom name="hoop" type="sphere" size="0.04" pos="0.25 0.2 0.1"/>
      <site name="within" pos="0.25 0.2 0.11"/>
      <body name="fore" pos="0.4 0 0">
        <joint name="elbow" axis="0 1 0.1" range="-150 20"/>
        <geom type="capsule" fromto="0 0 0 0.3 0 0" size="0.02" mass="0.5"/>
        <geom name="roll" type="cylinder" size="0.05 0.05" euler="90 0 0"/>
        <site name="roll_above" pos="0 0 0.2"/>
        <site name="roll_below" pos="0 0 -0.2"/>
        <site name="wrist" pos="0.25 0.01 0.03"/>
        <site name="palm" pos="0.3 -0.03 0"/>
      </body>
    </body>
  </worldbody>
  <tendon>
    <spatial name="free" range="0 9"><site site="wrist"/><geom geom="roll"/><site site="collar"/></spatial>
    <spatial name="above" range="0 9"><site site="wrist"/><geom geom="roll" sidesite="roll_above"/><site site="collar"/></spatial>
    <spatial name="below" range="0 9"><site site="wrist"/><geom geom="roll" sidesite="roll_below"/><site site="collar"/></spatial>
    <spatial name="ball" range="0 9"><site site="palm"/><geom geom="knob"/><site site="wall"/></spatial>
    <spatial name="ball_side" range="0 9"><site site="palm"/><geom geom="knob" sidesite="knob_side"/><site site="wall"/></spatial>
    <spatial name="inside" range="0 9"><site site="palm"/><geom geom="ring" sidesite="within"/><site site="wall"/></spatial>
    <spatial name="inside_ball" range="0 9"><site site="palm"/><geom geom="hoop" sidesite="within"/><site site="wall"/></spatial>
    <spatial name="several" range="0 9">
      <site site="palm"/><geom geom="roll" sidesite="roll_below"/><site site="collar"/><geom geom="knob"/>
      <site site="collar"/><geom geom="post" sidesite="post_side"/><site site="wall"/>
    </spatial>
    <spatial name="branched" range="0 9">
      <site site="wall"/><site site="collar"/>
      <pulley divisor="2"/><site site="collar"/><geom geom="roll"/><site site="wrist"/>
      <pulley divisor="3"/><site site="collar"/><site site="palm"/>
    </spatial>
    <spatial name="half" range="0 9"><pulley divisor="2"/><site site="wall"/><geom geom="knob"/><site site="wrist"/></spatial>
    <spatial name="pulled"><site site="wrist"/><geom geom="post" sidesite="post_side"/><site site="wall"/></spatial>
  </tendon>
  <actuator><muscle tendon="pulled" lengthrange="0.1 2"/></actuator>
</mujoco>
"""


def read(text: str) -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        return mjcf_file.parse(text)


def compare(figure: Figure, text: str, tolerance: float, loose: tuple[str, ...] = ()) -> dict[str, float]:
    """Checks all strings at 100 random configurations; returns how often each was not straight."""
    model = mujoco.MjModel.from_xml_string(text)
    data, rng = mujoco.MjData(model), np.random.default_rng(0)
    joints = [figure.index(model.joint(j).name) for j in range(model.njnt)]
    bent = dict.fromkeys((s.name for s in figure.strings), 0.0)
    for _ in range(100):
        q = figure.start.copy()
        q[joints] = data.qpos[:] = rng.uniform(*model.jnt_range.T)
        mujoco.mj_forward(model, data)
        J = np.zeros((model.ntendon, model.nv))
        layout = (model.ten_J_rownnz, model.ten_J_rowadr, model.ten_J_colind)
        mujoco.mju_sparse2dense(J, data.ten_J.ravel(), *(array.ravel() for array in layout))
        gaps, A = gap_derivatives(figure, q)
        for c, string in enumerate(figure.strings):
            t = model.tendon(string.name).id
            wound = string.wound(0.0 if string.variable is None else float(q[figure.index(string.variable)]))
            assert abs(gaps[c] + wound - data.ten_length[t]) < tolerance, string.name
            # MuJoCo finds the point where a string bends at a ring to 1e-6 of an angle only; its lengths are stationary there.
            np.testing.assert_allclose(A[c, joints], J[t], atol=1e-6 if string.name in loose else tolerance, err_msg=string.name)
            bent[string.name] += (data.ten_wrapnum[t] > len(string.path)) / 100
    return bent


def test_lengths_and_arms_are_those_of_mujoco() -> None:
    figure = read(ARM)
    assert [s.name for s in figure.strings][-1] == "pulled"
    bent = compare(figure, ARM, 1e-12, loose=("inside", "inside_ball"))
    wrapped = {s.name: sum(isinstance(at, Pulley) for at in s.way) for s in figure.strings}
    assert all(wrapped.values())
    assert min(bent[name] for name in ("free", "above", "below", "several")) > 0.05
    assert len({isinstance(at, Branch) for at in figure.strings[8].way}) == 2


def test_lengths_and_arms_in_fifty_digits() -> None:
    """Rings included, where MuJoCo's arms are the inexact ones."""
    figure, model = read(ARM), mujoco.MjModel.from_xml_string(ARM)
    data, rng = mujoco.MjData(model), np.random.default_rng(1)
    joints = [figure.index(model.joint(j).name) for j in range(model.njnt)]
    theirs, bent = 0.0, 0
    for _ in range(12):
        q = figure.start.copy()
        q[joints] = data.qpos[:] = rng.uniform(*model.jnt_range.T)
        mujoco.mj_forward(model, data)
        exact, (gaps, A) = ExactTendons(model, data), gap_derivatives(figure, q)
        for c, string in enumerate(figure.strings):
            t = model.tendon(string.name).id
            wound = string.wound(0.0 if string.variable is None else float(q[figure.index(string.variable)]))
            assert abs(gaps[c] + wound - float(exact.length(t))) < 1e-14, string.name
            arms = [float(exact.arm(t, j)) for j in range(model.njnt)]
            np.testing.assert_allclose(A[c, joints], arms, atol=1e-14, err_msg=string.name)
            if string.name.startswith("inside") and data.ten_wrapnum[t] > len(string.path):
                row = slice(int(model.ten_J_rowadr[t]), int(model.ten_J_rowadr[t] + model.ten_J_rownnz[t]))
                columns = model.ten_J_colind.ravel()[row]
                theirs, bent = max(theirs, float(np.abs(data.ten_J.ravel()[row] - np.array(arms)[columns]).max())), bent + 1
    assert bent > 3
    assert 1e-12 < theirs < 1e-5


def test_what_is_read_is_written_back() -> None:
    figure = read(ARM)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        text = mjcf_file.dumps(figure, meshes=False)
    again = read(text)
    for own, other in zip(figure.strings, again.strings, strict=True):
        assert own.name == other.name
        assert [type(at) for at in own.way] == [type(at) for at in other.way]
    assert len(again.shapes) == len(figure.shapes)
    compare(again, text, 1e-12, loose=("inside", "inside_ball"))


def test_a_turn_becomes_a_side() -> None:
    figure = read(ARM)
    string = figure.strings[0]
    pulley = string.eyelets[0]
    assert isinstance(pulley, Pulley)
    turned = figure.replace(strings=(type(string)(
        string.name, string.hook, string.spindle, 9.0,
        eyelets=(Pulley(pulley.frame, pulley.position, pulley.radius, pulley.axis, turn=1),),
    ),), lengths=(), forces=())  # fmt: skip
    with pytest.warns(BunrakuWarning, match="became sides"):
        text = mjcf_file.dumps(turned, meshes=False)
    compare(turned, text.replace('range="-2.6', 'range="-0.9'), 1e-12)
