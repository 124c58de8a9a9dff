"""Verbs whose orders come from files: what the command line runs, for programs too."""

from bunraku.verbs.climb import ClimbRecipe, climb_file, load_climb
from bunraku.verbs.simulate import Recipe, load_recipe, simulate_file

__all__ = ["ClimbRecipe", "Recipe", "climb_file", "load_climb", "load_recipe", "simulate_file"]
