"""Edits of takes: what the page wishes becomes a new version, and every version can be undone."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError, MotionError, UnknownName
from bunraku.figure.build import figure, rx
from bunraku.kinematics import pose
from bunraku.motion import Motion
from bunraku.stage import Recorded, Series
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.take_edits import described, edited
from bunraku.stage.take_posing import TakePosing
from bunraku.stage.takes import Take, Version
from bunraku.stage.wire import Refusal
from tests.stage import toys

MOTION = toys.waving(toys.puppet())
FIRST = Version(Recorded(MOTION, series=(Series("kinetic energy", "J", MOTION.t),)))
LIMITS = StageLimits()


def after(version: Version, *wishes: dict[str, Any]) -> Version:
    for wish in wishes:
        version = edited(version, json.loads(json.dumps(wish)), LIMITS)
    return version


def column(version: Version, variable: str) -> Any:
    return version.seen.motion.column(variable)


def set_key(t: float, value: float, variable: str = "left_arm_rz", layer: int = 0) -> dict[str, Any]:
    return {"edit": "set keys", "layer": layer, "track": 0, "t": t, "values": {variable: value}}


def of_key(edit: str, t: float, **more: Any) -> dict[str, Any]:
    return {"edit": edit, "layer": 0, "track": 0, "t": t, "variable": "left_arm_rz", **more}


def change(**more: Any) -> dict[str, Any]:
    return {"edit": "change layer", "layer": 0, "name": "Layer 1", "weight": 1.0, "muted": False, **more}


def test_history() -> None:
    take = Take(FIRST)
    assert not take.can_undo
    for start, stop in ((0.5, 1.5), (0.2, 0.6)):
        take.change(after(take.version, {"edit": "trim", "start": start, "stop": stop}))
    assert take.piece.motion.duration == pytest.approx(0.4)
    take.undo()
    assert take.piece.motion.duration == pytest.approx(1.0)
    assert take.can_redo
    take.redo()
    for _ in range(3):
        take.undo()
    assert take.piece.motion.duration == pytest.approx(2.0)
    take.change(after(take.version, {"edit": "mirror"}))
    assert not take.can_redo


def test_a_trim_that_leaves_nothing_is_refused() -> None:
    with pytest.raises(MotionError, match="nothing is left"):
        after(FIRST, {"edit": "trim", "start": 5.0, "stop": 6.0})


def test_the_first_key_makes_a_layer_and_is_seen() -> None:
    keyed = after(FIRST, set_key(1.003, 0.9))  # between two samples: the nearest one gets it
    assert [layer.name for layer in keyed.layers] == ["Layer 1"]
    assert column(keyed, "left_arm_rz")[50] == pytest.approx(0.9)
    assert keyed.recording is FIRST.recording
    assert keyed.seen.motion.tension is None
    assert keyed.seen.series == ()
    offset = 0.9 - MOTION.column("left_arm_rz")[50]
    curve = {"track": 0, "variable": MOTION.figure.index("left_arm_rz"), "keys": [(1.0, offset)]}
    assert described(keyed)["layers"] == [{"name": "Layer 1", "weight": 1.0, "muted": False, "curves": [curve]}]


def test_keys_are_moved_zeroed_and_deleted() -> None:
    keyed = after(FIRST, set_key(0.5, 0.9), of_key("zero key", 1.0))
    np.testing.assert_array_equal(column(keyed, "left_arm_rz")[50:], MOTION.column("left_arm_rz")[50:])
    moved = after(keyed, of_key("move key", 0.5, to=0.6, value=-0.3))
    assert column(moved, "left_arm_rz")[30] == pytest.approx(-0.3)
    assert [key.t for key in moved.layers[0].curves[0].keys] == [0.6, 1.0]
    gone = after(moved, of_key("delete key", 0.6), of_key("delete key", 1.0))
    np.testing.assert_array_equal(gone.seen.motion.q, MOTION.q)
    assert gone.seen.motion.tension is not None
    with pytest.raises(MotionError, match="no key"):
        after(gone, of_key("delete key", 0.6))


def test_layers_are_muted_weighed_merged_and_removed() -> None:
    two = after(FIRST, set_key(0.5, 0.9), {"edit": "add layer"}, set_key(0.5, 1.1, "right_arm_rz", 1))
    assert [layer.name for layer in two.layers] == ["Layer 1", "Layer 2"]
    muted = after(two, change(muted=True))
    np.testing.assert_array_equal(column(muted, "left_arm_rz"), MOTION.column("left_arm_rz"))
    assert column(muted, "right_arm_rz")[25] == pytest.approx(1.1)
    with pytest.raises(MotionError, match="would not be seen"):
        after(muted, set_key(0.5, 0.9))
    with pytest.raises(MotionError, match="nothing to merge"):
        after(muted, {"edit": "merge layer", "layer": 0})
    half = after(two, change(weight=0.5, name="Softer"))
    middle = (MOTION.column("left_arm_rz")[25] + 0.9) / 2
    assert column(half, "left_arm_rz")[25] == pytest.approx(middle)
    merged = after(half, {"edit": "merge layer", "layer": 0})
    assert [layer.name for layer in merged.layers] == ["Layer 2"]
    np.testing.assert_allclose(merged.seen.motion.q, half.seen.motion.q, atol=1e-12)
    assert merged.recording.motion.tension is None
    removed = after(two, {"edit": "remove layer", "layer": 1})
    np.testing.assert_array_equal(column(removed, "right_arm_rz"), MOTION.column("right_arm_rz"))


def test_layers_go_along_with_trim_and_mirror() -> None:
    keyed = after(FIRST, set_key(0.5, 0.9), set_key(1.5, -0.2))
    short = after(keyed, {"edit": "trim", "start": 0.4, "stop": 1.2})
    np.testing.assert_allclose(short.seen.motion.q, keyed.seen.motion.q[20:61], atol=1e-9)
    mirrored = after(keyed, {"edit": "mirror"})
    np.testing.assert_allclose(mirrored.seen.motion.q, keyed.seen.motion.mirror().q, atol=1e-12)
    assert mirrored.layers[0].curves[0].variable == "right_arm_rz"
    assert mirrored.recording.series == FIRST.recording.series
    twice = after(mirrored, {"edit": "mirror"})
    np.testing.assert_allclose(twice.seen.motion.q, keyed.seen.motion.q, atol=1e-12)


def test_a_loop_closes_what_is_seen() -> None:
    keyed = after(FIRST, set_key(1.5, 0.9))
    loop = after(keyed, {"edit": "loop", "blend": 0.5, "travel": False, "times": 2})
    np.testing.assert_allclose(loop.seen.motion.q[-1], loop.seen.motion.q[0], atol=1e-12)
    np.testing.assert_array_equal(loop.seen.motion.q[:75], keyed.seen.motion.q[:75])
    assert loop.seen.motion.duration == pytest.approx(4.0)
    assert loop.layers == ()
    with pytest.raises(BunrakuError, match="would last 2000 s"):
        after(FIRST, {"edit": "loop", "blend": 0.5, "travel": False, "times": 1000})


def test_a_figure_without_two_sides_is_not_mirrored() -> None:
    lame = figure("lame", rx("left_leg", at=(-0.1, 0, 0.3)), rx("right_leg", at=(0.1, 0.05, 0.4)))
    version = Version(Recorded(Motion.of(lame, [0.0, 1.0], [[0.0, 0.0], [1.0, 0.5]])))
    with pytest.raises(MotionError, match="has no left and right"):
        after(version, {"edit": "mirror"})


def test_what_an_edit_costs_is_told() -> None:
    assert described(FIRST) == {"layers": [], "held": [], "kinematic": False}
    told = described(after(FIRST, set_key(0.5, 3.0, "left_elbow"), set_key(0.5, 1.0, "left_x")))
    assert told["held"] == [(0, MOTION.figure.index("left_elbow"))]
    assert told["kinematic"]


@pytest.mark.parametrize(
    "wish",
    [
        {}, {"edit": "cut"}, {"edit": "trim"}, {"edit": "mirror", "more": 1}, {"edit": "add layer", "layer": 0},
        {"edit": "loop", "blend": "0.5", "travel": False, "times": 1}, {"edit": "loop", "blend": 0.5, "travel": 1, "times": 1},
        {"edit": "change layer", "layer": 0}, change(weight=3), change(name=""), change(name="a\x07"), change(more=1),
        {"edit": "remove layer", "layer": 0, "t": 1.0}, {"edit": "merge layer", "layer": True},
        {**set_key(0.5, 1.0), "values": {}}, {**set_key(0.5, 1.0), "values": {"left_x": "1"}}, {**set_key(0.5, 1.0), "track": 1},
        of_key("move key", 0.5), of_key("zero key", 0.5, to=1.0), of_key("delete key", 0.5, value=1.0),
        {**of_key("zero key", 0.5), "track": -1},
    ],
)  # fmt: skip
def test_malformed_wishes_are_refused(wish: dict[str, Any]) -> None:
    with pytest.raises(Refusal):
        after(after(FIRST, set_key(0.5, 0.9)), wish)


def test_impossible_wishes_are_told() -> None:
    keyed = after(FIRST, set_key(0.5, 0.9))
    with pytest.raises(MotionError, match="there is no layer 4"):
        after(keyed, {"edit": "remove layer", "layer": 3})
    with pytest.raises(UnknownName):
        after(keyed, set_key(0.5, 1.0, "left_z"))
    with pytest.raises(UnknownName):
        after(keyed, {**of_key("zero key", 0.5), "variable": "left_z"})
    with pytest.raises(BunrakuError, match="at most 2 layers"):
        edited(after(keyed, {"edit": "add layer"}), {"edit": "add layer"}, StageLimits(take_layers=2))
    with pytest.raises(BunrakuError, match="at most 1 keys"):
        edited(keyed, set_key(0.7, 0.9), StageLimits(take_keys=1))


def test_a_limb_is_dragged_and_the_rest_stays() -> None:
    puppet, q = MOTION.figure, MOTION.q[30]
    at = pose(puppet, q).point("left_hand", (0, 0, 0))
    goal = at + np.array([0.0, 0.04, 0.03])
    wish = {"track": 0, "q": q.tolist(), "frame": "left_hand", "at": [0.0, 0.0, 0.0], "to": goal.tolist()}
    posing = TakePosing(iterations=12)
    answer = np.array(posing.posed(FIRST.seen, wish)["q"])
    assert np.linalg.norm(pose(puppet, answer).point("left_hand", (0, 0, 0)) - goal) < 1e-4
    moved = {puppet.names[k] for k in np.flatnonzero(np.abs(answer - q) > 1e-9)}
    assert moved <= {"left_arm_rz", "left_arm_ry", "left_arm_rx", "left_elbow"}
    for wrong in (
        {**wish, "q": q.tolist()[1:]},
        {**wish, "track": 1},
        {**wish, "to": [0, 0]},
        {**wish, "q": ["a"] * puppet.n_q},
        {},
    ):
        with pytest.raises(Refusal):
            posing.posed(FIRST.seen, wrong)
