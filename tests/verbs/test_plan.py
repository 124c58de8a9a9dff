"""Planning files and the verb that runs them."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

from bunraku.cli import app
from bunraku.dynamics import settle
from bunraku.errors import FileError, UnknownName
from bunraku.figure import library
from bunraku.io import load
from bunraku.planning.strings import Goal
from bunraku.planning.strings.parallel_trees import SearchTask
from bunraku.progress import Progress
from bunraku.stage import Recorded
from bunraku.verbs.entries import entries_of
from bunraku.verbs.plan import run
from bunraku.verbs.plan.file import PlanOrder
from bunraku.verbs.plan.run import plan, problem_of

ARM = """plan: arm3d
start: {hand_x: -0.05, hand_y: 0.42, hand_length: 1.1}
goal:
  configuration: {hand_x: 0.3, hand_y: 0.3, hand_length: 75 cm}
  within: 5 cm
scene: {scene: air, floor: -1, obstacles: [{sphere: 0.05, at: [0.5, 0.5, -0.4], name: ball}]}
limits: {speed: 0.6 m/s, acceleration: 6 m/s², hand_x: [-40 cm, 0.5]}
budget: 60 s
seed: 1
"""


def written(folder: Path, text: str) -> Path:
    file = folder / "arm.yaml"
    file.write_text(text, encoding="utf-8")
    return file


def test_a_file_says_all_of_a_problem(tmp_path: Path) -> None:
    order = PlanOrder.load(written(tmp_path, ARM + "hold: [hand_y]\nplanner: ao-est\noutput: arm.npz\n"))
    assert order.figure.name == "arm3d"
    assert order.goal.within == pytest.approx(0.05)
    assert order.limits.lower[0] == -0.4
    assert order.limits.acceleration.tolist() == [6.0, 6.0, 6.0]
    assert order.hold == ("hand_y",)
    problem = problem_of(order.figure, order.goal, start=order.start, limits=order.limits, hold=order.hold)
    assert problem.limits.speed.tolist() == [0.6, 0.0, 0.6]
    assert order.planner == "ao-est"
    assert order.budget == 60.0
    assert order.workers == 1
    assert order.seed == 1
    assert order.output == (tmp_path / "arm.npz",)
    assert "arm3d" in str(order)
    points = PlanOrder.load(written(tmp_path, "plan: arm3d\ngoal: {points: {tip: [0.2, 0.2, 0.1]}, within: 2 cm}\n"))
    assert points.goal.targets.tolist() == [[0.2, 0.2, 0.1]]
    assert points.goal.kinematic is None


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("arm3d", "arm4d", "no figure is called"),
        ("hand_x: 0.3", "hand_z: 0.3", "unknown word 'hand_z'"),
        ("within: 5 cm", "within: -5 cm", "-5 cm is not more than zero"),
        ("speed: 0.6 m/s", "speed: -1", "a speed of -1"),
        ("speed: 0.6 m/s", "speed: 0.6 kg", "kg"),
        ("[-40 cm, 0.5]", "[0.5, -0.4]", "is above"),
        ("seed: 1", "seed: 1.5", "expected a whole number"),
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
    curves = tmp_path / "curves.png"
    files = ["-o", str(motion), "--tree", str(tree), "--picture", str(picture), "--plot", str(curves)]
    options = ["plan", str(file), *files]
    done = CliRunner().invoke(app, options)
    assert done.exit_code == 0, done.output
    assert "accepted" in done.output
    order = PlanOrder.load(file)
    alone = order.run()
    assert alone.seed == 1
    assert alone.motion is not None
    assert np.array_equal(load(motion).q, alone.motion.q)
    again = plan(order.figure, order.goal, start=order.start, scene=order.scene, limits=order.limits, seed=1)
    assert again.motion == alone.motion
    with np.load(tree) as arrays:
        assert arrays["parent"][0] == -1
        assert (arrays["parent"][1:] < np.arange(1, len(arrays["parent"]))).all()
        assert len(arrays["q"]) == len(arrays["cost"]) == len(arrays["points"])
    assert picture.stat().st_size > 10_000
    assert curves.stat().st_size > 10_000


def test_the_verb_says_why_there_is_no_plan(tmp_path: Path) -> None:
    blocked = ARM.replace("0.5, 0.5, -0.4", "-0.03, 0.25, -0.3")
    done = CliRunner().invoke(app, ["plan", str(written(tmp_path, blocked)), "-o", str(tmp_path / "no.npz")])
    assert done.exit_code == 1
    text = " ".join(done.output.split())
    assert "start blocked" in text
    assert "ball" in text
    assert "advice: move the start or the obstacle" in text
    assert not (tmp_path / "no.npz").exists()
    done = CliRunner().invoke(app, ["plan", str(written(tmp_path, ARM.replace("budget: 60 s", "budget: 0 s")))])
    assert done.exit_code == 1
    assert "0 s is not more than zero" in done.output


def test_smoothed_on_order(tmp_path: Path) -> None:
    file = written(tmp_path, ARM + "smooth: true\n")
    done = CliRunner().invoke(app, ["plan", str(file), "-o", str(tmp_path / "arm.npz")])
    assert done.exit_code == 0, done.output
    assert "acceleration² of the hands" in done.output
    alone = PlanOrder.load(file).run()
    assert alone.rough is not None
    assert alone.roughness < 0.1 * alone.rough
    assert alone.motion is not None
    assert np.array_equal(load(tmp_path / "arm.npz").q, alone.motion.q)


def test_words_of_a_file_are_options_in_python() -> None:
    arm = library.arm3d()
    end = settle(arm, arm.configuration(settle(arm), hand_x=0.3, hand_y=0.3, hand_length=0.75))
    heard: list[Progress] = []
    limits = {"speed": 0.5, "reach": 0.5, "hand_x": (-0.4, 0.5)}
    found = plan(arm, Goal.at_configuration(arm, end, within=0.08), limits=limits, seed=1, progress=heard.append)
    assert found.outcome.ok, found
    assert found.seed == 1
    assert set(found.seconds) == {"search"}
    assert found.problem.limits.lower[0] == -0.4
    assert found.problem.limits.speed.tolist() == [0.5] * 3
    assert {word.stage for word in heard} == {"search"}
    assert all(0.0 <= word.done <= 1.0 for word in heard)
    assert [title for title, _ in found.report()] == ["outcome", "plan", "search", "recheck"]
    with pytest.raises(UnknownName, match="did you mean hand_x"):
        plan(arm, end, limits={"hand_xx": (0.0, 1.0)})
    with pytest.raises(UnknownName, match="hand_q"):
        plan(arm, end, hold=("hand_q",))


def test_ctrl_c_keeps_the_best_so_far(tmp_path: Path) -> None:
    def interrupt(word: Progress) -> None:
        if "cost" in word.text:
            raise KeyboardInterrupt

    text = ARM.replace("budget: 60 s", "budget: 600 s") + "planner: ao-est\nsmooth: true\n"
    found = PlanOrder.load(written(tmp_path, text)).run(progress=interrupt)
    assert found.outcome.kind == "stopped"
    assert found.motion is not None
    assert found.verdict is not None
    assert found.verdict.accepted


@pytest.mark.parametrize(("where", "name"), [(run, "settle"), (SearchTask, "refusal")])
def test_ctrl_c_before_the_search(where: object, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(where, name, interrupt)
    arm = library.named("arm3d")
    stopped = plan(arm, Goal.at_points(arm, {"tip": (0.2, 0.2, 0.1)}), seed=3)
    assert stopped.outcome.kind == "stopped"
    assert stopped.motion is None
    assert stopped.seed == 3
    assert stopped.planner.name == "est"


def test_a_bad_address_of_a_cluster_is_one_clear_error(tmp_path: Path) -> None:
    pytest.importorskip("distributed")
    done = CliRunner().invoke(app, ["plan", str(written(tmp_path, ARM)), "--cluster", "nowhere"])
    assert done.exit_code == 1
    assert "no cluster answers at 'nowhere'" in done.output
    assert "advice" in done.output


def test_a_planning_file_on_the_stage_shows_the_tree(tmp_path: Path) -> None:
    (entry,) = entries_of(written(tmp_path, ARM))
    piece = entry.open()
    assert isinstance(piece, Recorded)
    assert piece.scene is not None
    assert {obstacle.name for obstacle in piece.scene.obstacles} == {"ball", "tree"}
    with pytest.raises(FileError, match="did you mean"):
        entries_of(written(tmp_path, ARM.replace("goal:", "gaol:")))
