"""Planning files: a figure, its start, its goal, and the obstacles.

plan: arm3d                    # a figure of the library, or a file beside this one
start: settle                  # hang at rest; or values by name, from which it settles
goal:
  configuration: {hand_x: 0.3, hand_y: 0.3, hand_length: 75 cm}   # at rest with these values; or
  # points: {tip: [0.2, 0.2, 0.1]}                                # target positions of frames
  within: 3 cm                 # allowed distance of every body and hook, or of every point, from its target
  speed: 0.3 m/s               # maximum speed on arrival; default: any speed
scene: {scene: block, floor: -1, obstacles: [{box: [0.1, 0.1, 0.3], at: [0, 0.3, -0.4], name: block}]}   # or a file
limits: {speed: 0.6 m/s, acceleration: 6 m/s², reach: 60 cm, hand_x: [-0.3, 0.4]}
props: {box: {is: crate, at: [0.3, 0, 0.05]}}   # free bodies; with `touch`, as in simulation files, hands push them to their goal
touch: all
hold: []                       # kinematic variables that stay at their start
planner: est                   # est, est-uniform, est-goal, ao-est or sst
budget: 10 s                   # processor time of each tree
smooth: true                   # smooth the inputs by optimal control, if the rechecker accepts the result
workers: 1                     # number of trees that grow in parallel; with one, the same seed gives the same plan
cluster: tcp://10.0.0.5:8786   # a Dask scheduler whose workers are used, or `local`; default: local processes
seed: 0
output: arm.npz                # or a list of files; `bunraku plan -o` overrides it
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError, parts
from bunraku.figure import Figure
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.planning.strings import PLANNERS, Goal, HandLimits, Plan
from bunraku.planning.strings.tree_picture import on_stage
from bunraku.progress import Listener
from bunraku.render import plots
from bunraku.scene import Scene
from bunraku.stage import Recorded
from bunraku.verbs.measures import measures
from bunraku.verbs.order import Order
from bunraku.verbs.plan.run import plan
from bunraku.verbs.simulate.file import propped
from bunraku.verbs.simulate.touch_words import touch_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class PlanOrder(Order):
    """Motion planning for a figure on strings: from a start at rest into a goal, among obstacles."""

    verb: ClassVar[str] = "plan"
    random: ClassVar[bool] = True
    words: ClassVar[tuple[str, ...]] = (
        verb, "start", "goal", "scene", "props", "touch", "limits", "hold", "planner", "budget", "smooth", "workers", "cluster",
        "seed", "output",
    )  # fmt: skip

    figure: Figure
    goal: Goal
    start: Array
    """The configuration at the start, at rest."""
    scene: Scene
    limits: HandLimits
    hold: tuple[str, ...] = ()
    """Kinematic variables that stay at their start."""
    planner: str = "est"
    budget: float = 10.0
    """Processor time of each tree [s]."""
    smooth: bool = False
    """Whether optimal control smooths the plan."""
    workers: int | None = 1
    """Number of trees that grow in parallel; None for one per core."""
    cluster: str | None = None
    """Address of a Dask scheduler, or "local"; None uses local processes."""
    touch: Touch | None = None
    """Which bodies touch; None if none may."""
    seed: int = 0
    output: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """The name of the figure."""
        return self.figure.name

    def __str__(self) -> str:
        count = len(self.scene.obstacles)
        around = f"among {count} obstacle{'s' if count != 1 else ''}" if count else "in empty space"
        return f"plan for {self.figure.name} {around}: {self.planner}, {self.budget:g} s"

    @classmethod
    def read(cls, root: Node, folder: Path) -> PlanOrder:
        """The order in a document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        root.words(cls.words, "a planning file")
        alone = figure_named(root.need("plan", "the file"), folder)
        figure, start = propped(root, alone, folder), _rest(root.get("start"), alone, None)
        if figure is not alone:  # props stay where the file puts them
            start = figure.configuration(None, **dict(zip(alone.names, start, strict=True)))
        options = root.given(
            scene=lambda node: scene_in(node, folder), planner=lambda node: node.choice(PLANNERS, "the planner"),
            budget=lambda node: node.positive(Quantity.TIME), smooth=Node.flag, workers=lambda node: node.whole(1, 10_000),
            cluster=lambda node: node.scalar("an address"), seed=lambda node: node.whole(0, 2**32 - 1),
            output=lambda node: outputs_of(node, folder), hold=lambda node: _names(node, figure),
        )  # fmt: skip
        scene = options.pop("scene", Scene("nothing", floor=None))
        touch = touch_of(root.get("touch"), figure, scene)
        goal = _goal(root.need("goal", "the planning file"), figure, start)
        return cls(figure, goal, start, scene, _limits(root.get("limits"), figure, start), touch=touch, **options)

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Plan:
        """The plan, or why there is none; `seed` overrides that of the order, `progress` is called with its progress."""
        return plan(
            self.figure, self.goal, start=self.start, scene=self.scene, limits=self.limits, hold=self.hold, planner=self.planner,
            budget=self.budget, smooth=self.smooth, workers=self.workers, cluster=self.cluster, touch=self.touch,
            seed=self.seed if seed is None else seed, progress=progress,
        )  # fmt: skip

    def plot(self, done: Plan, path: Path) -> None:
        """Draws the hands and the tensions of the plan `done` over time into the file `path`."""
        assert done.motion is not None
        plots.plot(done.motion, path, (*self.figure.kinematic, "tension"))

    def recorded(self, done: Plan) -> Recorded:
        """The plan `done` with the tree of its search, for the stage."""
        return on_stage(done)


def _rest(node: Node | None, figure: Figure, base: Array | None) -> Array:
    """The configuration in which the figure hangs at rest with the given variables set."""
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
    kinds = ("configuration", "points")
    node.words((*kinds, "within", "speed"), "the goal")
    kind, place = node.head(kinds, "the goal")
    words = node.given(within=lambda n: n.positive(Quantity.LENGTH), speed=lambda n: n.positive(Quantity.SPEED))
    if kind == "configuration":
        return Goal.at_configuration(figure, _rest(place, figure, start), **words)
    if not isinstance(place.value, dict) or not place.value:
        raise place.unwanted("a mapping of frames to places", advice="write points: {tip: [0.2, 0.2, 0.1]}")
    place.words(tuple(frame.name for frame in figure.frames), "the points")
    return Goal.at_points(figure, {name: at.lengths() for name, at in place.value.items()}, **words)


def _names(node: Node, figure: Figure) -> tuple[str, ...]:
    return tuple(one.choice(figure.kinematic, "the kinematic variable") for one in node.items("names"))


def _limits(node: Node | None, figure: Figure, start: Array) -> HandLimits:
    if node is None:
        return HandLimits.of(figure, start)
    general = {"speed": Quantity.SPEED, "acceleration": Quantity.ACCELERATION, "reach": Quantity.LENGTH}
    words = node.words((*general, *figure.kinematic), "the limits")
    numbers: dict[str, Any] = {name: words[name].number(quantity) for name, quantity in general.items() if name in words}
    for name, value in numbers.items():
        if value < 0.0:
            raise words[name].error(f"a {name} of {value:g}", advice="give a number, zero or more")
    boxes, units = {}, measures(figure, figure.kinematic)
    for name in words:
        if name in figure.kinematic:
            low, high = words[name].numbers(2, units[name])
            if low > high:
                raise words[name].error(f"{low:g} is above {high:g}", advice="give limits as [lower, upper]")
            boxes[name] = (low, high)
    return HandLimits.of(figure, start, boxes=boxes, **numbers)
