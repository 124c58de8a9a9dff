from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.ensemble.agents import hold, porter
from bunraku.ensemble.closed_loops import Loops, mobility
from bunraku.ensemble.postures import PostureOptions, Postures
from bunraku.ensemble.team import OBJECT
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.kinematics import pose
from bunraku.kinematics.inverse.arm import closed_form
from bunraku.scene import Scene
from tests.ensemble.waiters import lifting, waiters


@pytest.fixture(scope="module")
def whole():
    return WholeTeam(waiters(), Scene("hall"))


@pytest.fixture(scope="module")
def loops(whole):
    return Loops(whole)


@pytest.fixture(scope="module")
def Q(whole):
    return whole.rows(lifting())


def gaps(whole, q):
    """How far tools are from their holds, by forward kinematics."""
    X_WO = pose(whole.figures[-1], q[whole.columns[OBJECT]]).X(OBJECT)
    out = []
    for agent in whole.team.agents:
        here = pose(agent.figure, q[whole.columns[agent.name]])
        out += [np.abs(here.X(own.tool) - X_WO @ own.X_OT).max() for own in agent.holds]
    return out


def test_active_and_passive(loops, whole):
    names = [f"{figure.name}.{name}" for figure in whole.figures for name in figure.names]
    active = loops.active
    by_kind = {kind: [names[k] for k in active.columns[active.where(kind)]] for kind in ("trunk", "limb", "object")}
    assert by_kind["trunk"] == [f"person.{ball}_{axis}" for ball in ("waist", "chest") for axis in ("rz", "ry", "rx")]
    assert by_kind["limb"] == [f"person.neck_{axis}" for axis in ("rz", "ry", "rx")]
    assert len(by_kind["object"]) == 6
    assert len(active.where("swivel")) == 2
    assert [len(loop.columns) for loop in loops.loops] == [7, 7, 6]
    assert not set(active.columns) & {int(k) for loop in loops.loops for k in loop.columns}


def test_who_holds_with_one_hand_may_move_the_other():
    person = porter("person", hold("left_palm", (0.0, 0.0, 0.0)))
    trunk, limbs = mobility(person.figure, [closed_form(person.figure, "left_palm")])
    names = person.figure.names
    assert {names[k].split("_")[0] for k in trunk} == {"waist", "chest"}
    assert "right_elbow" in {names[k] for k in limbs}
    assert "left_clavicle_rz" not in {names[k] for k in limbs + trunk}


@settings(max_examples=25)
@given(st.integers(0, 39), st.sampled_from(PostureOptions().levels), st.integers(0, 10_000))
def test_random_loops_close(loops, whole, Q, k, level, seed):
    postures = Postures(loops, ("person", OBJECT), held=True, seed=(seed,))
    Z = postures.sample(Q[k], level)
    changed, ok = loops.changed(np.repeat(Q[k][None], len(Z), 0), Z)
    lower, upper = (np.concatenate(limits) for limits in zip(*(f.limits for f in whole.figures), strict=True))
    for q in changed[ok][:6]:
        assert max(gaps(whole, q)) < 1e-9
        assert (q >= lower - 1e-9).all()
        assert (q <= upper + 1e-9).all()


def test_enough_of_them_close(loops, Q):
    postures = Postures(loops, ("person",), held=True, seed=(0,))
    for level in PostureOptions().levels[:3]:
        Z = postures.sample(Q[0], level)
        assert loops.changed(np.repeat(Q[:1], len(Z), 0), Z)[1].mean() > 0.3


def test_no_change_changes_nothing(loops, Q):
    changed, ok = loops.changed(Q, np.zeros((1, len(loops.active))))
    assert ok.all()
    assert np.abs(changed - Q).max() < 1e-9


def test_spans_end_where_reach_does(loops, whole, Q):
    rng = np.random.default_rng(0)
    rows = np.repeat(Q[:1], 50, 0)
    ways = rng.normal(size=(50, 3))
    ways /= np.linalg.norm(ways, axis=1, keepdims=True)
    low, high = loops.spans(rows, ways)
    assert (low < 0.0).all()
    assert (high > 0.0).all()
    held = whole.columns[OBJECT].start
    for share, reached in ((0.95, True), (1.15, False)):
        moved = rows.copy()
        moved[:, held : held + 3] += share * high[:, None] * ways
        for q in moved:
            X_WO = pose(whole.figures[-1], q[whole.columns[OBJECT]]).X(OBJECT)
            found = []
            for loop in loops.loops:
                target = X_WO @ loop.hold.X_OT
                found.append(loop.arm.reaches(target, q[whole.columns[loop.agent.name]]))
            assert all(found) == reached


def test_the_object_is_moved_a_little_only(loops, Q):
    postures = Postures(loops, (OBJECT,), held=True, seed=(3,))
    Z = postures.sample(Q[0], 1.0)
    assert np.linalg.norm(Z[:, postures.held[:3]], axis=1).max() <= PostureOptions().farthest + 1e-12
    still = Postures(loops, (OBJECT,), held=False, seed=(3,)).sample(Q[0], 1.0)
    assert not still[:, postures.held].any()


def test_the_same_seed_gives_the_same_postures(loops, Q):
    a, b, c = (Postures(loops, ("person",), held=True, seed=seed).sample(Q[0], 0.5) for seed in ((1, 2), (1, 2), (1, 3)))
    assert np.array_equal(a, b)
    assert not np.array_equal(a, c)


def test_milder_postures_deform_less(loops, Q):
    postures = Postures(loops, ("person",), held=True, seed=(0,))
    change = postures.sample(Q[0], 0.5)[0]
    mild = postures.milder(change, 0.3)
    assert np.median(postures.deformation(mild)) < postures.deformation(change)[0]
