"""Paths to the values of an order."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest

import bunraku
from bunraku.errors import BunrakuError, FileError
from bunraku.sweeps.order_document import OrderDocument
from bunraku.sweeps.value_paths import at, node_of, put, text_of

SWING = {
    "optimize": "cart_pendulum",
    "duration": "0.5 s",
    "cost": [{"configuration": {"theta": 100, "x": 1}}, {"forces": 0.001}],
}


def changed(order: Any, path: str, value: Any) -> OrderDocument:
    document = (order if isinstance(order, OrderDocument) else OrderDocument.of(order)).opened(path)
    return document.with_value(document.places(path), node_of(value))


def test_keys_indices_and_units() -> None:
    order = changed(changed(SWING, "cost.1.forces", 0.25), "duration", "100 ms").read()
    assert order.cost[1].weight == 0.25
    assert order.duration == pytest.approx(0.1)


def test_a_word_that_the_file_does_not_have() -> None:
    assert changed(SWING, "dt", "5 ms").read().dt == 0.005
    assert changed(SWING, "cost.0.at_end", 1).read().cost[0].at_end == 1.0


def test_into_a_figure_of_the_library() -> None:
    """By the names of its entries; the total mass scales all bodies."""
    plain = OrderDocument.of(SWING).read().figure
    heavy = changed(SWING, "figure.mass", "3 kg").read().figure
    assert heavy.mass == pytest.approx(3.0)
    factor = 3.0 / plain.mass
    for one, other in zip(plain.bodies, heavy.bodies, strict=True):
        assert other.mass == pytest.approx(factor * one.mass)
        assert other.inertia == pytest.approx([factor * x for x in one.inertia])
    assert plain.frames == heavy.frames
    dance = {"simulate": "marionette25", "duration": 1}
    long = changed(dance, "figure.strings.left_arm.start", "95 cm").read().figure
    assert long.start[long.index("left_arm_length")] == pytest.approx(0.95)
    high = {**dance, "start": "settle"}
    moved = changed(high, "figure.frames.left_arm.at.2", "140 cm").read().figure
    assert bunraku.pose(moved, moved.start).point("left_arm_spindle")[2] == pytest.approx(1.4)


def test_a_star_sets_all() -> None:
    document = OrderDocument.of({"simulate": "marionette25", "duration": 1}).opened("figure.strings.*.start")
    where = document.places("figure.strings.*.start")
    assert len(where) == 7
    assert {text_of(at(document.with_value(where, node_of(0.9)).root, place)) for place in where} == {"0.9"}
    arms = document.places("figure.strings.*_arm.start")
    assert len(arms) == 2


def test_nothing_removes_a_word() -> None:
    document = changed({**SWING, "iterations": 7}, "iterations", None)
    assert document.root.get("iterations") is None
    assert document.read().iterations == 100


def test_into_a_file_in_another_folder(tmp_path: Path) -> None:
    (tmp_path / "sets").mkdir()
    (tmp_path / "sets" / "hills.csv").write_text("0,0\n0,0.1\n")
    scene = "scene: hill\nobstacles: [{heightfield: hills.csv, size: [2, 2], at: [0, 0, -3]}]\n"
    (tmp_path / "sets" / "hill.yaml").write_text(scene)
    plan = "plan: arm3d\ngoal: {points: {tip: [0.2, 0.2, 0.1]}}\nscene: sets/hill.yaml\n"
    (tmp_path / "plan.yaml").write_text(plan)
    order = changed(tmp_path / "plan.yaml", "scene.obstacles.0.at.2", -4).read()
    assert order.scene.obstacles[0].position[2] == -4.0
    assert len(OrderDocument.of(tmp_path / "plan.yaml").files()) == 2


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("cst.1", "did you mean cost"),
        ("cost.7.forces", "cost has no '7'"),
        ("figure.frames.cartt.at", "figure.frames has no 'cartt'"),
        ("duration.long", "which has no parts"),
        ("nonsense", "no 'nonsense'"),
        ("figure.frames.*.nowhere.at", "no 'nowhere'"),
    ],
)
def test_paths_that_lead_nowhere(path: str, told: str) -> None:
    document = OrderDocument.of(SWING).opened(path)
    with pytest.raises(BunrakuError, match=told) as error:
        document.places(path)
    assert str(error.value).startswith(path)
    assert "advice:" in str(error.value)


def test_put_leaves_the_document_as_it_was() -> None:
    root = node_of({"a": [1, {"b": 2}]})
    other = put(root, ("a", 1, "b"), node_of(3))
    assert text_of(root) == "{a: [1, {b: 2}]}"
    assert text_of(other) == "{a: [1, {b: 3}]}"


def test_orders_that_have_no_document() -> None:
    order = bunraku.load("swing_up")
    assert OrderDocument.of(order).name == "swing_up"
    with pytest.raises(BunrakuError, match="made or changed in Python"):
        OrderDocument.of(dataclasses.replace(order, dt=0.03))
    with pytest.raises(BunrakuError, match="cannot be in a file"):
        OrderDocument.of({"simulate": object()})
    with pytest.raises(FileError, match="no order"):
        OrderDocument.of({"figure": "x"})
    with pytest.raises(BunrakuError, match="did you mean"):
        OrderDocument.of("swing_upp")
