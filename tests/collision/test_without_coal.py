"""coal is an extra: what needs it says so by name, and nothing else needs it."""

from __future__ import annotations

import subprocess
import sys

WITHOUT = """
import sys
sys.modules["coal"] = None  # as if it were not installed
import numpy as np
import bunraku
from bunraku import library
from bunraku.collision import World
from bunraku.collision.coal_extra import has_coal
from bunraku.collision.coal_shapes import solid
from bunraku.errors import MissingExtra
from bunraku.figure.shape import Box, Sphere
import bunraku.planning.strings, bunraku.verbs, bunraku.ensemble, bunraku.cli

assert not has_coal()
figure = library.marionette22()
print(bunraku.simulate(figure, duration=0.05).t[-1])
solid(Sphere(0.1)), solid(Box((1.0, 1.0, 1.0)))
World(figure, bunraku.Scene("empty"))
try:
    solid(Box((1.0, 1.0, 1.0))).coal
except MissingExtra as problem:
    print(problem)
"""


def test_what_needs_coal_says_so_and_the_rest_works() -> None:
    done = subprocess.run([sys.executable, "-c", WITHOUT], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    time, problem, advice = done.stdout.splitlines()
    assert float(time) > 0.04
    assert "coal" in problem
    assert "bunraku[coal]" in advice
