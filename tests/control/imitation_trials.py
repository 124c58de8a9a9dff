"""How well a marionette imitates recordings: `python -m tests.control.imitation_trials FOLDER --clips 64 --seed 1 -o trials.jsonl`.

Draws one clip of at most three seconds from each of so many BVH files of a folder (files and windows by the seed), optimises it
with `taut=True`, and rechecks each result by other code than the search's: the motion is simulated again (`simulate`, open loop,
real strings), and the cost is evaluated at small random changes of the inputs to both sides. Prints one line per clip.
"""

from __future__ import annotations

import argparse
import json
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np

import bunraku
from bunraku import library, simulate
from bunraku.control import Acceleration, Configuration, ControlCurve, Momentum, Optimum, Rollout, Speed, optimize
from bunraku.control.cost import Term
from bunraku.control.imitate import imitate
from bunraku.control.taut_search import at_rest
from bunraku.dynamics import settle
from bunraku.motion import Motion

FIGURE = library.marionette22()
PARTS = ("shoulder", "elbow", "hip", "knee")


def clip_of(path: Path, seed: int, *, length: float = 3.0) -> tuple[Motion, float]:
    """A window of at most `length` [s] of the recording `path`, and its start [s]. The first sample, a T-pose, is left out."""
    whole = bunraku.load(path)
    rng = np.random.default_rng([seed, *path.stem.encode()])
    start = rng.uniform(whole.t[1], max(whole.t[1], whole.t[-1] - length))
    return whole.slice(start, min(start + length, whole.t[-1])), float(start)


def imitated(clip: Motion, *, simplify: float = 3.0) -> tuple[Motion, Optimum]:
    """The reference made of a clip, and the optimum with the weights of examples/09."""
    reference = imitate(clip, FIGURE, start=settle(FIGURE), simplify=simplify)
    weight = dict.fromkeys(FIGURE.dynamic, 10.0) | dict.fromkeys(FIGURE.names[:6], 100.0) | dict.fromkeys(FIGURE.kinematic, 1.0)
    cost: list[Term] = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.1)]
    duration = 0.04 * (round(reference.duration / 0.01) // 4)
    best = optimize(
        FIGURE, cost, duration=duration, q=reference.q[0], inputs=FIGURE.kinematic, guess=reference, taut=True, iterations=150
    )
    return reference, best


def rechecked(reference: Motion, best: Optimum, *, seed: int = 0) -> dict[str, float]:
    """What a sceptic would measure of an optimum."""
    problem, run = best.problem, best.run
    again = simulate(FIGURE, best.motion, duration=best.motion.duration, dt=0.01, q=best.motion.q[0])
    n = min(len(again.t), len(best.motion.t))
    rng, t = np.random.default_rng(seed), np.linspace(0.0, 1.0, len(run))
    lowest, slope = 0.0, 0.0
    for size in (1e-4, 1e-3):
        for _ in range(10):
            bump = np.exp(-(((t - rng.uniform()) / rng.uniform(0.03, 0.2)) ** 2)) * t.clip(0, 0.05) / 0.05
            change = np.zeros_like(run.u)
            change[:, : len(FIGURE.kinematic)] = size * bump[:, None] * rng.normal(size=len(FIGURE.kinematic))
            costs = []
            for sign in (1.0, -1.0):
                moved = problem.project(ControlCurve(run.x, run.u + sign * change))
                costs.append(problem.total(moved) if isinstance(moved, Rollout) else np.inf)
            lowest = min(lowest, (min(costs) - best.cost) / best.cost)
            if size == 1e-4:
                curve = abs(costs[0] + costs[1] - 2.0 * best.cost)
                slope = max(slope, abs(costs[0] - costs[1]) / max(curve, 1e-300))
    kinematic = np.arange(FIGURE.n_dynamic, FIGURE.n_q)
    guess = problem.project(
        ControlCurve(np.repeat(problem.start[None], len(run) + 1, 0), _inputs(reference.q[1 : len(run) + 1, kinematic], run))
    )
    wanted, joints = reference.q[: len(run) + 1], slice(6, FIGURE.n_dynamic)
    own = best.motion.q
    return {
        "simulated_apart": float(np.abs(again.q[:n] - best.motion.q[:n]).max()), "least_tension": float(again.tension[1:n].min()),
        "lowest": lowest, "slope_to_curvature": slope, "rest": problem.total(at_rest(problem)),
        "guess": problem.total(guess) if isinstance(guess, Rollout) else np.inf,
        "joints_deg": float(np.degrees(np.sqrt(np.mean((own[:, joints] - wanted[:, joints]) ** 2)))),
        "joints_range_deg": float(np.degrees(np.sqrt(np.mean((wanted[:, joints] - wanted[0, joints]) ** 2)))),
        "root_cm": float(100 * np.sqrt(np.mean(np.sum((own[:, 3:6] - wanted[:, 3:6]) ** 2, 1)))),
    } | {f"deg_{part}": _apart(own, wanted, part) for part in PARTS} | {
        f"range_{part}": _apart(np.repeat(wanted[:1], len(wanted), 0), wanted, part) for part in PARTS
    }  # fmt: skip


def _apart(own: np.ndarray, wanted: np.ndarray, part: str) -> float:
    columns = [k for k, name in enumerate(FIGURE.dynamic) if part in name]
    return float(np.degrees(np.sqrt(np.mean((own[:, columns] - wanted[:, columns]) ** 2))))


def _inputs(kinematic: np.ndarray, run: Rollout) -> np.ndarray:
    out = np.zeros_like(run.u)
    out[:, : kinematic.shape[1]] = kinematic
    return out


def main() -> None:
    """Runs the trials."""
    words = argparse.ArgumentParser(description=__doc__)
    words.add_argument("folder", type=Path)
    words.add_argument("--clips", type=int, default=64)
    words.add_argument("--seed", type=int, default=1)
    words.add_argument("-o", "--output", type=Path)
    given = words.parse_args()
    warnings.simplefilter("ignore")
    files = sorted(given.folder.glob("*.bvh"))
    chosen = np.random.default_rng(given.seed).permutation(len(files))[: given.clips]
    rows: list[dict[str, Any]] = []
    for k in chosen:
        clip, start = clip_of(files[k], given.seed)
        begun = time.process_time()
        reference, best = imitated(clip)
        seconds = time.process_time() - begun
        row: dict[str, Any] = {
            "file": files[k].name, "start": start, "length": reference.duration, "kind": best.outcome.kind, "cost": best.cost,
            "iterations": len(best.history), "seconds": seconds, "tail": best.tail[-5:],
        } | rechecked(reference, best)  # fmt: skip
        rows.append(row)
        print(json.dumps(row), flush=True)
        if given.output is not None:
            with given.output.open("a") as out:
                out.write(json.dumps(row) + "\n")
    good = [row for row in rows if row["kind"] in ("converged", "at a switch")]
    strict = [row for row in good if row["lowest"] > -1e-9 and row["simulated_apart"] < 1e-8]
    worse = [row for row in rows if row["cost"] > min(row["rest"], row["guess"]) * (1 + 1e-12)]
    print(f"{len(good)} of {len(rows)} converged; {len(worse)} worse than rest or guess")
    print(f"{len(strict)} of them are not lowered by random changes, and are simulated again within 1e-8")
    spent = [row["seconds"] for row in rows]
    print(f"processor time: median {np.median(spent):.2f} s, most {max(spent):.1f} s")


if __name__ == "__main__":
    main()
