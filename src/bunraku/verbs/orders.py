"""Files that order something: which word tells the kind, who reads it, and what comes of it.

An order has a text (`str`), and `run` makes what it orders: a motion, or a result that has one.
"""

from __future__ import annotations

import importlib
from os import PathLike
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError
from bunraku.io.yaml import yaml_reader

READERS = {
    "simulate": "bunraku.verbs.simulate.file:load_recipe",
    "optimize": "bunraku.verbs.optimize.file:load_order",
    "show": "bunraku.verbs.perform.run:load_show",
    "climb": "bunraku.verbs.climb.file:load_climb",
    "plan": "bunraku.verbs.plan.file:load_problem",
    "carry": "bunraku.verbs.carry.file:load_carry",
    "humanoid": "bunraku.locomotion.guide.humanoid_file:load_humanoid",
}


def order_in(path: str | PathLike[str]) -> Any:
    """What a file orders, checked, or the humanoid of a humanoid file; nothing for any other file."""
    if Path(path).suffix.lower() not in (".yaml", ".yml"):
        return None
    try:
        root = yaml_reader.read(path)
    except BunrakuError:  # whoever reads it next will say what is wrong
        return None
    reader = next((reader for word, reader in READERS.items() if root.get(word) is not None), None)
    if reader is None:
        return None
    module, _, function = reader.partition(":")
    return getattr(importlib.import_module(module), function)(path)


def made(order: Any) -> Any:
    """The motion that an order is for; of a humanoid, its figure."""
    if not hasattr(order, "run"):
        return order.figure
    done = order.run()
    motion = getattr(done, "motion", done)
    if motion is None:
        raise BunrakuError(f"no motion came of it: {done}\n  advice: run the file by its own verb, which says more")
    return motion
