"""Whole motions."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.collision import World
from bunraku.figure import Box, Capsule, Sphere, library
from bunraku.motion import Motion
from bunraku.scene import Obstacle
from tests.collision.worlds import clutter, flying, room, saved


def swaying(figure, samples: int, *, way: float = 3.0, seed: int = 0) -> np.ndarray:
    """The figure crosses a room, and every variable sways within its limits."""
    rng = np.random.default_rng(seed)
    lower, upper = (np.clip(limit, -0.6, 0.6) for limit in figure.limits)
    s = np.linspace(0.0, 1.0, samples)[:, None]
    Q = np.clip(figure.start + 0.15 * (upper - lower) * np.sin(2 * np.pi * (3 * s + rng.random(figure.n_q))), lower, upper)
    Q[:, :6] = figure.start[:6]
    Q[:, 0] += way * (s[:, 0] - 0.5)
    return Q


def test_report_says_when_and_where():
    world = World(flying(Sphere(0.1)), room(Obstacle("post", Capsule(0.05, 2.0)), Obstacle("far", Sphere(0.1), (0, 5, 0))))
    t = np.linspace(0.0, 2.0, 41)
    Q = np.zeros((41, 6))
    Q[:, 0] = t - 1.02  # the shape is off its axes by 0.02, −0.01
    report = world.check(Motion.of(world.figures[0], t, Q))
    expected = np.hypot(t - 1.0, 0.01) - 0.15
    np.testing.assert_allclose(report.clearance, expected, atol=1e-12)
    assert not report.free
    assert report.first == int(np.flatnonzero(expected < 0)[0])
    assert report.least == pytest.approx(-0.14)
    assert report.sample == 20
    (hit,) = report.hits
    assert (hit.a, hit.b, hit.first, hit.last, hit.deepest) == ("flyer", "post", 18, 22, 20)
    assert hit.depth == pytest.approx(0.14)
    assert report.nearest.value == report.least
    text = str(report)
    assert "41 samples, not free" in text
    assert "overlap: flyer – post, samples 18–22, 140 mm deep" in text


def test_the_whole_agrees_with_its_samples(tmp_path):
    figure = library.named("mannequin")
    mesh = saved(clutter(6000, size=1.5), tmp_path, "clutter")
    table = Obstacle("table", Box((0.8, 1.2, 0.05)), (0.6, 0.0, 0.7))
    world = World(figure, room(Obstacle("clutter", mesh), table, floor=0.0))
    world = world.allowing(World(figure, room(floor=0.0)).touching_at())
    Q = swaying(figure, 60)
    report = world.check(Q)
    values = [world.distance(q).value for q in Q]
    np.testing.assert_allclose(report.clearance, values, atol=1e-12)
    hit = np.array([world.collides(q) for q in Q])
    assert hit.any()
    assert not hit.all()
    np.testing.assert_array_equal(hit, report.clearance < 0.0)
    deep = [{(c.a, c.b) for c in world.contacts(q)} for q in Q]
    assert {(h.a, h.b) for h in report.hits} == set().union(*deep)
    assert report.first == int(np.flatnonzero(hit)[0])
    along, single = world.clearances_along(Q, within=0.05), [world.clearances(q, within=0.05) for q in Q]
    assert len(along) == sum(map(len, single))
    np.testing.assert_array_equal(along.sample, np.repeat(np.arange(60), [len(c) for c in single]))
    np.testing.assert_allclose(along.gradient, np.vstack([c.gradient for c in single]), atol=1e-12)


@pytest.mark.slow
def test_ninety_thousand_triangles(tmp_path):
    """Every sample of a long motion, with self-collision: the same as coal says, triangle by triangle."""
    figure = library.named("mannequin")
    mesh = saved(clutter(90_000), tmp_path, "clutter")
    world = World(figure, room(Obstacle("clutter", mesh), floor=0.0)).allowing(World(figure, room(floor=0.0)).touching_at())
    assert len(world.flat.triangles) >= 90_000
    Q = swaying(figure, 530)
    report = world.check(Q)
    assert len(report.clearance) == 530
    for k in range(0, 530, 53):
        query = world.narrow.at(Q[k])
        n = len(world.flat.joint)
        pairs = [*world.flat.pairs[:, :2].tolist(), *((i, n + s) for i, s in np.argwhere(world.flat.tested).tolist())]
        own = min(w.value for i, j in pairs if (w := query.distance(i, j)) is not None)
        if own > 0.0:
            assert report.clearance[k] == pytest.approx(own, abs=2e-6)
        else:
            assert report.clearance[k] < 0.0
