"""People and robots that carry an object together."""

from __future__ import annotations

import functools
from dataclasses import replace

from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter


def chapter() -> Chapter:
    """The entries of the chapter."""
    piano = "Two robots and a person carry it. Green is the reach of their arms, blue the roadmap. Click one to follow"
    slab = "A person and a robot; the person bends under the balcony. Look from the Side at two thirds of the time"
    return Chapter(
        "Carrying",
        [
            Entry("A piano over the desk", lambda: _carried("living_room", 151), piano, front=(0.45, -0.9)),
            Entry("A slab through a factory", lambda: _carried("factory", 268), slab, front=(0.3, -0.95)),
        ],
    )


@functools.cache
def _carried(name: str, samples: int) -> Recorded:
    from bunraku.ensemble.carry import carry
    from bunraku.ensemble.carry_on_stage import on_stage
    from bunraku.ensemble.errand_file import load_errand

    patient = replace(load_errand(name), budget=120.0)  # never used up: the same motion on a fast machine and on a busy one
    return on_stage(carry(patient, seed=0, samples=samples))
