from __future__ import annotations

import signal
import subprocess
import sys
import warnings
from pathlib import Path
from subprocess import PIPE

import numpy as np
import pytest
import typer.main
from typer.testing import CliRunner, Result

import bunraku
from bunraku import cli, io
from bunraku.cli import command
from bunraku.cli.names import complete
from bunraku.figure import library
from bunraku.figure.build import closure, contact, figure, fixed, rx, sphere, string
from bunraku.figure.shape import Box
from bunraku.motion import Motion
from bunraku.scene import Obstacle, Scene
from bunraku.verbs.loading import VERBS
from tests.patience import PATIENCE


def run(*words: object) -> Result:
    return CliRunner().invoke(cli.app, [str(word) for word in words], env={"COLUMNS": "200", "TERM": "dumb"})


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    """Consoles measure the terminal once, when they are made."""
    for console in (command.out, command.err):
        monkeypatch.setattr(console, "width", 200)


def test_version() -> None:
    assert run("--version").stdout.strip() == bunraku.__version__


def test_help_tells_every_verb_and_where_to_begin() -> None:
    shown = run("--help").stdout
    for word in ("figures", "show", "check", "convert", "--install-completion", "bunraku show marionette25"):
        assert word in shown
    for verb in ("figures", "show", "check", "convert"):
        result = run(verb, "--help")
        assert result.exit_code == 0
        assert "Usage" in result.stdout


def test_figures_lists_all() -> None:
    lines = run("figures").stdout.splitlines()
    for name in library.names():
        assert any(line.startswith(name) for line in lines)
    line = next(line for line in lines if line.startswith("marionette22"))
    assert line.split()[1:8] == ["22", "+", "18", "10", "6", "18.8", "kg"]


def test_figures_fit_a_narrow_terminal(monkeypatch: pytest.MonkeyPatch) -> None:

    monkeypatch.setattr(command.out, "width", 80)
    lines = run("figures").stdout.splitlines()
    assert all(len(line.rstrip()) <= 78 for line in lines)
    assert not any("*" in line for line in lines)
    for name in library.names():  # each on a line of its own, and what it is, unbroken, below
        here = next(k for k, line in enumerate(lines) if line.startswith(f"{name} "))
        assert lines[here + 1].strip() == library.about(name)


def test_show_prints_the_tree() -> None:
    shown = run("show", "arm3d").stdout
    for text in ("shoulder  ball", "elbow  turns about x", "kinematic slides along y", "tip → hand_spindle"):
        assert text in shown


def test_show_writes_a_picture(tmp_path: Path) -> None:
    from PIL import Image

    picture = tmp_path / "gecko.png"
    result = run("show", "gecko", "--png", picture, "--size", 64)
    assert result.exit_code == 0
    assert "chest" not in result.stdout  # the tree is printed when asked for, or when nothing is
    with Image.open(picture) as image:
        assert image.size == (64, 64)
        assert len(np.unique(np.asarray(image).reshape(-1, 3), axis=0)) > 100


def test_show_takes_scenes_and_motions(tmp_path: Path) -> None:
    room = tmp_path / "room.yaml"
    io.save(Scene("room", (Obstacle("table", Box((1.0, 1.0, 0.7))),)), room)
    assert "scene room: 1 obstacle" in run("show", room).stdout
    assert run("show", room, "--png", tmp_path / "room.png", "--size", 64).exit_code == 0
    swing = library.pendulum()
    io.save(Motion.of(swing, [0.0, 1.0], [[0.1], [0.2]]), tmp_path / "swing.npz")
    assert "angle" in run("show", tmp_path / "swing.npz").stdout
    assert run("show", tmp_path / "swing.npz", "--png", tmp_path / "swing.png").exit_code == 0
    assert (tmp_path / "swing.png").stat().st_size > 1000


def test_names_with_brackets_are_not_markup(tmp_path: Path) -> None:
    odd = tmp_path / "odd.yaml"
    io.save(figure("odd", fixed("[red]", fixed("[/x]"), sphere(0.1))), odd)
    shown = run("show", odd).stdout
    assert "[red]" in shown
    assert "[/x]" in shown


