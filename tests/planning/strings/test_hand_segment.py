"""Segments: the compiled ones against the simulator and against the exact collision check."""

from __future__ import annotations

import functools

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.arm_pairs import problems
from bunraku.dynamics import Simulation
from bunraku.planning.strings.hand_segment import allowed_speeds
from bunraku.planning.strings.search_space import SearchSpace


@functools.cache
def space() -> SearchSpace:
    return SearchSpace(problems()[5])


def wander(seed: int, segments: int = 12) -> tuple[np.ndarray, np.ndarray, bool]:
    """Speeds that stay within the limits, the samples of the compiled segments, and whether all were clear."""
    rng, problem = np.random.default_rng(seed), space().problem
    state, q, v, free = space().root, problem.start[4:].copy(), np.zeros(3), True
    speeds, rows = [], [problem.start[None]]
    for _ in range(segments):
        new = space().allowed(q, v, rng.uniform(-0.6, 0.6, 3))
        ok, state, Q = space().segment(state, new)
        free &= ok
        q, v = q + 0.5 * (v + new) * problem.segment, new
        speeds.append(new)
        rows.append(Q[1:])
    return np.array(speeds), np.concatenate(rows), free


def test_segments_are_what_the_simulator_does() -> None:
    for seed in range(5):
        speeds, Q, _ = wander(seed)
        simulation = Simulation(space().problem.figure, space().problem.start, dt=space().problem.dt)
        exact = simulation.run(space().inputs(speeds)).q
        assert np.abs(Q[1:] - exact).max() < 1e-4  # its Newton's method stops earlier


def test_what_is_clear_is_free_by_the_exact_check() -> None:
    cleared = 0
    for seed in range(40):
        _, Q, free = wander(seed, 6)
        if free:
            cleared += 1
            assert space().problem.world.check(Q, between=True).free
            assert space().problem.world.check(Q).least >= space().problem.margin - 1e-6
    assert 5 < cleared < 40  # the test has seen both


def test_strings_are_seen() -> None:
    """The same wall, once where the string is and once beside it; the arm itself never touches it."""
    clear = []
    for problem in problems()[8:9]:
        space = SearchSpace(problem)
        state, v = space.root, np.zeros(3)
        for _ in range(14):  # aside, straight through the wall
            v = space.allowed(problem.start[4:], v, np.array([0.6, 0.0, 0.0]))
            ok, state, _ = space.segment(state, v)
            clear.append(ok)
    assert clear[0]
    assert not all(clear)


limits = st.floats(-1.0, 1.0)


@given(limits, st.floats(-0.6, 0.6), st.lists(st.floats(-1.0, 1.0), min_size=1, max_size=30))
def test_hands_never_leave_their_box(q: float, v: float, wanted: list[float]) -> None:
    """From any state from which braking suffices, whatever is wanted."""
    course = space().course._replace(lower=np.full(3, -1.0), upper=np.full(3, 1.0))
    a, T, out = float(course.acceleration[0]), 0.15, np.empty(1)
    if not -1.0 <= q + np.sign(v) * (v * v / (2 * a) + 0.5 * abs(v) * T) <= 1.0:
        return  # it may not be able to stop
    for wish in wanted:
        allowed_speeds(course, np.array([q]), np.array([v]), np.array([wish]), out)
        new = float(out[0])
        assert abs(new) <= 0.6 + 1e-12
        assert abs(new - v) <= a * T + 1e-9
        t = np.linspace(0.0, T, 7)
        way = q + v * t + 0.5 * (new - v) * t * t / T
        assert way.min() >= -1.0 - 1e-9
        assert way.max() <= 1.0 + 1e-9
        q, v = way[-1], new
