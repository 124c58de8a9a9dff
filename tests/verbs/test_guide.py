"""The verb guide: logs and commands into motions and files, refusals, and clear errors."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner, Result

import bunraku
from bunraku.cli import app
from bunraku.errors import BunrakuError, FileError
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.scene import Scene
from bunraku.stage import Sticks
from bunraku.stage.input_log import InputLog
from bunraku.verbs.guide.file import GuideOrder
from bunraku.verbs.guide.run import entry, guide

FORWARD = Command("trunk", (1.0, 0.0, 0.0))
ORDER = """guide: humanoid
inputs:
  - {at: 0 s, guided: trunk, move: [1, 0, 0]}
  - {at: 0.6 s, guided: left_hand, move: [0.5, 0, 1], turn: [0, 0, 0.3]}
  - {at: 900 ms, guided: left_foot, lift: [0.5, 0]}
  - {at: 1.5 s}
scene: {scene: floor}
seconds: 500 ms
"""


def log_of(path: Path) -> list[np.ndarray]:
    """A second of forward, saved as the stage saves it, and what was seen."""
    own = entry("humanoid").open()
    log, seen = InputLog(own), [own.reset().q[0]]
    for step in range(300):
        if step in (10, 210):
            command = Sticks((0.0, float(step == 10), 0.0, 0.0, 0.0, 0.0))
            own.apply(command)
            log.add(step, command)
        seen.append(own.step().q[0])
    path.write_text(log.to_json(), encoding="utf-8")
    return seen


def ran(*words: object) -> Result:
    return CliRunner().invoke(app, ["guide", *map(str, words), "--no-play"])


def test_a_log_becomes_files(tmp_path: Path) -> None:
    seen = log_of(tmp_path / "log.json")
    out, plot = tmp_path / "walk.npz", tmp_path / "loci.png"
    told = ran("--replay", tmp_path / "log.json", "--seconds", 0.45, "-o", out, "--plot", plot)
    assert told.exit_code == 0, told.output
    assert "moves" in told.stdout
    assert np.array_equal(bunraku.load(out).q, np.array(seen)), "to the last bit"
    assert plot.stat().st_size > 10_000
    done = guide("humanoid", tmp_path / "log.json", seconds=0.45)
    assert done.outcome.ok
    assert np.array_equal(done.motion.q, np.array(seen))


def test_a_log_in_physics(tmp_path: Path) -> None:
    pytest.importorskip("mujoco")
    log_of(tmp_path / "log.json")
    told = ran("--replay", tmp_path / "log.json", "--seconds", 0.1, "--physics", "-o", tmp_path / "walk.npz")
    assert told.exit_code == 0, told.output
    planned, measured = guide("humanoid", tmp_path / "log.json", seconds=0.1).motion, bunraku.load(tmp_path / "walk.npz")
    assert len(measured) == len(planned)
    away = np.abs(measured.q - planned.q).max()
    assert 1e-6 < away < 0.1
    again = guide("humanoid", tmp_path / "log.json", seconds=0.1, physics=True)
    assert np.array_equal(again.motion.q, measured.q), "to the last bit"


def test_a_robot_that_falls_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("mujoco")
    monkeypatch.setattr("bunraku.teleop.robot_loop.RobotLoop.fallen", property(lambda _: True))
    done = guide(small_humanoid(), [(0.0, FORWARD)], physics=True, seconds=0.5)
    assert done.outcome.kind == "fell"
    assert "trunk was guided" in done.outcome.why
    assert len(done.motion) == 2


def test_commands_at_times() -> None:
    told = []
    done = guide("humanoid", [(0.0, FORWARD), (1.0, Command())], scene=Scene("floor"), seconds=0.5, seed=7, progress=told.append)
    assert done.outcome.ok, done
    assert done.seed == 7
    assert done.scene.name == "floor"
    assert done.motion.duration == pytest.approx(1.5)
    assert done.performances
    assert done.motion.q[-1, 0] > 0.02
    assert told[-1].done == 1.0
    assert [title for title, _ in done.report()] == ["outcome", "motion", "moves", "balance", "loop"]


def test_a_command_that_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.locomotion.guide.guided_move import Fault, Reason
    from bunraku.locomotion.guide.performer import Performer

    monkeypatch.setattr(Performer, "_realise", lambda *_: (None, Fault(Reason.LEG)))
    done = guide("humanoid", [(0.0, FORWARD)], seconds=0.2)
    assert done.outcome.kind == "refused"
    assert "a leg does not reach that far" in done.outcome.why
    assert done.motion is not None


def test_ctrl_c_keeps_the_motion_so_far() -> None:
    def stop(progress: bunraku.Progress) -> None:
        if progress.done > 0.5:
            raise KeyboardInterrupt

    done = guide("humanoid", [(0.0, FORWARD)], seconds=1.0, progress=stop)
    assert done.outcome.kind == "stopped"
    assert 90 < len(done.motion) < 201


def test_inputs_out_of_order() -> None:
    with pytest.raises(BunrakuError, match="out of order"):
        guide("humanoid", [(1.0, FORWARD), (0.5, Command())])


def test_what_a_file_says(tmp_path: Path) -> None:
    (tmp_path / "walk.yaml").write_text(ORDER, encoding="utf-8")
    order = bunraku.load(tmp_path / "walk.yaml")
    assert isinstance(order, GuideOrder)
    assert order.inputs[0] == (0.0, FORWARD)
    assert order.inputs[2] == (0.9, Command("left_foot", lift=(0.5, 0.0)))
    assert order.inputs[3] == (1.5, Command())
    assert order.seconds == 0.5
    assert not order.physics
    assert "4 inputs in floor" in str(order)
    done = order.run()
    assert done.motion.duration == pytest.approx(2.0)
    assert ran(tmp_path / "walk.yaml", "-o", tmp_path / "walk.npz").exit_code == int(not done.outcome.ok)
    assert np.array_equal(bunraku.load(tmp_path / "walk.npz").q, done.motion.q)


def test_a_file_names_a_log(tmp_path: Path) -> None:
    seen = log_of(tmp_path / "log.json")
    (tmp_path / "walk.yaml").write_text("guide: humanoid\ninputs: log.json\nseconds: 450 ms\n", encoding="utf-8")
    assert np.array_equal(bunraku.load(tmp_path / "walk.yaml").run().motion.q, np.array(seen))


@pytest.mark.parametrize(
    ("old", "new", "line", "told"),
    [
        ("guide: humanoid", "guide: humanid", 1, "a humanoid file"),
        ("guided: trunk", "guided: trunck", 3, "did you mean trunk"),
        ("move: [1, 0, 0]", "move: [2, 0, 0]", 3, "give -1 to 1"),
        ("move: [1, 0, 0]", "mov: [1, 0, 0]", 3, "did you mean move"),
        ("lift: [0.5, 0]", "lift: [-0.5, 0]", 5, "give 0 to 1"),
        ("lift: [0.5, 0]", "lift: 0.5", 5, "a list"),
        ("at: 900 ms", "at: 500 ms", 5, "in order"),
        ("{at: 1.5 s}", "{guided: trunk}", 6, "no 'at'"),
        ("seconds: 500 ms", "seconds: -1 s", 8, "0 to 3600"),
        ("scene: {scene: floor}", "scene: hall.yaml", 7, "hall.yaml"),
        ("seconds: 500 ms", "sekonds: 1", 8, "did you mean seconds"),
    ],
)
def test_what_is_wrong_and_where(tmp_path: Path, old: str, new: str, line: int, told: str) -> None:
    path = tmp_path / "walk.yaml"
    assert old in ORDER
    path.write_text(ORDER.replace(old, new), encoding="utf-8")
    with pytest.raises(FileError) as caught:
        GuideOrder.load(path)
    assert told in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}:")


@pytest.mark.parametrize(
    ("log", "output", "message"),
    [
        ("missing.json", "walk.npz", "cannot be read"),
        ("bad.json", "walk.npz", "not an input log"),
        ("good.json", "walk.odt", "cannot hold a motion"),
    ],
)
def test_refusals(tmp_path: Path, log: str, output: str, message: str) -> None:
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    (tmp_path / "good.json").write_text(InputLog(entry("humanoid").open()).to_json(), encoding="utf-8")
    told = ran("--replay", tmp_path / log, "-o", tmp_path / output)
    assert told.exit_code == 1
    assert message in told.stderr


def test_a_figure_is_not_a_scene(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text("figure: arm\nframes: []\n", encoding="utf-8")
    with pytest.raises(FileError):
        guide("humanoid", scene=path)


def test_the_entry_opens() -> None:
    assert entry("humanoid").open().figures[0].name == "humanoid"
