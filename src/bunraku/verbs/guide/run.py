"""The verb guide: a humanoid guided by an operator on the stage, or by timed inputs without a stage."""

from __future__ import annotations

import os
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.arguments import require_common, require_kind, require_list, require_number
from bunraku.errors import BunrakuError, BunrakuWarning, FileError
from bunraku.figure import Figure
from bunraku.io.yaml.scene_file import load_scene
from bunraku.locomotion.guide.guide_command import Command as GuideCommand
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of, humanoid_named
from bunraku.locomotion.guide.loop_times import LoopTimes
from bunraku.locomotion.guide.robot_description import described
from bunraku.locomotion.guide.scenario import PAPER_ROOM
from bunraku.locomotion.guide.segment import GUIDE_TICK
from bunraku.locomotion.guide.whole_body import WholeBody
from bunraku.motion import Motion
from bunraku.outcome import DONE, STOPPED, Outcome
from bunraku.progress import Listener, Progress
from bunraku.result import Result
from bunraku.scene import Scene
from bunraku.stage.entry import Entry
from bunraku.stage.hand_commands import Command as HandCommand
from bunraku.stage.input_log import InputLog, read_log
from bunraku.teleop.guided_figure import GuidedInPhysics, GuidedLive, GuidedOverLink
from bunraku.teleop.joystick import Joystick, plugged_in
from bunraku.teleop.markers import markers
from bunraku.teleop.mujoco_robot import MujocoRobot
from bunraku.writing import writing

COMMAND_REFUSED = Outcome(False, "refused", "a command could not be obeyed", advice="ask for less, or from another stance")
ROBOT_FELL = Outcome(False, "fell", "the robot fell", advice="guide it more slowly, or without physics")

Named = str | os.PathLike[str]
TimedInputs = Iterable[tuple[float, GuideCommand | HandCommand]]
"""Times [s], in order, and the command from then on: a guide command to one point, or a hand command as on the stage."""


@dataclass(frozen=True, eq=False, repr=False)
class Guided(Result):
    """The result of `guide`: the motion of a humanoid under timed inputs."""

    outcome: Outcome
    motion: Motion | None
    """The motion that was played or, in physics, measured; None if there was none."""
    scene: Scene
    seconds: Mapping[str, float]
    """Processor time of each stage [s]."""
    seed: int | None = None
    """The seed that was passed; guiding uses no random numbers."""
    performances: tuple[GuidedMove, ...] = ()
    """The moves, in order."""
    times: LoopTimes | None = None
    """How long the control ticks took, and how soon commands acted."""

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, moves, refused moves, the smallest margin of the ZMP [m], and times of the loop."""
        done = self.performances
        found: dict[str, float] = {"moves": len(done), "refused": sum(one.refused for one in done)}
        if done:
            found["margin"] = min(one.margin for one in done)
        return super().columns() | found | (self.times.columns() if self.times is not None else {})

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: outcome, duration, moves, balance."""
        yield from super().report()
        if self.motion is None:
            return
        yield "motion", f"{self.motion.duration:.2f} s of {self.motion.figure.name}, {len(self.motion)} samples"
        done = self.performances
        if done:
            redirected, refused = sum(one.left is not None for one in done), sum(one.refused for one in done)
            steps = sum(one.move.goals.swings >= 0 for one in done)
            yield "moves", f"{len(done)}, {steps} of them steps; {redirected} redirected on the way, {refused} refused"
            yield "balance", f"ZMP at least {1e3 * min(one.margin for one in done):.1f} mm inside the support polygon"
        if self.times is not None and self.times.ticks:
            yield "loop", str(self.times)


