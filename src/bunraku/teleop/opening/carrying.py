"""People and robots that carry an object together."""

from __future__ import annotations

from dataclasses import replace

from bunraku.motion import Motion
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.opening.recordings import Recording, recorded


def chapter() -> Chapter:
    """The entries of the chapter."""
    piano = "Two robots and a person carry it. Green is the reach of their arms, blue the roadmap. Click one to follow"
    slab = "A person and a robot; the person bends under the balcony. Look from the Side at two thirds of the time"
    return Chapter(
        "Carrying",
        [
            Entry("A piano over the desk", lambda: _shown("living_room"), piano, front=(0.45, -0.9)),
            Entry("A slab through a factory", lambda: _shown("factory"), slab, front=(0.3, -0.95)),
        ],
    )


def _shown(name: str) -> Recorded:
    from bunraku.ensemble.carry_on_stage import drawn
    from bunraku.ensemble.errand_file import load_errand
    from bunraku.ensemble.team import OBJECT

    known, errand = recorded(name), load_errand(name)
    figures = {agent.name: agent.figure for agent in errand.team.agents} | {OBJECT: errand.team.object_figure}
    tracks = tuple(replace(track, figure=figures[track.name]) for track in known.motion.tracks)
    return drawn(errand, Motion(known.motion.t, tracks, known.motion.marks), known.lines)


def carried(name: str, samples: int) -> Recording:
    """The shipped errand `name`, with so many `samples` of its motion."""
    from bunraku.ensemble.carry import carry
    from bunraku.ensemble.carry_on_stage import drawn_ways, moved
    from bunraku.ensemble.errand_file import load_errand

    patient = replace(load_errand(name), budget=120.0)  # never used up: the same motion on a fast machine and on a busy one
    done = carry(patient, seed=0, samples=samples)
    motion = moved(done)
    plain = tuple(replace(track, figure=track.figure.replace(shapes=())) for track in motion.tracks)  # meshes are where they are
    return Recording(Motion(motion.t, plain, motion.marks), lines=drawn_ways(done))
