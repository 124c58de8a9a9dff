"""Simulation files: a figure, the motion of the puppeteer's hands, and a duration.

    simulate: marionette25        # a figure of the library, or a file beside this one
    duration: 4 s
    dt: 5 ms                      # default: 10 ms
    start: settle                 # start hanging at rest; or `start`, the figure's own; or values: {elbow: 40 deg}
    puppeteer:                    # kinematic variables; those that are not named stay constant
      left_arm_length: {by: [[0, 0], [1, -12 cm], [2, 0]]}               # wind in 12 cm and let out again
      right_leg_length: {amplitude: 5 cm, frequency: 0.5, phase: 90 deg}
      head_x: [[0, 0], [4, 0.1]]  # points [time, value]
    forces: {}                    # force inputs of the figure; default: zero
    scene: room.yaml              # what is around: a file beside this one, or a scene; by default nothing
    props: {ball: {is: football, at: [0.3, 0, 0.05]}}  # free bodies; their variables and frames are called ball.…
    touch: all                    # which bodies touch: all, pairs of names, or nothing (default)
    share: 0.5                    # share of the impulse of forces and dampers that acts at the start of a step; default: 0.5
    output: dance.glb             # or a list of files; `bunraku simulate -o` overrides it

A number is constant. A sine oscillates about the start value of the variable, or about its `offset`. `by` is relative to the start
value. Points are joined by a smooth curve that is at rest at both ends. Kinematic variables start at the puppeteer's values at
t = 0.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bunraku.collision.manifold.touch_rules import Touch
from bunraku.dynamics import settle, simulate
from bunraku.dynamics.servo import motor_input
from bunraku.dynamics.simulate import simulation_of
from bunraku.dynamics.simulation import LEFT_SHARE, require_share
from bunraku.errors import BunrakuError, parts
from bunraku.figure import Figure
from bunraku.figure.actuated import motors
from bunraku.figure.together import with_props
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.prop_words import props_of
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.render import plots
from bunraku.scene import Scene
from bunraku.verbs.curves import Curve, curves
from bunraku.verbs.measures import efforts, measures
from bunraku.verbs.motion_report import summary
from bunraku.verbs.order import Order
from bunraku.verbs.simulate.touch_words import touch_of

Array = NDArray[np.float64]
MAX_STEPS = 10_000_000


@dataclass(frozen=True, eq=False, repr=False)
class SimulateOrder(Order):
    """A simulation: a figure, and a puppeteer who pulls its strings."""

    verb: ClassVar[str] = "simulate"
    words: ClassVar[tuple[str, ...]] = (
        verb,
        "duration",
        "dt",
        "start",
        "puppeteer",
        "forces",
        "scene",
        "props",
        "touch",
        "share",
        "output",
    )

    figure: Figure
    duration: float
    """Duration of the motion [s]."""
    dt: float
    """Time step [s]."""
    q: Array
    """The configuration at t = 0."""
    puppeteer: Mapping[str, Curve]
    """Kinematic variables by name, as functions of time."""
    forces: Mapping[str, Curve]
    """Force inputs by name, as functions of time [N or N·m]."""
    share: float = LEFT_SHARE
    """Share of the impulse of forces and dampers in a step that acts at its start."""
    scene: Scene | None = None
    """What is around."""
    touch: Touch | None = None
    """Which bodies touch."""
    output: tuple[Path, ...] = ()
    curves: tuple[str, ...] = ()
    """What a plot shows: names of variables, "tension", "energy"; by default the tensions, or all variables."""

    @property
    def title(self) -> str:
        """The name of the figure."""
        return self.figure.name

    @property
    def steps(self) -> int:
        """Number of steps."""
        return max(round(self.duration / self.dt), 1)

    def __str__(self) -> str:
        pulled = ", ".join((*self.puppeteer, *self.forces)) or "nothing"
        return f"simulation of {self.figure.name}: {self.duration:g} s in {self.steps} steps, moving {pulled}"

    @classmethod
    def read(cls, root: Node, folder: Path) -> SimulateOrder:
        """The order in the document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        root.words(cls.words, "a simulation")
        figure = propped(root, figure_named(root.need("simulate", "the file"), folder), folder)
        around = root.get("scene")
        scene = None if around is None else scene_in(around, folder)
        touch = touch_of(root.get("touch"), figure, scene)
        duration = root.need("duration", "the simulation").positive(Quantity.TIME)
        dt = root.given(dt=lambda node: node.positive(Quantity.TIME)).get("dt", 0.01)
        if duration / dt > MAX_STEPS:
            raise root.place_of("duration").error(f"{duration / dt:.3g} steps are too many", advice="shorten it, or lengthen dt")
        driven = motors(figure)
        hands = (*figure.kinematic, *(v.name for v in driven.values()))  # all that a puppeteer moves, by hand or by motors
        moved = dict(zip(hands, figure.start[figure.indices(hands)].tolist(), strict=True))
        pulled = curves(root.get("puppeteer"), measures(figure, hands), moved, "kinematic variable")
        forces = efforts(figure)
        q = start_of(root, figure, pulled)
        try:
            simulation_of(figure, q, dt=dt, scene=scene, touch=touch)
        except BunrakuError as error:  # it cannot start: strings are too short, or variables move no mass
            message, advice = parts(error)
            for said, better in (("start from settle(figure)", "write start: settle"), ("give another q", "give other values")):
                advice = advice.replace(said, better)
            raise root.place_of("start").error(message, advice=advice) from None
        by_motor = {name: motor_input(v, pulled[v.name], dt=dt) for name, v in driven.items() if v.name in pulled}
        pushed = curves(root.get("forces"), forces, dict.fromkeys(forces, 0.0), "force input")
        both = [name for name in by_motor if name in pushed]
        if both:
            raise root.place_of("forces").error(f"the puppeteer already drives {both[0]!r}", advice="remove one of the two")
        puppeteer = {name: way for name, way in pulled.items() if name in figure.kinematic}
        share = root.given(share=share_of).get("share", LEFT_SHARE)
        output = outputs_of(root.get("output"), folder)
        return cls(figure, duration, dt, q, puppeteer, {**by_motor, **pushed}, share, scene, touch, output)

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Motion:
        """The motion; after Ctrl-C, the part up to there, with a mark of the kind "stopped".

        seed: not used; a simulation uses no random numbers.
        progress: called with its progress.
        """
        return simulate(
            self.figure, self.puppeteer, duration=self.duration, dt=self.dt, q=self.q, forces=self.forces, share=self.share,
            scene=self.scene, touch=self.touch, seed=seed, progress=progress,
        )  # fmt: skip

    def notes(self) -> Iterator[str]:
        """The pairs of bodies that may touch."""
        if self.touch is None:
            return
        simulation = simulation_of(self.figure, self.q, dt=self.dt, scene=self.scene, touch=self.touch)
        yield from simulation.touching()

    def require(self, output: Sequence[Path]) -> None:
        """Raises an error, before any work is done, if a file in `output` cannot hold the motion or a curve will not exist."""
        super().require(output)
        plots.require_curves(self.figure, self.curves)

    def report(self, done: Motion) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text about the motion `done`: duration, tensions, energy, strings that slackened or tightened."""
        yield from summary(done)

    def plot(self, done: Motion, path: Path) -> None:
        """Draws `curves` of the motion `done`, by default its tensions, into the file `path`."""
        plots.plot(done, path, self.curves or ("tension" if self.figure.strings or self.figure.wires else "*"))


def propped(root: Node, figure: Figure, folder: Path) -> Figure:
    """`figure` with the props of the document `root` beside it; their files are relative to `folder`."""
    props = props_of(root, folder)
    if not props:
        return figure
    with root.need("props", "the file").blamed():
        return with_props(figure, props)


def share_of(node: Node) -> float:
    """The share of a force's impulse that acts at the start of a step, in `node`; raises FileError where it is none."""
    share = node.number()
    with node.blamed():
        require_share(share)
    return share


def start_of(root: Node, figure: Figure, puppeteer: Mapping[str, Curve]) -> Array:
    """The configuration at t = 0: kinematic variables from the puppeteer, the others from the file.

    root: the document, whose key `start` is read.
    figure: the figure.
    puppeteer: curves of kinematic variables.
    Raises FileError if the figure cannot settle, or if a variable is set twice.
    """
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
            raise key.error(f"the puppeteer already sets {name!r}", advice="set its value at t = 0 there")
    units = measures(figure, figure.names)
    return figure.configuration(**held, **{name: at.number(units[name]) for name, at in node.value.items()})