def guide(
    humanoid: Humanoid | Named, inputs: InputLog | Named | TimedInputs = (), *, scene: Scene | Named | None = None,
    physics: bool = False, brisk: bool = False, seconds: float = 2.0, seed: int | None = None, progress: Listener | None = None,
) -> Guided:  # fmt: skip
    """Guides a humanoid by timed inputs, without a stage.

    humanoid: a humanoid, "humanoid" for that of the library, or a humanoid file
    inputs: an input log saved on the stage, its file, or pairs of a time [s] and a command
    scene: the scene, or its file; by default two steps and a door for the humanoid of the library, otherwise a plain floor
    physics: simulate the robot in MuJoCo, with position servos and a stabiliser
    brisk: walk without rest between steps; faster, but not over ground that the plan does not know
    seconds: how long to continue after the last input [s]
    seed: stored in the result; guiding uses no random numbers
    progress: called with the stage "guiding"

    Returns a `Guided`. Its outcome is not ok if a command was refused or, in physics, the robot fell. After a refusal the humanoid
    comes to rest and obeys later inputs; a fall ends the motion. Ctrl-C returns the motion so far. Raises FileError if a file
    cannot be read, and BunrakuError if inputs are out of order.
    """
    advice = 'give "humanoid", a humanoid file, or the result of load_humanoid(…)'
    require_kind("humanoid", humanoid, (Humanoid, str, os.PathLike), expected="a Humanoid or a file", advice=advice)
    if not isinstance(inputs, InputLog | str | os.PathLike):
        require_list("inputs", inputs, (tuple, list), expected="pairs of a time and a command", advice="give [(0.0, Command(…))]")
    require_number("seconds", seconds, unit="s", zero=True)
    require_common(seed, progress)
    own = humanoid if isinstance(humanoid, Humanoid) else humanoid_named(humanoid)
    around = scene_around(own, scene)
    waiting = deque(_steps(inputs, own))
    steps = (waiting[-1][0] if waiting else 0) + round(seconds / GUIDE_TICK)
    begun, Q, live = time.process_time(), [], None
    outcome = DONE
    try:
        live = _live(own, around, physics=physics, brisk=brisk)
        live.keep()
        Q.append(live.reset().q[0])
        for step in range(steps):
            while waiting and waiting[0][0] <= step:
                _, command = waiting.popleft()
                if isinstance(command, GuideCommand):
                    live.obey(command)
                else:
                    live.apply(command)
            Q.append(live.step().q[0])
            if progress is not None and (step % 20 == 0 or step == steps - 1):
                progress(Progress("guiding", (step + 1) / steps, f"{(step + 1) * GUIDE_TICK:.1f} s"))
            if live.fell:
                outcome = ROBOT_FELL.because(f"the robot fell at {(step + 1) * GUIDE_TICK:.2f} s while {live.guided} was guided")
                break
    except KeyboardInterrupt:
        outcome = STOPPED
    done = () if live is None else tuple(live.performances)
    refused = _refusal(done)
    if outcome.ok and refused is not None:
        outcome = refused
    motion = Motion.of(own.figure, GUIDE_TICK * np.arange(len(Q)), np.array(Q)) if Q else None
    times = None if live is None else live.times
    return Guided(outcome, motion, around, {"guiding": time.process_time() - begun}, seed, done, times)


def _refusal(done: Iterable[GuidedMove]) -> Outcome | None:
    """The outcome of the first refused command; None if there is none."""
    t = 0.0
    for one in done:
        if one.refused:
            return COMMAND_REFUSED.because(f"{one.move.goals.guided.replace('_', ' ')} at {t:.2f} s: {one.notice}")
        t += len(one.played) * GUIDE_TICK
    return None


@dataclass(frozen=True)
class _Driven:
    """The figures and the time step that an input log must match."""

    figures: tuple[Figure, ...]
    dt: float = GUIDE_TICK


def log_for(humanoid: Humanoid, path: Named) -> InputLog:
    """The input log in the file `path`, which must have been saved while this `humanoid` was guided; raises FileError otherwise."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError("cannot be read", path=str(path), advice="save one from the stage: Inputs, Save") from None
    driven: Any = _Driven((humanoid.figure, markers(humanoid)))
    return read_log(text, driven, path=str(path))


def _steps(inputs: InputLog | Named | TimedInputs, humanoid: Humanoid) -> list[tuple[int, GuideCommand | HandCommand]]:
    """Inputs with the index of the step before which they come."""
    if isinstance(inputs, str | os.PathLike):
        inputs = log_for(humanoid, inputs)
    if isinstance(inputs, InputLog):
        return list(inputs.commands)
    timed = list(inputs)
    times = [t for t, _ in timed]
    if times != sorted(times) or not all(0.0 <= t < 36_000.0 for t in times):
        raise BunrakuError("the inputs are out of order\n  advice: give times from 0 to 36000 s in increasing order")
    return [(round(t / GUIDE_TICK), command) for t, command in timed]


def scene_around(humanoid: Humanoid, scene: Scene | Named | None) -> Scene:
    """A `scene`, or that of its file; by default the paper's room for the `humanoid` of the library, otherwise a plain floor."""
    if scene is None:
        return PAPER_ROOM.scene if humanoid.figure.name == "humanoid" else Scene("floor")
    return scene if isinstance(scene, Scene) else load_scene(scene)


