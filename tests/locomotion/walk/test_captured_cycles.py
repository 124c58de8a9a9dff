from __future__ import annotations

import re

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.io.bvh.bvh_writer import save_bvh
from bunraku.locomotion.walk import captured, load_cycles, walk
from bunraku.motion import Motion

PERSON = library.named("mannequin")
PHASE = np.linspace(0.0, 1.0, 100, endpoint=False)


@pytest.fixture(scope="module")
def recording():
    """Four seconds of walking at 1.2 m/s, askew."""
    t = np.linspace(0.0, 8.0, 481)
    speed = np.clip(np.minimum(t, 8.0 - t), 0.0, 1.0)
    s = 1.2 * np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]) * np.diff(t))])
    return walk(PERSON, t, np.stack([s * np.cos(0.5), s * np.sin(0.5), 0.0 * s + 0.5], 1)).motion.slice(2.0, 6.0)


def test_a_bvh_file_instead_of_the_library(recording, tmp_path):
    save_bvh(recording, tmp_path / "stroll.bvh")
    cycles = captured(tmp_path / "stroll.bvh")
    found, known = cycles["stroll"], load_cycles()["comfortable"]
    assert found.velocity == pytest.approx([1.2, 0.0, 0.0], abs=0.05)
    assert found.stance == pytest.approx(known.stance, abs=0.04)
    for channel in ("left_foot", "right_foot", "left_shoulder_ry", "right_elbow", "pelvis_rx", "pelvis_tz"):
        assert np.corrcoef(found.at(PHASE, channel), known.at(PHASE, channel))[0, 1] > 0.95, channel
    t = np.linspace(0.0, 12.0, 268)
    x = 6.0 * (t / 12.0 - np.sin(2.0 * np.pi * t / 12.0) / (2.0 * np.pi))
    base = np.stack([x, 0.0 * x, 0.0 * x], 1)
    walked = walk(PERSON, t, base, cycles=cycles, gentle=0.19)
    lower, upper = PERSON.limits
    assert walked.slide < 1e-6
    assert walked.jump < 0.2
    assert np.maximum(lower - walked.Q, walked.Q - upper).max() <= 0.0


NAMES = {"pelvis": "Hips", "waist": "Spine", "chest": "Spine1", "neck": "Neck"} | {
    f"{side}_{own}": f"{side.capitalize()}{other}"
    for side in ("left", "right")
    for own, other in {
        "hip": "UpLeg", "knee": "Leg", "ankle": "Foot", "toe": "ToeBase", "clavicle": "Shoulder", "shoulder": "Arm",
        "elbow": "ForeArm", "wrist": "Hand",
    }.items()
}  # fmt: skip


def test_names_of_other_skeletons_and_trembling_markers(recording, tmp_path):
    q = recording.q + np.random.default_rng(0).normal(scale=0.002, size=recording.q.shape)
    save_bvh(Motion.of(PERSON, recording.t, q), tmp_path / "own.bvh")
    text = re.sub(r"(?<=JOINT )\w+|(?<=ROOT )\w+", lambda found: NAMES.get(found[0], found[0]), (tmp_path / "own.bvh").read_text())
    assert "LeftUpLeg" in text
    (tmp_path / "other.bvh").write_text(text)
    found, known = captured(tmp_path / "other.bvh")["other"], load_cycles()["comfortable"]
    assert found.velocity == pytest.approx([1.2, 0.0, 0.0], abs=0.06)
    assert found.stance == pytest.approx(known.stance, abs=0.05)
    for channel in ("left_foot", "right_foot", "left_shoulder_ry", "left_knee_ry"):
        assert np.corrcoef(found.at(PHASE, channel), known.at(PHASE, channel))[0, 1] > 0.93, channel


def test_a_motion_will_do(recording):
    assert captured(recording).cycles[1].velocity[0] == pytest.approx(1.2, abs=0.03)


def test_what_holds_no_stride_is_refused(recording):
    with pytest.raises(BunrakuError, match="no whole stride"):
        captured(recording.slice(2.0, 2.5))
    still = Motion.of(PERSON, np.linspace(0.0, 2.0, 50), np.tile(PERSON.start, (50, 1)))
    with pytest.raises(BunrakuError, match="no whole stride"):
        captured(still)
    with pytest.raises(BunrakuError, match="too few for a stride"):
        captured(Motion.of(PERSON, [0.0, 1.0], np.tile(PERSON.start, (2, 1))))
