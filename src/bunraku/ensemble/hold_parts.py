"""Parts of a motion, in each of which the same hands hold the object, or it lies somewhere; and motions made of such parts."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.errand import Errand
from bunraku.ensemble.members import Grasp
from bunraku.ensemble.team import OBJECT
from bunraku.figure import Figure
from bunraku.motion import Mark, Motion, Track

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class HoldPart:
    """A part of a motion, from the sample `first` to the sample `last`, which is also the first one of the next part."""

    first: int
    last: int
    what: str
    """What happens, in words."""
    holding: Mapping[str, tuple[Grasp, ...]]
    """The hands that hold, by agent; those that are not named hold nothing."""
    moving: bool = False
    """Whether the object moves."""
    rests: tuple[str, ...] = ()
    """The obstacles that bear it, or to which it is lowered, or from which it is lifted."""
    taking: tuple[str, Grasp] | None = None
    """The agent and the hand that takes hold or lets go, and so may touch the object."""


@dataclass
class HoldTimeline:
    """A motion that grows part by part; whoever is not mentioned stays as it was."""

    errand: Errand
    q: dict[str, Array]
    """The last configuration of everybody, and of the object."""
    samples: dict[str, list[Array]] = field(default_factory=dict)
    """Configurations so far, by name."""
    gaps: list[float] = field(default_factory=list)
    """Times between samples [s]."""
    parts: list[HoldPart] = field(default_factory=list)

    def add(self, what: str, gaps: Array, moved: Mapping[str, Array], holding: Mapping[str, tuple[Grasp, ...]], *,
            rests: tuple[str, ...] = (), taking: tuple[str, Grasp] | None = None) -> None:  # fmt: skip
        """Appends a part.

        what: what happens, in words
        gaps: times between its samples (T − 1,) [s]
        moved: configurations (T, n) of those who move, by name; the first is that in which they are
        holding, rests, taking: as in `HoldPart`
        """
        if not self.samples:
            self.samples = {name: [q] for name, q in self.q.items()}
        begin = len(self.gaps)
        for name, own in self.samples.items():
            if name in moved:
                figure = self._figure(name)
                Q = _continued(figure.names, moved[name], self.q[name], self._turns(name))
                own += list(Q[1:])
            else:
                own += [self.q[name]] * len(gaps)
            self.q[name] = own[-1]
        self.gaps += gaps.tolist()
        self.parts.append(HoldPart(begin, len(self.gaps), what, dict(holding), OBJECT in moved, rests, taking))

    def motion(self) -> Motion:
        """The motion so far."""
        t = np.concatenate([[0.0], np.cumsum(self.gaps)])
        tracks = [Track(self._figure(name), np.array(own), name=name) for name, own in self.samples.items()]
        return Motion(t, tuple(tracks), tuple(Mark(float(t[part.first]), part.what, "holds") for part in self.parts))

    def _figure(self, name: str) -> Figure:
        if name == OBJECT:
            return self.errand.team.object_figure
        return next(agent.figure for agent in self.errand.team.agents if agent.name == name)

    def _turns(self, name: str) -> str:
        """The variable of an agent, or of the object, that is the same after a full turn."""
        if name == OBJECT:
            return self.errand.team.object_figure.names[3]
        return next(agent.base[2] for agent in self.errand.team.agents if agent.name == name)


def _continued(names: tuple[str, ...], Q: Array, before: Array, turns: str) -> Array:
    """`Q` (T, n) with wheels and headings that go on from the configuration `before`."""
    out = Q.copy()
    for k, name in enumerate(names):
        if "wheel" in name:
            out[:, k] += before[k] - Q[0, k]
        elif name == turns:
            out[:, k] += math.tau * round((before[k] - Q[0, k]) / math.tau)
    return out
