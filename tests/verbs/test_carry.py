from __future__ import annotations

import numpy as np
import pytest
from typer.testing import CliRunner

from bunraku.cli import app
from bunraku.io import load
from bunraku.sweeps import result_store
from bunraku.verbs.entries import entries_of

TEXT = """carry: tray
scene: {scene: hall, obstacles: [{box: [0.4, 0.4, 2], at: [0, 0.4, 1], name: pillar}]}
object:
  shapes: [{box: [1.5, 0.8, 0.06], name: slab}]
  tilt: 0.3
  heights: [0.6, 1.3]
agents:
  left: {kind: rover, holds: {tool: {at: [-0.62, 0, 0.05], x: [0, 1, 0]}}}
  right: {kind: rover, holds: {tool: {at: [0.62, 0, 0.05], x: [0, 1, 0]}}}
area: [[-4, 4], [-3, 3]]
start: {object: [-2, 0, 0.8], yaw: 90 deg, left: [-2, -1.2, 90 deg], right: [-2, 1.2, -90 deg]}
goal: {object: [2, 0, 0.8], yaw: 90 deg, left: [2, -1.2, 90 deg], right: [2, 1.2, -90 deg]}
samples: 40
budget: 60 s
"""


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "tray.yaml"
    path.write_text(TEXT, encoding="utf-8")
    return path


def told(*words):
    return CliRunner().invoke(app, ["carry", *map(str, words)])


def test_files_and_a_table(file, tmp_path):
    result = told(file, "-o", tmp_path / "tray.npz", "-o", tmp_path / "tray.glb", "--plot", tmp_path / "view.png", "--seed", "1")
    assert result.exit_code == 0, result.output
    for word in ("roadmap", "query", "timing", "locomotion", "manipulation", "tuning", "31.4", "paper"):
        assert word in result.output
    motion = load(tmp_path / "tray.npz")
    assert motion.names == ("left", "right", "object")
    assert len(motion) == 40
    assert np.allclose(motion.track("object").q[-1, :3], [2, 0, 0.8])
    assert (tmp_path / "tray.glb").exists()
    assert (tmp_path / "view.png").exists()


def test_what_cannot_be_done_is_said_once(file, tmp_path):
    file.write_text(TEXT.replace("start: {object: [-2, 0, 0.8]", "start: {object: [-2, 9, 0.8]"), encoding="utf-8")
    result = told(file, "-o", tmp_path / "tray.npz")
    assert result.exit_code == 1
    assert "ended in    roadmap" in result.output
    assert "advice" in result.output
    assert not (tmp_path / "tray.npz").exists()


def test_names_that_cannot_be_written_are_refused_first(file, tmp_path):
    assert "hold a motion" in told(file, "-o", tmp_path / "tray.doc").output
    assert "hold a picture" in told(file, "--stills", tmp_path / "view.gif").output
    assert "no agent of the team is a person" in told(file, "-o", tmp_path / "tray.bvh").output


@pytest.mark.slow
def test_many_seeds(file, tmp_path, monkeypatch):
    """`--runs` is a sweep over seeds: a second time, the runs are taken from the store."""
    monkeypatch.setattr(result_store, "default_folder", lambda: tmp_path / "store")
    result = told(file, "--runs", "2", "--seed", "2", "--workers", "1")
    assert result.exit_code == 0, result.output
    assert "2 of 2 within 60 s of processor time" in result.output
    assert "manipulation" in result.output
    assert "2 of these runs were done before" in told(file, "--runs", "2", "--seed", "2", "--workers", "1").output


def test_on_the_stage(file):
    file.write_text(f"{TEXT}seed: 1\n", encoding="utf-8")
    (entry,) = entries_of(file)
    shown = entry.open()
    assert "roadmap" in [obstacle.name for obstacle in shown.scene.obstacles]
    assert any(name.startswith("reach of") for name in shown.motion.names)


def test_files_are_checked(file):
    result = CliRunner().invoke(app, ["check", str(file)])
    assert result.exit_code == 0, result.output
    assert "errand tray: left, right in hall, 12 variables, 40 samples kept" in result.output
    file.write_text(TEXT.replace("kind: rover", "kind: rower", 1), encoding="utf-8")
    result = CliRunner().invoke(app, ["check", str(file)])
    assert result.exit_code == 1
    assert "tray.yaml:8:16" in result.output
    assert "rover" in result.output
