"""A figure posed by hand: a dragged point pulls the whole figure along, within its limits."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure, Point
from bunraku.scene import Scene
from bunraku.stage.hand_commands import Command, Pull, Release, Winch
from bunraku.stage.live import Sample

if TYPE_CHECKING:
    from bunraku.kinematics import Drag

Array = NDArray[np.float64]


@dataclass
class Posing:
    """A Live figure without physics: inverse kinematics moves the pulled points a little toward their goals in every step."""

    figure: Figure
    scene: Scene = Scene("stage")
    dt: float = 1 / 60
    """Time between two samples [s]."""
    start: Array | None = None
    """The configuration at the start and after a reset; by default the figure's own start."""
    speed: float = 1.2
    """Maximum speed of a dragged point [m/s], so that the figure does not jerk toward an impossible goal."""
    root_reluctance: float = 90.0
    """Weight of moving the whole figure relative to moving its limbs: only a pull beyond their reach moves it."""
    pulls: frozenset[str] = frozenset(("body", "spindle"))
    sticks: tuple[str, ...] = ()
    series: tuple[tuple[str, str], ...] = ()
    _held: dict[tuple[int, str, str], Pull] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._strings = {string.name: string for string in self.figure.strings}
        self._reluctance = dict.fromkeys(self._free_variables(), self.root_reluctance)
        self._grips: tuple[Point, ...] = ()
        self._drag: Drag | None = None
        self.reset()

    def _free_variables(self) -> list[str]:
        """Variables that move the figure as a whole."""
        frames = {frame for joint in self.figure.groups if joint.kind == "free" for frame in joint.frames}
        return [v.name for f in self.figure.frames if f.name in frames and (v := f.variable) is not None]

    @property
    def figures(self) -> tuple[Figure, ...]:
        return (self.figure,)

    def reset(self) -> Sample:
        """Back to the start, with nothing held."""
        self._q = np.array(self.figure.start if self.start is None else self.start, float)
        self._t = 0.0
        self._held.clear()
        return self._sample()

    def apply(self, command: Command) -> None:
        """Executes a `command`; commands that do not apply to this figure are ignored."""
        match command:
            case Pull(part="body", name=name) if name in self.figure.frame_index:
                self._held[command.what] = command
            case Pull(part="spindle", name=name) if name in self._strings:
                self._held[command.what] = command
            case Release():
                self._held.pop(command.what, None)
            case Winch(string=name, by=by) if name in self._strings:
                string = self._strings[name]
                if string.variable is not None:
                    from bunraku.kinematics.inverse.drag import wound

                    self._q[self.figure.index(string.variable)] = wound(self.figure, string, self._q, by)

    def step(self) -> Sample:
        """The next sample."""
        if self._held:
            self._follow()
        self._t += self.dt
        return self._sample()

    def _follow(self) -> None:
        """Moves every held point toward its hand."""
        from bunraku.kinematics import Drag  # imported on the first drag: the list of a show must not wait for a solver

        grips = tuple(self._grip(pull) for pull in self._held.values())
        if self._drag is None or grips != self._grips:
            self._grips = grips
            self._drag = Drag(self.figure, self._q.copy(), grips, reluctance=self._reluctance)
        places = [pull.to for pull in self._held.values()]
        self._q = self._drag.step(self._q, places, longest=self.speed * self.dt)

    def _grip(self, pull: Pull) -> Point:
        return Point(pull.name, pull.at) if pull.part == "body" else self._strings[pull.name].spindle

    def _sample(self) -> Sample:
        return Sample(self._t, (self._q.copy(),))
