"""Planning files: a figure, where it starts, where it should get, and what is in the way.

plan: arm3d                    # a figure of the library, or a file beside this one
start: settle                  # hang at rest; or values by name, from which it settles
goal:
  configuration: {hand_x: 0.3, hand_y: 0.3, hand_length: 75 cm}   # at rest with these; or
  # points: {tip: [0.2, 0.2, 0.1]}                                # frames and where they should be
  within: 3 cm                 # how near every body and hook, or every point, must get
  speed: 0.3                   # how slowly it must arrive [m/s]; any speed where it is not said
scene: {scene: block, floor: -1, obstacles: [{box: [0.1, 0.1, 0.3], at: [0, 0.3, -0.4], name: block}]}   # or a file
limits: {speed: 0.6, acceleration: 6, reach: 0.6, hand_x: [-0.3, 0.4]}
hold: []                       # kinematic variables that stay where they are
planner: est                   # est, est-uniform, est-goal, ao-est or sst
budget: 10 s                   # of processor time, for each tree
seed: 0
smooth: true                   # inputs smoothed by optimal control, if what comes out is accepted
output: arm.npz                # or a list of files; `bunraku plan -o` says it too
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError, parts
from bunraku.figure import Figure
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.planning.strings import PLANNERS, Goal, Limits, Plan, Problem, plan
from bunraku.scene import Scene
from bunraku.verbs.measures import measures

Array = NDArray[np.float64]
WORDS = ("plan", "start", "goal", "scene", "limits", "hold", "planner", "budget", "seed", "smooth", "output")
GOAL = ("configuration", "points", "within", "speed")
RATES = ("speed", "acceleration", "reach")


@dataclass(frozen=True, eq=False)
class Order:
    """What a planning file says."""

    problem: Problem
    planner: str = "est"
    seconds: float = 10.0
    seed: int = 0
    output: tuple[Path, ...] = ()
    smooth: bool = False
    """Whether optimal control smooths what was found."""

    __repr__ = brief

    def __str__(self) -> str:
        scene = self.problem.scene
        what = f"{len(self.problem.goal.points)} points, {len(scene.obstacles)} obstacles"
        return f"problem of {self.problem.figure.name}: {what}, {self.planner} for {self.seconds:g} s"

    def run(self) -> Plan:
        """What the search finds, alone; `bunraku plan` lets several search side by side."""
        return plan(self.problem, self.planner, seed=self.seed, seconds=self.seconds)


def load_problem(path: str | os.PathLike[str]) -> Order:
    """What a planning file orders, checked."""
    return order_of(yaml_reader.read(path), Path(path).parent, Path(path).stem)


def order_of(root: Node, folder: Path, name: str = "problem") -> Order:
    """The order in a document; files are named from `folder`."""
    root.words(WORDS, "a planning problem")
    figure = figure_named(root.need("plan", "the file"), folder)
    start = _rest(root.get("start"), figure, None)
    scene = root.given(scene=lambda node: scene_in(node, folder)).get("scene", Scene("nothing", floor=None))
    limits = _limits(root, figure, start)
    problem = Problem(figure, start, _goal(root.need("goal", "the problem"), figure, start), scene, limits, name=name)
    words = root.given(
        planner=lambda node: node.choice(PLANNERS, "the planner"), budget=lambda node: node.positive(Quantity.TIME),
        seed=lambda node: node.whole(0, 2**32 - 1), output=lambda node: outputs_of(node, folder), smooth=Node.flag,
    )  # fmt: skip
    words["seconds"] = words.pop("budget", 10.0)
    return Order(problem, **words)


def _rest(node: Node | None, figure: Figure, base: Array | None) -> Array:
    """Where the figure hangs at rest with some variables set."""
    values = {}
    if node is not None and node.value != "settle":
        if not isinstance(node.value, dict):
            raise node.unwanted("settle, or values by name", advice="write settle, or {hand_x: 10 cm}")
        node.words(figure.names, "the configuration")
        units = measures(figure, figure.names)
        values = {name: at.number(units[name]) for name, at in node.value.items()}
    try:
        return settle(figure, figure.configuration(base, **values))
    except BunrakuError as error:
        if node is None:
            raise
        raise node.error(parts(error)[0], advice="give values at which it can hang at rest") from None


def _goal(node: Node, figure: Figure, start: Array) -> Goal:
    node.words(GOAL, "the goal")
    kind, place = node.head(GOAL[:2], "the goal")
    words = node.given(within=lambda n: n.positive(Quantity.LENGTH), speed=lambda n: n.positive(Quantity.SPEED))
    if kind == "configuration":
        return Goal.at_configuration(figure, _rest(place, figure, start), **words)
    if not isinstance(place.value, dict) or not place.value:
        raise place.unwanted("a mapping of frames to places", advice="write points: {tip: [0.2, 0.2, 0.1]}")
    place.words(tuple(frame.name for frame in figure.frames), "the points")
    return Goal.at_points(figure, {name: at.lengths() for name, at in place.value.items()}, **words)


def _limits(root: Node, figure: Figure, start: Array) -> Limits:
    node, hold = root.get("limits"), root.get("hold")
    held = () if hold is None else tuple(one.choice(figure.kinematic, "the kinematic variable") for one in hold.items("names"))
    if node is None:
        return Limits.of(figure, start, held=held)
    words = node.words((*RATES, *figure.kinematic), "the limits")
    rates = {name: words[name].number(Quantity.NUMBER) for name in RATES if name in words}
    for name, value in rates.items():
        if value < 0.0:
            raise words[name].error(f"a {name} of {value:g}", advice="give a number, zero or more")
    boxes, units = {}, measures(figure, figure.kinematic)
    for name in words:
        if name in figure.kinematic:
            low, high = words[name].numbers(2, units[name])
            if low > high:
                raise words[name].error(f"{low:g} is above {high:g}", advice="give limits as [lower, upper]")
            boxes[name] = (low, high)
    return Limits.of(figure, start, boxes=boxes, held=held, **rates)
