"""Steps, their derivatives and accelerations of the marionette, against Pinocchio on the same 22-variable tree; growth of the
same with the length of a chain."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from benchmarks.table import Ratio, best_of, interleaved
from bunraku.dynamics import Simulation
from bunraku.dynamics.acceleration import mixed
from bunraku.dynamics.rollout import rollout
from bunraku.dynamics.simulation import LEFT_SHARE, STEP_TOLERANCE
from bunraku.dynamics.step_expansion import expand, expand_along
from bunraku.figure import Figure, Point, Pulley, library
from bunraku.kernels.entry_point import entry
from bunraku.kinematics import pose

Array = NDArray[np.float64]
REFERENCE = Path(__file__).parents[1] / "tests" / "reference" / "marionette_smooth.npz"
CHAINS = (10, 20, 40, 80)
RATIOS = {
    "dynamics.step_ratio": Ratio("marionette22.step_us", "pinocchio22.rnea_d1_us", at_most=1.0),
    "dynamics.step_d1_ratio": Ratio("marionette22.step_d1_us", "pinocchio22.rnea_d1_us", at_most=1.4),
    "dynamics.step_d1_contraction_ratio": Ratio("marionette22.step_d1_contraction_us", "pinocchio22.rnea_d1_us", at_most=3.5),
    "dynamics.step_d2_ratio": Ratio("marionette22.step_d2_us", "pinocchio22.rnea_d1_us", at_most=75.0),
    "dynamics.six_pulleys_ratio": Ratio("marionette22.step_six_pulleys_us", "marionette22.step_alone_us", at_most=1.3),
    "dynamics.acceleration_ratio": Ratio("marionette22.acceleration_us", "pinocchio22.aba_us", at_most=0.9),
}
NOTES = {
    "marionette22.step_us": "a step of a rollout of 100, strings taut",
    "marionette22.step_d1_us": "first derivative of a step, along the same motion",
    "marionette22.step_d1_contraction_us": "and the second, contracted with a covector",
    "marionette22.step_d2_us": "first and full second derivative of one step, (50, 80, 80), again and again into the same place",
    "marionette22.acceleration_us": "continuous accelerations and tensions, strings taut, one call from Python",
    "marionette22.step_alone_us": "a step as above, in turns with the next",
    "marionette22.step_six_pulleys_us": "the same with each of its six strings over a pulley",
    "pinocchio22.rnea_d1_us": "computeRNEADerivatives, the same 22 joints and bodies, no strings, one call from Python",
    "pinocchio22.aba_us": "aba, likewise",
    "chain.step_exponent": f"processor time, fitted over chains of {CHAINS}; wanted ≤ 2.2",
    "chain.step_d1_exponent": "likewise; wanted ≤ 2.2",
    "chain.step_d2_exponent": "likewise; wanted ≤ 3.2",
    "marionette22.realtime": "times real time, of processor time: 60 s of waving and hopping, slack and catches; wanted ≥ 200",
    "marionette25.realtime": "likewise",
}


class Performance:
    """Steps of a figure from rest, taken again and again, and the derivatives of the first few.

    All are timed in rounds of about a millisecond, after which a busy machine interrupts, and whose results a processor holds.
    """

    few = 25

    def __init__(self, figure: Figure, K: Array, U: Array, *, start: Array | None = None, dt: float = 0.01) -> None:
        self.figure, self.tree, self.dt, self.K, self.U = figure, figure.compiled.tree, dt, K, U
        n, nq, nc, N = figure.n_dynamic, figure.n_q, len(self.tree.links), len(K)
        self.Q, self.L, self.states = np.empty((N + 1, nq)), np.empty((N, nc)), np.empty((N, nc), np.int8)
        self.Q[0] = figure.start if start is None else start
        self._out = np.empty((N, n)), np.empty((0, nc)), np.empty((0, 2)), np.empty(N, np.int64)
        self.outputs, self.inputs = 2 * n + nc, 2 * nq
        self._charts = np.repeat(np.eye(3)[None], len(self.tree.balls), 0)
        rng = np.random.default_rng(1)
        self._weights = np.zeros((0, self.outputs)), rng.normal(size=(N, self.outputs)), np.eye(self.outputs)
        self._D = np.empty((N, self.outputs, self.inputs))
        self._H = np.empty((max(N, self.outputs), self.inputs, self.inputs))

    def steps(self) -> None:
        n, nc = self.figure.n_dynamic, len(self.tree.links)
        P, G, En, bits = self._out
        rollout(
            self.tree, np.repeat(self.Q[:1], 6, 0), np.zeros(n), np.zeros(nc), self._charts.copy(), np.zeros(nc, np.bool_), self.K,
            self.U, self.dt, LEFT_SHARE, STEP_TOLERANCE, self.Q[1:], P, self.L, G, En, self.states, bits,
        )  # fmt: skip

    def first(self) -> None:
        self._along(self._weights[0], self._H[:0])

    def contraction(self) -> None:
        self._along(self._weights[1][: self.few], self._H[: self.few])

    def _along(self, weights: Array, H: Array) -> None:
        few = self.few
        expand_along(
            self.tree, self.states[:few], self.Q[: few + 1], self.L[:few], self.U[:few], self.dt, LEFT_SHARE, weights,
            self._D[:few], H,
        )  # fmt: skip

    def second(self) -> None:
        k = len(self.K) // 3
        expand(
            self.tree, self.states[k], self.Q[k], self.Q[k + 1], self.L[k], self.U[k], self.dt, LEFT_SHARE, self._weights[2],
            self._D[0], self._H[: self.outputs],
        )  # fmt: skip

    def acceleration(self) -> Any:
        """A call that takes nothing: the accelerations in the middle of the motion."""
        k, nc, n = len(self.K) // 3, len(self.tree.links), self.figure.n_dynamic
        arguments = (
            self.tree, np.ones(nc, np.int8), self.Q[k].copy(), (self.Q[k + 1] - self.Q[k]) / self.dt,
            np.zeros(self.figure.n_q - n), self.U[k].copy(), np.empty(n + nc), np.empty((0, 0)),
        )  # fmt: skip
        return partial(entry(mixed, *arguments), *arguments)


def marionette() -> Performance:
    """The puppet of the reference, under its strings and torques."""
    with np.load(REFERENCE) as file:
        k, u = file["k"][:100], np.ascontiguousarray(file["u"][:100])
        return Performance(library.named("marionette22"), k, u, start=file["q"][0], dt=float(file["dt"]))


def over_pulleys(play: Performance) -> Performance:
    """The same puppet with each of its six strings bent by a pulley below its spindle, and as much longer as that makes its way."""
    figure, start = play.figure, play.Q[0]
    bent = []
    for string in figure.strings:
        frame, (x, y, z) = string.spindle.frame, string.spindle.position
        pulley = Pulley(frame, (x + 0.03, y, z - 0.3), 0.05, (0.0, 1.0, 0.0), Point(frame, (x - 1.0, y, z - 0.3)))
        bent.append(replace(string, eyelets=(pulley,)))
    pulled = figure.replace(strings=tuple(bent))
    longer = np.maximum(pose(pulled, start).gaps - pose(figure, start).gaps, 0.0)
    ropes = tuple(replace(s, length=s.length + float(by)) for s, by in zip(bent, longer, strict=True))
    assert (longer > 1e-4).all(), "a pulley that is not touched"
    return Performance(figure.replace(strings=ropes), play.K, play.U, start=start, dt=play.dt)


def bench_pulleys() -> dict[str, float]:
    play = marionette()
    bent = over_pulleys(play)
    names = {"marionette22.step_alone_us": play, "marionette22.step_six_pulleys_us": bent}
    took = interleaved({name: own.steps for name, own in names.items()}, repeat=100)
    assert (bent.states[:, :6] == 1).mean() > 0.9, "strings that are mostly slack take no time"
    return {name: took[name] / len(own.K) for name, own in names.items()}


def pinocchio_calls(play: Performance) -> dict[str, Any]:
    """RNEA derivatives and ABA on the joints with mass, at the same configuration and rates."""
    import pinocchio as pin

    model, number = pin.Model(), {-1: 0}
    kinds = [getattr(pin, f"JointModel{motion}{axis}") for motion in "RP" for axis in "XYZ"]
    for j, joint in enumerate(play.tree.joints[: play.figure.n_dynamic]):
        X = pin.SE3(joint["rotation"].copy(), joint["position"].copy())
        number[j] = model.addJoint(number[int(joint["parent"])], kinds[int(joint["kind"])](), X, f"joint{j}")
        xx, xy, xz, yy, yz, zz = joint["inertia"]
        inertia = pin.Inertia(float(joint["mass"]), joint["com"].copy(), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
        model.appendBodyToJoint(number[j], inertia, pin.SE3.Identity())
    data, k, n = model.createData(), len(play.K) // 3, play.figure.n_dynamic
    q, v, a = play.Q[k, :n].copy(), (play.Q[k + 1, :n] - play.Q[k, :n]) / play.dt, np.zeros(n)
    return {
        "pinocchio22.rnea_d1_us": lambda: pin.computeRNEADerivatives(model, data, q, v, a),
        "pinocchio22.aba_us": lambda: pin.aba(model, data, q, v, a),
    }


def bench_marionette() -> dict[str, float]:
    play = marionette()
    play.steps()
    took = interleaved(
        {
            "marionette22.step_us": play.steps,
            "marionette22.step_d1_us": play.first,
            "marionette22.step_d1_contraction_us": play.contraction,
            "marionette22.acceleration_us": play.acceleration(),
            **pinocchio_calls(play),
        },
        repeat=100,
    )
    for name, count in (("step", len(play.K)), ("step_d1", play.few), ("step_d1_contraction", play.few)):
        took[f"marionette22.{name}_us"] /= count
    # By itself: a call is a whole round, and would find the 2.6 MB of its result in the memory that others have left.
    return took | {"marionette22.step_d2_us": best_of(play.second, repeat=1000)}


def own_time(function: Callable[[], Any], repeat: int) -> float:
    """Microseconds of processor time, at best: for what takes longer than a busy machine leaves a process alone."""
    function()
    best = math.inf
    for _ in range(repeat):
        start = time.process_time()
        function()
        best = min(best, time.process_time() - start)
    return 1e6 * best


def bench_growth() -> dict[str, float]:
    """Chains that swing from a bent start."""
    times: dict[str, list[float]] = {"step": [], "step_d1": [], "step_d2": []}
    for n in CHAINS:
        play = Performance(library.named(f"chain{n}"), np.empty((30, 0)), np.empty((30, 0)), dt=0.002)
        play.steps()
        times["step"].append(own_time(play.steps, 60) / len(play.K))
        times["step_d1"].append(own_time(play.first, 60) / play.few)
        times["step_d2"].append(own_time(play.second, 10))
    out = {f"chain{n}.{name}_us": took for name, row in times.items() for n, took in zip(CHAINS, row, strict=True)}
    for name, row in times.items():
        out[f"chain.{name}_exponent"] = float(np.polyfit(np.log(CHAINS), np.log(row), 1)[0])
    return out


# -- real time ----------------------------------------------------------------------------------------------------


def lively(figure: Figure, *, seconds: float = 60.0, dt: float = 0.01, seed: int = 0) -> Array:
    """Hands that wave and hop: every kinematic variable a sum of three sines of up to 9 rad/s."""
    rng, n = np.random.default_rng(seed), figure.n_dynamic
    t = dt * np.arange(1, round(seconds / dt) + 1)
    K = np.repeat(figure.start[n:][None], len(t), 0)
    for k, name in enumerate(figure.kinematic):
        size = 0.1 if name.endswith("length") else 0.08
        for _ in range(3):
            K[:, k] += size / 3 * rng.normal() * np.sin(rng.uniform(1, 9) * t + rng.uniform(0, 6)) * (1 - np.exp(-2 * t))
    return K


def bench_realtime() -> dict[str, float]:
    out = {}
    for name in ("marionette22", "marionette25"):
        figure, best = library.named(name), np.inf
        K = lively(figure)
        for _ in range(5):
            simulation = Simulation(figure)
            start = time.process_time()
            steps = simulation.run(K)
            best = min(best, time.process_time() - start)
        taut = steps.states[:, : len(figure.strings)] > 0
        if taut.all() or not (taut[1:] & ~taut[:-1]).any():
            raise AssertionError(f"{name}: no string went slack and caught: this is not lively")
        out[f"{name}.realtime"] = 60.0 / best
    return out
