"""What a file puts on the stage: what it orders is made when somebody looks, everything else is as the stage has it."""

from __future__ import annotations

from pathlib import Path

from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.stage import Entry, Recorded
from bunraku.teleop import dropped_files
from bunraku.verbs.climb.file import ClimbRecipe
from bunraku.verbs.guide import run
from bunraku.verbs.loading import load
from bunraku.verbs.order import Order as AnyOrder


def entries_of(path: Path) -> list[Entry]:
    """The entries of a file. Mistakes in it are told at once."""
    match order := load(path):
        case AnyOrder():
            return [Entry(order.title, lambda: order.recorded(order.run()), str(order))]
        case Humanoid():
            return [run.entry(str(path), None)]
        case ClimbRecipe():
            return [Entry(path.stem, lambda: _climbed(order), "a climb")]
        case _ if hasattr(order, "run"):
            return [Entry(path.stem, lambda: order.run().motion, str(order))]
    return dropped_files.shown(order, path.stem)


def _climbed(recipe: ClimbRecipe) -> Recorded:
    done = recipe.run()
    return Recorded(done.motion, done.scene)
