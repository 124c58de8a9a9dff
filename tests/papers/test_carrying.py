"""*carrying*, Section V: the factory, the living room and a ramp, from the file to a motion that the rechecker accepts."""

from __future__ import annotations

import functools
from dataclasses import replace

import numpy as np
import pytest

from bunraku.ensemble.carry import CARRY_STAGES, carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.scenes.living_room import DESK_HEIGHT, PIANO_LEGS
from bunraku.kinematics import pose
from bunraku.kinematics.forward import frames_along
from tests.ensemble.judge import judge


@functools.cache
def done(name, seed=0):
    return carry(load_errand(name), seed=seed)


@pytest.mark.parametrize(
    ("name", "variables"),
    [
        pytest.param("factory", 12, marks=pytest.mark.slow),
        pytest.param("factory_door", 12, marks=pytest.mark.slow),
        pytest.param("living_room", 15, marks=pytest.mark.slow),  # on the stage: tests/teleop/test_opening.py
        ("ramp", 18),
        pytest.param("ramp_people", 18, marks=pytest.mark.slow),
    ],
)
def test_errands_are_done(name, variables):
    made = done(name)
    assert made.outcome.ok, made.outcome.why
    errand = made.errand
    assert errand.team.n == variables
    assert np.diff(made.motion.t).max() <= 1.0 / 60.0
    assert set(made.seconds) == set(CARRY_STAGES)
    verdict = recheck(
        errand.team, made.motion, errand.scene, margin=errand.margin, heights=errand.heights, ground=errand.ground,
        allowed=errand.allowed,
    )  # fmt: skip
    assert verdict.accepted, str(verdict)
    assert verdict.clearance >= errand.margin - 1e-6
    assert verdict.closure < 1e-6
    found = judge(errand, made.motion, distances=False)
    assert found.worst("speed") <= 1.01 * errand.speed
    assert found.worst("acceleration") <= 1.01 * errand.acceleration
    assert found.closure < 2e-3, "also between samples"
    assert found.worst("slide") < 0.012, "also between samples, and of corners that are 2 mm above the ground"


@pytest.mark.slow
def test_the_same_seed_gives_the_same_motion():
    again = carry(load_errand("living_room"), seed=0)
    for mine, other in zip(done("living_room").motion.tracks, again.motion.tracks, strict=True):
        assert np.array_equal(mine.q, other.q)


@pytest.mark.slow
def test_samples_only_say_how_many_are_kept():
    made = done("living_room")
    few = replace(made, samples=78).kept
    assert len(few) == 78
    assert np.array_equal(few.t[[0, -1]], made.motion.t[[0, -1]])
    assert made.kept is made.motion


@pytest.mark.slow
def test_the_piano_is_raised_over_the_desk():
    """Fig. 10."""
    piano = done("living_room").motion.track("object")
    over = []
    for q in piano.q:
        X = pose(piano.figure, q).X("object")
        feet = np.array([X[:3, :3] @ (x, y, -0.36) + X[:3, 3] for x, y in PIANO_LEGS])
        here = (np.abs(feet[:, 0]) < 0.65) & (np.abs(feet[:, 1] - 0.17) < 0.43)
        over.append(feet[here, 2].min() if here.any() else np.nan)
    passing = np.isfinite(over)
    assert passing.any(), "a leg passes over the desk"
    assert np.nanmin(over) >= DESK_HEIGHT + 0.01
    assert not passing[[0, -1]].any()
    assert piano.q[passing, 2].min() > piano.q[[0, -1], 2].max() + 0.15


def test_wheels_follow_the_ramp():
    made = done("ramp")
    front = made.motion.track("front")
    x, lift, pitch, roll = front.q[:, front.figure.indices(("base_x", "base_lift", "base_pitch", "base_roll"))].T
    ground = np.clip((x + 1.5) / 5.0, 0.0, 1.0) * 0.6
    assert np.abs(lift - ground).max() < 0.02
    on_slope = (x > -1.0) & (x < 3.0)
    assert np.allclose(np.hypot(pitch, roll)[on_slope], np.arctan(0.12), atol=6e-3)
    assert np.abs(np.hypot(pitch, roll)[(x < -2.1) | (x > 4.1)]).max() < 5e-3


@pytest.mark.slow
def test_people_walk_up_the_ramp():
    """Upright, on soles that lie on the slope, one of them backward."""
    made = done("ramp_people")
    for name, way in (("behind", 1.0), ("before", -1.0)):
        track = made.motion.track(name)
        names = [f"pelvis_{axis}" for axis in ("tx", "tz", "rz", "ry", "rx")]
        x, z, heading, pitch, roll = track.q[:, track.figure.indices(names)].T
        ground = np.clip((x + 1.5) / 5.0, 0.0, 1.0) * 0.6
        assert np.ptp(z) > 0.5
        assert np.abs(z - ground - np.median(z - ground)).max() < 0.12, "as high over the slope as over the floor"
        assert np.hypot(pitch, roll).max() < 0.15
        on_slope = (x > -1.0) & (x < 3.0)
        assert (way * np.cos(heading[on_slope]) > 0.3).all(), "they begin to turn on the slope"
        frames = frames_along(track.figure, track.q)
        soles = np.stack([frames[:, track.figure.frame_index[f"{side}_ankle"]] for side in ("left", "right")], 1)
        low = np.argmin(soles[..., 2, 3] - np.clip((soles[..., 0, 3] + 1.5) / 5.0, 0.0, 1.0) * 0.6, 1)
        normal = soles[np.arange(len(low)), low, :3, 2]
        assert np.degrees(np.median(np.arccos(normal[on_slope] @ [-np.sin(0.1194), 0.0, np.cos(0.1194)]))) < 2.0
