"""Optimisation files: a figure, the cost of its motion, and limits.

    optimize: cart_pendulum       # a figure of the library, or a file beside this one
    duration: 10 s
    dt: 10 ms                     # default: 10 ms
    start: start                  # or `settle`, or values: {theta: 0}
    inputs: [x_force]             # kinematic variables and forces that may be chosen, also '*_length'; default: all
    cost:                         # weights by name, or one number for all; references are curves as in simulation files
      - {configuration: {theta: 100, x: 1}, reference: {theta: [[3, 0], [5, 180 deg], [7, 0]]}}
      - {momentum: 0.01, at_end: 1 s}
      - {forces: 0.001}           # also speed, acceleration, tension
      - {point: tip, weight: 10, reference: {z: 0.5}}   # of a frame; x and y stay near their start; also centre: 10 (of mass)
    limits: {forces: {x_force: [-200, 200]}}        # also variables, speeds, tensions, scene, margin, joints, soft
    iterations: 200               # default: 100; also method, tolerance, coarse, taut, share, as in Python
    touch: all                    # with `scene` and `props`, as in simulation files: the search is then by samples
    output: swing.mp4

Instead of curves, `imitate: {motion: wave.bvh, exaggerate: 1.2, simplify: 3}` takes the reference of all configuration terms from
a motion. The figure then starts hanging at rest, and by default the search may choose what the puppeteer moves, but no forces, and
keeps every string taut; `taut: false` starts with strings that follow the reference, and lets strings go slack.
"""

from __future__ import annotations