def test_check_tells_what_is_in_a_file(tmp_path: Path) -> None:
    good = tmp_path / "good.yaml"
    io.save(library.arm2d(), good)
    result = run("check", good)
    assert result.exit_code == 0
    assert "figure arm2d: 2 dynamic + 2 kinematic variables, 2 bodies, 1 string, 0.7 kg" in result.stdout


def test_check_knows_humanoid_files(tmp_path: Path) -> None:
    words = "figure: humanoid\nfeet: [left_sole, right_sole]\nsole: {size: [0.099, 0.072]}\nhands: [left_hand, right_hand]\n"
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    good.write_text(f"humanoid: ours\n{words}trunk: trunk\n")
    bad.write_text(f"humanoid: ours\n{words}trunk: trunck\n")
    result = run("check", good)
    assert "humanoid ours: 20 motors, 6.5 kg" in result.output
    result = run("check", bad)
    assert result.exit_code == 1
    assert "did you mean trunk" in result.output


def test_check_tells_the_one_error_and_goes_on(tmp_path: Path) -> None:
    good, bad = tmp_path / "good.yaml", tmp_path / "bad.yaml"
    io.save(library.pendulum(), good)
    bad.write_text(good.read_text().replace("bodies", "boddies"))
    result = run("check", bad, good)
    assert result.exit_code == 1
    assert "bad.yaml:" in result.stderr
    assert "did you mean bodies" in result.stderr
    assert "Traceback" not in result.output
    assert "✓" in result.stdout


def test_check_hints_at_what_is_hardly_meant(tmp_path: Path) -> None:
    arm = rx("a", fixed("tip", at=(0, 0, -1.0)), start=2.0, limits=(0, 1))
    odd = figure(
        "odd", arm, strings=[string("s", "tip", "world", 0.9)],
        closures=[closure("loop", "tip", ("world", (0, 0, 0.5))), closure("flat", "tip", ("world", (3, 3, 0)), kind="plane")],
        contacts=[contact("sole", "tip", ("world", (0, 0, 0.5)))],
    )  # fmt: skip
    io.save(odd, tmp_path / "odd.yaml")
    shown = run("check", tmp_path / "odd.yaml").stdout
    assert "a starts at 2, outside its limits 0 … 1" in shown
    assert "string s is 100 mm too short at the start" in shown
    y, z = np.sin(2.0), -np.cos(2.0)
    assert f"closure loop is {1e3 * np.hypot(y, z - 0.5):.3g} mm open at the start" in shown
    assert f"closure flat is {1e3 * z:.3g} mm open" in shown
    assert f"contact sole is {1e3 * (0.5 - z):.3g} mm below its plane" in shown


def test_convert_there_and_back(tmp_path: Path) -> None:
    target = tmp_path / "m.yaml"
    assert run("convert", "marionette22", target).exit_code == 0
    assert io.load(target) == library.marionette22()
    assert run("convert", target, tmp_path / "m.glb").exit_code == 0
    assert (tmp_path / "m.glb").read_bytes()[:4] == b"glTF"


def test_convert_writes_over_nothing_unasked(tmp_path: Path) -> None:
    target = tmp_path / "kept.yaml"
    target.write_text("precious")
    result = run("convert", "pendulum", target)
    assert result.exit_code == 1
    assert "--force" in result.stderr
    assert target.read_text() == "precious"
    assert run("convert", "pendulum", target, "--force").exit_code == 0
    assert io.load(target) == library.pendulum()


