"""Strings that lie on spheres and capsules, measured by other code than that which lays them."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch
from bunraku.errors import BunrakuError, FileError
from bunraku.figure import Figure
from bunraku.figure.build import capsule, figure, fixed, sphere, string, translate, tx
from bunraku.kinematics import pose
from bunraku.spatial import se3

Array = NDArray[np.float64]
STRINGS = as_touch({"pairs": [], "strings": "all"})


def bob(name: str, at: tuple[float, float, float], mass: float = 0.2, damping: float = 0.0) -> object:
    """A weight that can slide in all directions."""
    x, y, z = at
    inner = translate("z", f"{name}_z", sphere(0.02, mass=mass, name=name), start=z, damping=damping)
    return translate("x", f"{name}_x", translate("y", f"{name}_y", inner, start=y, damping=damping), start=x, damping=damping)


def deepest(figure: Figure, q: Array, way: Array, ignored: tuple[str, ...] = ()) -> float:
    """How deep the points of a way, and many between them, are in round bodies [m]: by plain geometry of the figure's shapes."""
    dense = np.concatenate([a + np.linspace(0, 1, 40)[:, None] * (b - a) for a, b in pairwise(way)])
    now, worst = pose(figure, q), -np.inf
    for shape in figure.shapes:
        if shape.name in ignored:
            continue
        X = (now.X(shape.frame) if shape.frame != "world" else np.eye(4)) @ se3.pose(shape.position, shape.rotation)
        own = (dense - X[:3, 3]) @ X[:3, :3]
        half = 0.5 * getattr(shape.geometry, "length", 0.0)
        beyond = own[:, 2] - np.clip(own[:, 2], -half, half)
        worst = max(worst, float(np.max(shape.geometry.radius - np.sqrt(own[:, 0] ** 2 + own[:, 1] ** 2 + beyond**2))))
    return worst


def over(post: object, *, reach: float = 0.0) -> Figure:
    """A weight on a string from a hand that moves along x, past a post."""
    return figure(
        "past a post", bob("bob", (0.0, reach, 0.0), damping=0.4), tx("hand", at=(0.0, 0.0, 1.0), kinematic=True), post,
        strings=[string("rope", "bob_z", "hand", float(np.hypot(1.0, reach)))],
    )  # fmt: skip


@pytest.mark.parametrize("post", ["sphere", "capsule", "end of a capsule"])
def test_a_string_lies_on_what_it_meets_and_its_tension_does_not_jump(post: str) -> None:
    shape, at = {
        "sphere": (sphere(0.1), (0.2, 0.02, 0.5)),
        "capsule": (capsule(0.05, start=(0, -0.2, 0), to=(0, 0.2, 0)), (0.15, 0.0, 0.5)),
        "end of a capsule": (capsule(0.05, start=(0, -0.2, -0.03), to=(0, 0.2, 0.03)), (0.15, 0.22, 0.52)),
    }[post]
    puppet = over(fixed("post", shape, at=at))
    assert STRINGS is not None
    simulation = TouchSimulation(puppet, scene=None, touch=STRINGS, dt=0.01)
    tension, lies = [], []
    for k in range(500):
        simulation.step([0.5 * k / 500])  # so slowly that the weight hangs nearly still
        tension.append(float(simulation.tension[0]))
        lies.append(bool(simulation.lies_on("rope")))
        assert deepest(puppet, simulation.q, simulation.way("rope"), ("bob",)) < 1e-6
    met = lies.index(True)
    assert 50 < met < 400
    change = np.abs(np.diff(tension))[20:]
    assert change.max() < 0.05 * 0.2 * 9.81  # per step of 10 ms, at the meeting and everywhere
    assert change[met - 22 : met - 17].max() < 0.02 * 0.2 * 9.81


def test_two_weights_hang_over_a_rod() -> None:
    """They fall with their string on a rod; in the end each side carries its weight, as over a pulley without friction."""
    rod = fixed("rod", capsule(0.03, start=(0, -0.3, 0), to=(0, 0.3, 0)), at=(0.0, 0.0, 0.5))
    both = figure(
        "over a rod", bob("left", (-0.3, 0.01, 0.8), damping=1.0), bob("right", (0.3, -0.01, 0.8), damping=1.0), rod,
        strings=[string("rope", "left_z", "right_z", 0.62)],
    )  # fmt: skip
    assert STRINGS is not None
    simulation = TouchSimulation(both, scene=None, touch=STRINGS, dt=0.005)
    deep = -np.inf
    for k in range(1600):
        simulation.step()
        if k % 10 == 0:
            deep = max(deep, deepest(both, simulation.q, simulation.way("rope"), ("left", "right")))
    assert deep < 1e-6
    assert simulation.lies_on("rope") == ["rod"]
    assert simulation.tension[0] == pytest.approx(0.2 * 9.81, rel=1e-3)
    way = simulation.way("rope")
    free = 0.62 - np.pi * 0.03
    assert np.linalg.norm(way[1] - way[0]) + np.linalg.norm(way[-1] - way[-2]) == pytest.approx(free, abs=2e-3)


def test_files_name_the_strings(tmp_path: Path) -> None:
    path = tmp_path / "order.yaml"
    path.write_text("simulate: marionette25\nduration: 0.1 s\ntouch: {strings: [left_arm, head]}")
    order = bunraku.load(path)
    assert order.touch.strings == ("left_arm", "head")
    assert any("may lie on" in line and "left_arm" in line for line in order.notes())
    path.write_text("simulate: marionette25\nduration: 0.1 s\ntouch: {strings: [left_arn]}")
    with pytest.raises(FileError, match=r"3:19: no string is called 'left_arn'"):
        bunraku.load(path)
    crane = bunraku.library.crane()
    with pytest.raises(BunrakuError, match="runs through eyelets or over pulleys"):
        bunraku.simulate(crane, duration=0.1, touch={"strings": [crane.strings[0].name]})
