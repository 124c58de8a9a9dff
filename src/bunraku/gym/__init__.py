"""Environments for reinforcement learning (gymnasium): lift a hand, walk the puppet, guide a humanoid.

env = bunraku.gym.make("LiftHand")                 # or gymnasium.make("bunraku/LiftHand-v0")
many = bunraku.gym.make_many("LiftHand", 64)       # 64 at once
"""

from __future__ import annotations

import importlib
from typing import Any

from bunraku.errors import MissingExtra, UnknownName

__all__ = ["make", "make_many", "register", "tasks"]


def tasks() -> tuple[str, ...]:
    """The names of the tasks that there are."""
    return ("LiftHand", "WalkPuppet", "GuideHumanoid")


def make(task: str, *, render_mode: str | None = None) -> Any:
    """The environment of a `task`, one of `tasks()`.

    render_mode: "rgb_array", so that `render` returns a picture; None by default.

    Returns a `gymnasium.Env`. Raises UnknownName if there is no such task, MissingExtra if gymnasium is not installed.
    """
    if task not in tasks():
        raise UnknownName("task", task, tasks())
    return _environments().made(task, render_mode)


def make_many(task: str, count: int, *, threads: int = 1) -> Any:
    """So many environments (`count`) of a `task`, which are stepped together.

    threads: how many work on them. The kernels of bunraku release the GIL, but a puppet's step is so short that two threads gain
        nothing there, and lose where others use the cores. Several pay where steps are long, and on a Python without a GIL.

    Returns a `gymnasium.vector.VectorEnv`; an environment that has ended is reset by the next step. Raises as `make` does.
    """
    environments = [make(task) for _ in range(count)]
    return _environments().ThreadedVector(environments, threads)


def register() -> None:
    """Makes the tasks known to gymnasium, as `bunraku/LiftHand-v0` and so on; its entry point calls this."""
    gymnasium = importlib.import_module("gymnasium")
    for task in tasks():
        name = f"bunraku/{task}-v0"
        if name not in gymnasium.registry:
            gymnasium.register(name, "bunraku.gym:make", kwargs={"task": task})


def _environments() -> Any:
    try:
        importlib.import_module("gymnasium")
    except ImportError:
        raise MissingExtra("gymnasium", "gym", "bunraku.gym") from None
    return importlib.import_module("bunraku.gym.environments")
