"""Carrying files: team, object, start, goal and scene. The documentation page on carrying explains one line by line."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import ClassVar

from bunraku.ensemble.carry import carry
from bunraku.ensemble.carry_on_stage import moved, on_stage
from bunraku.ensemble.carry_result import CARRY_STAGES, Carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.errand_file import CARRY_WORDS, errand_of
from bunraku.errors import BunrakuError
from bunraku.io.bvh.bvh_writer import save_bvh
from bunraku.io.outputs import outputs_of
from bunraku.io.yaml.node import Node
from bunraku.progress import Listener
from bunraku.stage import Recorded
from bunraku.verbs.carry.plot import save_plan_view
from bunraku.verbs.order import Order

PAPER_SECONDS = {
    "factory, 268 samples": (31.4, 6.5, 2.1, 0.8, 0.4, 5.7),
    "living room, 78 samples": (3.2, 3.3, 0.6, 0.2, 0.1, 0.0),
}
"""Table II of the paper: time of each stage but the recheck [s], on a processor of 500 MHz."""


@dataclass(frozen=True, eq=False, repr=False)
class CarryOrder(Order):
    """An errand (a carrying task), and the output files of its motion."""

    verb: ClassVar[str] = "carry"
    random: ClassVar[bool] = True
    words: ClassVar[tuple[str, ...]] = CARRY_WORDS

    errand: Errand
    output: tuple[Path, ...] = ()

    @property
    def title(self) -> str:
        """The name of the errand."""
        return self.errand.name

    def __str__(self) -> str:
        team, scene = self.errand.team, self.errand.scene
        who = ", ".join(agent.name for agent in team.agents)
        kept = "" if self.errand.samples is None else f", {self.errand.samples} samples kept"
        return f"errand {self.errand.name}: {who} in {scene.name}, {team.n} variables{kept}"

    @classmethod
    def read(cls, root: Node, folder: Path) -> CarryOrder:
        """The order in the document `root`; file names in it are relative to `folder`. Raises FileError at the first mistake."""
        return cls(errand_of(root, folder), outputs_of(root.get("output"), folder))

    def run(self, *, seed: int | None = None, progress: Listener | None = None) -> Carry:
        """The result of the errand; after Ctrl-C the last motion, with an outcome of the kind "stopped".

        seed: seed of the random numbers; by default that of the errand.
        progress: called with the progress of each stage.
        """
        return carry(self.errand, seed=seed, progress=progress)

    def require(self, output: Sequence[Path]) -> None:
        """Raises an error, before any work is done, if the format of a file in `output` cannot hold the motion."""
        super().require(output)
        if any(path.suffix.lower() == ".bvh" for path in output):
            people(self.errand)

    def report(self, done: Carry) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text about the result `done`, with the time of each stage beside the paper's."""
        for title, text in done.report():
            if title == "seconds":
                yield from stage_table(done)
            else:
                yield title, text

    def save(self, done: Carry, path: Path) -> Iterator[Path]:
        """Writes the motion of `done` to `path`. BVH holds one figure, so every person of a team gets a separate file."""
        if path.suffix.lower() != ".bvh":
            yield from super().save(replace(done, motion=done.kept), path)
            return
        names = people(self.errand)
        for name in names:
            own = path if len(names) == 1 else path.with_stem(f"{path.stem}_{name}")
            save_bvh(moved(done), own, track=name)
            yield own

    def plot(self, done: Carry, path: Path) -> None:
        """Draws the result `done` from above, with its roadmap and path, into the file `path` (PNG, SVG or PDF)."""
        save_plan_view(done, path)

    def recorded(self, done: Carry) -> Recorded:
        """The motion of `done` with the roadmap, the path of the object and the reach of every arm."""
        return on_stage(done)


def people(errand: Errand) -> list[str]:
    """The agents of an `errand` that a BVH file can hold; raises BunrakuError if there are none."""
    names = [agent.name for agent in errand.team.agents if agent.figure.name == "mannequin"]
    if not names:
        raise BunrakuError("no agent of the team is a person\n  advice: write .npz or .glb, which can hold any agents")
    return names


def stage_table(done: Carry) -> Iterator[tuple[str, str]]:
    """Processor time of each stage of a result `done`, beside the paper's, as pairs of a title and a text."""
    yield "stage", f"{'ours':>10}" + "".join(f"{'paper, ' + name:>34}" for name in PAPER_SECONDS)
    for k, stage in enumerate(CARRY_STAGES):
        theirs = "".join(f"{row[k]:>32.1f} s" for row in PAPER_SECONDS.values() if k < len(row))
        yield stage, f"{done.seconds.get(stage, 0.0):>8.3f} s{theirs}"
