"""What can be refused is refused before the work begins, by every verb."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from bunraku.cli import app
from bunraku.render.film_writer import ffmpeg_program
from bunraku.verbs.carry import file as carry
from bunraku.verbs.climb import file as climb
from bunraku.verbs.guide import file as guide
from bunraku.verbs.optimize import file as optimize
from bunraku.verbs.perform import file as perform
from bunraku.verbs.plan import file as plan_file
from bunraku.verbs.simulate import file as simulating
from tests.verbs.test_carry import TEXT as TRAY

SWING = "simulate: pendulum\nduration: 1 s\n"
HOP = "perform: A hop\ntempo: 100\nfigures: {anna: marionette22}\nscript:\n  - anna: hop\n"
FILES = {
    "simulate": SWING,
    "optimize": "optimize: cart_pendulum\nduration: 1 s\ncost: [{forces: 1}]\n",
    "perform": HOP,
    "climb": "climb: gecko\npath: [straight: 10 cm]\n",
    "guide": "guide: humanoid\ninputs: [{at: 0 s, move: [1, 0, 0]}]\n",
    "plan": "plan: arm3d\ngoal: {points: {tip: [0.2, 0.2, 0.1]}, within: 2 cm}\n",
    "carry": TRAY,
}
WORK: tuple[tuple[Any, str], ...] = (
    (simulating, "simulate"), (optimize, "optimize"), (perform, "perform"), (climb, "climb"),
    (plan_file, "plan"), (carry, "carry"), (importlib.import_module("bunraku.sweeps.sweep"), "sweep"), (guide, "guide"),
)  # fmt: skip


class Worked(Exception):
    pass


@pytest.fixture(autouse=True)
def idle(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever takes long is not done, but told."""

    def work(*_: object, **__: object) -> object:
        raise Worked

    for where, name in WORK:
        monkeypatch.setattr(where, name, work)
    monkeypatch.chdir(tmp_path)
    Path("folder.npz").mkdir()


def run(verb: str, text: str, *options: str) -> Result:
    Path("order.yaml").write_text(text, encoding="utf-8")
    return CliRunner().invoke(app, [verb, "order.yaml", *options])


def refused(result: Result, told: str) -> None:
    assert result.exit_code == 1
    assert not isinstance(result.exception, Worked)
    assert told in " ".join(result.stderr.split())
    assert "advice:" in result.stderr


@pytest.mark.parametrize("verb", FILES)
@pytest.mark.parametrize(("name", "told"), [
    ("motion.doc", "cannot hold a motion"), ("nowhere/motion.npz", "the folder does not exist"), ("folder.npz", "it is a folder"),
    (f"{'long' * 70}.npz", "cannot be written"),
])  # fmt: skip
def test_a_motion_that_cannot_be_written(verb: str, name: str, told: str) -> None:
    refused(run(verb, FILES[verb], "-o", name), told)
    assert isinstance(run(verb, FILES[verb], "-o", "motion.npz").exception, Worked)


@pytest.mark.parametrize("verb", FILES)
def test_a_motion_that_the_file_has_written_nowhere(verb: str) -> None:
    text = f"{FILES[verb]}output: nowhere/motion.npz\n"
    refused(run(verb, text), "the folder does not exist")
    assert isinstance(run(verb, text, "-o", "motion.npz").exception, Worked)


@pytest.mark.parametrize(("verb", "option", "suffix"), [
    ("simulate", "--plot", ".svg"), ("optimize", "--plot", ".png"), ("perform", "--plot", ".pdf"), ("climb", "--plot", ".png"),
    ("guide", "--plot", ".png"), ("plan", "--tree", ".npz"), ("plan", "--picture", ".png"), ("carry", "--stills", ".png"),
    ("carry", "--plot", ".png"),
])  # fmt: skip
def test_pictures_and_trees(verb: str, option: str, suffix: str) -> None:
    refused(run(verb, FILES[verb], option, "it.doc"), "cannot hold a")
    refused(run(verb, FILES[verb], option, f"nowhere/it{suffix}"), "the folder does not exist")
    assert isinstance(run(verb, FILES[verb], option, f"it{suffix}").exception, Worked)


