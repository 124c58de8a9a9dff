"""The same scenes in MuJoCo, whose contacts are soft: motions agree as far as its softness lets them."""

from __future__ import annotations

import math

import mujoco
import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.collision.manifold.touch_rules import Matter, Touch, TouchPair
from bunraku.figure.build import box, figure, free, sphere, tx, tz
from bunraku.figure.library.props import football
from bunraku.figure.together import started, together, with_props
from bunraku.kinematics import pose
from bunraku.motion import Motion
from tests.peers.performed_in_mujoco import CoulombContact, RollingResistance, geoms_of, mujoco_model, performed_in_mujoco

Array = NDArray[np.float64]
FLOOR = bunraku.Scene("floor")
STIFF = 'solref="0.002 1" solimp="0.99 0.999 0.0001"'


def in_mujoco(
    body: str, *, at: tuple[float, float, float], v: list[float], friction: float, seconds: float, tilt: float = 0.0
) -> Array:
    """Positions of a free body on a plane, every millisecond."""
    gravity = f"{9.81 * math.sin(tilt)} 0 {-9.81 * math.cos(tilt)}"
    model = mujoco.MjModel.from_xml_string(f"""
      <mujoco><option timestep="0.0005" gravity="{gravity}" cone="elliptic" impratio="100" integrator="implicitfast"/>
        <worldbody><geom type="plane" size="9 9 1" friction="{friction} 0 0" {STIFF}/>
          <body pos="{at[0]} {at[1]} {at[2]}"><freejoint/><geom {body} mass="1" friction="{friction} 0 0" {STIFF}/></body>
        </worldbody></mujoco>""")
    data = mujoco.MjData(model)
    data.qvel[:] = v
    out = []
    for _ in range(round(seconds / 0.001)):
        mujoco.mj_step(model, data, 2)
        out.append(data.qpos[:3].copy())
    return np.array(out)


def test_a_ball_falls_slides_and_rolls_as_in_mujoco() -> None:
    theirs = in_mujoco('type="sphere" size="0.1"', at=(0, 0, 0.3), v=[1.5, 0, 0, 0, 0, 0], friction=0.2, seconds=1.0)
    ball = figure("ball", free("ball", sphere(0.1, mass=1.0), start=(0, 0, 0.3, 0, 0, 0)))
    motion = bunraku.simulate(
        ball, duration=1.0, dt=0.001, v=[1.5, 0, 0, 0, 0, 0], scene=FLOOR, touch=Touch(matter=Matter(friction=0.2))
    )
    np.testing.assert_allclose(motion.only.q[1:, 0], theirs[:, 0], atol=6e-3)
    np.testing.assert_allclose(motion.only.q[1:, 2], theirs[:, 2], atol=6e-3)


def stops_after(speed: float, mu: float, rho: float, r: float) -> tuple[float, float]:
    """Closed form: how fast a ball that is thrown along the floor without turning rolls at first, and how far it goes."""
    slides = speed / (9.81 * (mu + (mu - rho / r) / 0.4))  # [s] until it turns as fast as it goes
    rolls, slows = speed - mu * 9.81 * slides, 9.81 * rho / (1.4 * r)
    return rolls, 0.5 * (speed + rolls) * slides + rolls * rolls / (2.0 * slows)


@pytest.mark.parametrize("dt", [0.01, 0.00125])
def test_a_ball_slides_rolls_and_stops_where_closed_form_says(dt: float) -> None:
    mu, rho, speed = 0.5, 0.001, 0.3
    rolls, far = stops_after(speed, mu, rho, 0.05)
    assert stops_after(speed, mu, 1e-12, 0.05)[0] == pytest.approx(5 / 7 * speed)
    rules = Touch(matter=Matter(friction=mu, rolling=rho))
    motion = bunraku.simulate(football(at=(0, 0, 0.05)), duration=2.5, dt=dt, v=[speed, 0, 0, 0, 0, 0], scene=FLOOR, touch=rules)
    x = motion.only.q[:, 0]
    assert x[-1] == pytest.approx(far, rel=2e-4)
    k = round(0.1 / dt)
    assert (x[k + 1] - x[k]) / dt == pytest.approx(
        rolls - 9.81 * rho / 0.07 * (0.1 + 0.5 * dt - 2 * (speed - rolls) / 9.81), rel=5e-3
    )


