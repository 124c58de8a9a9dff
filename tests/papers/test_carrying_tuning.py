"""*carrying*, Sections IV-C and V-A, Fig. 7 and 8: under the balcony the person bends spine and head, and straightens again."""

from __future__ import annotations

import coal
import numpy as np
import pytest

from bunraku.collision.coal_shapes import solid
from bunraku.ensemble.animate import animate
from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.tune import tune
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.figure import Mesh
from bunraku.kinematics.forward import frames_along
from bunraku.spatial import se3

pytestmark = pytest.mark.slow  # all share one motion, which takes ten seconds


@pytest.fixture(scope="module")
def errand():
    return load_errand("factory")


@pytest.fixture(scope="module")
def animation(errand):
    done = carry(errand, seed=3)
    assert done.outcome.ok
    return animate(errand.team, done.timing)


@pytest.fixture(scope="module")
def tuned(errand, animation):
    return tune(errand.team, animation, errand.scene, margin=errand.margin, seed=0)


def spine(motion):
    """How far trunk and head are bent forward."""
    person = motion.track("person")
    return sum(person.column(f"{ball}_ry") for ball in ("waist", "chest", "neck"))


def top(motion):
    """The place of the crown of the head (T, 3)."""
    person = motion.track("person")
    X = frames_along(person.figure, person.q)[:, person.figure.frame_index["neck"]]
    return X[:, :3, :3] @ np.array([-0.012, 0.0, 0.19]) + X[:, :3, 3] + [0.0, 0.0, 0.0875]


def test_the_head_collides_with_the_balcony_and_nothing_else_does(errand, animation):
    verdict = recheck(errand.team, animation.motion, errand.scene)
    hits = [o.where for o in verdict.objections if o.what == "collision"]
    assert hits
    assert all("person" in text and "balcony" in text for text in hits), hits


def test_the_spine_bends_under_the_balcony_and_straightens_again(errand, animation, tuned):
    assert tuned.free, tuned.trouble
    (change,) = tuned.changes
    before, after = (slice(0, change.first), slice(change.last + 1, None))
    more = spine(tuned.motion) - spine(animation.motion)
    assert np.abs(more[before]).max() < 1e-12, "upright until the balcony"
    assert np.abs(more[after]).max() < 1e-12, "upright after it"
    whole = WholeTeam(errand.team, errand.scene)
    under = np.unique(whole.near(whole.rows(animation.motion), 0.0).sample)
    assert len(under) > 10, "too tall for the balcony"
    assert more[under].min() > 0.15, "the spine bends"
    crown, lower = top(animation.motion)[:, 2], top(tuned.motion)[:, 2]
    assert (crown - lower)[under].min() > 0.03
    assert lower[change.last + 1 :].max() > crown[under].max() - 0.02, "as tall as before"
    dt = tuned.motion.t[1]
    assert np.abs(np.diff(more, 2)).max() / dt**2 < 5.0, "in its own time: rad/s²"


def test_legs_bases_and_the_goal_are_as_planned(animation, tuned):
    person, legs = tuned.motion.track("person"), animation.motion.track("person")
    names = [n for n in person.figure.names if n.startswith("pelvis") or "hip" in n or "knee" in n or "ankle" in n]
    for name in names:
        assert np.array_equal(person.column(name), legs.column(name)), name
    for name in ("object", "robot"):
        mine, other = (motion.track(name).q for motion in (tuned.motion, animation.motion))
        assert np.abs(mine[[0, -1]] - other[[0, -1]]).max() < 1e-9


def test_the_result_is_accepted(errand, tuned):
    """Zero hits at 5 mm on full meshes, closure to 1e-6, feet within 1 cm."""
    verdict = recheck(errand.team, tuned.motion, errand.scene, margin=errand.margin)
    assert verdict.accepted, str(verdict)
    assert verdict.closure < 1e-6
    assert verdict.slide <= 0.01
    assert verdict.clearance >= 0.01 - 1e-6


def test_coal_agrees(errand, tuned):
    """By coal alone, shape by shape, with none of our own kernels: nothing touches the scene at every thirtieth sample."""
    still = []
    for obstacle in errand.scene.obstacles:
        assert isinstance(obstacle.geometry, Mesh)
        X = se3.pose(obstacle.position, obstacle.rotation)
        still.append((obstacle.name, solid(obstacle.geometry).coal, coal.Transform3s(X[:3, :3], X[:3, 3])))
    request, result = coal.CollisionRequest(), coal.CollisionResult()
    for track in tuned.motion.tracks:
        X_WF = frames_along(track.figure, track.q[::30])
        for shape in track.figure.shapes:
            own = solid(shape.geometry).coal
            X_FS = se3.pose(shape.position, shape.rotation)
            for X in X_WF[:, track.figure.frame_index[shape.frame]] @ X_FS:
                here = coal.Transform3s(X[:3, :3].copy(), X[:3, 3].copy())
                for name, thing, there in still:
                    result.clear()
                    assert not coal.collide(own, here, thing, there, request, result), (track.name, shape.name, name)
