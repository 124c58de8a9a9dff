"""Verbs whose orders come from files: what the command line runs, for programs too."""

from bunraku.verbs.simulate import Recipe, load_recipe, simulate_file

__all__ = ["Recipe", "load_recipe", "simulate_file"]
