"""A show performed from the command line: progress while it is rehearsed, files at the end, and a few lines of how it went."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rich.console import Console
from rich.progress import Progress

from bunraku.brief import brief
from bunraku.choreography import Performance, load_script, perform
from bunraku.choreography.part import recovery
from bunraku.choreography.script import Script
from bunraku.io.outputs import require_outputs, save_motion
from bunraku.render import plots
from bunraku.teleop.dropped_files import on_stage

STAGES = ("score", "timing", "rehearsal", "play")


@dataclass(frozen=True, eq=False)
class ShowRecipe:
    """What a show file says, to be checked, shown or converted."""

    script: Script

    __repr__ = brief

    def __str__(self) -> str:
        roles = ", ".join(role.name for role in self.script.roles)
        return f"show {self.script.title}: {len(self.script.cues)} cues at {self.script.tempo:g} counts a minute, for {roles}"

    def run(self) -> Performance:
        return perform(self.script)


def load_show(path: str | PathLike[str]) -> ShowRecipe:
    """What a show file orders, checked."""
    return ShowRecipe(load_script(path))


def perform_file(
    file: Path, output: Sequence[Path], plot: Path | None, *, again: bool, console: Console
) -> tuple[Performance, Iterator[tuple[str, str]]]:
    """The performance, and what is to be said about it; files are written as it is said."""
    require_outputs(output, plot)
    script = load_script(file)
    require_outputs(output, figures=len(script.roles))
    with Progress(console=console, transient=True, disable=not console.is_terminal) as bar:
        tasks = {stage: bar.add_task(stage, total=1.0, visible=False) for stage in STAGES}

        def tell(stage: str, done: float) -> None:
            bar.update(tasks[stage], completed=done, visible=True)

        made = perform(script, progress=tell, again=again)
    return made, _told(made, output, plot)


def _told(made: Performance, output: Sequence[Path], plot: Path | None) -> Iterator[tuple[str, str]]:
    script, report = made.score.script, made.report
    roles = ", ".join(role.name for role in script.roles)
    yield "show", f"{script.title}: {made.motion.duration:.3g} s, {len(made.score.cues)} cues, played by {roles}"
    seconds = ", ".join(f"{stage} {report[f'{stage} [s]']:.1f} s" for stage in STAGES)
    anew = round(report["rehearsed anew"])
    yield "took", f"{seconds}; {anew or 'no'} stretch{'' if anew == 1 else 'es'} from rest to rest rehearsed anew"
    if len(made.shifts):
        flexible = [timed.cue for timed in made.score.cues if timed.cue.give > 0.0]
        shifts = ", ".join(f"{cue.name} {shift:+.2f}" for cue, shift in zip(flexible, made.shifts, strict=True))
        yield "timing", f"cues that may give came earlier (−) or later (+), in counts: {shifts}"
    least = min(float(track.tension.min()) for track in made.motion.tracks if track.tension is not None)
    apart = f"; never nearer than {100 * made.near.distance:.0f} cm to another puppet's" if made.near is not None else ""
    yield "strings", f"pull with {least:.2g} N at least{apart}"
    for name, part in made.parts.items():
        found, off = recovery(part), report[f"{name} off by [rms]"]
        held = f"pushed and 3 % heavier by {found.held:.3f}, without feedback by {found.open:.3f}"
        yield name, f"off what was asked by {off:.3f} rad rms over its joints; {held}"
    piece = on_stage(made)
    for path in output:
        save_motion(piece.motion, path, piece.scene)
        yield "wrote", str(path)
    if plot is not None:
        plots.plot(made.motion, plot, ("tension",), title=f"{script.title}: tensions", width=14.0)
        yield "wrote", str(plot)