@pytest.mark.parametrize(("shared", "most"), [(False, 0.005), (True, 0.03)])
def test_rolling_resistance_in_mujoco(shared: bool, most: float) -> None:
    """What rechecks kicks there stops where closed form says; MuJoCo's own lets what slides go further: one cone for both."""
    mu, rho, speed, step, ball = 0.5, 0.001, 0.3, 2e-4, football(at=(0, 0, 0.05))
    model = mujoco_model(ball, np.array(ball.start), {("football", "floor"): (mu, rho)}, step)
    if shared:
        model.pair_dim[:], model.pair_friction[:] = 6, [mu, mu, 0.0, rho, rho]
    data = mujoco.MjData(model)
    data.qpos[:], data.qvel[0] = ball.start, speed
    rolls = RollingResistance(model, geoms_of(model, "football", "floor"), 0.0 if shared else rho)
    for _ in range(round(2.5 / step)):
        mujoco.mj_step1(model, data)
        data.qfrc_applied[:] = 0.0
        rolls.push(data)
        mujoco.mj_step2(model, data)
        rolls.look(data)
    further = data.qpos[0] / stops_after(speed, mu, rho, 0.05)[1] - 1.0
    assert abs(further) < most
    assert (further > 0.015) == shared


@pytest.mark.parametrize("steeper", [0.9, 1.1])
def test_a_box_on_a_slope_as_in_mujoco(steeper: float) -> None:
    tilt = math.atan(0.4 * steeper)
    theirs = in_mujoco('type="box" size="0.1 0.08 0.05"', at=(0, 0, 0.05), v=[0.0] * 6, friction=0.4, seconds=0.5, tilt=tilt)
    brick = figure("brick", free("brick", box((0.2, 0.16, 0.1), mass=1.0), start=(0, 0, 0.05, 0, 0, 0)))
    brick = brick.replace(gravity=(9.81 * math.sin(tilt), 0.0, -9.81 * math.cos(tilt)))
    motion = bunraku.simulate(brick, duration=0.5, dt=0.005, scene=FLOOR, touch=Touch(matter=Matter(friction=0.4)))
    assert motion.only.q[-1, 0] == pytest.approx(theirs[-1, 0], abs=2e-3)


def test_a_ball_that_slips_along_the_bat_that_hits_it() -> None:
    """In closed form, without restitution: the ball leaves at the bat's speed, and friction gives it μ times that along the bat.

    MuJoCo's friction is convex: what slips at the speed s is also pushed away, so its ball is too fast.
    """
    mu, forward, up, r, m = 0.5, 0.2, 0.4, 0.05, 0.06
    bat = tx("bat_x", tz("bat_z", box((0.04, 2.0, 2.0)), kinematic=True), at=(-0.08, 0.0, 0.0), kinematic=True)
    ball = free("ball", sphere(r, mass=m), start=(-0.0099, 0.0, 0.0, 0.0, 0.0, 0.0))
    field = figure("field", bat, ball).replace(gravity=(0.0, 0.0, 0.0))
    v = np.zeros(field.n_q)
    names = ["bat_x", "bat_z"]
    v[[field.index(name) for name in names]] = forward, up
    motion = bunraku.simulate(
        field, duration=0.02, dt=5e-4, v=v, touch=Touch(matter=Matter(friction=mu)), scene=bunraku.Scene("nothing", floor=None),
        puppeteer={name: lambda t, rate=v[field.index(name)]: rate * t for name in names},
    )  # fmt: skip
    at, rate = field.index("ball_tx"), (motion.only.q[-1] - motion.only.q[-2]) / 5e-4
    np.testing.assert_allclose(rate[at : at + 3], (forward, 0.0, mu * forward), atol=1e-9)
    assert abs(rate[field.index("ball_ry")]) == pytest.approx(2.5 * mu * forward / r, rel=1e-3)
    model = mujoco.MjModel.from_xml_string(f"""
      <mujoco><option timestep="2.5e-5" gravity="0 0 0" cone="elliptic" impratio="10" integrator="implicitfast"/>
        <worldbody><body pos="-0.08 0 0"><freejoint/><geom name="bat" type="box" size="0.02 1 1" mass="1e5"/></body>
          <body pos="-0.0099 0 0"><freejoint/><geom name="ball" type="sphere" size="{r}" mass="{m}"/></body></worldbody>
        <contact><pair geom1="bat" geom2="ball" condim="3" friction="{mu} {mu} 0 0 0" solref="1e-4 10" solimp="0.95 0.95 1e-4"/>
        </contact></mujoco>""")
    data = mujoco.MjData(model)
    data.qvel[[0, 2]] = forward, up
    mujoco.mj_step(model, data, 2000)
    assert 1.05 < data.qvel[6] / forward < 1.08


