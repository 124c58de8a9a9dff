"""What the add-on asks for, in a process of bunraku's Python: `python -m bunraku.blender.requests simulate IN OUT …`.

IN and OUT are GLB files; a figure may also be the name of one of the library, or a file.
"""

from __future__ import annotations

import argparse
import sys
import warnings
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np

from bunraku.control import Acceleration, Configuration, Momentum, Speed, optimize
from bunraku.control.cost import Term
from bunraku.control.imitate import imitate
from bunraku.dynamics import settle, simulate
from bunraku.errors import BunrakuError
from bunraku.figure import Figure, library
from bunraku.io import RECORDINGS, load, save
from bunraku.motion import Motion


def simulated(source: str, duration: float, figure: str = "") -> Motion:
    """Physics under the hands of an animator: spindles and other controls move as in the animation, everything else obeys them.

    source: an animation of a figure, a GLB file; or the name of a figure, whose controls are at rest
    duration: how long, where the animation has no length of its own [s]
    figure: whose animation it is, where the file does not keep it
    """
    if Path(source).suffix.lower() not in RECORDINGS:
        own = figure_called(source)
        return simulate(own, duration=duration, q=settle(own))
    played: Motion = load(source, **({"figure": figure_called(figure)} if figure else {}))
    own, begin = played.figure, float(played.t[0])
    start = settle(own)
    hands = [variable.name for variable in own.variables if variable.kinematic and variable.motion != "length"]
    moved = {name: played.column(name) - played.column(name)[0] + start[own.index(name)] for name in hands}
    puppeteer = {name: partial(np.interp, xp=played.t - begin, fp=values) for name, values in moved.items()}
    return simulate(own, puppeteer, duration=played.duration or duration, q=start)


def imitated(source: str, puppet: str, strings: bool = False) -> Motion:
    """The motion of a person, by a puppet.

    source: a recording of any skeleton
    puppet: who imitates it
    strings: whether strings are searched that make the puppet do so; otherwise it moves by itself
    """
    own = figure_called(puppet)
    reference = imitate(load(source), own)
    if not strings:
        return reference
    weight = dict.fromkeys(own.dynamic, 10.0) | dict.fromkeys(own.names[:6], 100.0) | dict.fromkeys(own.kinematic, 1.0)
    cost: list[Term] = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.1)]
    found = optimize(own, cost, duration=reference.duration, q=reference.q[0], inputs=own.kinematic, guess=reference)
    if found.motion is None:
        raise BunrakuError(f"{found.outcome.why}\n  advice: {found.outcome.advice}")
    return found.motion


def figure_called(name: str) -> Figure:
    """The figure called `name` in the library, or in the file of this name; raises BunrakuError if there is none."""
    found = load(name) if Path(name).suffix else library.named(name)
    if isinstance(found, Motion):
        found = found.figure
    if not isinstance(found, Figure):
        raise BunrakuError(f"{name} is no figure\n  advice: there are: {', '.join(library.names())}")
    return found


def main(arguments: Sequence[str]) -> int:
    """Does what the `arguments` ask for. Returns the exit status: 1 after an error, which is printed."""
    parser = argparse.ArgumentParser(prog="bunraku.blender.requests")
    verbs = parser.add_subparsers(dest="verb", required=True)
    for verb in ("simulate", "imitate"):
        one = verbs.add_parser(verb)
        one.add_argument("source")
        one.add_argument("target")
        one.add_argument("--figure", default="")
        one.add_argument("--duration", type=float, default=3.0)
        one.add_argument("--strings", action="store_true")
    asked = parser.parse_args(arguments)
    warnings.simplefilter("default")
    try:
        if asked.verb == "simulate":
            motion = simulated(asked.source, asked.duration, asked.figure)
        else:
            motion = imitated(asked.source, asked.figure, asked.strings)
        save(motion, asked.target)
    except BunrakuError as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
