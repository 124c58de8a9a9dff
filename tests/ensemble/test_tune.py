from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bunraku.ensemble.animate import Animation
from bunraku.ensemble.closed_loops import Loops
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.tune import tune
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.errors import BunrakuError
from bunraku.figure import Box, Sphere
from bunraku.kinematics import pose
from bunraku.scene import Obstacle, Scene
from tests.ensemble.waiters import HIGH, gliding, moved, waiters

SPINE = [f"{ball}_{axis}" for ball in ("waist", "chest") for axis in ("rz", "ry", "rx")]


def beam(x=0.0, z=1.70, name="beam"):
    return Obstacle(name, Box((0.3, 3.0, 0.2)), (x, 0.0, z))


def tuned(*obstacles, motion=None, **words):
    scene = Scene("hall", obstacles)
    motion = gliding() if motion is None else motion
    return scene, tune(waiters(), Animation(motion), scene, **words)


def faults(motion, scene, **words):
    """But for feet, which glide here."""
    return [str(o) for o in recheck(waiters(), motion, scene, **words).objections if o.what != "feet"]


def clearance(motion, scene):
    """The least at the samples themselves [m], of what must keep a margin."""
    whole = WholeTeam(waiters(), scene)
    near = whole.near(whole.rows(motion), 0.02)
    return near.value[near.apart].min(initial=0.02)


def column(motion, variable):
    return motion.track("person").column(variable)


def test_a_head_under_a_beam_bends_the_spine_and_straightens_again():
    before = gliding()
    scene, done = tuned(beam(), margin=0.01)
    assert faults(before, scene)
    assert done.free
    assert done.sample == -1
    assert not faults(done.motion, scene, margin=0.01)
    bend = column(done.motion, "waist_ry") + column(done.motion, "chest_ry")
    (change,) = done.changes
    assert bend.max() > 0.4, "the spine bends"
    assert "beam" in change.why
    assert [(mark.kind, mark.t) for mark in done.motion.marks] == [("tuning", done.motion.t[change.first])]
    outside = np.r_[0 : change.first, change.last + 1 : len(bend)]
    assert len(outside) > 40
    for track in before.tracks:
        same = done.motion.track(track.name).q
        assert np.abs(same[outside] - track.q[outside]).max() < 1e-12, "nothing changes outside of the window"
    speed = np.diff(bend)
    assert np.abs(np.diff(speed)).max() < 0.03, "it comes and goes smoothly"
    assert np.array_equal(done.motion.track("object").q, before.track("object").q), "the tray need not move"


def test_no_more_than_is_needed():
    scene, low = tuned(beam(z=1.70))
    _, high = tuned(beam(z=1.80))
    assert high.free
    assert high.changes[0].deformation < 0.7 * low.changes[0].deformation
    whole = WholeTeam(waiters(), scene)
    Q = whole.rows(gliding())
    for share, free in ((1.0, True), (0.6, False)):
        changed, ok = Loops(whole).changed(Q, low.changes[0].warp.scaled(share).at(np.arange(len(Q))))
        assert ok.all()
        assert (len(whole.near(changed, 0.01)) == 0) == free


def test_the_same_seed_gives_the_same_motion():
    runs = [tuned(beam(), seed=seed)[1] for seed in (4, 4, 5)]
    assert runs[0].motion == runs[1].motion
    assert runs[0].motion != runs[2].motion


def test_where_nothing_touches_nothing_changes():
    motion = gliding()
    _, done = tuned(motion=motion)
    assert done.free
    assert done.motion is motion
    assert not done.changes


def test_two_beams_are_two_changes_or_one():
    scene, done = tuned(beam(-1.2), beam(1.0, 1.75, "other"))
    assert done.free
    assert not faults(done.motion, scene)
    scene, done = tuned(beam(-0.2), beam(0.4, 1.68, "other"))
    assert done.free
    assert not faults(done.motion, scene)


