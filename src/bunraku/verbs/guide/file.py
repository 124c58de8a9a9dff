"""Guiding files: a humanoid, its scene, and timed commands.

guide: humanoid               # the humanoid of the library, or a humanoid file
scene: hall.yaml              # or a scene written here; default: a room with two steps and a door, or a plain floor
inputs:                       # or an input log that was saved on the stage: log.json
  - {at: 0 s, guided: trunk, move: [1, 0, 0]}                 # forward, left, up: shares of the largest motion, −1 to 1
  - {at: 2 s, guided: left_foot, move: [1, 0, 0], lift: [0.5, 0]}      # how high the left and the right foot are held, 0 to 1
  - {at: 4 s, guided: left_hand, move: [0.5, 0, 1], turn: [0, 0, 0.3]} # about the forward, left and up axes
  - {at: 6 s}                 # stand still
physics: false                # true simulates the robot in MuJoCo, with servos and a stabiliser
brisk: false                  # true walks without rest between steps: faster, but not over ground that the plan does not know
seconds: 2 s                  # how long to continue after the last input
output: walk.npz              # or a list of files; `bunraku guide -o` overrides it
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar

from bunraku.io.outputs import outputs_of
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import load_scene, scene_in
from bunraku.io.yaml.shape_words import file_named
from bunraku.locomotion.guide.guide_command import GUIDED_POINTS, Command
from bunraku.locomotion.guide.guide_pictures import draw_loci
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.humanoid_file import humanoid_named
from bunraku.progress import Listener
from bunraku.scene import Scene
from bunraku.stage.input_log import InputLog
from bunraku.verbs.guide.run import Guided, guide, log_for
from bunraku.verbs.order import Order

CommandList = tuple[tuple[float, Command], ...]


@dataclass(frozen=True, eq=False, repr=False)
class GuideOrder(Order):
    """A humanoid guided by timed inputs."""

    verb: ClassVar[str] = "guide"
    words: ClassVar[tuple[str, ...]] = (verb, "scene", "inputs", "physics", "brisk", "seconds", "output")

    humanoid: Humanoid
    inputs: InputLog | CommandList = ()
    """Times [s] and commands, or a log that was saved on the stage."""
    scene: Scene | None = None
    """The scene; by default two steps and a door for the humanoid of the library, otherwise a plain floor."""
    physics: bool = False
    """Whether the robot is simulated in MuJoCo."""
    brisk: bool = False
    """Whether it walks without rest between steps."""
    seconds: float = 2.0
    """How long it continues after the last input [s]."""
    output: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """The name of the figure."""
        return self.humanoid.figure.name

    def __str__(self) -> str:
        count = len(self.inputs.commands if isinstance(self.inputs, InputLog) else self.inputs)
        place = "" if self.scene is None else f" in {self.scene.name}"
        plural, how = "" if count == 1 else "s", ", in physics" if self.physics else ""
        return f"{self.humanoid.figure.name} guided by {count} input{plural}{place}{how}"

    @classmethod
    def read(cls, root: Node, folder: Path) -> GuideOrder:
        """The order in the document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        root.words(cls.words, "a guiding file")
        humanoid = _humanoid(root.need("guide", "the file"), folder)
        options = root.given(
            inputs=lambda node: _inputs(node, humanoid, folder), scene=lambda node: scene_in(node, folder), physics=Node.flag,
            brisk=Node.flag,            seconds=_seconds, output=lambda node: outputs_of(node, folder),
        )  # fmt: skip
        return cls(humanoid, **options)

    @classmethod
    def of_log(
        cls, humanoid: str, log: Path, *, scene: Path | None = None, physics: bool = False, brisk: bool = False,
        seconds: float = 2.0,
    ) -> GuideOrder:  # fmt: skip
        """The order to replay an input log.

        humanoid: "humanoid", or a humanoid file
        log: an input log saved on the stage
        scene: a scene file; by default that of the stage
        physics: simulate the robot in MuJoCo
        brisk: walk without rest between steps
        seconds: how long to continue after the last input [s]

        Raises FileError if a file cannot be read, or if the log belongs to another humanoid.
        """
        own = humanoid_named(humanoid)
        return cls(own, log_for(own, log), None if scene is None else load_scene(scene), physics, brisk, seconds)

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Guided:
        """The motion; after Ctrl-C, the part up to there.

        seed: stored in the result; guiding uses no random numbers.
        progress: called with its progress.
        """
        return guide(
            self.humanoid, self.inputs, scene=self.scene, physics=self.physics, brisk=self.brisk, seconds=self.seconds, seed=seed,
            progress=progress,
        )  # fmt: skip

    def plot(self, done: Guided, path: Path) -> None:
        """Draws centre of mass, ZMP, feet and hands of the result `done` from above into the file `path`."""
        draw_loci(done.performances, path, scene=done.scene)


def _humanoid(node: Node, folder: Path) -> Humanoid:
    if node.scalar("a humanoid") == "humanoid":
        return humanoid_named("humanoid")
    return humanoid_named(file_named(node, folder, (".yaml", ".yml"), "a humanoid file"))


def _inputs(node: Node, humanoid: Humanoid, folder: Path) -> InputLog | CommandList:
    if isinstance(node.value, str):
        return log_for(humanoid, file_named(node, folder, (".json",), "an input log"))
    found: list[tuple[float, Command]] = []
    for item in node.items("inputs"):
        item.words(("at", *(field.name for field in fields(Command))), "an input")
        at = item.need("at", "the input")
        t = at.number(Quantity.TIME)
        if not (found[-1][0] if found else 0.0) <= t < 36_000.0:
            raise at.error(f"an input at {t:g} s", advice="give times in order, from 0 to 36000 s")
        found.append((t, _command(item)))
    return tuple(found)


def _command(node: Node) -> Command:
    options: dict[str, Any] = node.given(
        guided=lambda word: word.choice(GUIDED_POINTS, "the guided point"), move=lambda word: _shares(word, 3, -1.0),
        turn=lambda word: _shares(word, 3, -1.0), lift=lambda word: _shares(word, 2, 0.0),
    )  # fmt: skip
    return Command(**options)


def _shares(node: Node, count: int, low: float) -> tuple[float, ...]:
    for item, value in zip(node.items("numbers", count), node.numbers(count), strict=True):
        if not low <= value <= 1.0:
            raise item.error(f"{value:g} is out of range", advice=f"give {low:g} to 1, a share of its largest motion")
    return node.numbers(count)


def _seconds(node: Node) -> float:
    value = node.number(Quantity.TIME)
    if not 0.0 <= value <= 3600.0:
        raise node.error(f"{value:g} s after the last input", advice="give 0 to 3600 s")
    return value
