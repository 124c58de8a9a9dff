"""What a file puts on the stage: plans, climbs and errands are made when somebody looks, everything else is as the stage has it."""

from __future__ import annotations

from pathlib import Path

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import errand_of
from bunraku.ensemble.pictures import on_stage as with_roadmap
from bunraku.io import yaml
from bunraku.stage import Entry, Recorded
from bunraku.teleop import files
from bunraku.verbs.climb import ClimbRecipe, climb_of
from bunraku.verbs.plan import Order, order_of


def entries_of(path: Path) -> list[Entry]:
    """The entries of a file. Mistakes in it are told at once."""
    if path.suffix.lower() in (".yaml", ".yml"):
        root = yaml.read(path)
        if root.get("plan") is not None:
            order = order_of(root, path.parent, path.stem)
            return [Entry(path.stem, lambda: _planned(order), "a plan; blue is what the search tried")]
        if root.get("climb") is not None:
            recipe = climb_of(root, path.parent)
            return [Entry(path.stem, lambda: _climbed(recipe), "a climb")]
        if root.get("carry") is not None:
            errand = errand_of(root, path.parent)
            return [Entry(errand.name, lambda: with_roadmap(carry(errand)), "carried together; blue is the roadmap")]
    return files.entries_of(path)


def _planned(order: Order) -> Recorded:
    from bunraku.planning import plan
    from bunraku.planning.picture import on_stage

    return on_stage(plan(order.problem, order.planner, seed=order.seed, seconds=order.seconds))


def _climbed(recipe: ClimbRecipe) -> Recorded:
    done = recipe.run()
    return Recorded(done.motion, done.scene)
