"""Segments: the ZMP stays inside, ends are met, and a feasible stop always exists."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize

from bunraku.kinematics.balance import margin, support_polygon
from bunraku.locomotion.guide.humanoid import rectangle
from bunraku.locomotion.guide.segment import ComState, Phase, SegmentPlanner
from bunraku.locomotion.guide.support_polygon import Region, region

SOLE = rectangle(0.099, 0.072)
LEFT, RIGHT = np.array([0.0, 0.0385, 0.0, 0.0]), np.array([0.0, -0.0385, 0.0, 0.0])
HIGH = np.array([0.0, 0.0, 0.31])


def stands(*feet: np.ndarray) -> Region:
    return region(SOLE, np.array(feet), HIGH)


def step(by: np.ndarray) -> tuple[list[Phase], np.ndarray]:
    """The right foot is put down elsewhere."""
    moved = RIGHT + by
    both, one, after = stands(LEFT, RIGHT), stands(LEFT), stands(LEFT, moved)
    goal = np.array([*(LEFT + moved)[:2] / 2, 0.31])
    return [Phase(0.3, both, both.centre), Phase(0.5, one, one.centre), Phase(0.2, after, goal[:2])], goal


@given(st.integers(0, 2**31))
def test_polygon_is_the_hull(seed: int) -> None:
    rng = np.random.default_rng(seed)
    feet = np.column_stack([rng.uniform(-0.1, 0.1, (2, 2)), np.zeros(2), rng.uniform(-0.5, 0.5, 2)])
    own = region(SOLE, feet, HIGH)
    corners = []
    for x, y, _, yaw in feet:
        c, s = np.cos(yaw), np.sin(yaw)
        corners.append(SOLE @ np.array([[c, s], [-s, c]]) + (x, y))
    hull = support_polygon(np.concatenate(corners))
    probe = rng.uniform(-0.25, 0.25, (50, 2))
    inside = margin(hull, probe) > 0
    assert (own.margin(probe) > 0).tolist() == inside.tolist()


def test_feet_at_two_heights_are_seen_from_the_centre_of_mass() -> None:
    """A force from the middle of the higher foot through the centre of mass passes the floor at that foot's image."""
    low, high = np.array([0.0, 0.05, 0.0, 0.0]), np.array([0.08, -0.05, 0.04, 0.0])
    com = np.array([0.03, 0.0, 0.34])
    own = region(np.zeros((1, 2)) + SOLE[:1], np.array([low, high]), com)
    assert own.floor == pytest.approx(0.02)
    corner = np.array([*(high[:2] + SOLE[0]), 0.04])
    hit = com + (corner - com) * (com[2] - 0.02) / (com[2] - 0.04)
    assert np.abs(own.corners - hit[:2]).sum(1).min() < 1e-12


@settings(max_examples=40)
@given(st.integers(0, 2**31))
def test_every_step_from_rest_can_be_made(seed: int) -> None:
    rng = np.random.default_rng(seed)
    phases, goal = step(np.array([rng.uniform(-0.1, 0.1), rng.uniform(-0.07, 0.0), 0.0, rng.uniform(-0.4, 0.1)]))
    goal[2] -= rng.uniform(0.0, 0.03)
    planner = SegmentPlanner()
    segment = planner.plan(ComState.at_rest(np.array([0.0, 0.0, 0.31])), phases, goal)
    assert segment is not None
    assert segment.margin.min() > planner.margin - 1e-3, "inside at every tick, not only at knots"
    assert max(segment.miss) < planner.near
    end = segment.end
    capture = end.p[:2] + end.v[:2] * np.sqrt((end.p[2] - 0.0) / 9.81)
    assert phases[-1].region.margin(capture) >= planner.rest_margin - 1e-6, "a feasible stop exists"


def test_the_program_is_solved_to_its_optimum() -> None:
    """Against scipy's SLSQP on the same cost, written from its definition."""
    phases, goal = step(np.array([0.03, -0.02, 0.0, 0.0]))
    planner, start = SegmentPlanner(), ComState.at_rest(np.array([0.0, 0.0, 0.31]))
    segment = planner.attempt(start, phases, goal, 0.5)
    assert segment is not None
    n, w = len(segment.ticks), planner.weights

    def end_of(knots: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        x, v = start.p[:2], start.v[:2]
        for i in range(n - 1):
            h = (segment.ticks[i + 1] - segment.ticks[i]) * segment.dt
            m, c, s = (knots[i + 1] - knots[i]) / h, np.cosh(segment.omega * h), np.sinh(segment.omega * h)
            rel, dv = x - knots[i], v - m
            x, v = knots[i + 1] + rel * c + dv / segment.omega * s, m + segment.omega * rel * s + dv * c
        return x, v

    at = np.minimum(np.searchsorted(segment.ends, segment.ticks), 2)
    reference = np.array([phases[k].reference for k in at])
    reference[[i for i, tick in enumerate(segment.ticks) if tick in segment.ends[:2]]] = phases[1].reference

    def cost(flat: np.ndarray) -> float:
        knots = flat.reshape(n, 2)
        x, v = end_of(knots)
        return float(
            w.goal * np.sum((x - goal[:2]) ** 2) + w.rest * np.sum((v / segment.omega) ** 2) + w.last * np.sum((knots[-1] - x) ** 2)
            + w.first * np.sum((knots[0] - start.carried[:2]) ** 2) + w.reference * np.sum((knots - reference) ** 2)
            + w.difference * np.sum(np.diff(knots, axis=0) ** 2)
        )  # fmt: skip

    ours = segment.knots[:, :2]
    rows = []
    for i, tick in enumerate(segment.ticks.tolist()):
        own = phases[1].region if segment.ends[0] <= tick <= segment.ends[1] else phases[0 if tick < segment.ends[0] else 2].region
        rows.append((i, own))
    constraints = [
        {"type": "ineq", "fun": lambda f: np.concatenate([
            o.edges[:, :2] @ f.reshape(n, 2)[i] - o.edges[:, 2] - planner.margin for i, o in rows])},
    ]  # fmt: skip
    found = minimize(cost, ours.ravel() + 1e-4, method="SLSQP", constraints=constraints, options={"maxiter": 500, "ftol": 1e-16})
    # Without the limits on jumps SLSQP may do a little better, never worse.
    assert found.fun <= cost(ours.ravel()) * (1 + 1e-6) + 1e-12
    assert cost(ours.ravel()) < 1.2 * found.fun + 1e-9


def test_falling_out_of_the_polygon_is_not_planned() -> None:
    phases, goal = step(np.zeros(4))
    falling = ComState(np.array([0.0, 0.0, 0.31]), np.array([2.0, 0.0, 0.0]), np.array([0.0, 0.0, 0.31]))
    assert SegmentPlanner().plan(falling, phases, goal) is None
