"""Environments for learners: how many actions a second 64 puppets take, in one thread and in two."""

from __future__ import annotations

import time

import numpy as np

import bunraku.gym
from benchmarks.table import Ratio

RATIOS = {"gym.threads_ratio": Ratio("gym.lift_hand_64_two_threads_us", "gym.lift_hand_64_one_thread_us")}


def bench_environments() -> dict[str, float]:
    """Microseconds of wall-clock time and of processor time for one action of one of 64 environments."""
    out: dict[str, float] = {}
    for threads, word in ((1, "one_thread"), (2, "two_threads")):
        many = bunraku.gym.make_many("LiftHand", 64, threads=threads)
        many.reset(seed=0)
        actions = np.random.default_rng(0).uniform(-1.0, 1.0, (10, *many.action_space.shape))
        best = [np.inf, np.inf]
        for _ in range(5):
            wall, processor = time.perf_counter(), time.process_time()
            for action in actions:
                many.step(action)
            spent = time.perf_counter() - wall, time.process_time() - processor
            best = [min(old, 1e6 * new / actions[:, :, 0].size) for old, new in zip(best, spent, strict=True)]
        many.close()
        out[f"gym.lift_hand_64_{word}_us"], out[f"gym.lift_hand_64_{word}_processor_us"] = best
    return out
