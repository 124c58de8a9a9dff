"""A figure posed by hand: a dragged point pulls the whole figure after it, within its limits."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure, String
from bunraku.kinematics import pose
from bunraku.scene import Scene
from bunraku.stage.hand_commands import Command, Pull, Release, Winch
from bunraku.stage.live import Sample

Array = NDArray[np.float64]
DAMPING = 0.02
"""Of the least squares [m]: far reaches bend softly, and no singular configuration makes a limb jump."""
ROOTED = 2e-5
"""How readily the whole figure comes along, against 1 for its limbs: only a pull beyond their reach moves it."""
FASTEST = 1.2
"""Metres that a dragged point covers in a second at most: an impossible pull trails off instead of jerking."""


@dataclass
class Posing:
    """A Live with no physics: inverse kinematics toward whatever is pulled, one damped step at a time."""

    figure: Figure
    scene: Scene = Scene("stage")
    dt: float = 1 / 60
    start: Array | None = None
    pulls: frozenset[str] = frozenset(("body", "spindle"))
    sticks: tuple[str, ...] = ()
    series: tuple[tuple[str, str], ...] = ()
    _held: dict[tuple[int, str, str], Pull] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._base = self._free_variables()
        self.reset()

    def _free_variables(self) -> NDArray[np.bool_]:
        """Those that move the figure as a whole."""
        frames = {frame for joint in self.figure.groups if joint.kind == "free" for frame in joint.frames}
        moved = {v.name for f in self.figure.frames if f.name in frames and (v := f.variable) is not None}
        return np.array([name in moved for name in self.figure.names])

    @property
    def figures(self) -> tuple[Figure, ...]:
        return (self.figure,)

    def reset(self) -> Sample:
        self._q = np.array(self.figure.start if self.start is None else self.start, float)
        self._t = 0.0
        self._held.clear()
        return self._sample()

    def apply(self, command: Command) -> None:
        match command:
            case Pull(part="body", name=name) if name in self.figure.frame_index:
                self._held[command.what] = command
            case Pull(part="spindle", name=name) if name in self._strings():
                self._held[command.what] = command
            case Release():
                self._held.pop(command.what, None)
            case Winch(string=name, by=by) if name in self._strings():
                variable = self._strings()[name].variable
                if variable is not None:
                    k = self.figure.index(variable)
                    lower, upper = (limit[k] for limit in self.figure.limits)
                    self._q[k] = min(max(self._q[k] + by, lower, 0.0), upper)

    def _strings(self) -> dict[str, String]:
        return {s.name: s for s in self.figure.strings}

    def step(self) -> Sample:
        if self._held:
            self._follow()
        self._t += self.dt
        return self._sample()

    def _follow(self) -> None:
        now = pose(self.figure, self._q)
        rows, errors = [], []
        ease = np.where(self._base, ROOTED, 1.0)
        for pull in self._held.values():
            frame, position = self._grip(pull)
            error = np.array(pull.to) - now.point(frame, position)
            size = float(np.linalg.norm(error))
            rows.append(now.point_jacobian(frame, position))
            if not np.abs(rows[-1][:, ~self._base]).max(initial=0.0) > 1e-6:
                ease[:] = 1.0  # the trunk itself is pulled
            errors.append(error * min(1.0, FASTEST * self.dt / max(size, 1e-12)))
        self._q = self._q + self._bend(np.vstack(rows), np.concatenate(errors), ease)

    def _grip(self, pull: Pull) -> tuple[str, tuple[float, float, float]]:
        if pull.part == "body":
            return pull.name, pull.at
        end = next(s for s in self.figure.strings if s.name == pull.name).spindle
        return end.frame, end.position

    def _bend(self, J: Array, error: Array, ease: Array) -> Array:
        """Damped least squares; variables that a limit stops are held, and the rest try again."""
        lower, upper = self.figure.limits
        free = np.ones(len(self._q), bool)
        step = np.zeros(len(self._q))
        for _ in range(4):
            A = J * (ease * free)
            step = A.T @ np.linalg.solve(A @ J.T + DAMPING**2 * np.eye(len(A)), error)
            beyond = free & ((self._q + step < lower) | (self._q + step > upper)) & (step != 0.0)
            if not beyond.any():
                break
            free &= ~beyond
        return np.asarray(np.clip(self._q + step, lower, upper) - self._q)

    def _sample(self) -> Sample:
        return Sample(self._t, (self._q.copy(),))