def test_curves_that_there_will_not_be() -> None:
    refused(run("simulate", SWING, "--plot", "it.png", "--curve", "angel"), "did you mean angle")
    refused(run("simulate", SWING, "--plot", "it.png", "--curve", "tension"), "no curve is called 'tension'")
    refused(run("simulate", SWING, "--curve", "angle"), "--plot FILE")
    for curve in ("angle", "v:angle", "*"):
        assert isinstance(run("simulate", SWING, "--plot", "it.png", "--curve", curve).exception, Worked)


def test_plots_without_matplotlib(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    for verb, text in FILES.items():
        refused(run(verb, text, "--plot", "plot.png"), "a plot needs the package 'matplotlib' advice: pip install 'bunraku[plot]'")
    refused(run("plan", FILES["plan"], "--picture", "tree.png"), "a plot needs the package 'matplotlib'")


def test_films_by_the_ffmpeg_on_the_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without the extra, one on the PATH serves; without either, the advice names both."""
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    monkeypatch.setenv("PATH", str(Path.cwd()))
    refused(run("simulate", SWING, "-o", "film.mp4"), "install ffmpeg, or pip install 'bunraku[film]'")
    Path("ffmpeg").write_text("#!/bin/sh\n")
    Path("ffmpeg").chmod(0o755)
    assert ffmpeg_program() == str(Path("ffmpeg").absolute())
    assert isinstance(run("simulate", SWING, "-o", "film.mp4").exception, Worked)


def test_films_without_ffmpeg(monkeypatch: pytest.MonkeyPatch) -> None:
    assert isinstance(run("simulate", SWING, "-o", "film.mp4").exception, Worked)
    monkeypatch.setenv("IMAGEIO_FFMPEG_EXE", str(Path("no_such_program").absolute()))
    refused(run("simulate", SWING, "-o", "film.mp4"), "films need the program ffmpeg")


def test_bvh_for_more_than_it_holds() -> None:
    duet = HOP.replace("{anna: marionette22}", "{anna: marionette22, bert: {figure: marionette22, at: [2, 0]}}")
    refused(run("perform", duet, "-o", "duet.bvh"), "holds one figure, not 2")
    assert isinstance(run("perform", HOP, "-o", "hop.bvh").exception, Worked)
    refused(run("carry", TRAY, "-o", "tray.bvh"), "no agent of the team is a person")


def test_options_that_would_do_nothing() -> None:
    refused(run("carry", TRAY, "--runs", "3", "-o", "tray.npz"), "--output would have no effect")
    refused(run("carry", TRAY, "--workers", "2"), "--workers would have no effect")
    assert isinstance(run("carry", TRAY, "--runs", "3", "--workers", "2").exception, Worked)
    refused(CliRunner().invoke(app, ["guide", "-o", "walk.npz"]), "--output would have no effect")
    refused(run("guide", FILES["guide"], "--physics"), "--physics would have no effect")
    refused(CliRunner().invoke(app, ["guide", "--replay", "log.json", "--joystick", "0"]), "--joystick would have no effect")


@pytest.mark.parametrize(("target", "told"), [
    ("swing.yaml", "cannot hold a motion"), ("swing.doc", "cannot hold a figure, a scene or a motion"),
    ("nowhere/swing.npz", "the folder does not exist"),
])  # fmt: skip
def test_conversions(target: str, told: str) -> None:
    refused(run("convert", SWING, target), told)
    assert isinstance(run("convert", SWING, "swing.npz").exception, Worked)


def test_shown_pictures() -> None:
    refused(run("show", SWING, "--png", "swing.jpg"), "cannot hold a picture")
    refused(run("show", SWING, "--png", "nowhere/swing.png"), "the folder does not exist")
    assert isinstance(run("show", SWING, "--png", "swing.png").exception, Worked)


def test_the_folder_of_the_stage() -> None:
    Path("file").touch()
    refused(CliRunner().invoke(app, ["play", "pendulum", "--out", "file"]), "not a folder")
