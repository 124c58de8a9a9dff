from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from bunraku.cli import app
from bunraku.cli.names import thing_named
from bunraku.errors import BunrakuError, FileError, UnknownName
from bunraku.figure import Figure
from bunraku.io.shipped import shipped_orders
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.verbs.entries import entries_of
from bunraku.verbs.loading import ORDERS_BY_FIRST_WORD, load

ORDERS = {
    "simulate": ("simulate: arm2d\nduration: 0.2\n", "simulation of arm2d: 0.2 s"),
    "optimize": (
        "optimize: cart_pendulum\nduration: 0.2\ncost: [{configuration: 1, reference: {theta: 0.1}}, {forces: 0.01}]\n",
        "optimisation: 0.2 s of cart_pendulum, 2 terms",
    ),
    "perform": (
        "perform: Hello\ntempo: 60\nstage: [4, 3]\nfigures: {anna: marionette22}\nscript:\n  - anna: wave\n",
        "show Hello: 1 cue at 60 counts per minute, for anna",
    ),
    "climb": ("climb: gecko\npath: [straight: 10 cm]\n", "climb of gecko"),
    "guide": ("guide: humanoid\ninputs: [{at: 0 s, move: [1, 0, 0]}]\n", "humanoid guided by 1 input"),
    "plan": ("plan: arm3d\ngoal: {configuration: {hand_x: 0.1}, within: 3 cm}\nbudget: 1 s\n", "plan for arm3d"),
    "carry": (
        "carry: tray\narea: [[-3, 3], [-2, 2]]\nobject: {shapes: [{box: [0.7, 0.5, 0.04]}]}\n"
        "agents: {robot: {kind: rover, holds: {tool: {at: [0, 0, 0.02]}}}}\n"
        "start: {object: [0, 0, 1], robot: [-1, 0, 0]}\ngoal: {object: [1, 0, 1], robot: [0, 0, 0]}\n",
        "errand tray: robot",
    ),
    "humanoid": (
        "humanoid: ours\nfigure: humanoid\nfeet: [left_sole, right_sole]\nsole: {size: [0.12, 0.07]}\n"
        "hands: [left_hand, right_hand]\ntrunk: trunk\n",
        "humanoid ours: 20 motors",
    ),
}


def written(tmp_path: Path, kind: str) -> Path:
    path = tmp_path / f"{kind}.yaml"
    path.write_text(ORDERS[kind][0])
    return path


@pytest.mark.parametrize("kind", ORDERS_BY_FIRST_WORD)
def test_every_kind_of_file_is_checked(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind)
    done = CliRunner().invoke(app, ["check", str(path)], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert ORDERS[kind][1] in done.output
    path.write_text(ORDERS[kind][0] + "wrong: 1\n")
    with pytest.raises(FileError, match="wrong"):
        load(path)


@pytest.mark.parametrize("kind", ["simulate", "optimize", "plan", "perform"])
def test_what_is_ordered_is_made(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, kind)
    motion = thing_named(str(path))
    assert isinstance(motion, Motion)
    (entry,) = entries_of(path)
    assert entry.open().motion.figure == motion.figure
    done = CliRunner().invoke(app, ["convert", str(path), str(tmp_path / "made.npz")])
    assert done.exit_code == 0, done.output
    assert load(tmp_path / "made.npz").duration > 0.1


def test_a_humanoid_is_guided_on_the_stage(tmp_path: Path) -> None:
    path = written(tmp_path, "humanoid")
    assert thing_named(str(path)).name == "ours"
    (entry,) = entries_of(path)
    assert entry.title == "Guide humanoid"


@pytest.mark.parametrize(
    ("kind", "verb", "wanted"),
    [("simulate", "optimize", "bunraku simulate"), ("carry", "simulate", "bunraku carry"), ("perform", "climb", "bunraku perform")],
)
def test_a_file_for_another_verb_says_for_which(kind: str, verb: str, wanted: str, tmp_path: Path) -> None:
    done = CliRunner().invoke(app, [verb, str(written(tmp_path, kind))], env={"COLUMNS": "200"})
    assert done.exit_code == 1
    assert f"is for {wanted}" in done.output


def test_every_kind_of_thing_is_loaded(tmp_path: Path) -> None:
    (tmp_path / "room.yaml").write_text("scene: room\n")
    assert isinstance(load(tmp_path / "room.yaml"), Scene)
    assert isinstance(load("marionette22"), Figure)
    assert isinstance(load("chain12"), Figure)
    (tmp_path / "broken.yaml").write_text("plan: [\n")
    with pytest.raises(FileError, match=r"broken\.yaml"):
        load(tmp_path / "broken.yaml")
    with pytest.raises(UnknownName, match="did you mean factory"):
        load("factry")


@pytest.mark.parametrize("name", shipped_orders())
def test_shipped_orders_are_known_by_name_everywhere(name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    done = CliRunner().invoke(app, ["check", name], env={"COLUMNS": "200"})
    assert done.exit_code == 0, done.output
    assert hasattr(load(name), "run")
    assert len(entries_of(Path(name))) == 1


def test_where_no_motion_comes_of_it(tmp_path: Path) -> None:
    path = written(tmp_path, "plan")
    path.write_text(path.read_text() + "scene: {scene: stone, obstacles: [{sphere: 2}]}\n")
    with pytest.raises(BunrakuError, match=r"(?i)start"):
        thing_named(str(path))