@pytest.mark.parametrize("up", [0.4, 0.15], ids=["slips", "sticks"])
def test_coulomb_contact_in_mujoco_is_the_closed_form(up: float) -> None:
    """What rechecks kicks there: the ball leaves at the bat's speed, and along it at μ times that, or as it rolls."""
    mu, forward, r, m, step = 0.5, 0.2, 0.05, 0.06, 1e-4
    model = mujoco.MjModel.from_xml_string(f"""
      <mujoco><option timestep="{step}" gravity="0 0 0" integrator="implicitfast"/>
        <default><geom contype="0" conaffinity="0"/></default>
        <worldbody><body pos="-0.08 0 0"><freejoint/><geom type="box" size="0.02 1 1" mass="1e5"/></body>
          <body pos="-0.0099 0 0"><freejoint/><geom type="sphere" size="{r}" mass="{m}"/></body></worldbody></mujoco>""")
    data, contact = mujoco.MjData(model), CoulombContact(model, [(0, 1)], mu, mass=m, step=step)
    data.qvel[[0, 2]] = forward, up
    for _ in range(500):
        mujoco.mj_step1(model, data)
        data.qfrc_applied[:] = 0.0
        contact.push(data)
        mujoco.mj_step2(model, data)
    np.testing.assert_allclose(data.qvel[[6, 8]], (forward, min(mu * forward, 2 / 7 * up)), rtol=2e-3)


