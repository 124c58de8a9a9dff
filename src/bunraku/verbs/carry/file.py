"""The verb carry: an errand from a file, with a bar for each stage, a table beside the paper's, files, pictures, the stage."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from os import PathLike
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.progress import BarColumn, TextColumn
from rich.progress import Progress as Bars

from bunraku import workers as house
from bunraku.brief import brief
from bunraku.ensemble.carry import carry
from bunraku.ensemble.carry_pictures import save_plan_view, save_stills
from bunraku.ensemble.carry_result import STAGES, Carry, Progress
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import load_errand
from bunraku.errors import BunrakuError
from bunraku.io.bvh.bvh_writer import save_bvh
from bunraku.io.outputs import require, require_outputs, save_motion

PAPER = {
    "factory, 268 samples": (31.4, 6.5, 2.1, 0.8, 0.4, 5.7),
    "living room, 78 samples": (3.2, 3.3, 0.6, 0.2, 0.1, 0.0),
}
"""Table II of the paper [s], on a processor of 500 MHz."""


class NotCarried(BunrakuError):
    """The errand ended before the goal; the message says at which stage, why, and what to do."""


@dataclass(frozen=True, eq=False)
class CarryRecipe:
    """What a carrying file says, to be checked, shown or converted."""

    errand: Errand

    __repr__ = brief

    def __str__(self) -> str:
        team, scene = self.errand.team, self.errand.scene
        who = ", ".join(agent.name for agent in team.agents)
        return f"errand {self.errand.name}: {who} in {scene.name}, {team.n} variables, {self.errand.samples} samples"

    def run(self) -> Carry:
        return carry(self.errand)


def load_carry(path: str | PathLike[str]) -> CarryRecipe:
    """What a carrying file orders, checked."""
    return CarryRecipe(load_errand(path))


def carry_file(
    file: Path, output: Sequence[Path], *, stills: Path | None = None, view: Path | None = None, seed: int | None = None,
    samples: int | None = None, console: Console,
) -> tuple[Carry, Iterator[tuple[str, str]]]:  # fmt: skip
    """What became of an errand, and lines that say so while files are written; bad names are refused before the work begins."""
    require_outputs(output)
    for picture in (stills, view):
        require(picture, (".png",), "a picture")
    errand = load_errand(file)
    require_outputs(() if output else errand.output)
    if any(path.suffix.lower() == ".bvh" for path in output or errand.output):
        people(errand)
    done = _watched(errand, seed, samples, console)
    return done, lines_of(done, output, stills, view)


def _watched(errand: Errand, seed: int | None, samples: int | None, console: Console) -> Carry:
    columns = (TextColumn("{task.description:<14}"), BarColumn(), TextColumn("{task.fields[word]}"))
    with Bars(*columns, console=console, transient=True, disable=not console.is_terminal) as bars:
        tasks = {stage: bars.add_task(stage, total=1.0, word="") for stage in STAGES}

        def watch(word: Progress) -> None:
            bars.update(tasks[word.stage], completed=word.done, word=word.text or (f"way {word.round + 1}" if word.round else ""))

        return carry(errand, seed=seed, samples=samples, watch=watch)


def lines_of(done: Carry, output: Sequence[Path], stills: Path | None, view: Path | None) -> Iterator[tuple[str, str]]:
    yield "errand", f"{done.errand.name}: {len(done.errand.team.agents)} agents, {done.errand.team.n} variables"
    yield from table(done)
    if done.motion is not None:
        yield "motion", f"{done.motion.duration:.1f} s of {', '.join(done.motion.names)} in {len(done.motion)} samples"
    if done.verdict is not None:
        yield "recheck", str(done.verdict)
    yield from ((f"way {k}", why) for k, why in enumerate(done.failures, 1))
    if done.failures and done.outcome.carried:
        yield "recovered", f"along way {done.rounds}"
    for path in (*(output or done.errand.output), *(p for p in (stills, view) if p is not None)):
        if done.motion is None and path != view:
            continue
        yield from (("wrote", str(one)) for one in _written(done, path, stills, view))
    if not done.outcome.carried:
        what, _, advice = done.outcome.value.partition(": ")
        got = f", {100 * done.share:.0f} % of the way" if done.motion is not None else ""
        raise NotCarried(f"{what} (stage: {done.stage}{got}): {done.why}\n  advice: {advice}")


def table(done: Carry) -> Iterator[tuple[str, str]]:
    """Each stage beside the paper's."""
    head = f"{'ours':>10}" + "".join(f"{'paper, ' + name:>34}" for name in PAPER)
    yield "stage", head
    for k, stage in enumerate(STAGES):
        theirs = "".join(f"{row[k]:>32.1f} s" for row in PAPER.values()) if k < len(STAGES) - 1 else ""
        yield stage, f"{done.seconds.get(stage, 0.0):>8.3f} s{theirs}"


