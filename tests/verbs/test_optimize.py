"""Optimisation files: what they order, and what is wrong with broken ones."""

from __future__ import annotations

import io
from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bunraku.collision.world import World
from bunraku.control import gestures
from bunraku.dynamics import simulate
from bunraku.errors import FileError
from bunraku.io import load, save
from bunraku.kinematics import pose
from bunraku.verbs.execute import execute
from bunraku.verbs.optimize.file import OptimizeOrder

SWING = """\
optimize: cart_pendulum
duration: 2 s
dt: 20 ms
start: {theta: 0, x: 0}
cost:
  - {configuration: {theta: 5, x: 50}, reference: {x: [[0.5, 0], [1.5, 40 cm]]}, at_end: 1 s}
  - {momentum: 0.01}
  - {forces: 0.001}
limits: {forces: {x_force: [-30, 30]}}
output: swing.npz
"""


def written(folder: Path, text: str) -> Path:
    path = folder / "order.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_file_is_solved_and_written(tmp_path: Path) -> None:
    path = written(tmp_path, SWING)
    lines: dict[str, str] = {}
    execute(OptimizeOrder.load(path), plot=tmp_path / "swing.svg", console=Console(file=io.StringIO()), say=lines.__setitem__)
    assert lines["outcome"].startswith("converged")
    assert lines["input"].startswith("x_force")
    assert lines["input"].endswith(" N")
    drawn = (tmp_path / "swing.svg").read_text(encoding="utf-8")
    for words in ("theta", "x_force [N]", "position [m]", "iteration"):
        assert words in drawn
    motion = load(tmp_path / "swing.npz")
    assert abs(motion.column("x")[-1] - 0.4) < 0.05
    found = OptimizeOrder.load(path).run()
    assert found.outcome.kind == "converged"
    assert np.abs(found.forces).max() <= 30.00001


def test_the_optimum_is_a_motion_of_its_rule(tmp_path: Path) -> None:
    """Whatever share of a force acts at the start of a step, simulate makes the optimum of its forces."""
    for share in (0.5, 1.0):
        found = OptimizeOrder.load(written(tmp_path, f"{SWING}share: {share}\n")).run()
        own = {"duration": 2.0, "dt": 0.02, "q": found.motion.q[0], "forces": found.forces}
        ran = simulate(found.system.figure, **own, share=share)  # type: ignore[arg-type]
        np.testing.assert_allclose(ran.q, found.motion.q, atol=1e-9)


def test_a_scene_is_kept_away_from(tmp_path: Path) -> None:
    """A block in the way of the cart's pendulum: it stops short of it."""
    block = "{scene: block, floor: -3, obstacles: [{box: [0.1, 0.4, 0.4], at: [0.35, 0, -1.0], name: block}]}"
    text = SWING.replace("limits: {forces: {x_force: [-30, 30]}}", f"limits: {{scene: {block}, margin: 2 cm}}\niterations: 200")
    limits = OptimizeOrder.load(written(tmp_path, text)).limits
    assert (limits.margin, len(limits.scene.obstacles)) == (0.02, 1)
    free, held = (OptimizeOrder.load(written(tmp_path, one)).run() for one in (SWING, text))
    near = [float(World(found.system.figure, limits.scene).check(found.motion).clearance.min()) for found in (free, held)]
    assert near[0] < 0.0
    assert near[1] > 0.02 - 2e-4


def test_a_point_and_the_centre_of_mass_are_led(tmp_path: Path) -> None:
    """A hand is asked 15 cm higher, as it is at the start otherwise; and the weight to the side."""
    cost = "- {point: tip, weight: 100, reference: {z: {by: [[0, 0], [1, 15 cm]]}}}\n  - {speed: 0.01}\n  - {acceleration: 1e-4}"
    text = f"optimize: arm3d\nduration: 1.5 s\nstart: settle\ncost:\n  {cost}\n"
    found = OptimizeOrder.load(written(tmp_path, text)).run()
    first, last = (pose(found.system.figure, q).point("tip") for q in (found.motion.q[0], found.motion.q[-1]))
    np.testing.assert_allclose(last - first, [0, 0, 0.15], atol=0.01)
    led = text.replace("point: tip, weight: 100", "centre: 100").replace("15 cm", "5 cm")
    found = OptimizeOrder.load(written(tmp_path, led)).run()
    first, last = (pose(found.system.figure, q).com for q in (found.motion.q[0], found.motion.q[-1]))
    np.testing.assert_allclose(last - first, [0, 0, 0.05], atol=0.01)


