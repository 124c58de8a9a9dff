"""Strings that lie on spheres and capsules, measured by other code than that which lays them."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

import bunraku
from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch
from bunraku.errors import BunrakuError, FileError, MotionError
from bunraku.figure import Figure
from bunraku.figure.build import capsule, figure, fixed, sphere, string, translate, tx
from bunraku.kinematics import pose
from bunraku.kinematics.capsule_geodesic import along_capsule
from bunraku.motion import Motion
from bunraku.render.strands import strands
from bunraku.spatial import se3
from bunraku.stage import describe
from bunraku.stage.entry import Recorded
from bunraku.stage.hand_commands import Pull
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.takes import recorded
from bunraku.stage.wire import Packer
from bunraku.teleop.simulated_figure import Simulated

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


def drawn_ropes(motion: Motion, k: int) -> list[Array]:
    """What pictures and films draw of the strings at a sample."""
    track = motion.only
    X = pose(track.figure, track.q[k]).frames
    return [strand.points for strand in strands(track.figure, X, track.q[k], laid=None if track.laid is None else track.laid[k])]


@pytest.mark.parametrize("post", ["sphere", "capsule", "end of a capsule", "capsule over which it goes"])
def test_pictures_and_the_stage_draw_the_way(post: str) -> None:
    """At every sample the way that the simulation had there, and nothing of it in the body; in between, nearly nothing."""
    shape, at = {
        "sphere": (sphere(0.1), (0.2, 0.02, 0.5)),
        "capsule": (capsule(0.05, start=(0, -0.2, 0.05), to=(0, 0.2, 0)), (0.15, 0.0, 0.5)),
        "end of a capsule": (capsule(0.05, start=(0, -0.2, -0.03), to=(0, 0.2, 0.03)), (0.15, 0.22, 0.52)),
        "capsule over which it goes": (capsule(0.05, start=(0, -0.03, -0.1), to=(0, 0.0, 0.1)), (0.15, 0.01, 0.5)),
    }[post]
    puppet = over(fixed("post", shape, at=at))
    assert STRINGS is not None
    hands = 0.5 * np.arange(1, 101) / 100
    simulation, ways = TouchSimulation(puppet, scene=None, touch=STRINGS, dt=0.02), []
    for x in hands:
        simulation.step([x])
        ways.append(simulation.way("rope"))
    motion = bunraku.simulate(puppet, hands[:, None], duration=2.0, dt=0.02, touch=STRINGS)
    assert max(len(way) for way in ways) > 10
    for k, way in enumerate(ways, 1):
        (drawn,) = drawn_ropes(motion, k)
        np.testing.assert_allclose(drawn, way, atol=1e-8)
        assert deepest(puppet, motion.q[k], drawn, ("bob",)) < 1e-6
    assert np.array_equal(drawn_ropes(motion, 0)[0], drawn_ropes(motion.replace(tracks=(replace(motion.only, laid=None),)), 0)[0])
    film = motion.resample(0.007)
    slips = post == "capsule over which it goes"  # to its other side, from one sample to the next: a picture in between shows that
    assert slips or max(deepest(puppet, film.q[k], drawn_ropes(film, k)[0], ("bob",)) for k in range(len(film))) < 2e-3
    samples = describe.recorded(Recorded(motion), Meshes())
    (index,) = [k for k, block in enumerate(samples[0]["blocks"]) if block["field"] == "laidPoints"]
    assert samples[0]["blocks"][index]["rows"] == sum(len(way) - 2 for way in ways)


def test_a_string_once_round_a_rod_is_drawn_round_it() -> None:
    """Half a turn and more: the points go round the rod at its radius, evenly, and end where the string leaves it."""
    for turn in (0.3, 3.1, np.pi, 4.0, 6.0):
        core, first = np.array([[0.0, -0.2, 0.0], [0.0, 0.2, 0.0]]), np.array([0.05, 0.0, 0.0])
        last = 0.05 * np.array([np.cos(turn), 0.0, np.sin(turn)])
        points = along_capsule(first, np.array([0.0, 0.0, 1.0]), last, core, 0.05)
        assert np.linalg.norm(np.diff(points, axis=0), axis=1).sum() == pytest.approx(0.05 * turn, rel=0.02)
        assert np.hypot(points[:, 0], points[:, 2]).min() >= 0.05 - 1e-12
        assert np.hypot(points[:, 0], points[:, 2]).max() < 0.052


def test_a_motion_keeps_where_its_strings_lie(tmp_path: Path) -> None:
    """Through files, cuts, joins and mirrors; an edited motion, whose bodies are elsewhere, has straight strings again."""
    puppet = over(fixed("post", sphere(0.1), at=(0.2, 0.0, 0.5)))
    ring = np.array([[0.1, 0.0, 0.5], [0.12, 0.01, 0.56]])
    q = puppet.start + 0.01 * np.arange(5.0)[:, None]
    motion = Motion.of(puppet, 0.1 * np.arange(5), q, laid=({}, {0: ring}, {0: ring + 0.1}, {0: ring[:1]}, {}))
    bunraku.save(motion, tmp_path / "laid.npz")
    assert bunraku.load(tmp_path / "laid.npz") == motion
    laid = motion.resample(times=[0.0, 0.125, 0.26, 0.3, 0.4]).only.laid
    assert laid is not None
    np.testing.assert_allclose(laid[1][0], ring + 0.025)
    assert [list(one) for one in laid] == [[], [0], [0], [0], []]
    assert laid[2][0].shape == (1, 3)
    both = motion.join(motion.slice(0.1, 0.3).shift(-0.1))
    assert both.only.laid is not None
    assert [len(one) for one in both.only.laid] == [0, 1, 1, 1, 0, 1, 1, 1]
    mirrored = motion.mirror("y").only.laid
    assert mirrored is not None
    np.testing.assert_allclose(mirrored[1][0], ring * [1.0, -1.0, 1.0])
    assert motion.loop(0.35).only.laid is None
    with pytest.raises(MotionError, match=r"laid has points of shape \(2,\)"):
        Motion.of(puppet, [0.0], q[:1], laid=({0: np.zeros(2)},))
    with pytest.raises(MotionError, match="laid has 1 samples"):
        Motion.of(puppet, [0.0, 1.0], q[:2], laid=({},))


def test_a_live_string_lies_on_a_body() -> None:
    """The bytes that go to the page have its points behind the rest, and a take keeps them."""
    puppet = over(fixed("post", sphere(0.1), at=(0.2, 0.02, 0.5)))
    live = Simulated(puppet, dt=0.02, touch={"pairs": [], "strings": "all"})
    before = len(Packer(live).pack(live.reset(), 0))
    for _ in range(21):
        live.apply(Pull(0, "spindle", "rope", (0.5, 0.0, 1.0)))
        sample = live.step()
    assert sample.laid[0][0].shape[1] == 3
    packed = Packer(live).pack(sample, 1)
    assert len(packed) == before + 6 + 12 * len(sample.laid[0][0])
    np.testing.assert_allclose(np.frombuffer(packed[before + 6 :], "<f4").reshape(-1, 3), sample.laid[0][0], atol=1e-6)
    take = recorded(live, [live.reset(), replace(sample, t=1.0)]).motion.only
    assert take.laid is not None
    assert list(take.laid[1]) == [0]


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
