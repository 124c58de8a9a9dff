"""optimize among bodies that touch: a ball is pushed to a place, where MuJoCo's contacts bring it, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.control import Limits, OptimizeOptions
from bunraku.control.cost import PointAt, Speed
from bunraku.control.touch_search import TouchSearchOptions
from bunraku.errors import BunrakuError
from bunraku.figure.build import box, figure, tx
from bunraku.figure.library.props import football
from bunraku.figure.together import with_props
from tests.peers.performed_in_mujoco import performed_in_mujoco
from tests.peers.pushed_in_mujoco import pushed_in_mujoco

FLOOR = bunraku.Scene("floor")
ROLLS = {"friction": 0.5, "rolling": 0.005}


@pytest.mark.slow
def test_a_bat_rolls_a_ball_to_a_place() -> None:
    bat = figure("bat", tx("bat", box((0.04, 0.2, 0.1)), at=(0.0, 0.0, 0.06), kinematic=True))
    field = with_props(bat, {"ball": football(at=(0.15, 0.0, 0.05))})
    aim = PointAt("ball.football", (0.6, 0.0, 0.05), weight=1e-9, at_end=1e11)
    found = bunraku.optimize(
        field, [aim, Speed(0.01)], duration=2.0, dt=0.01, inputs=["bat"], scene=FLOOR, touch=ROLLS, seed=1, iterations=12,
        options=OptimizeOptions(touch=TouchSearchOptions(knots=3, samples=10)),
    )  # fmt: skip
    ball = field.index("ball.football_tx")
    assert found.motion.only.q[-1, ball] == pytest.approx(0.6, abs=0.02)
    assert found.history[-1].cost < 0.1 * found.history[0].cost
    theirs = pushed_in_mujoco(found.motion, "ball.football", ("bat",), **ROLLS)
    assert np.linalg.norm(theirs[-1] - found.motion.only.q[-1, ball : ball + 3]) < 0.03


@pytest.mark.slow
@pytest.mark.timeout(2400)
@pytest.mark.parametrize(("far", "seed"), [(0.2, 1), (0.2, 2), (0.3, 1)])
def test_a_marionette_kicks_a_ball_to_a_place(far: float, seed: int) -> None:
    """Its right leg is swung by one string, which goes forward and up; the ball rolls on by itself, and as far in MuJoCo.

    The shoe rubs. MuJoCo's own contacts push apart what slips (tests/dynamics/touch/test_touch_mujoco.py), so shoe and ball meet by
    Coulomb's law there, which that test compares with a closed form; all the rest is MuJoCo's.
    """
    field = with_props(bunraku.library.named("marionette25"), {"ball": football(at=(0.045, 0.18, 0.05))})
    pairs = [["ball", "floor"], ["ball", "rknee_rx", {"rolling": 0.0}], ["rknee_rx", "floor"], ["lknee_rx", "floor"]]
    rules = {"pairs": pairs, "friction": 0.5, "rolling": 0.001}
    t, inputs = 0.01 * np.arange(1, 301), ["right_leg_y", "right_leg_length"]
    swing = np.interp(t, [0.2, 0.5, 0.6, 0.9], [0.0, 1.0, 1.0, 0.0])
    guess = np.repeat(np.array(field.start)[None, field.n_dynamic :], len(t), 0)
    for name, way in zip(inputs, (0.15, -0.04), strict=True):
        guess[:, field.index(name) - field.n_dynamic] += way * swing * swing * (3 - 2 * swing)
    place = np.array([0.045, 0.18 + far, 0.05])
    found = bunraku.optimize(
        field, [PointAt("ball.football", tuple(place), weight=1e-9, at_end=1e11), Speed(0.001)], duration=3.0, dt=0.01,
        inputs=inputs, scene=FLOOR, touch=rules, seed=seed, iterations=8, guess=guess,
        options=OptimizeOptions(touch=TouchSearchOptions(knots=8, samples=12, spread=0.02)),
    )  # fmt: skip
    ball = field.index("ball.football_tx")
    ours = found.motion.only.q[-1, ball : ball + 3]
    rubs = (0.5, 0.001)
    floor = {("ball.football", "floor"): rubs, ("rknee_rx", "floor"): rubs, ("lknee_rx", "floor"): rubs}
    theirs = performed_in_mujoco(found.motion, floor, kicks={("ball.football", "rknee_rx"): 0.5})[-1, ball : ball + 3]
    assert np.linalg.norm(ours - place) < 0.02
    assert np.linalg.norm(theirs - place) < 0.1 * far, (ours - place, theirs - place)


def test_limits_are_refused_and_files_say_touch(tmp_path: Path) -> None:
    order = tmp_path / "kick.yaml"
    order.write_text(
        "optimize: arm2d\nduration: 0.2 s\ncost: [{speed: 1}]\nscene: {scene: room, floor: -2 m}\n"
        "props: {ball: {is: football, at: [0.5, 0, -1.95 m]}}\ntouch: [[ball, floor]]\niterations: 1\n"
    )
    read = bunraku.load(order)
    assert read.touch is not None
    assert read.scene.floor == -2.0
    assert "ball.football_tx" in read.figure.names
    bat = figure("bat", tx("bat", box((0.04, 0.2, 0.1)), at=(0.0, 0.0, 0.06), kinematic=True))
    field = with_props(bat, {"ball": football(at=(0.15, 0.0, 0.05))})
    with pytest.raises(BunrakuError, match="limits do not go with touch"):
        bunraku.optimize(field, [Speed(1.0)], duration=0.1, scene=FLOOR, touch="all", limits=Limits(joints=True))