def test_the_tray_is_raised_over_a_knob():
    motion = moved(np.zeros(120), y=np.linspace(-1.0, 1.0, 120))
    scene, done = tuned(Obstacle("knob", Sphere(0.06), (0.1, 0.0, HIGH - 0.07)), motion=motion)
    assert done.free, done.trouble
    assert not faults(done.motion, scene, margin=0.01)
    z = done.motion.track("object").column("object_tz")
    assert z.max() > HIGH + 0.01
    assert abs(z[0] - HIGH) < 1e-12
    assert abs(z[-1] - HIGH) < 1e-12


def test_an_elbow_gives_way():
    person = gliding().track("person")
    elbow = pose(person.figure, person.q[60]).X("left_elbow")[:3, 3]
    # Hangs beside the arm, where only the elbow passes.
    post = Obstacle("post", Box((0.05, 0.05, 0.05)), (0.0, elbow[1] + 0.05, elbow[2]))
    scene, done = tuned(post)
    assert done.free, done.trouble
    assert done.changes
    assert "person.left" in done.changes[0].why
    assert not faults(done.motion, scene)
    assert np.abs(column(done.motion, "left_shoulder_rx") - person.column("left_shoulder_rx")).max() > 0.02


def test_what_begins_under_a_beam_begins_bent():
    scene, done = tuned(beam(-2.66))
    assert done.free
    assert not faults(done.motion, scene)
    assert column(done.motion, "chest_ry")[0] > 0.1
    assert abs(column(done.motion, "chest_ry")[-1]) < 1e-12
    assert np.array_equal(done.motion.track("object").q[0], gliding().track("object").q[0])


def test_what_no_posture_avoids_is_said():
    wall = Obstacle("wall", Box((0.1, 3.0, 0.9)), (1.5, 0.0, 0.45))
    scene, done = tuned(wall, beam(-2.0))
    assert not done.free
    assert "wall" in done.trouble
    assert 1.0 < done.motion.track("robot").q[done.sample, 0] < 2.0, "the sample is where the trouble is"
    hits = {o.where for o in recheck(waiters(), done.motion, scene).objections}
    before = {o.where for o in recheck(waiters(), gliding(), scene).objections}
    assert not any("beam" in text for text in hits), "the rest is mended all the same"
    assert len(hits) < len(before)


@pytest.mark.slow
def test_too_low_is_too_low():
    scene, done = tuned(beam(z=1.2))
    assert not done.free
    assert "no free posture" in done.trouble
    before, after = (recheck(waiters(), motion, scene) for motion in (gliding(), done.motion))
    assert len(after.objections) <= len(before.objections), "never worse than it was"
    assert clearance(done.motion, scene) >= clearance(gliding(), scene) - 1e-6


def test_time_is_kept():
    _, done = tuned(beam(), seconds=1e-6)
    assert "the time budget ended" in done.trouble
    assert done.motion == gliding()


def test_what_could_not_be_held_cannot_be_tuned():
    with pytest.raises(BunrakuError, match="no motion to tune: lost"):
        tune(waiters(), Animation(None, trouble="lost"), Scene("hall"))


places = st.tuples(st.floats(-1.5, 1.5), st.floats(-0.6, 0.6), st.floats(0.2, 1.9))
sizes = st.tuples(st.floats(0.05, 0.5), st.floats(0.05, 1.0), st.floats(0.05, 0.4))


@pytest.mark.slow
@settings(max_examples=4)
@given(places, sizes)
@example((1.0, 0.0, 1.25), (0.5, 1.0, 0.375))
@example((-0.179, 0.546, 1.05), (0.241, 0.639, 0.398))  # the tray's way out would press an arm deeper, which has none
def test_never_worse_than_it_was(place, size):
    """Wherever a box is: what is said to be free is, and what is not touches no deeper than before."""
    scene, done = tuned(Obstacle("box", Box(size), place), seconds=3.0)
    # The rechecker looks between samples, at other places of another motion: depths are compared at the samples of both.
    assert clearance(done.motion, scene) >= min(clearance(gliding(), scene), 0.01) - 1e-6
    after = recheck(waiters(), done.motion, scene)
    assert after.closure < 1e-9
    if done.free:
        assert not faults(done.motion, scene, margin=0.01)
    else:
        assert 0 <= done.sample < len(done.motion)
