from __future__ import annotations

import functools

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.locomotion.walk.base_motion import base_motion
from bunraku.locomotion.walk.cycles import load_cycles
from bunraku.locomotion.walk.footfalls import FootfallOptions, footfalls
from bunraku.locomotion.walk.legs import legs_of


@functools.cache
def legs():
    return legs_of(library.named("mannequin"))


def steps_of(x, y, turn, seconds):
    t = np.linspace(0.0, seconds, len(x))
    way = base_motion(t, np.stack(np.broadcast_arrays(x, y, turn), 1).astype(float))
    return way, footfalls(way, load_cycles(), legs(), None)


def smooth(length, samples=300):
    u = np.linspace(0.0, 1.0, samples)
    return length * (u - np.sin(2.0 * np.pi * u) / (2.0 * np.pi))


def test_feet_take_turns_and_one_always_stands():
    _, steps = steps_of(smooth(5.0), 0.0, 0.0, 8.0)
    assert (np.diff(steps.foot) != 0).all()
    assert (steps.leave > steps.touch).all()
    order = np.argsort(steps.touch[2:])
    swings = np.stack([steps.leave[:-2], steps.touch[2:]], 1)[order]
    assert (swings[1:, 0] >= swings[:-1, 1]).all()  # the next foot leaves after this one is down


@pytest.mark.parametrize("side", [1.0, -1.0])
def test_sidesteps_do_not_cross_and_begin_on_that_side(side):
    _, steps = steps_of(np.zeros(300), smooth(side * 2.0), 0.0, 6.0)
    left, right = steps.place[steps.foot == 0, 1], steps.place[steps.foot == 1, 1]
    assert steps.foot[2] == (0 if side > 0.0 else 1)
    together = [
        left[i] - right[j]
        for i, a in enumerate(steps.of(0)) for j, b in enumerate(steps.of(1))
        if max(steps.touch[a], steps.touch[b]) < min(steps.leave[a], steps.leave[b])
    ]  # fmt: skip
    assert min(together) > 0.95 * FootfallOptions().gap


def test_feet_are_as_far_ahead_as_behind():
    way, steps = steps_of(smooth(8.0), 0.0, 0.0, 8.0)
    inner = (steps.touch > 2.0) & (steps.leave < 6.0)
    ahead = steps.place[inner, 0] - way.at(steps.touch[inner])[:, 0]
    behind = way.at(steps.leave[inner])[:, 0] - steps.place[inner, 0]
    assert np.allclose(ahead, behind, atol=0.17)  # but for what heels that rise bring their ankles forward
    assert (behind > ahead).all()


def test_a_shift_of_two_centimetres_takes_no_step():
    way, steps = steps_of(smooth(0.02), 0.0, 0.0, 2.0)
    assert way.bouts == []
    assert len(steps.foot) == 2


@pytest.mark.parametrize("turn", [-2.5, 2.5])
@pytest.mark.parametrize("aside", [-0.6, 0.0, 0.6])
def test_feet_that_are_turned_against_each_other_do_not_meet(turn, aside):
    """As rectangles, of which one side separates the two."""
    _, steps = steps_of(smooth(-0.5), smooth(aside), smooth(turn), 5.0)
    ends = np.array([(x, y) for x in (legs()[0].heel, legs()[0].toe) for y in (-0.036, 0.036)])
    for i in range(1, len(steps.foot)):
        if steps.leave[i - 1] <= steps.touch[i]:
            continue
        corners, axes = [], []
        for x, y, heading in steps.place[[i - 1, i]]:
            R = np.array([[np.cos(heading), -np.sin(heading)], [np.sin(heading), np.cos(heading)]])
            corners.append(ends @ R.T + (x, y))
            axes += [R[:, 0], R[:, 1]]
        gaps = [max((a @ n).min() - (b @ n).max() for a, b in (corners, corners[::-1])) for n in axes]
        assert max(gaps) > 0.005


@pytest.mark.parametrize("seed", range(12))
def test_whoever_stops_stands_as_always(seed):
    """Also after sidesteps and turns, for which feet that pass each other are set wider apart."""
    rng = np.random.default_rng(seed)
    far, way, turn = rng.uniform(0.2, 2.2), rng.uniform(-np.pi, np.pi), rng.uniform(-1.6, 1.6)
    _, steps = steps_of(smooth(far * np.cos(way)), smooth(far * np.sin(way)), smooth(turn), rng.uniform(3.0, 7.0))
    for foot, sign in ((0, 1.0), (1, -1.0)):
        x, y, heading = steps.place[steps.of(foot)[-1]] - (far * np.cos(way), far * np.sin(way), turn)
        c, s = np.cos(turn), np.sin(turn)
        options = FootfallOptions()
        assert np.allclose((c * x + s * y, c * y - s * x), (-options.behind, sign * options.standing_width), atol=1e-3)
        assert np.isclose(heading, sign * options.toes_out, atol=1e-3)