def ramp(t: float, start: float, end: float) -> float:
    """From 0 to 1, smoothly."""
    s = min(max((t - start) / (end - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def furthest(motion: Motion, theirs: Array) -> dict[str, float]:
    """How far each frame with shapes is from where it is in MuJoCo, at most [m]."""
    puppet, q = motion.only.figure, motion.only.q
    frames = sorted({shape.frame for shape in puppet.shapes})
    out = dict.fromkeys(frames, 0.0)
    for ours, other in zip(q[::10], theirs[::10], strict=True):
        one, two = pose(puppet, ours), pose(puppet, np.concatenate([other, ours[puppet.n_dynamic :]]))
        for name in frames:
            out[name] = max(out[name], float(np.linalg.norm(one.X(name)[:3, 3] - two.X(name)[:3, 3])))
    return out


def test_a_string_is_paid_out_and_a_knee_meets_its_stop_as_in_mujoco() -> None:
    """All joints, for a quarter of a second: what rechecks kicks there knows strings that are wound, and stops, as we do."""
    puppet = bunraku.library.marionette25()
    rest = dict(zip(puppet.names, puppet.start, strict=True))
    hands = {"right_leg_y": lambda t: rest["right_leg_y"] - 0.1 * ramp(t, 0.0, 0.3),
             "right_leg_length": lambda t: rest["right_leg_length"] + 0.04 * ramp(t, 0.0, 0.3)}  # fmt: skip
    motion = bunraku.simulate(puppet, hands, duration=0.25, dt=1.25e-3)
    q, knee = motion.only.q, puppet.index("rknee_rx")
    assert q[0, knee] < -0.2
    assert q[:, knee].max() == pytest.approx(0.0, abs=1e-9)
    assert motion.tension[-40:, [rope.name for rope in puppet.strings].index("right_leg")].min() == 0.0
    theirs = performed_in_mujoco(motion, {}, step=1.25e-4)
    np.testing.assert_allclose(theirs, q[:, : puppet.n_dynamic], atol=2e-3)


@pytest.mark.slow
def test_a_puppet_sits_down_as_in_mujoco() -> None:
    """Its strings get longer until it sits on a chair, which stands on the floor and may move: the whole of it, for three seconds.

    Hands and lengths of strings move as they did; strings are limits of tendons; contacts are MuJoCo's own, with steps of 0.2 ms.
    """
    chair = bunraku.library.chair(seat=0.19, width=0.17, at=(0.0, -0.16, 0.0))
    puppet = with_props(bunraku.library.marionette25(), {"chair": chair})
    limbs, soles = ("lhip", "rhip", "lknee_rx", "rknee_rx", "torso"), ("lknee_rx", "rknee_rx")
    pairs = [("chair.chair", "floor"), *((limb, "chair.chair") for limb in limbs), *((sole, "floor") for sole in soles)]
    rest = dict(zip(puppet.names, puppet.start, strict=True))
    hands = {k: lambda t, at=rest[k]: at - 0.18 * ramp(t, 0.0, 0.7) for k in puppet.kinematic if k.endswith("_y")}
    hands |= {k: lambda t, at=rest[k]: at + 0.09 * ramp(t, 1.5, 2.0) for k in puppet.kinematic if k.endswith("_length")}
    touch = {"pairs": [list(pair) for pair in pairs], "friction": 0.5}
    motion = bunraku.simulate(puppet, hands, duration=3.0, dt=0.005, scene=bunraku.Scene("stage"), touch=touch)
    assert any("thigh meets chair" in mark.text for mark in motion.marks)
    apart = furthest(motion, performed_in_mujoco(motion, dict.fromkeys(pairs, (0.5, 0.0)), step=2e-4))
    assert apart["chair.chair"] < 1e-3
    assert max(apart.values()) < 0.015


@pytest.mark.slow
@pytest.mark.parametrize("adhesion", [0.0, 2.0])
def test_two_hold_hands_as_in_mujoco(adhesion: float) -> None:
    """Two puppets are moved together until hands and forearms meet, and apart again; with adhesion they stay hand in hand.

    MuJoCo has the same pull where shapes touch, and its own contacts.
    """
    one = bunraku.library.marionette25()
    sideways = [name for name in one.kinematic if name.endswith("_x")]
    beside = started(one, {name: one.start[one.index(name)] + 0.3 for name in ("torso_tx", *sideways)})
    pair = together("pair", {"left": one, "right": beside})
    arms = ("left.relbow_rx", "right.lelbow_rx")
    rest = dict(zip(pair.names, pair.start, strict=True))
    hands = {
        f"right.{name}": lambda t, at=rest[f"right.{name}"]: at - 0.09 * ramp(t, 0.0, 0.6) + 0.085 * ramp(t, 0.8, 1.4)
        for name in sideways
    }
    touch = Touch((TouchPair(*arms, Matter(friction=0.5, adhesion=adhesion)),))
    motion = bunraku.simulate(pair, hands, duration=1.6, dt=0.005, touch=touch)
    assert any("hand meets" in mark.text for mark in motion.marks)
    holds = {arms: adhesion} if adhesion else None
    apart = furthest(motion, performed_in_mujoco(motion, {arms: (0.5, 0.0)}, holds=holds, step=2e-4))
    assert max(apart.values()) < 0.015
