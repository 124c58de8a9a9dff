"""The verb guide: a humanoid on the stage under somebody's hand, or a saved input log replayed into files."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import Progress

from bunraku import io
from bunraku.errors import BunrakuError, FileError
from bunraku.io.outputs import require_outputs
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_pictures import draw_loci
from bunraku.locomotion.guide.humanoid_file import humanoid_named, planner_of
from bunraku.locomotion.guide.scenario import PAPER_ROOM
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.stage.entry import Entry
from bunraku.stage.input_log import read_log
from bunraku.teleop.guided_figure import GuidedInPhysics, GuidedLive
from bunraku.teleop.joystick import Joystick, plugged_in


def live(humanoid: str, scene: Path | None, *, physics: bool = False, joystick: int | None = None) -> GuidedLive:
    """The humanoid to guide. Without a scene, our own stands on the steps of the paper's room, any other on a plain floor."""
    own = humanoid_named(humanoid)
    around = _scene(scene) if scene is not None else PAPER_ROOM.scene if humanoid == "humanoid" else Scene("floor")
    guide = Guide(own, around, planner_of(own))
    kind = GuidedInPhysics if physics else GuidedLive
    return kind(
        guide, x=PAPER_ROOM.start if around is PAPER_ROOM.scene else 0.0, joystick=None if joystick is None else Joystick(joystick)
    )


def joysticks() -> Iterator[tuple[str, str]]:
    """Numbers and names of those that are plugged in."""
    names = plugged_in()
    if not names:
        raise BunrakuError("no joystick is plugged in\n  advice: plug one in, or drive from the browser by gamepad or keys")
    yield from ((f"joystick {k}", name) for k, name in enumerate(names))


def _scene(path: Path) -> Scene:
    scene = io.load(path)
    if not isinstance(scene, Scene):
        raise FileError("there is no scene in it", path=str(path), advice="begin a scene file with `scene: NAME`")
    return scene


def entry(humanoid: str, scene: Path | None, *, physics: bool = False, joystick: int | None = None) -> Entry:
    """Its line on the stage."""
    about = "Sticks or keys guide a point, Q and E switch which; or drag a foot, a hand, the trunk"
    title = f"Guide {Path(humanoid).stem}"
    return Entry(title, lambda: live(humanoid, scene, physics=physics, joystick=joystick), about, front=(0.6, -1.0))


def replayed(
    humanoid: str, scene: Path | None, log: Path, output: Sequence[Path], plot: Path | None, *, seconds: float, console: Console
) -> Iterator[tuple[str, str]]:
    """A log played without a stage, and what was written."""
    require_outputs(output, plot)
    try:
        text = log.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError):
        raise FileError("cannot be read", path=str(log), advice="save one from the stage: Inputs, Save") from None
    own = live(humanoid, scene)
    read = read_log(text, own, path=str(log))
    last = read.commands[-1][0] if read.commands else 0
    steps = last + round(seconds / own.dt)
    own.keep()
    waiting, Q = list(reversed(read.commands)), [own.reset().q[0]]
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        for step in bar.track(range(steps), description="replay"):
            while waiting and waiting[-1][0] <= step:
                own.apply(waiting.pop()[1])
            Q.append(own.step().q[0])
    motion = Motion.of(own.figures[0], own.dt * np.arange(len(Q)), np.array(Q))
    yield "replayed", f"{motion.duration:.1f} s, {len(own.performances)} moves"
    for path in output:
        io.save(motion, path)
        yield "wrote", str(path)
    if plot is not None:
        draw_loci(own.performances, plot, scene=own.scene)
        yield "wrote", str(plot)
