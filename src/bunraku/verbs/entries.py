"""The stage entries of a file. An order runs when its entry is opened."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.stage import Entry
from bunraku.teleop import dropped_files
from bunraku.verbs.guide import run
from bunraku.verbs.loading import load
from bunraku.verbs.order import Order


def entries_of(path: Path) -> list[Entry]:
    """The entries of the file `path`; raises FileError at once if the file has a mistake."""
    thing = load(path)
    if isinstance(thing, Order):
        return [Entry(thing.title, lambda progress=None: thing.recorded(thing.run(progress=progress)), str(thing))]
    if isinstance(thing, Humanoid):
        return [run.guiding_entry(path.stem, partial(run.guided_live, thing))]
    return dropped_files.shown(thing, path.stem)
