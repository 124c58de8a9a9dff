"""plan among bodies that touch: a crate is pushed aside, where MuJoCo's contacts bring it, too."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.dynamics.simulate import simulation_of
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.errors import BunrakuError
from bunraku.figure.build import box, figure, tx, ty
from bunraku.figure.library.props import crate
from bunraku.figure.together import with_props
from bunraku.planning.strings import Goal
from tests.dynamics.touch.judge import Judge
from tests.peers.pushed_in_mujoco import pushed_in_mujoco

FLOOR = bunraku.Scene("floor")
RUBS = {"friction": 0.4}
PADDLE = figure("paddle", tx("across", ty("along", box((0.06, 0.06, 0.08)), kinematic=True), at=(0.0, 0.0, 0.05), kinematic=True))
AWAY = 0.25  # how far the crate is to be pushed [m]


@pytest.mark.parametrize(
    ("angle", "seed"), [pytest.param(0.0, 3, id="ahead"), pytest.param(2.1, 4, id="back", marks=pytest.mark.slow)]
)
def test_a_crate_is_pushed_aside(angle: float, seed: int) -> None:
    field = with_props(PADDLE, {"crate": crate(at=(0.2, 0.0, 0.05))})
    target = (0.2 + AWAY * np.cos(angle), AWAY * np.sin(angle), 0.05)
    goal = Goal.at_points(field, {"crate.crate": target}, within=0.05, speed=0.1)
    found = bunraku.plan(
        field, goal, start=field.start, scene=FLOOR, limits={"speed": 0.5, "reach": 0.8}, touch=RUBS, budget=60.0, seed=seed
    )
    assert found.outcome.ok, found
    assert found.motion is not None
    motion = found.motion.only
    at = field.index("crate.crate_tx")
    assert np.linalg.norm(motion.q[-1, at : at + 3] - target) < 0.05
    simulation = simulation_of(field, scene=FLOOR, touch=RUBS)
    assert isinstance(simulation, TouchSimulation)
    judge = Judge(simulation)
    assert max(judge.deepest(q)[0] for q in motion.q[::5]) < 1e-6
    # Not with longer steps: one crate ended 75, 23, 8 mm from ours with steps of 0.94, 0.23, 0.06 ms in MuJoCo.
    theirs = pushed_in_mujoco(found.motion, "crate.crate", ("along",), step=1.875e-3 / 16, **RUBS)
    assert np.linalg.norm(theirs[-1] - motion.q[-1, at : at + 3]) < 0.05


def test_what_cannot_be_pushed_is_refused() -> None:
    loose = with_props(bunraku.library.named("pendulum"), {"crate": crate(at=(0.2, 0.0, 0.05))})
    goal = Goal.at_points(loose, {"crate.crate": (0.4, 0.0, 0.05)}, within=0.05)
    with pytest.raises(BunrakuError, match=r"nothing of .* can push"):
        bunraku.plan(loose, goal, start=loose.start, scene=FLOOR, touch=RUBS)


def test_planning_files_say_props_and_touch(tmp_path: Path) -> None:
    order = tmp_path / "aside.yaml"
    order.write_text(
        "plan: pendulum\nscene: {scene: room, floor: -2 m}\nprops: {box: {is: crate, at: [0.5, 0, -1.95 m]}}\n"
        "touch: [[box, floor]]\ngoal: {points: {box.crate: [0.7, 0, -1.95]}}\n"
    )
    read = bunraku.load(order)
    assert read.touch is not None
    assert "box.crate_tx" in read.figure.names
    assert read.goal.points[0].frame == "box.crate"
