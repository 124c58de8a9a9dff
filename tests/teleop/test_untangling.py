"""A puppet in disorder is brought back into order where it is, without a reset; then it hangs as at the start."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.figure import Figure, library
from bunraku.figure.build import ball, capsule, figure, string
from bunraku.kinematics import pose
from bunraku.stage import Entry, Pull, Sample, Sticks, Untangle, Winch, serve
from bunraku.stage.input_log import InputLog, read_log, replay
from bunraku.teleop import Simulated
from bunraku.teleop.untangling import carried, in_order
from tests.stage.browser import Browser
from tests.stage.test_page import opened

PUPPET = library.named("marionette25")
SPINDLES = [s.spindle for s in PUPPET.strings]


def in_disorder(live: Simulated, seed: int) -> Sample:
    """Twisted by hands: limbs are pulled round, strings are let out and wound in, and the control bar moves away."""
    rng = np.random.default_rng(seed)
    sample = live.reset()
    live.apply(Sticks((1.0, -0.5, 0.0, 0.0)))
    for k in range(160):
        if k % 40 == 0:
            for frame in ("lhand", "rfoot", "rhand"):
                at = pose(PUPPET, sample.q[0]).point(frame, (0, 0, 0))
                live.apply(Pull(0, "body", frame, tuple(at + rng.normal(size=3) * 0.3)))
            live.apply(Winch(0, PUPPET.strings[int(rng.integers(len(PUPPET.strings)))].name, float(rng.normal() * 0.1)))
        sample = live.step()
    live.apply(Sticks((0.0, 0.0, 0.0, 0.0)))
    return sample


def centre(figure: Figure, q: np.ndarray) -> np.ndarray:
    here = pose(figure, q)
    return np.mean([here.point(at.frame, at.position) for at in SPINDLES], axis=0)


@pytest.mark.parametrize("seed", [11, 12])
def test_a_puppet_is_put_in_order_where_it_is(seed: int) -> None:
    live = Simulated(PUPPET)
    start = live.reset().q[0]
    before = in_disorder(live, seed)
    place = centre(PUPPET, before.q[0]) - centre(PUPPET, start)
    assert np.linalg.norm(place[:2]) > 0.1
    live.apply(Untangle())
    samples = [live.step() for _ in range(300)]
    # It goes smoothly: nothing jumps, no string is too short, and time goes on.
    poses = [pose(PUPPET, sample.q[0]) for sample in (before, *samples)]
    points = np.array([[here.X(b.frame)[:3, 3] for b in PUPPET.bodies] for here in poses])
    assert np.linalg.norm(np.diff(points, axis=0), axis=2).max() < 0.03
    assert max(s.series[3] for s in samples) < 1e-3  # mm
    np.testing.assert_allclose(np.diff([s.t for s in samples]), live.dt)
    hanging = [live.step() for _ in range(200)][-1]
    here, there = (pose(PUPPET, q) for q in (hanging.q[0], start))
    for body in PUPPET.bodies:
        now, then = here.X(body.frame), there.X(body.frame)
        np.testing.assert_allclose(now[:3, 3] - [*place[:2], 0.0], then[:3, 3], atol=0.02)
        np.testing.assert_allclose(now[:3, :3], then[:3, :3], atol=0.2)
    assert hanging.tension[0].sum() == pytest.approx(PUPPET.mass * 9.81, rel=0.05)


@pytest.mark.slow
def test_hands_have_no_effect_until_it_is_in_order_and_then_they_have() -> None:
    live = Simulated(PUPPET)
    in_disorder(live, 3)
    live.apply(Untangle())
    live.apply(Untangle())  # once is enough
    pulled = Pull(0, "body", "lhand", (0.0, 0.0, 3.0))
    live.apply(pulled)
    alone = Simulated(PUPPET)
    in_disorder(alone, 3)
    alone.apply(Untangle())
    for _ in range(301):
        q, expected = live.step().q[0], alone.step().q[0]
    np.testing.assert_array_equal(q, expected)
    live.apply(pulled)
    for _ in range(40):
        q, expected = live.step().q[0], alone.step().q[0]
    assert np.abs(q - expected).max() > 0.01


def test_it_is_logged_and_replayed() -> None:
    live = Simulated(PUPPET)
    live.reset()
    log = InputLog(live)
    log.add(5, Winch(0, "left_arm", -0.1))
    log.add(60, Untangle())
    samples = replay(log, live, 120)
    again = replay(read_log(log.to_json(), live), live, 120)
    assert all(np.array_equal(a.q[0], b.q[0]) for a, b in zip(samples, again, strict=True))


def test_what_has_no_strings_is_left_alone() -> None:
    live = Simulated(library.named("double_pendulum"))
    assert not live.untangles
    live.apply(Untangle())
    assert live.step().t > 0.0
    swing = figure("swing", ball("arm", capsule(0.03, to=(0, 0, -0.3), mass=0.2)), strings=[])
    assert not Simulated(swing).untangles


def test_a_string_of_fixed_length_and_a_fixed_spindle() -> None:
    arm = figure(
        "arm", ball("arm", capsule(0.03, to=(0, 0, -0.3), mass=0.2), start=(0, 0, 0.5)),
        strings=[string("hand", ("arm", (0, 0, -0.3)), ("world", (0, 0.3, 0.3)))],
    )  # fmt: skip
    live = Simulated(arm)
    live.apply(Pull(0, "body", "arm", (0.3, 0.2, -0.1), (0.0, 0.0, -0.3)))
    for _ in range(60):
        live.step()
    live.apply(Untangle())
    samples = [live.step() for _ in range(301)]
    np.testing.assert_allclose(samples[-2].q[0], live.reset().q[0], atol=1e-9)


@given(st.integers(0, 10_000), st.integers(1, 40))
@settings(max_examples=15)
def test_the_way_ends_in_order_and_no_string_is_too_short(seed: int, steps: int) -> None:
    rng = np.random.default_rng(seed)
    q = PUPPET.start + rng.normal(size=PUPPET.n_q) * 0.8
    goal = in_order(PUPPET, q, PUPPET.start)
    here, then = pose(PUPPET, goal), pose(PUPPET, PUPPET.start)
    shifts = [here.X(f.name)[:3, 3] - then.X(f.name)[:3, 3] for f in PUPPET.frames if f.name in {b.frame for b in PUPPET.bodies}]
    shifts += [here.point(at.frame, at.position) - then.point(at.frame, at.position) for at in SPINDLES]
    np.testing.assert_allclose(shifts, np.broadcast_to(shifts[0], (len(shifts), 3)), atol=1e-9)
    way = list(carried(PUPPET, q, goal, steps))
    assert len(way) == steps
    np.testing.assert_array_equal(way[-1], goal)
    assert max(pose(PUPPET, each).gaps.max() for each in way) < 1e-9


def test_a_key_untangles_on_the_page(browser: Browser) -> None:
    with serve([Entry("Puppet", lambda: Simulated(PUPPET))]) as served:
        opened(browser, served)
        browser.wait("bunraku.driving && bunraku.samples > 3")
        start = np.array(browser.js("bunraku.place('lhand')"))
        browser.drag(browser.spot("bunraku.screen('left_arm', 'spindle')"), (60, -40))
        browser.wait(lambda: np.linalg.norm(np.array(browser.js("bunraku.place('lhand')")) - start) > 0.03)
        browser.key("x")
        began = browser.js("bunraku.time")
        assert began > 0.0
        browser.wait(f"bunraku.time > {began} + 2.5")  # time goes on
        shift = np.array(browser.js("bunraku.place('torso')")) - pose(PUPPET, PUPPET.start).X("torso")[:3, 3]
        np.testing.assert_allclose(np.array(browser.js("bunraku.place('lhand')")) - shift, start, atol=0.03)
        browser.js("void bunraku.act('reset')")
        browser.leave()
