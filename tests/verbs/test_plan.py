"""Planning files and the verb that runs them."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bunraku.cli import app
from bunraku.errors import FileError
from bunraku.io import load
from bunraku.planning.strings import search
from bunraku.stage import Recorded
from bunraku.verbs.entries import entries_of
from bunraku.verbs.plan.file import PlanOrder
from bunraku.verbs.plan.run import plan, problem_of

ARM = """plan: arm3d
start: {hand_x: -0.05, hand_y: 0.42, hand_length: 1.1}
goal:
  configuration: {hand_x: 0.3, hand_y: 0.3, hand_length: 75 cm}
  within: 5 cm
scene: {scene: air, floor: -1, obstacles: [{sphere: 0.05, at: [0.5, 0.5, -0.4], name: ball}]}
limits: {speed: 0.6, acceleration: 6, hand_x: [-0.4, 0.5]}
budget: 10 s
seed: 1
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "arm.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_says_all_of_a_problem(tmp_path: Path) -> None:
    order = PlanOrder.load(written(tmp_path, ARM + "hold: [hand_y]\nplanner: ao-est\noutput: arm.npz\n"))
    problem = order.problem
    assert problem.figure.name == "arm3d"
    assert problem.goal.within == pytest.approx(0.05)
    assert problem.limits.lower[0] == -0.4
    assert problem.limits.speed.tolist() == [0.6, 0.0, 0.6]
    assert order.planner == "ao-est"
    assert order.seconds == 10.0
    assert order.seed == 1
    assert order.output == (tmp_path / "arm.npz",)
    assert "arm3d" in str(order)
    points = PlanOrder.load(written(tmp_path, "plan: arm3d\ngoal: {points: {tip: [0.2, 0.2, 0.1]}, within: 2 cm}\n")).problem
    assert points.goal.targets.tolist() == [[0.2, 0.2, 0.1]]
    assert points.goal.kinematic is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("arm3d", "arm4d", "no figure is called"),
        ("hand_x: 0.3", "hand_z: 0.3", "unknown word 'hand_z'"),
        ("within: 5 cm", "within: -5 cm", "-5 cm is not more than zero"),
        ("speed: 0.6", "speed: -1", "a speed of -1"),
        ("[-0.4, 0.5]", "[0.5, -0.4]", "is above"),
        ("seed: 1", "seed: 1.5", "no whole number"),
        ("seed: 1", "planner: rrt", "unknown planner 'rrt'"),
        ("budget", "budgets", "unknown word 'budgets'"),
        ("configuration: {hand_x: 0.3, hand_y: 0.3, hand_length: 75 cm}", "points: {toe: [0, 0, 0]}", "unknown word 'toe'"),
    ],
)
def test_errors_point_at_the_word(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        PlanOrder.load(written(tmp_path, ARM.replace(old, new)))
    assert caught.value.line is not None
    assert "advice" in str(caught.value)


def test_the_verb_writes_motion_tree_and_picture(tmp_path: Path) -> None:
    file, motion, tree, picture = written(tmp_path, ARM), *(tmp_path / name for name in ("m.npz", "tree.npz", "tree.png"))
    options = ["plan", str(file), "--workers", "1", "-o", str(motion), "--tree", str(tree), "--picture", str(picture)]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert "accepted" in done.output
    order = PlanOrder.load(file)
    assert np.array_equal(load(motion).q, search(order.problem, seed=1).motion.q)  # type: ignore[union-attr]
    with np.load(tree) as arrays:
        assert arrays["parent"][0] == -1
        assert (arrays["parent"][1:] < np.arange(1, len(arrays["parent"]))).all()
        assert len(arrays["q"]) == len(arrays["cost"]) == len(arrays["points"])
    assert picture.stat().st_size > 10_000


def test_the_verb_says_why_there_is_no_plan(tmp_path: Path) -> None:
    done = CliRunner().invoke(app, ["plan", str(written(tmp_path, ARM.replace("0.5, 0.5, -0.4", "-0.03, 0.25, -0.3")))])
    assert done.exit_code == 1
    text = " ".join(done.output.split())
    assert "start blocked" in text
    assert "ball" in text
    done = CliRunner().invoke(app, ["plan", str(written(tmp_path, ARM.replace("budget: 10 s", "budget: 0 s")))])
    assert done.exit_code == 1
    assert "0 s is not more than zero" in done.output


def test_smoothed_on_order(tmp_path: Path) -> None:
    file = written(tmp_path, ARM + "smooth: true\n")
    done = CliRunner().invoke(app, ["plan", str(file), "-o", str(tmp_path / "arm.npz"), "--workers", "1"])
    assert done.exit_code == 0, done.output
    assert "acceleration² of the hands" in done.output
    alone = search(PlanOrder.load(file).problem, seed=1)
    smoothed = dataclasses.replace(alone, motion=load(tmp_path / "arm.npz"))
    assert smoothed.roughness < 0.1 * alone.roughness


def test_a_planning_file_on_the_stage_shows_the_tree(tmp_path: Path) -> None:
    (entry,) = entries_of(written(tmp_path, ARM))
    piece = entry.open()
    assert isinstance(piece, Recorded)
    assert piece.scene is not None
    assert {obstacle.name for obstacle in piece.scene.obstacles} == {"ball", "tree"}
    with pytest.raises(FileError, match="did you mean"):
        entries_of(written(tmp_path, ARM.replace("goal:", "gaol:")))
