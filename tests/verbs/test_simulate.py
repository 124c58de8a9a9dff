from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import bunraku
from bunraku import cli, io, library, simulate
from bunraku.errors import FileError
from bunraku.figure.build import capsule, figure, fixed, free, rx, sphere, spindle, string
from bunraku.motion import Mark, Motion
from bunraku.verbs.motion_report import summary
from bunraku.verbs.simulate.file import SimulateOrder

ARM = """\
simulate: arm2d
duration: 0.4 s
dt: 5 ms
puppeteer:
  hand_length: {amplitude: 3 cm, frequency: 2}
  hand_x: {by: [[0, 0], [200 ms, 1 cm], [0.4, 0]]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "dance.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_does_what_the_same_words_in_python_do(tmp_path: Path) -> None:
    arm = library.arm2d()
    rest = dict(zip(arm.names, arm.start.tolist(), strict=True))
    order = SimulateOrder.load(written(tmp_path, ARM))

    def hand_length(t: float) -> float:
        return rest["hand_length"] + 0.03 * math.sin(4.0 * math.pi * t)

    def hand_x(t: float) -> float:  # two smooth steps: 3s² − 2s³ up, and down again
        s = t / 0.2 if t < 0.2 else (0.4 - t) / 0.2
        return rest["hand_x"] + 0.01 * (3 * s**2 - 2 * s**3)

    for t in np.linspace(0.0, 0.4, 9):
        assert order.puppeteer["hand_length"](t) == pytest.approx(hand_length(t), abs=1e-14)
        assert order.puppeteer["hand_x"](t) == pytest.approx(hand_x(t), abs=1e-14)
    same = simulate(arm, {"hand_length": hand_length, "hand_x": hand_x}, duration=0.4, dt=0.005)
    motion = SimulateOrder.load(tmp_path / "dance.yaml").run()
    np.testing.assert_allclose(motion.q, same.q, atol=1e-10)
    assert len(motion) == 81
    assert order.steps == 80


def test_points_are_joined_without_overshoot_and_hold_beyond_their_ends(tmp_path: Path) -> None:
    text = "simulate: arm2d\nduration: 1\nstart: settle\npuppeteer: {hand_x: [[0.1, 0.3], [0.2, 0.3], [0.5, 0.35], [0.6, 0.32]]}\n"
    way = SimulateOrder.load(written(tmp_path, text)).puppeteer["hand_x"]
    values = np.array([way(t) for t in np.linspace(0.0, 1.0, 401)])
    assert values.min() == pytest.approx(0.3, abs=1e-12)
    assert values.max() == pytest.approx(0.35, abs=1e-12)
    assert way(0.0) == way(0.1) == 0.3
    assert way(0.9) == pytest.approx(0.32, abs=1e-12)
    assert abs(np.diff(values)).max() < 0.0025 * 0.6  # no jump of position, no speed above 0.6 m/s


def test_it_starts_where_the_puppeteer_is(tmp_path: Path) -> None:
    order = SimulateOrder.load(written(tmp_path, "simulate: arm2d\nduration: 1\npuppeteer: {hand_length: 120 cm}\n"))
    assert order.q[order.figure.index("hand_length")] == 1.2
    assert order.dt == 0.01


def test_it_may_start_settled_or_from_values(tmp_path: Path) -> None:
    settled = SimulateOrder.load(written(tmp_path, "simulate: arm2d\nduration: 0.3\nstart: settle\n")).run()
    np.testing.assert_allclose(settled.q, settled.q[:1].repeat(len(settled), 0), atol=1e-6)
    angle = library.pendulum().names[0]
    order = SimulateOrder.load(written(tmp_path, f"simulate: pendulum\nduration: 1\nstart: {{{angle}: 40 deg}}\n"))
    assert order.q[0] == pytest.approx(math.radians(40))


def test_forces_push(tmp_path: Path) -> None:
    cart = library.cart_pendulum()
    text = f"simulate: cart_pendulum\nduration: 0.2\nforces: {{{cart.forces[0].name}: 5 N}}\n"
    motion = SimulateOrder.load(written(tmp_path, text)).run()
    same = simulate(cart, duration=0.2, forces={cart.forces[0].name: 5.0})
    assert np.abs(motion.column("x")).max() > 1e-3
    np.testing.assert_array_equal(motion.q, same.q)
    early = SimulateOrder.load(written(tmp_path, f"{text}share: 1\n")).run()
    np.testing.assert_array_equal(early.q, simulate(cart, duration=0.2, forces={cart.forces[0].name: 5.0}, share=1.0).q)
    # All of the force's impulse, not half of it, acts at the start of the first step.
    first, half = (np.diff(m.column("x"))[0] for m in (early, motion))
    assert first > 1.5 * half > 0.0


def test_the_figure_may_be_in_a_file_beside_it(tmp_path: Path) -> None:
    own = figure(
        "bell", rx("clapper", capsule(0.01, to=(0, 0, -0.2), mass=0.1), fixed("tip", at=(0, 0, -0.2)), start=0.4),
        spindle("pull", at=(0, 0.3, 0)), strings=[string("pull", "tip", "pull_spindle")],
    )  # fmt: skip
    io.save(own, tmp_path / "bell.yaml")
    order = SimulateOrder.load(written(tmp_path, "simulate: bell.yaml\nduration: 0.1\noutput: [bell.npz, bell.glb]\n"))
    assert order.figure == own
    assert order.output == (tmp_path / "bell.npz", tmp_path / "bell.glb")


BROKEN = {
    "who": ("simulate: marionete25\nduration: 1\n", 1, 11, "did you mean marionette25"),
    "nobody": ("simulate: nobody.yaml\nduration: 1\n", 1, 11, "does not exist"),
    "a picture": ("simulate: puppet.bvh\nduration: 1\n", 1, 11, "expected a figure file"),
    "itself": ("simulate: dance.yaml\nduration: 1\n", 1, 1, "must say what it is"),
    "word": ("simulate: arm2d\nduraton: 1\n", 2, 1, "did you mean duration"),
    "no duration": ("simulate: arm2d\n", 1, 1, "no 'duration'"),
    "no time": ("simulate: arm2d\nduration: 0\n", 2, 11, "more than zero"),
    "backwards": ("simulate: arm2d\nduration: 1\ndt: -1 ms\n", 3, 5, "more than zero"),
    "for ever": ("simulate: arm2d\nduration: 1e9\n", 2, 11, "too many"),
    "not a time": ("simulate: arm2d\nduration: .inf\n", 2, 11, "finite"),
    "unit": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: 3 deg}\n", 3, 21, "expected a length"),
    "variable": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_z: 3}\n", 3, 13, "did you mean hand_x"),
    "dynamic": ("simulate: arm2d\nduration: 1\npuppeteer: {elbow: 3}\n", 3, 13, "no kinematic variable"),
    "list": ("simulate: arm2d\nduration: 1\npuppeteer: [hand_x]\n", 3, 12, "a mapping"),
    "curve": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: {amplitud: 1}}\n", 3, 22, "did you mean amplitude"),
    "sine": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: {amplitude: 1}}\n", 3, 21, "no 'frequency'"),
    "both": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: {amplitude: 1, by: [[0, 1], [1, 2]]}}\n", 3, 36, "not both"),
    "hertz": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: {amplitude: 1, frequency: 2 s}}\n", 3, 47, "got a time (s)"),
    "one point": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: [[0, 1]]}\n", 3, 21, "two or more"),
    "order": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: [[1, 1], [0, 2]]}\n", 3, 31, "order of time"),
    "pair": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: [[0, 1], [1]]}\n", 3, 30, "expected 2 numbers"),
    "start": ("simulate: arm2d\nduration: 1\nstart: setle\n", 3, 8, "settle, start, or values"),
    "start of": ("simulate: arm2d\nduration: 1\nstart: {elbo: 1}\n", 3, 9, "did you mean elbow"),
    "twice": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_x: 0.3}\nstart: {hand_x: 1}\n", 4, 9, "the puppeteer already sets"),
    "too short": ("simulate: arm2d\nduration: 1\npuppeteer: {hand_length: 1 cm}\nstart: start\n", 4, 8, "do not reach"),
    "force": ("simulate: cart_pendulum\nduration: 1\nforces: {push: 1}\n", 3, 10, "no force input is called"),
    "output": ("simulate: arm2d\nduration: 1\noutput: [a.npz, a.yaml]\n", 3, 17, "cannot hold a motion"),
    "share": ("simulate: cart_pendulum\nduration: 1\nshare: 1.5\n", 3, 8, "from 0 to 1"),
    "tabs": ("simulate: arm2d\n\tduration: 1\n", 2, 1, ""),
}


@pytest.mark.parametrize("name", BROKEN)
def test_what_is_wrong_is_pointed_at(name: str, tmp_path: Path) -> None:
    text, line, column, says = BROKEN[name]
    with pytest.raises(FileError) as caught:
        SimulateOrder.load(written(tmp_path, text))
    assert (caught.value.line, caught.value.column) == (line, column), caught.value
    assert says in str(caught.value)
    assert caught.value.advice


def test_what_falls_for_ever_does_not_settle(tmp_path: Path) -> None:
    io.save(figure("ball", free("ball", sphere(0.05, mass=0.1))), tmp_path / "ball.yaml")
    with pytest.raises(FileError, match="not come to rest") as caught:
        SimulateOrder.load(written(tmp_path, "simulate: ball.yaml\nduration: 1\nstart: settle\n"))
    assert caught.value.line == 3


def test_summary_tells_the_story_of_the_strings() -> None:
    arm = library.arm2d()
    marks = (
        Mark(0.1, "hand slack", "slack"), Mark(0.2, "hand catches", "impact"), Mark(0.3, "hand slack", "slack"),
        Mark(0.4, "my hand held back by 3.0 mm", "held"), Mark(0.5, "no step possible: everything held still", "frozen"),
    )  # fmt: skip
    motion = Motion.of(
        arm, [0.0, 0.5, 1.0], np.repeat(arm.start[None], 3, 0), tension=[[1.0], [4.0], [2.0]],
        energy=[[0.0, 3.0], [2.0, 1.5], [1.0, 1.5]], marks=marks,
    )  # fmt: skip
    assert dict(summary(motion)) == {
        "motion": "1 s of arm2d in 2 steps",
        "tension": "at most 4 N, in hand at 0.5 s; at the end 2 N in all",
        "energy": "3 J at the start, 2.5 J at the end; kinetic at most 2 J",
        "slackened": "hand 2×",
        "tightened": "hand",
        "held back": "my hand",
        "stood still": "1 steps, first at 0.5 s",
    }


def test_command_writes_the_motion_and_a_plot_and_tells_what_happened(tmp_path: Path) -> None:
    file, npz, png = written(tmp_path, ARM + "output: sheet.csv\n"), tmp_path / "arm.npz", tmp_path / "tension.png"
    done = CliRunner().invoke(cli.app, ["simulate", str(file), "-o", str(npz), "--plot", str(png)])
    assert done.exit_code == 0, done.output
    assert "× real time" in done.stdout
    assert io.load(npz) == SimulateOrder.load(file).run()
    assert png.read_bytes().startswith(b"\x89PNG")
    assert not (tmp_path / "sheet.csv").exists()  # the command line's word goes before the file's
    assert CliRunner().invoke(cli.app, ["simulate", str(file)]).exit_code == 0
    assert (tmp_path / "sheet.csv").exists()


def test_the_example_of_the_help_works_as_it_is_typed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    page = CliRunner().invoke(cli.app, ["simulate", "--help"], env={"COLUMNS": "100"}).stdout
    lines = [line.strip() for line in page.splitlines()]
    words = ("simulate: ", "duration: ", "puppeteer: ")
    (tmp_path / "dance.yaml").write_text("\n".join(line for line in lines if line.startswith(words)))
    (order,) = (line for line in lines if line.startswith("bunraku simulate dance.yaml"))
    done = CliRunner().invoke(cli.app, order.replace("dance.mp4", "dance.npz").split()[1:])
    assert done.exit_code == 0, done.output
    motion = io.load(tmp_path / "dance.npz")
    hand = [bunraku.pose(motion.figure, q).point("rhand")[2] for q in motion.q]
    assert max(hand) > hand[0] + 0.1
    assert (tmp_path / "tension.png").exists()


def test_the_name_of_a_figure_is_no_simulation_but_tells_how_to_write_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["simulate", "marionette25"])
    assert done.exit_code == 1
    assert "advice: write `simulate: marionette25` as the first line of a file" in done.stderr.replace("\n", " ")


@pytest.mark.parametrize("words", [["-o", "arm.yaml"], ["--plot", "arm.gif"]])
def test_command_refuses_before_it_works(words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(cli.app, ["simulate", str(written(tmp_path, ARM)), *words])
    assert done.exit_code == 1
    assert "end the name in" in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["dance.yaml"]


def test_other_commands_take_simulation_files_too(tmp_path: Path) -> None:
    file, table = written(tmp_path, ARM), tmp_path / "arm.csv"
    checked = CliRunner().invoke(cli.app, ["check", str(file)])
    assert "simulation of arm2d: 0.4 s in 80 steps, moving hand_length, hand_x" in checked.stdout.replace("\n", " ")
    assert CliRunner().invoke(cli.app, ["convert", str(file), str(table)]).exit_code == 0
    np.testing.assert_allclose(io.load(table).q, SimulateOrder.load(file).run().q, atol=1e-9)
    broken = CliRunner().invoke(cli.app, ["check", str(written(tmp_path, ARM + "durations: 3\n"))])
    assert broken.exit_code == 1
    assert "dance.yaml:7:1: unknown word 'durations'" in broken.stderr


def test_one_word_puts_motors_in_place_of_hands(tmp_path: Path) -> None:
    """The same file, with `actuators: dynamic` in the figure's: nearly the same motion, by motors."""
    io.save(library.arm2d(), tmp_path / "hands.yaml")
    text = (tmp_path / "hands.yaml").read_text()
    (tmp_path / "motors.yaml").write_text(text + "actuators: dynamic\n")
    order = "simulate: {}.yaml\nduration: 2 s\ndt: 5 ms\npuppeteer: {{hand_length: {{by: [[0, 0], [1, -10 cm], [2, 0]]}}}}\n"
    made = {}
    for name in ("hands", "motors"):
        (tmp_path / "order.yaml").write_text(order.format(name))
        made[name] = SimulateOrder.load(tmp_path / "order.yaml").run()
    for variable in ("shoulder", "elbow", "hand_length", "hand_x"):
        np.testing.assert_allclose(made["motors"].column(variable), made["hands"].column(variable), atol=0.03)
    assert np.ptp(made["motors"].column("hand_length")) > 0.09
    (tmp_path / "order.yaml").write_text(order.format("motors") + "forces: {hand_length_motor: 1}\n")
    with pytest.raises(FileError, match="the puppeteer already drives 'hand_length_motor'"):
        SimulateOrder.load(tmp_path / "order.yaml").run()