@pytest.mark.parametrize(
    "words", ["show marionete22", "show missing.yaml", "convert pendulum a.xyz", "convert a.txt b.yaml", "check a.bvh"]
)
def test_bad_words_give_one_error_and_exit_1(words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    result = run(*words.split())
    assert result.exit_code == 1
    assert result.stderr.count("advice:") == 1
    assert "Traceback" not in result.output
    assert not list(tmp_path.iterdir())


def test_warnings_are_told_without_their_place(monkeypatch: pytest.MonkeyPatch) -> None:
    def warned(name: str) -> object:
        warnings.warn(f"{name} has a sense of humour", stacklevel=1)
        return library.pendulum()

    monkeypatch.setattr(cli.looking, "thing_named", warned)
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        result = run("show", "robot.urdf")
    assert result.stderr.strip() == "warning: robot.urdf has a sense of humour"


def test_ctrl_c_ends_tidily(monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(name: str) -> object:
        raise KeyboardInterrupt

    monkeypatch.setattr(cli.looking, "thing_named", interrupted)
    result = run("show", "pendulum")
    assert result.exit_code == 130
    assert "Traceback" not in result.output


@pytest.mark.skipif(sys.platform == "win32", reason="no such signal")
def test_ctrl_c_from_the_keyboard() -> None:
    waits = (
        "from bunraku import cli; import signal, time\n"
        "signal.signal(signal.SIGINT, signal.default_int_handler)\n"  # who runs tests in the background has it ignored
        "cli.looking.thing_named = lambda name: print('on', flush=True) or time.sleep(3000)\n"
        "cli.main()"
    )
    process = subprocess.Popen([sys.executable, "-c", waits, "show", "x"], stdout=PIPE, stderr=PIPE, text=True)
    with process:
        assert process.stdout is not None
        assert process.stdout.readline() == "on\n"
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert "Traceback" not in stderr


def test_completion_offers_names_and_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "marble.yaml").touch()
    assert list(complete("mar")) == ["marionette22", "marionette25", "marble.yaml"]


def test_help_imports_nothing_heavy() -> None:
    heavy = "{'numpy', 'numba', 'scipy', 'trimesh', 'coal', 'PIL'}"
    code = f"import sys; from bunraku import cli; print({heavy} & set(sys.modules) or 'none')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "none\n"


def test_perform_writes_a_motion_and_says_how_it_went(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.choreography import rehearse  # not the whole cache: kernels are in it as well

    monkeypatch.setattr(rehearse, "user_cache", lambda: tmp_path)
    file = tmp_path / "show.yaml"
    file.write_text("perform: A hop\ntempo: 100\nfigures: {anna: marionette22}\nscript:\n  - anna: hop\n")
    done = run("perform", str(file), "-o", str(tmp_path / "hop.npz"))
    assert done.exit_code == 0, done.output
    assert "A hop: " in done.output
    assert "without feedback" in done.output
    assert (tmp_path / "hop.npz").is_file()
    file.write_text(file.read_text().replace("- anna: hop", "- anna: hopp"))
    wrong = run("perform", str(file), "-o", str(tmp_path / "other.npz"))
    assert wrong.exit_code != 0
    assert "did you mean hop" in wrong.output
    assert not (tmp_path / "other.npz").exists()


def test_the_docs_tell_every_verb_and_option() -> None:
    """docs/cli.md has a section for each command that names all of its options, but for those that all verbs share."""
    page = (Path(__file__).parents[1] / "docs/cli.md").read_text()
    sections = {part.split("\n", 1)[0].strip(): part for part in page.split("\n## ")[1:]}
    shared = sections.pop("Options of every verb")
    commands = typer.main.get_command(cli.app).commands  # type: ignore[attr-defined]
    assert set(sections) == set(commands)
    for name, one in commands.items():
        options = {word for option in one.params for word in (*option.opts, *option.secondary_opts) if word.startswith("--")}
        told = sections[name] + (shared if name in VERBS else "")
        missing = {word for word in options - {"--help"} if word not in told}
        assert not missing, (name, missing)


def test_curves_of_energy_and_gaps(tmp_path: Path) -> None:
    file, picture = tmp_path / "short.yaml", tmp_path / "a.png"
    file.write_text("simulate: arm2d\nduration: 0.1 s\n")
    assert "did you mean energy" in run("simulate", file, "--plot", picture, "--curve", "energi").stderr
    assert run("simulate", file, "--plot", picture, "--curve", "energy", "--curve", "gap").exit_code == 0
    assert picture.exists()


def test_every_public_name_is_there() -> None:
    assert {"simulate", "settle", "linearize", "optimize", "load", "save"} <= set(dir(bunraku))
    for name in bunraku.__all__:
        assert getattr(bunraku, name) is not None
