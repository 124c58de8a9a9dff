"""Verbs whose orders come from files: what the command line runs, for programs too."""

from bunraku.verbs.climb import ClimbRecipe, climb_file, load_climb
from bunraku.verbs.plan import Order, load_problem
from bunraku.verbs.simulate import Recipe, load_recipe, simulate_file

__all__ = ["ClimbRecipe", "Order", "Recipe", "climb_file", "load_climb", "load_problem", "load_recipe", "simulate_file"]