import fnmatch
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, cast, get_args

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.control import Limits, Optimum, System, optimize
from bunraku.control.cost import Term
from bunraku.control.imitate import imitate
from bunraku.control.newton import Kind, Method
from bunraku.control.optimize import problem_of, require_prices
from bunraku.control.taut_problem import can_be_taut
from bunraku.dynamics.simulation import LEFT_SHARE
from bunraku.figure import Figure
from bunraku.io import RECORDINGS, load
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.io.yaml.shape_words import file_named
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.scene import Scene
from bunraku.verbs.optimize.cost_words import known_name, limits_of, term_of
from bunraku.verbs.optimize.plot import draw
from bunraku.verbs.order import Order
from bunraku.verbs.simulate.file import propped, share_of, start_of
from bunraku.verbs.simulate.touch_words import touch_of

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class OptimizeOrder(Order):
    """A search for the motion of least cost. All fields but `output` are arguments of `bunraku.optimize`."""

    verb: ClassVar[str] = "optimize"
    words: ClassVar[tuple[str, ...]] = (
        verb, "duration", "dt", "start", "inputs", "cost", "imitate", "limits", "method", "tolerance", "iterations", "coarse",
        "taut", "share", "scene", "props", "touch", "output",
    )  # fmt: skip

    figure: Figure
    cost: tuple[Term, ...]
    """The terms, whose sum is minimised."""
    duration: float
    """Duration of the motion [s]."""
    dt: float
    """Time step [s]."""
    q: Array
    """The configuration at t = 0."""
    inputs: tuple[str, ...] | None = None
    """Kinematic variables and forces that may be chosen; None for all."""
    guess: Motion | None = None
    """Initial guess: the reference made from the imitated motion; None for rest."""
    limits: Limits | None = None
    """Ranges that every sample must respect."""
    method: Method = "auto"
    """The method of `bunraku.optimize`."""
    tolerance: float = 1e-12
    """The search ends when the expected decrease of the cost is below this share of the cost."""
    iterations: int = 100
    """Maximum number of iterations."""
    coarse: int = 1
    """First solve with time steps this many times as long."""
    taut: bool = False
    """Whether every string is to stay taut; the default if a motion is imitated."""
    share: float = LEFT_SHARE
    """Share of the impulse of forces and dampers in a step that acts at its start."""
    scene: Scene | None = None
    """What is around and may be touched."""
    touch: Touch | None = None
    """Which bodies touch."""
    output: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """The name of the figure."""
        return self.figure.name

    def __str__(self) -> str:
        asked = f"{self.duration:g} s of {self.figure.name}, {len(self.cost)} terms of cost"
        return f"optimisation: {asked}, at most {self.iterations} iterations"

    @classmethod
    def read(cls, root: Node, folder: Path) -> OptimizeOrder:
        """The order in the document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        root.words(cls.words, "an optimisation")
        figure = propped(root, figure_named(root.need("optimize", "the file"), folder), folder)
        around = root.get("scene")
        scene = None if around is None else scene_in(around, folder)
        touch = touch_of(root.get("touch"), figure, scene)
        dt = root.given(dt=lambda node: node.positive(Quantity.TIME)).get("dt", 0.01)
        reference = _reference(root, figure, folder, dt)
        q = start_of(root, figure, {}) if reference is None else reference.q[0]
        duration = root.need("duration", "the optimisation").positive(Quantity.TIME) if reference is None else reference.duration
        known = (*figure.kinematic, *(force.name for force in figure.forces))
        costs = root.need("cost", "the optimisation").items("terms, such as {forces: 0.01}")
        cost = tuple(term_of(node, figure, reference, q) for node in costs)
        options: dict[str, Any] = {"inputs": figure.kinematic} if reference is not None and figure.kinematic else {}
        options |= root.given(
            inputs=lambda node: _inputs(node, known),
            method=lambda node: cast(Method, node.choice(("auto", *get_args(Kind)), "a method")),
            tolerance=lambda node: node.positive(Quantity.NUMBER),
            iterations=lambda node: node.whole(0, 1_000_000), coarse=lambda node: node.whole(1, 1000),
            taut=lambda node: node.flag(), share=share_of,
        )  # fmt: skip
        if reference is not None and can_be_taut(figure):
            others = ("limits", "touch", "method", "coarse")
            options.setdefault("taut", all(root.get(word) is None for word in others))
        with root.place_of("cost").blamed():
            system = System.of(figure, dt=dt, inputs=options.get("inputs"))
            require_prices(problem_of(system, cost, duration=duration, q=q))
        limits = limits_of(root.get("limits"), figure, folder)
        output = outputs_of(root.get("output"), folder)
        return cls(
            figure, cost, duration, dt, q, guess=reference, limits=limits, scene=scene, touch=touch, output=output, **options
        )

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Optimum:
        """The optimum; after Ctrl-C the best so far.

        seed: of the random numbers of a search with touch; other searches use none.
        progress: called at every iteration.
        """
        return optimize(
            self.figure, self.cost, duration=self.duration, dt=self.dt, q=self.q, inputs=self.inputs, guess=self.guess,
            limits=self.limits, method=self.method, tolerance=self.tolerance, iterations=self.iterations, coarse=self.coarse,
            taut=self.taut, share=self.share, scene=self.scene, touch=self.touch, seed=seed, progress=progress,
        )  # fmt: skip

    def plot(self, done: Optimum, path: Path) -> None:
        """Draws references, motion, inputs and convergence of the optimum `done` into the file `path`."""
        draw(done, path)


def _inputs(node: Node, known: tuple[str, ...]) -> tuple[str, ...]:
    """The inputs that a list of names and patterns, such as '*_length', chooses, each once."""
    chosen: dict[str, None] = {}
    for item in node.items("names of inputs"):
        fitting = fnmatch.filter(known, item.scalar("the name of an input"))
        chosen |= dict.fromkeys(fitting or (known_name(item, known, "input"),))
    return tuple(chosen)


def _reference(root: Node, figure: Figure, folder: Path, dt: float) -> Motion | None:
    """A reference from the motion that the file imitates; None if there is none."""
    node = root.get("imitate")
    if node is None:
        return None
    for word in ("duration", "start"):
        if (other := root.get(word)) is not None:
            raise other.error(f"{word} comes from the imitated motion", advice="remove it")
    node.words(("motion", "exaggerate", "simplify", "lead", "trail"), "an imitation")
    path = file_named(node.need("motion", "the imitation"), folder, (*RECORDINGS, ".npz", ".csv"), "a motion file")
    words = node.given(
        exaggerate=lambda n: n.number(Quantity.NUMBER), simplify=lambda n: n.number(Quantity.FREQUENCY),
        lead=lambda n: n.number(Quantity.TIME), trail=lambda n: n.number(Quantity.TIME),
    )  # fmt: skip
    with node.blamed():
        return imitate(load(path), figure, dt=dt, **words)
