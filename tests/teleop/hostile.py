"""Hostile input in real time: reversals every 50 ms, switching, drags, junk, unplugged devices. Prints how the loop bears it.

python -m tests.teleop.hostile --seconds 60 --seed 1 [--physics] [--at-once] [--humanoid FILE]
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator

import numpy as np

from bunraku.locomotion.guide.humanoid_file import guide_of, humanoid_named
from bunraku.scene import Scene
from bunraku.stage import Command, Device, Pull, Release, Sticks
from bunraku.teleop.guided_figure import GuidedInPhysics, GuidedLive


def hostile(live: GuidedLive, seed: int, every: int = 10) -> Iterator[tuple[Command, ...]]:
    """Commands before each step: a reversal every `every` ticks, and now and then worse."""
    rng = np.random.default_rng(seed)
    frames, sign = [frame.name for frame in live.figures[0].frames], 1.0
    while True:
        for k in range(every):
            yield () if k else tuple(_burst(rng, frames, sign))
        sign = -sign


def _burst(rng: np.random.Generator, frames: list[str], sign: float) -> Iterator[Command]:
    what = rng.random()
    axes = np.clip(sign * rng.choice([-1.0, 0.0, 1.0], 7) * rng.uniform(0.5, 1.0, 7), -1.0, 1.0)
    axes[4] = float(rng.random() < 0.2)
    if what < 0.1:
        yield Pull(0, "body", str(rng.choice(frames)), tuple(rng.uniform(-1.0, 1.0, 3).tolist()))
    elif what < 0.25:
        yield Release(0, "body", "trunk")
    elif what < 0.3:
        yield Sticks((float("nan"),) * 7)
    elif what < 0.35:
        yield Device(())
    elif what < 0.4:
        hat = (int(rng.integers(-1, 2)), int(rng.integers(-1, 2)))
        yield Device(tuple(axes[:4].tolist()), (bool(rng.random() < 0.5),) * 8, (hat,))
    else:
        yield Sticks(tuple(axes.tolist()))


def endured(live: GuidedLive, *, seconds: float, seed: int, paced: bool = True) -> bool:
    """Drives a figure for so many `seconds`, in real time if `paced`; whether it stayed on its feet."""
    stream, due = hostile(live, seed), time.perf_counter()
    for _ in range(round(seconds / live.dt)):
        for command in (*next(stream), *live.heard()):
            live.apply(command)
        live.step()
        if live.fell:
            return False
        if paced:
            due = max(due + live.dt, time.perf_counter() - live.dt)
            time.sleep(max(due - time.perf_counter(), 0.0))
    return True


def main() -> None:
    """Runs one seed and prints the times."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--humanoid", default="humanoid")
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--physics", action="store_true")
    parser.add_argument("--at-once", action="store_true")
    options = parser.parse_args()
    own = humanoid_named(options.humanoid)
    kind = GuidedInPhysics if options.physics else GuidedLive
    live = kind(guide_of(own, Scene("floor")), beside=not options.at_once)
    endured(live, seconds=3.0, seed=0)  # the other process starts, kernels are loaded
    live.reset()
    stood = endured(live, seconds=options.seconds, seed=options.seed)
    times, name = live.times, own.figure.name
    print(f"{name} seed {options.seed}: {'stands' if stood else 'FELL'} after {times.ticks * live.dt:.1f} s; {times}")
    for what, ticks in (("plans", times.planned), ("commands", times.acts)):
        middle, most, last = live.dt * np.quantile(ticks, (0.5, 0.9, 1.0))
        print(f"  {len(ticks)} {what}: median {middle:.3f} s, nine of ten {most:.3f} s, longest {last:.3f} s; {times.late} late")


if __name__ == "__main__":
    main()
