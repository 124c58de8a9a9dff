"""Performance: what `perform` returns."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.company import Company
from bunraku.choreography.crossing import NearestStrings
from bunraku.choreography.part import Recovery, RehearsedPart, recovery
from bunraku.choreography.score import Score
from bunraku.choreography.script import Script
from bunraku.motion import Motion
from bunraku.outcome import Outcome
from bunraku.result import Result
from bunraku.scene import Scene
from bunraku.sound.soundtrack import Soundtrack

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Performance(Result):
    """A performed show; after Ctrl-C, the rehearsed part of it."""

    script: Script
    outcome: Outcome
    motion: Motion | None
    """All puppets in costumes, with the cues as marks; None after Ctrl-C."""
    scene: Scene | None
    """The stage set."""
    seconds: Mapping[str, float]
    """Processor time of each stage [s]: score, timing, rehearsal, play."""
    seed: int | None
    """Seed of the random pushes in `recoveries`."""
    reference: Motion | None = None
    """The motion that the script asks for."""
    score: Score | None = None
    shifts: Array = field(default_factory=lambda: np.zeros(0))
    """Shifts of the flexible cues [counts]."""
    parts: Mapping[str, RehearsedPart] = field(default_factory=dict)
    """The rehearsed part of each puppet, by name."""
    near: NearestStrings | None = None
    """The strings of different puppets that come nearest to each other; None for a single puppet."""
    errors: Mapping[str, float] = field(default_factory=dict)
    """Root-mean-square deviation of each puppet from the reference, over samples and dynamic variables [rad or m], by name."""
    rehearsed_anew: int = 0
    """Number of stretches that were not in the cache."""
    company: Company | None = None
    """The puppets and props, if they were simulated together, with touch."""

    def __repr__(self) -> str:
        return f"<Performance: {self.script.title}, {self.outcome.kind}>"

    @property
    def sound(self) -> Soundtrack | None:
        """The music, as long as the motion; None without any."""
        music = self.script.music
        return None if music is None or self.motion is None else music.sound.lasting(self.motion.duration)

    @cached_property
    def recoveries(self) -> dict[str, Recovery]:
        """For each puppet, how well its feedback works when it is pushed and 3 % heavier; computed on first use."""
        if self.company is not None:
            return self.company.recoveries(seed=self.seed or 0)
        return {name: recovery(part, seed=self.seed or 0) for name, part in self.parts.items()}

    def columns(self) -> dict[str, float]:
        """Numbers by name: those of the motion, newly rehearsed stretches, and the deviation of each puppet [rad or m]."""
        found = {f"error.{name}": error for name, error in self.errors.items()}
        return super().columns() | {"rehearsed_anew": self.rehearsed_anew} | found

    def report(self) -> Iterator[tuple[str, str]]:
        """Pairs of a title and a text: what happened. The first pair is the outcome."""
        yield from super().report()
        stages = ", ".join(f"{stage} {seconds:.1f} s" for stage, seconds in self.seconds.items())
        new = f"{self.rehearsed_anew or 'no'} stretch{'' if self.rehearsed_anew == 1 else 'es'} newly rehearsed"
        if self.motion is None:
            yield "stages", f"{stages}; {new}"
            return
        roles = ", ".join(role.name for role in self.script.roles)
        cues = f"{len(self.script.cues)} cue{'' if len(self.script.cues) == 1 else 's'}"
        yield "show", f"{self.script.title}: {self.motion.duration:.3g} s, {cues}, played by {roles}"
        if self.script.music is not None:
            yield "music", str(self.script.music)
        yield "stages", f"{stages}; {new}"
        if len(self.shifts):
            flexible = [cue for cue in self.script.cues if cue.give > 0.0]
            shifts = ", ".join(f"{cue.name} {shift:+.2f}" for cue, shift in zip(flexible, self.shifts, strict=True))
            yield "timing", f"counts by which cues come earlier (−) or later (+): {shifts}"
        least = min(float(track.tension.min()) for track in self.motion.tracks if track.tension is not None)
        apart = f"; at least {100 * self.near.distance:.0f} cm from another puppet's" if self.near is not None else ""
        yield "strings", f"smallest tension {least:.2g} N{apart}"
        for name, error in self.errors.items():
            found = self.recoveries[name]
            text = f"{error:.3f} rad rms from the reference, over all joints"
            yield name, f"{text}; pushed and 3 % heavier {found.held:.3f} from its part, without feedback {found.open:.3f}"
