"""Simulation files with a scene, props and touch."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.cli import app
from bunraku.collision.manifold.touch_rules import Matter
from bunraku.errors import FileError

WORDS = """
simulate: pendulum
duration: 0.4 s
scene: {scene: room, floor: -2 m}
props: {ball: {is: football, at: [0.5, 0, -1.8 m]}}
touch: {friction: 0.3, own: [[ball, floor, {restitution: 0.5}]]}
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "order.yaml"
    path.write_text(text)
    return path


def test_props_fall_onto_the_floor_of_the_scene(tmp_path: Path) -> None:
    order = bunraku.load(written(tmp_path, WORDS))
    assert order.touch.matter == Matter(friction=0.3)
    motion = order.run()
    height = motion.only.q[:, order.figure.index("ball.football_tz")]
    assert height[0] == pytest.approx(-1.8)
    assert height.min() == pytest.approx(-1.95, abs=1e-6)
    assert "ball.football meets floor" in [mark.text for mark in motion.marks]


def test_check_says_which_pairs_may_touch(tmp_path: Path) -> None:
    said = CliRunner().invoke(app, ["check", str(written(tmp_path, WORDS))])
    assert said.exit_code == 0, said.output
    assert "pairs may touch" in said.output
    assert "ball.football: bracket, floor" in said.output


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("is: football", "is: nothing_known", "nothing_known"),
        ("at: [0.5, 0, -1.8 m]", "at: [0.5, 0, -1.97 m]", "in each other"),
        ("friction: 0.3", "friction: -1", "friction"),
        ("[ball, floor", "[bell, floor", "bell"),
    ],
)
def test_mistakes_are_shown_where_they_are(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        bunraku.load(written(tmp_path, WORDS.replace(old, new)))
