"""Simulation files: what is simulated, who pulls which string how, and for how long.

    simulate: marionette25        # a figure of the library, or a file beside this one
    duration: 4 s
    dt: 5 ms                      # 10 ms where it is not said
    start: settle                 # hang at rest first; or `start`; or values: {elbow: 40 deg}
    puppeteer:                    # kinematic variables; those that are not named stay where they are
      left_arm_length: {by: [[0, 0], [1, -12 cm], [2, 0]]}               # wound in and let out again
      right_leg_length: {amplitude: 5 cm, frequency: 0.5, phase: 90 deg}
      head_x: [[0, 0], [4, 0.1]]  # points [time, value]
    forces: {}                    # inputs of the figure, zero where they are not named
    output: dance.glb             # or a list of files; `bunraku simulate -o` says it too

A number is constant; a sine goes about where the variable rests, or about its `offset`; `by` counts from there; points are
joined smoothly, at rest at both ends. The kinematic variables start where the puppeteer has them at t = 0.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.dynamics import Simulation, settle, simulate
from bunraku.dynamics.servo import motor_input
from bunraku.errors import BunrakuError, parts
from bunraku.figure import Figure
from bunraku.figure.actuated import motors
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.verbs.curves import Curve, curves
from bunraku.verbs.measures import efforts, measures

Array = NDArray[np.float64]
WORDS = ("simulate", "duration", "dt", "start", "puppeteer", "forces", "output")
MOST_STEPS = 10_000_000


@dataclass(frozen=True)
class Recipe:
    """What a simulation file says."""

    figure: Figure
    duration: float
    dt: float
    q: Array
    puppeteer: Mapping[str, Curve]
    forces: Mapping[str, Curve]
    output: tuple[Path, ...] = ()

    __repr__ = brief

    @property
    def steps(self) -> int:
        return max(round(self.duration / self.dt), 1)

    def __str__(self) -> str:
        pulled = ", ".join((*self.puppeteer, *self.forces)) or "nothing"
        return f"simulation of {self.figure.name}: {self.duration:g} s in {self.steps} steps, moving {pulled}"

    def run(self, *, progress: Listener | None = None) -> Motion:
        """The motion that comes of it. Ctrl-C returns what there is so far."""
        return simulate(
            self.figure, self.puppeteer, duration=self.duration, dt=self.dt, q=self.q, forces=self.forces, progress=progress
        )


def simulate_file(path: str | os.PathLike[str], *, progress: Listener | None = None) -> Motion:
    """The motion that a simulation file orders; nothing is written."""
    return load_recipe(path).run(progress=progress)


def load_recipe(path: str | os.PathLike[str]) -> Recipe:
    """What a simulation file orders, checked, with the figure settled where that is wanted."""
    return recipe_of(yaml_reader.read(path), Path(path).parent)


def recipe_of(root: Node, folder: Path) -> Recipe:
    """The recipe in a document; files are named from `folder`."""
    root.words(WORDS, "a simulation")
    figure = figure_named(root.need("simulate", "the file"), folder)
    duration = root.need("duration", "the simulation").positive(Quantity.TIME)
    dt = root.given(dt=lambda node: node.positive(Quantity.TIME)).get("dt", 0.01)
    if duration / dt > MOST_STEPS:
        raise root.place_of("duration").error(f"{duration / dt:.3g} steps are too many", advice="shorten it, or lengthen dt")
    driven = motors(figure)
    hands = (*figure.kinematic, *(v.name for v in driven.values()))  # what a puppeteer moves, by hand or by motors
    moved = dict(zip(hands, figure.start[figure.indices(hands)].tolist(), strict=True))
    pulled = curves(root.get("puppeteer"), measures(figure, hands), moved, "kinematic variable")
    forces = efforts(figure)
    q = start_of(root, figure, pulled)
    try:
        Simulation(figure, q, dt=dt)
    except BunrakuError as error:  # it cannot even begin: strings that do not reach, variables that move no mass
        message, advice = parts(error)
        advice = advice.replace("start from settle(figure)", "write start: settle").replace("give another q", "give other values")
        raise root.place_of("start").error(message, advice=advice) from None
    by_motor = {name: motor_input(v, pulled[v.name], dt=dt) for name, v in driven.items() if v.name in pulled}
    pushed = curves(root.get("forces"), forces, dict.fromkeys(forces, 0.0), "force input")
    both = [name for name in by_motor if name in pushed]
    if both:
        raise root.place_of("forces").error(f"the puppeteer drives {both[0]!r}", advice="say it once")
    puppeteer = {name: way for name, way in pulled.items() if name in figure.kinematic}
    return Recipe(figure, duration, dt, q, puppeteer, {**by_motor, **pushed}, outputs_of(root.get("output"), folder))


def start_of(root: Node, figure: Figure, puppeteer: Mapping[str, Curve]) -> Array:
    """Where it starts: the kinematic variables where the puppeteer has them, the others as the file says."""
    node = root.get("start")
    held = {name: way(0.0) for name, way in puppeteer.items()}
    if node is None or node.value in ("start", "settle"):
        q = figure.configuration(**held)
        if node is None or node.value == "start":
            return q
        try:
            return settle(figure, q)
        except BunrakuError as error:
            raise node.error(parts(error)[0], advice="write start: start, or give values") from None
    if not isinstance(node.value, dict):
        raise node.unwanted("settle, start, or values by name", advice="write start: settle, or start: {elbow: 40 deg}")
    node.words(figure.names, "the start")
    for name, key in node.keys.items():
        if name in held:
            raise key.error(f"the puppeteer sets {name!r}", advice="say it there, at t = 0")
    units = measures(figure, figure.names)
    return figure.configuration(**held, **{name: at.number(units[name]) for name, at in node.value.items()})
