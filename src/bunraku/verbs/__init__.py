"""Verbs whose orders come from files: what the command line runs, for programs too."""

from bunraku.verbs.climb.file import ClimbRecipe, climb_file, load_climb
from bunraku.verbs.plan.file import Order, load_problem
from bunraku.verbs.simulate.file import Recipe, load_recipe, simulate_file

__all__ = ["ClimbRecipe", "Order", "Recipe", "climb_file", "load_climb", "load_problem", "load_recipe", "simulate_file"]