def _live(
    humanoid: Humanoid, scene: Scene, *, physics: bool = False, brisk: bool = False, joystick: int | None = None,
    beside: bool = False,
) -> GuidedLive:  # fmt: skip
    kind = GuidedInPhysics if physics else GuidedLive
    x = PAPER_ROOM.start if scene is PAPER_ROOM.scene else 0.0
    return kind(
        guide_of(humanoid, scene, brisk=brisk), x=x, joystick=None if joystick is None else Joystick(joystick), beside=beside
    )  # fmt: skip


def guided_live(humanoid: Humanoid) -> GuidedLive:
    """A `humanoid` to guide on the stage, in the scene that `guide` puts around it."""
    return _live(humanoid, scene_around(humanoid, None), beside=True)


def entry(
    humanoid: str, scene: Path | None = None, *, physics: bool = False, brisk: bool = False, joystick: int | None = None,
    robot: tuple[str, int] | None = None, token: str = "",
) -> Entry:  # fmt: skip
    """The stage entry in which a humanoid is guided.

    humanoid: "humanoid", or a humanoid file
    scene: a scene file; by default as in `guide`
    physics: simulate the robot in MuJoCo
    brisk: walk without rest between steps
    joystick: index of a joystick of this machine
    robot: host and port of a robot that is moved
    token: the token of this robot
    """

    def opened() -> GuidedLive:
        own = humanoid_named(humanoid)
        if robot is not None:
            stick = None if joystick is None else Joystick(joystick)
            return GuidedOverLink(guide_of(own, scene_around(own, scene), brisk=brisk), robot, token, joystick=stick)
        return _live(own, scene_around(own, scene), physics=physics, brisk=brisk, joystick=joystick, beside=True)

    return guiding_entry(Path(humanoid).stem, opened)


def guiding_entry(name: str, shows: Callable[[], GuidedLive]) -> Entry:
    """The stage entry of a humanoid called `name`, which the function `shows` makes."""
    about = "Sticks or keys guide a point, Q and E switch which; or drag a foot, a hand, the trunk"
    return Entry(f"Guide {name}", shows, about, front=(0.6, -1.0))


def reference_robot(humanoid: str, scene: Path | None = None) -> MujocoRobot:
    """A robot in MuJoCo that stands where `entry` would let it start.

    humanoid: "humanoid", or a humanoid file
    scene: a scene file; by default as in `guide`
    """
    own = humanoid_named(humanoid)
    around = scene_around(own, scene)
    start = guide_of(own, around).start(x=PAPER_ROOM.start if around is PAPER_ROOM.scene else 0.0)
    return MujocoRobot(own, around, WholeBody(own).posed(start))


def describe(robot: Named, outputs: Iterable[Path], say: Callable[[str], object]) -> None:
    """Writes a first humanoid file for a `robot` (URDF, SDF or MJCF) into the files `outputs`; without them, `say` prints it."""
    paths = list(outputs)
    for path in paths or [Path()]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", BunrakuWarning)
            text = described(robot, path.parent if paths else Path())
        if paths:
            with writing(path) as part:
                part.write_text(text, encoding="utf-8")
        say(f"wrote {path}" if paths else text.rstrip())


def joysticks() -> Iterator[tuple[str, str]]:
    """Indices and names of the joysticks of this machine; raises BunrakuError if there is none."""
    names = plugged_in()
    if not names:
        raise BunrakuError("no joystick is plugged in\n  advice: plug one in, or drive from the browser by gamepad or keys")
    yield from ((f"joystick {k}", name) for k, name in enumerate(names))
