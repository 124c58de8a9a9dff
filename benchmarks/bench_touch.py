"""What touch costs: a marionette that stands on a floor against one that only hangs; and many balls in a box."""

from __future__ import annotations

import math
from functools import partial

import numpy as np

from benchmarks.table import Ratio, interleaved
from bunraku.collision.manifold.touch_rules import Matter, Touch, TouchPair
from bunraku.collision.manifold.touch_world import TouchBodies
from bunraku.dynamics import Simulation, settle
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.figure import Figure
from bunraku.figure.build import figure, free, sphere
from bunraku.figure.library import named
from bunraku.figure.shape import Box
from bunraku.figure.together import together
from bunraku.kernels.clock import worked
from bunraku.kinematics import pose
from bunraku.scene import Obstacle, Scene

FEW, MANY = 25, 100  # balls
STEPS = 100
RATIOS = {
    "touch.marionette22_ratio": Ratio("touch.marionette22_us", "touch.marionette22_without_us", at_most=2.0),
    "touch.moving_ratio": Ratio("touch.marionette22_moving_us", "touch.marionette22_moving_without_us", at_most=2.0),
    "touch.actor_ratio": Ratio("touch.actor_moving_us", "touch.actor_moving_without_us", at_most=2.0),
    "touch.balls_ratio": Ratio(f"touch.balls{MANY}_us", f"touch.balls{FEW}_us", at_most=(MANY / FEW) ** 1.2),
}
R = 0.05


def bench_marionette() -> dict[str, float]:
    """A step of marionette22 whose shoes rest on the floor, with ten pairs near each other, and of one without touch; also
    where every second string is pulled in by 4 cm and let out, so that it steps on the floor, and the same of the actor."""
    out: dict[str, float] = {}
    for name, rise in (("marionette22", 0.0), ("marionette22", 0.04), ("actor", 0.04)):
        label = f"touch.{name}" + ("_moving" if rise else "")
        touching, bare, hands = on_the_floor(name, rise)
        times = interleaved(
            {
                f"{label}_us": partial(touching.run, hands, energy=False),
                f"{label}_without_us": partial(bare.run, hands, energy=False),
            }
        )
        out |= {key: time / len(hands) for key, time in times.items()}
        out[f"{label}_contacts"] = len(touching.log.gap) / len(hands)
    return out


def on_the_floor(name: str, rise: float) -> tuple[TouchSimulation, Simulation, np.ndarray]:
    """A puppet on the floor, one without touch, and what its puppeteer does: strings are 2 mm too long, every second is pulled in
    by `rise` [m] and let out."""
    puppet = named(name)
    q = settle(puppet)
    limbs = ("lknee_rx", "rknee_rx", "lelbow_rx", "relbow_rx")
    near = [TouchPair(limb, other) for limb in limbs for other in ("floor", "torso")]
    floor = Scene("floor", floor=_lowest(puppet, q) - 1e-4)
    steps = 50
    hands = np.repeat(q[None, puppet.n_dynamic :], steps, 0)
    lengths = [puppet.index(string) - puppet.n_dynamic for string in puppet.kinematic if string.endswith("_length")]
    for i, k in enumerate(lengths):
        hands[:, k] += 2e-3 - 0.5 * rise * (1.0 - np.cos(2.0 * np.pi * np.arange(steps) / steps)) * (i % 2)
    touching = TouchSimulation(puppet, q, scene=floor, touch=Touch((*near, TouchPair(*limbs[:2]))), dt=0.01)
    return touching, Simulation(puppet, q, dt=0.01), hands


def _lowest(puppet: Figure, q: np.ndarray) -> float:
    """How low its shapes reach [m]."""
    bodies, here = TouchBodies(puppet, Scene("floor", floor=-10.0), Touch()), pose(puppet, q)
    world = bodies.arrays
    out = math.inf
    for k, joint in enumerate(world.joint):
        X = here.X_joint(int(joint))
        for v in range(world.first[k, 0], world.first[k, 0] + world.count[k, 0]):
            if joint >= 0:
                out = min(out, float(X[2, :3] @ world.vertices[v] + X[2, 3]) - float(world.radius[k]))
    return out


def balls(n: int) -> tuple[Figure, Scene]:
    """`n` balls above each other in layers, each a little aside at random, in a box that is about as wide as they are high."""
    rng, side = np.random.default_rng(n), max(2, round((n / 1.5) ** (1 / 3)))
    wide, grid = 2.3 * R * side, [(k % side, k // side % side, k // side**2) for k in range(n)]
    places = [
        (*(2.3 * R * (i - (side - 1) / 2) + rng.uniform(-0.13, 0.13) * R for i in at[:2]), R * (1.1 + 2.1 * at[2])) for at in grid
    ]
    parts = {f"b{k}": figure("b", free("b", sphere(R, mass=0.1), start=(*at, 0, 0, 0))) for k, at in enumerate(places)}
    walls = [
        Obstacle(
            f"wall{k}",
            Box((0.1, 4, 4) if k < 2 else (4, 0.1, 4)),
            (s * (wide / 2 + 0.06), 0, 0) if k < 2 else (0, s * (wide / 2 + 0.06), 0),
        )
        for k, s in enumerate((-1, 1, -1, 1))
    ]
    return together("balls", parts), Scene("box", tuple(walls))


def falling(n: int) -> TouchSimulation:
    """`n` balls that have fallen onto each other, and still roll."""
    made, box = balls(n)
    simulation = TouchSimulation(made, scene=box, touch=Touch(matter=Matter(friction=0.4)), dt=0.005)
    simulation.run(np.zeros((80, 0)))
    return simulation


def bench_balls() -> dict[str, float]:
    """A step of many balls that roll over each other, and of four times as many: the mean of a hundred steps."""
    out = {}
    for n in (FEW, MANY):
        simulation = falling(n)
        begun = worked()
        simulation.run(np.zeros((STEPS, 0)), energy=False)
        out[f"touch.balls{n}_us"] = 1e6 * (worked() - begun) / STEPS
    out["touch.balls_exponent"] = math.log(out[f"touch.balls{MANY}_us"] / out[f"touch.balls{FEW}_us"]) / math.log(MANY / FEW)
    return out
