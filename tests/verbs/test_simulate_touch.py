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
    assert "8 pairs of shapes may touch" in said.output
    assert "angle: ball.football, floor" in said.output  # all shapes of a frame
    assert "ball.football: bracket, floor" in said.output


def test_check_names_single_shapes_where_only_some_of_a_frame_touch(tmp_path: Path) -> None:
    order = bunraku.load(written(tmp_path, "simulate: marionette25\nduration: 1 s\ntouch: [[fingers, nose]]"))
    assert list(order.notes()) == ["2 pairs of shapes may touch:", "  lelbow_rx.fingers: nose", "  relbow_rx.fingers: nose"]


def test_how_surfaces_meet_may_have_units(tmp_path: Path) -> None:
    order = bunraku.load(written(tmp_path, WORDS.replace("friction: 0.3", "friction: 0.3, adhesion: 2 N, rolling: 3 mm")))
    assert order.touch.matter == Matter(friction=0.3, adhesion=2.0, rolling=0.003)
    assert order.touch.own[0].matter == Matter(friction=0.3, restitution=0.5, adhesion=2.0, rolling=0.003)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("is: football", "is: nothing_known", "nothing_known"),
        ("at: [0.5, 0, -1.8 m]", "at: [0.5, 0, -1.97 m]", "in each other"),
        ("friction: 0.3", "friction: -1", "friction"),
        ("[ball, floor", "[bell, floor", r":6:31: no shape, frame or obstacle is called 'bell'"),
        ("touch: {", "touch: al #", "expected all, nothing, or pairs of names, got 'al'"),
        ("friction: 0.3", "friktion: 0.3", "unknown word 'friktion' in touch"),
        ("[ball, floor, {restitution", "[ball, floor, {bouncing", "unknown word 'bouncing' in a pair"),
        ("own: [[ball, floor, {restitution: 0.5}]]", "except: [ball]", "expected a list of two names"),
        ("own: [[ball, floor, {restitution: 0.5}]]", "except: [[ball]]", "expected two names, got 1"),
        ("restitution: 0.5", "restitution: 1.5", "restitution is 1.5"),
    ],
)
def test_mistakes_are_shown_where_they_are(tmp_path: Path, old: str, new: str, message: str) -> None:
    with pytest.raises(FileError, match=message):
        bunraku.load(written(tmp_path, WORDS.replace(old, new)))