@pytest.mark.parametrize(
    ("right", "wrong", "says"),
    [
        ("point: tip", "point: tpi", "tip"),
        ("z: 0.2", "w: 0.2", "no coordinate is called 'w'"),
        ("z: 0.2", "z: 2 kg", "length"),
        ("weight: 3", "wieght: 3", "weight"),
        ("weight: 3", "weight: -3", "give zero or a positive number"),
        ("weight: 3", "offset: [1, 2]", "three numbers"),
    ],
)
def test_mistakes_of_points_are_pointed_at(tmp_path: Path, right: str, wrong: str, says: str) -> None:
    text = "optimize: arm3d\nduration: 1\ncost:\n  - {point: tip, weight: 3, reference: {z: 0.2}}\n  - {speed: 1}\n"
    assert OptimizeOrder.load(written(tmp_path, text)).cost
    with pytest.raises(FileError, match=r"order\.yaml:4:\d+") as caught:
        OptimizeOrder.load(written(tmp_path, text.replace(right, wrong)))
    assert says in str(caught.value)


def test_speeds_have_units_and_the_search_has_options(tmp_path: Path) -> None:
    limits = "limits: {speeds: {hand_x: 60 cm/s}, variables: {hand_x: [-20 cm, 0.9]}}"
    cost = "cost: [{speed: 1, reference: {hand_x: 5 cm/s}}]"
    text = f"optimize: arm2d\nduration: 1\nmethod: newton\ntolerance: 1e-6\ncoarse: 2\nshare: 1\n{limits}\n{cost}\n"
    order = OptimizeOrder.load(written(tmp_path, text))
    assert order.limits is not None
    assert order.limits.speeds == {"hand_x": pytest.approx(0.6)}
    assert (order.method, order.tolerance, order.coarse, order.iterations, order.share) == ("newton", 1e-6, 2, 100, 1.0)
    with pytest.raises(FileError, match="speed"):
        OptimizeOrder.load(written(tmp_path, text.replace("60 cm/s", "60 cm")))


def test_a_motion_is_imitated(tmp_path: Path) -> None:
    save(gestures.wave(2.0), tmp_path / "wave.npz")
    cost = "cost: [{configuration: 1}, {speed: 1}]"
    order = OptimizeOrder.load(
        written(tmp_path, f"optimize: marionette22\nimitate: {{motion: wave.npz, exaggerate: 0.5}}\n{cost}\n")
    )
    assert order.guess is not None
    assert order.duration == pytest.approx(2.0)
    assert np.array_equal(order.q, order.guess.q[0])
    assert order.inputs == order.figure.kinematic  # strings, not motors
    assert order.taut


def test_an_imitation_may_go_slack(tmp_path: Path) -> None:
    save(gestures.wave(2.0), tmp_path / "wave.npz")
    text = "optimize: marionette22\nimitate: {motion: wave.npz}\ncost: [{configuration: 1}, {speed: 1}]\n"
    assert not OptimizeOrder.load(written(tmp_path, text + "taut: false\n")).taut
    assert not OptimizeOrder.load(written(tmp_path, text + "method: newton\n")).taut


def test_inputs_are_chosen_by_patterns(tmp_path: Path) -> None:
    order = OptimizeOrder.load(
        written(tmp_path, "optimize: marionette22\nduration: 1 s\ninputs: ['*_length', left_arm_x]\ncost: [{speed: 1}]\n")
    )
    assert order.inputs is not None
    assert set(order.inputs) == {*(name for name in order.figure.kinematic if name.endswith("_length")), "left_arm_x"}


def test_an_input_without_a_price_is_found_when_the_file_is_read(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r":3:\d+: the cost does not weigh these inputs: .*_torque") as caught:
        OptimizeOrder.load(written(tmp_path, "optimize: marionette22\nduration: 1 s\ncost: [{speed: 1}]\n"))
    assert "forces" in (caught.value.advice or "")


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        ("{forces: 0.001}", "{force: 0.001}", "forces"),
        ("theta: 5", "thet: 5", "theta"),
        ("x_force: [-30, 30]", "x_force: [30, -30]", "lowest value first"),
        ("x_force: [-30, 30]", "y_force: [-30, 30]", "x_force"),
        ("{momentum: 0.01}", "{momentum: -1}", "give zero or a positive number"),
        ("{momentum: 0.01}", "momentum", "write {forces: 0.01}"),
        ("x: [[0.5, 0], [1.5, 40 cm]]", "x: [[0.5, 0], [0.1, 40 cm]]", "order of time"),
        ("{forces: 0.001}", "{forces: 0.001, at_end: 1}", "remove it"),
        ("duration: 2 s\n", "", "duration"),
        ("duration: 2 s\n", "duration: 2 kg\n", "time"),
        ("cart_pendulum", "cart_pendlum", "cart_pendulum"),
        ("output: swing.npz", "output: swing.doc", "end the name in"),
        ("output: swing.npz", "inputs: [x_forc]", "x_force"),
        ("output: swing.npz", "method: newtn", "newton"),
        ("output: swing.npz", "coarse: 0", "coarse"),
        ("output: swing.npz", "outputs: swing.npz", "output"),
    ],
)
def test_mistakes_are_pointed_at(tmp_path: Path, wrong: str, right: str, says: str) -> None:
    assert wrong in SWING
    with pytest.raises(FileError, match=r"order\.yaml:\d+:\d+") as caught:
        OptimizeOrder.load(written(tmp_path, SWING.replace(wrong, right)))
    assert says in str(caught.value)
    assert "advice" in str(caught.value)
