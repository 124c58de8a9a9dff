"""`bunraku.load`: reads every kind of file."""

from __future__ import annotations

import importlib
import os
from pathlib import Path
from typing import Any

from bunraku import io
from bunraku.errors import FileError, UnknownName
from bunraku.figure import Figure, library
from bunraku.io.shipped import found, shipped_orders
from bunraku.io.yaml import yaml_reader
from bunraku.verbs.order import Order

VERBS = ("simulate", "optimize", "perform", "plan", "carry", "guide", "climb")
"""The verbs that take an order."""
ORDERS_BY_FIRST_WORD = {
    "simulate": "bunraku.verbs.simulate.file:SimulateOrder.load",
    "optimize": "bunraku.verbs.optimize.file:OptimizeOrder.load",
    "perform": "bunraku.verbs.perform.file:PerformOrder.load",
    "plan": "bunraku.verbs.plan.file:PlanOrder.load",
    "carry": "bunraku.verbs.carry.file:CarryOrder.load",
    "climb": "bunraku.verbs.climb.file:ClimbOrder.load",
    "guide": "bunraku.verbs.guide.file:GuideOrder.load",
    "humanoid": "bunraku.locomotion.guide.humanoid_file:load_humanoid",
}
"""The readers of YAML files, by the first word of the file; figures and scenes are read by `io`."""


def load(path: str | os.PathLike[str], **options: Any) -> Any:
    """Loads a file: a Figure, a Scene, a Motion, a Humanoid, or an Order, whose `run` executes it.

    path: a file, the name of an order that comes with bunraku (`factory`), or that of a figure of the library (`marionette25`),
        or that of a robot of the package example-robot-data (`robot:talos`).
    options: options of the loader of its kind (see the page on files).
    Returns the object; raises FileError, with line and advice, if the file is broken, and UnknownName if there is none.
    """
    if str(path).startswith("robot:"):
        return io.load(path, **options)
    file = found(Path(path))
    if not file.suffix and not file.exists():
        return _figure_named(str(path))
    if file.suffix.lower() in (".yaml", ".yml"):
        root = yaml_reader.read(file)
        reader = next((reader for word, reader in ORDERS_BY_FIRST_WORD.items() if root.get(word) is not None), None)
        if reader is None and root.get("show") is not None:  # the old first word of shows: their reader gives advice
            reader = ORDERS_BY_FIRST_WORD["perform"]
        if reader is not None:
            return _function(reader)(file)
    return io.load(file, **options)


def load_order(verb: str, path: str | os.PathLike[str]) -> Any:
    """The order for a `verb` in a file, or the shipped order called `path`; raises FileError if it is for another verb."""
    if str(path) in library.names() and not Path(path).exists():
        advice = f"write `{verb}: {path}` as the first line of a file, add the other lines below, and pass that file"
        raise FileError(f"is a figure, not a file for bunraku {verb}", path=str(path), advice=advice)
    file = found(Path(path))
    if not file.suffix and not file.exists():
        raise UnknownName("file or order", str(path), shipped_orders())
    return _function(ORDERS_BY_FIRST_WORD[verb])(file)


def order_class(verb: str) -> type[Order]:
    """The class of the orders for a `verb`."""
    found_class: type[Order] = _function(ORDERS_BY_FIRST_WORD[verb].removesuffix(".load"))
    return found_class


def _figure_named(name: str) -> Figure:
    """The figure of the library called `name`; raises UnknownName, which also lists the shipped orders, if there is none."""
    try:
        return library.named(name)
    except UnknownName:
        raise UnknownName("file, order or figure", name, (*shipped_orders(), *library.names())) from None


def _function(dotted: str) -> Any:
    module, _, names = dotted.partition(":")
    thing: Any = importlib.import_module(module)
    for name in names.split("."):
        thing = getattr(thing, name)
    return thing
