"""What kernels compute, as arrays by name. `python -m tests.kernels.twins FILE` writes them: compiled or, with NUMBA_DISABLE_JIT=1,
by the interpreter, where arrays that nobody has set begin as NaN. Each part is small enough for the interpreter.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

import bunraku
from benchmarks.bench_touch import balls, on_the_floor
from bunraku.collision import World
from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.control.cost import Configuration, Forces, Momentum
from bunraku.dynamics import settle
from bunraku.dynamics.continuous_model import acceleration, acceleration_derivative
from bunraku.dynamics.step_derivatives import step_derivatives, step_once
from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch
from bunraku.figure import Box, library
from bunraku.figure.build import figure, fixed, sphere, string, translate, tx
from bunraku.kernels.compile import INTERPRETED
from bunraku.kinematics import PointPosition, Posture, closed_form, pose
from bunraku.kinematics.inverse.general_arm import general_arm
from bunraku.planning.strings import Goal, search
from bunraku.render.image import image
from bunraku.scene import Obstacle, Scene
from bunraku.verbs.plan.run import problem_of

Arrays = Mapping[str, ArrayLike]
Part = Callable[[], Arrays]


def kinematics() -> Arrays:
    puppet = library.named("marionette22")
    here = pose(puppet, puppet.start + np.random.default_rng(0).normal(0.0, 0.05, puppet.n_q))
    return {"frames": here.frames, "gaps": here.gaps, "com": here.com}


def inverse() -> Arrays:
    man = library.named("mannequin")
    found = bunraku.inverse_kinematics(man, [PointPosition("left_palm", (0.3, 0.2, 1.1)), Posture(weight=0.01)])
    return {"q": found.q}


def general_arm_solutions() -> Arrays:
    man = library.named("mannequin")
    arm = general_arm(man, "left_palm", closed_form(man, "left_palm").variables[0])
    near = 0.5 * (arm.limits[0] + arm.limits[1])
    X = pose(man).X(arm.base) @ arm.places(near + 0.1 * np.arange(7)[None] / 7.0)[:, -1]
    found, ok = arm.nearest_many(X, near=near)
    return {"found": found, "ok": ok}


def strings_that_go_slack() -> Arrays:
    puppet = library.named("marionette22")
    at = puppet.start[puppet.index("left_arm_length")]
    motion = bunraku.simulate(puppet, {"left_arm_length": lambda t: at + 2.0 * t}, duration=0.04, dt=0.01)
    track = motion.tracks[0]
    return {"q": track.q, "tension": track.tension, "gap": track.gap, "energy": track.energy}  # type: ignore[dict-item]


def rest_and_a_step() -> Arrays:
    arm = library.named("arm3d")
    q = settle(arm)
    v = np.linspace(0.1, 0.4, arm.n_q)
    step = step_once(arm, q, v[: arm.n_dynamic], q[arm.n_dynamic :] + 0.001, dt=0.01)
    derivative = step_derivatives(arm, q, step.q, step.impulse, step.states, dt=0.01)
    return {"q": q, "next": step.q, "impulse": step.impulse, "derivative": derivative.D}


def touch() -> Arrays:
    """Balls that fall onto each other in a box."""
    made, box = balls(4)
    out = TouchSimulation(made, scene=box, touch=Touch(matter=Matter(friction=0.4)), dt=0.01).run(np.zeros((6, 0)))
    return {"q": out.q, "momentum": out.momentum}


def a_puppet_on_the_floor() -> Arrays:
    touching, _, hands = on_the_floor("marionette22", 0.04)
    return {"q": touching.run(hands[:2]).q}


def a_string_over_a_post() -> Arrays:
    bob = translate("x", "bob_x", translate("z", "bob_z", sphere(0.02, mass=0.2)))
    hand, post = tx("hand", at=(0.0, 0.0, 1.0), kinematic=True), fixed("post", sphere(0.1), at=(0.115, 0.02, 0.5))
    made = figure("past a post", bob, hand, post, strings=[string("rope", "bob_z", "hand", 1.0)])
    simulation = TouchSimulation(made, scene=None, touch=as_touch({"pairs": [], "strings": "all"}), dt=0.01)
    out = simulation.run(0.05 * np.arange(12.0)[:, None] / 12)
    assert simulation.lies_on("rope")
    return {"q": out.q, "bits": out.bits}


def continuous() -> Arrays:
    arm = library.named("arm3d")
    q, v = settle(arm), np.linspace(-0.2, 0.3, arm.n_q)
    now = acceleration(arm, q, v)
    return {"a": now.a, "tension": now.tension, "derivative": acceleration_derivative(arm, q, v)}


def least_cost() -> Arrays:
    cart = library.named("cart_pendulum")
    cost = [Configuration({"theta": 5.0}, {"theta": 0.3}, at_end=1.0), Momentum(0.02), Forces(0.01)]
    found = bunraku.optimize(cart, cost, duration=0.12, dt=0.02, iterations=3)
    assert found.motion is not None
    return {"q": found.motion.q, "cost": found.cost}


def distances() -> Arrays:
    man = library.named("mannequin")
    scene = Scene("wall", (Obstacle("wall", Box((0.2, 2.0, 2.0)), (0.6, 0.0, 1.0)),))
    near = World(man, scene).clearances(man.start, within=0.8)
    return {"value": near.value, "normal": near.normal, "gradient": near.gradient}


def planning() -> Arrays:
    arm = library.named("arm3d")
    problem = problem_of(arm, Goal.at_points(arm, {"tip": (0.2, 0.2, 0.1)}))
    found = search(replace(problem, steps=4), segments=4, seconds=1e6, seed=2)
    assert found.tree is not None
    return {"points": found.tree.points}


def picture() -> Arrays:
    return {"pixels": image(library.named("pendulum"), size=(16, 12)).astype(float)}


PARTS: tuple[Part, ...] = (
    kinematics,
    inverse,
    general_arm_solutions,
    strings_that_go_slack,
    rest_and_a_step,
    touch,
    a_puppet_on_the_floor,
    a_string_over_a_post,
    continuous,
    least_cost,
    distances,
    planning,
    picture,
)


def computed() -> dict[str, NDArray[Any]]:
    """All arrays, by the names of their part and their own."""
    out = {f"{part.__name__}.{name}": np.asarray(values) for part in PARTS for name, values in part().items()}
    return {"interpreted": np.array(INTERPRETED), **out}


def unset(real: Any) -> Any:
    """`np.empty`, but what it makes holds no number that a sum would survive."""

    def empty(*shape: Any, **options: Any) -> Any:
        made = real(*shape, **options)
        if made.dtype.kind in "fcb":
            made.fill(np.nan)
        return made

    return empty


if __name__ == "__main__":
    np.empty = unset(np.empty)
    np.savez(sys.argv[1], **computed())