def _written(done: Carry, path: Path, stills: Path | None, view: Path | None) -> Iterator[Path]:
    if path == view:
        save_plan_view(done, path)
    elif path == stills:
        save_stills(done, path)
    elif path.suffix.lower() == ".bvh":
        yield from _people(done, path)
        return
    else:
        assert done.motion is not None
        save_motion(done.motion, path, done.errand.scene)
    yield path


def people(errand: Errand) -> list[str]:
    """Who of the team a BVH file can hold; refuses a team of which it can hold nobody."""
    names = [agent.name for agent in errand.team.agents if agent.figure.name == "mannequin"]
    if not names:
        raise BunrakuError("nobody of the team is a person\n  advice: write .npz or .glb, which hold everybody")
    return names


def _people(done: Carry, path: Path) -> Iterator[Path]:
    """BVH holds one figure: a file for each person."""
    names = people(done.errand)
    for name in names:
        own = path if len(names) == 1 else path.with_stem(f"{path.stem}_{name}")
        assert done.motion is not None
        save_bvh(done.motion, own, track=name)
        yield own


# -- many seeds ------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Run:
    """What became of one seed."""

    seed: int
    outcome: str
    why: str
    seconds: dict[str, float]
    rounds: int

    @property
    def total(self) -> float:
        return sum(self.seconds.values())


def run_one(errand: Errand, seed: int, samples: int | None) -> Run:
    done = carry(errand, seed=seed, samples=samples)
    return Run(seed, done.outcome.name, done.why, done.seconds, done.rounds)


def run_many(
    errand: Errand, count: int, *, first: int = 0, samples: int | None = None, workers: int | None = None,
    cluster: str | None = None, console: Console,
) -> list[Run]:  # fmt: skip
    """The errand with many seeds, on local workers or a cluster; Ctrl-C keeps those that are done."""
    bare, out = replace(errand), []
    with house.executor(workers, cluster=cluster) as (pool, _), Bars(console=console, transient=True) as bars:
        task = bars.add_task(errand.name, total=count)
        jobs = [pool.submit(run_one, bare, first + k, samples) for k in range(count)]
        try:
            for job in as_completed(jobs):
                out.append(job.result())
                bars.advance(task)
        except KeyboardInterrupt:
            for job in jobs:
                job.cancel()
    return sorted(out, key=lambda run: run.seed)


def summary(errand: Errand, runs: Sequence[Run]) -> Iterator[tuple[str, str]]:
    """How many arrived, within the budget, and what the stages took."""
    if not runs:
        yield "runs", "none"
        return
    good = [run for run in runs if run.outcome == "CARRIED" and run.total <= errand.seconds]
    yield "carried", f"{len(good)} of {len(runs)} within {errand.seconds:g} s of the processor"
    seconds = np.array([[run.seconds.get(stage, 0.0) for stage in STAGES] for run in runs])
    yield "stage", f"{'median':>10}{'worst':>12}"
    for k, stage in enumerate(STAGES):
        yield stage, f"{np.median(seconds[:, k]):>8.3f} s{seconds[:, k].max():>10.3f} s"
    yield "recovered", f"{sum(run.rounds > 1 and run.outcome == 'CARRIED' for run in runs)}"
    for (outcome, why), n in Counter((run.outcome, run.why) for run in runs if run.outcome != "CARRIED").most_common(5):
        yield outcome.lower().replace("_", " "), f"{n}× {why}"
