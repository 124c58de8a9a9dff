"""Small things to put on the stage: a puppet whose motion is a formula, and a live one that hangs on springs."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Box, Figure
from bunraku.figure.build import ball, capsule, figure, fixed, rx, sphere, spindle, string
from bunraku.kinematics import pose
from bunraku.motion import Mark, Motion
from bunraku.scene import Obstacle, Scene
from bunraku.stage import Command, Pull, Recorded, Release, Sample, Sticks, Winch

Array = NDArray[np.float64]
REACH = 0.4
"""How far a toy's spindle may be from where it starts [m]."""


def puppet(name: str = "puppet") -> Figure:
    """A head on a body with two arms, on two strings."""
    return figure(
        name,
        fixed(
            "trunk", capsule(0.07, to=(0, 0, 0.3), mass=1.0), sphere(0.09, at=(0, 0, 0.45), mass=0.3, color=(0.9, 0.8, 0.7)),
            *(
                ball(
                    f"{side}_arm", capsule(0.03, to=(0, 0, -0.22), mass=0.2, color=(0.7, 0.2, 0.2)),
                    rx(
                        f"{side}_elbow", capsule(0.025, to=(0, 0, -0.2), mass=0.1), fixed(f"{side}_hand", at=(0, 0, -0.2)),
                        at=(0, 0, -0.22), limits=(-0.1, 2.0), start=0.4,
                    ),
                    at=(x, 0, 0.28), start=(0, 0, 0.5),
                )
                for side, x in (("left", -0.12), ("right", 0.12))
            ),
            at=(0, 0, 0.6),
        ),
        spindle("left", at=(-0.2, 0.25, 1.8)), spindle("right", at=(0.2, 0.25, 1.8)),
        strings=[string("left", "left_hand", "left_spindle"), string("right", "right_hand", "right_spindle")],
    )  # fmt: skip


def waving(f: Figure, *, seconds: float = 2.0, dt: float = 0.02, size: float = 0.3) -> Motion:
    t = np.arange(0.0, seconds + dt / 2, dt)
    q = np.tile(f.start, (len(t), 1))
    for k, v in enumerate(f.variables):
        if v.motion == "rotate":
            q[:, k] += size * np.sin(2 * np.pi * t / seconds + k)
        elif v.motion == "length":
            q[:, k] += 0.1 * np.sin(2 * np.pi * t / seconds) ** 2
    tension = np.clip(3.0 + 4.0 * np.sin(2 * np.pi * t[:, None] / seconds + np.arange(len(f.strings))), 0.0, None)
    return Motion.of(f, t, q, tension=tension, marks=(Mark(0.5, "wave"), Mark(1.5, "bow")))


def recorded() -> Recorded:
    f = puppet()
    room = Scene("room", (Obstacle("box", Box((0.3, 0.3, 0.2)), (0.0, -0.6, 0.1), color=(0.4, 0.5, 0.4)),))
    return Recorded(waving(f), room, reference=waving(f, size=0.15))


class Swinging:
    """A live puppet: spindles go where they are pulled, as far as REACH; elbows swing on springs after them."""

    pulls = frozenset(("spindle", "hook"))
    sticks = ("sideways", "turn")
    series = (("kinetic energy", "J"),)
    dt = 0.01
    scene = Scene("stage")

    def __init__(self, figures: tuple[Figure, ...] | None = None) -> None:
        self.figures = figures or (puppet(),)
        self.reset()

    def reset(self) -> Sample:
        self._q = [np.array(f.start) for f in self.figures]
        self._v = [np.zeros(f.n_q) for f in self.figures]
        self._t, self._sticks = 0.0, (0.0, 0.0)
        self._held: dict[tuple[int, str, str], Pull] = {}
        self._limit: set[tuple[int, str]] = set()
        return self._sample(())

    def apply(self, command: Command) -> None:
        match command:
            case Pull(figure, part, name) if figure < len(self.figures) and part != "body" and name in ("left", "right"):
                self._held[command.what] = command
            case Release():
                self._held.pop(command.what, None)
            case Winch(figure, name, by) if figure < len(self.figures) and name in ("left", "right"):
                self._q[figure][self.figures[figure].index(f"{name}_length")] += by
            case Sticks(axes) if len(axes) == 2:
                self._sticks = (axes[0], axes[1])

    def step(self) -> Sample:
        before = set(self._limit)
        self._limit.clear()
        for (k, _, name), pull in self._held.items():
            self._draw(k, name, pull)
        notices = [f"string {name} cannot go farther" for _, name in sorted(self._limit - before)]
        for k, f in enumerate(self.figures):
            self._swing(k, f)
        self._t += self.dt
        return self._sample(tuple(notices))

    def _draw(self, k: int, name: str, pull: Pull) -> None:
        f = self.figures[k]
        for axis in (0, 1):
            i = f.index(f"{name}_{'xy'[axis]}")
            low, high = f.start[i] - REACH, f.start[i] + REACH
            if not low <= pull.to[axis] <= high:
                self._limit.add((k, name))
            self._q[k][i] = min(max(pull.to[axis], low), high)

    def _swing(self, k: int, f: Figure) -> None:
        q, v = self._q[k], self._v[k]
        for side, sign in (("left", -1.0), ("right", 1.0)):
            i, x = f.index(f"{side}_elbow"), f.index(f"{side}_x")
            wanted = f.start[i] + 2.0 * (q[x] - f.start[x]) * sign + self._sticks[0]
            v[i] += self.dt * (60.0 * (wanted - q[i]) - 6.0 * v[i])
            q[i] += self.dt * v[i]
            turn = f.index(f"{side}_arm_rz")
            q[turn] += self.dt * self._sticks[1]

    def _sample(self, notices: tuple[str, ...]) -> Sample:
        tension = tuple(np.clip(1.0 + 20.0 * pose(f, q).gaps, 0.0, None) for f, q in zip(self.figures, self._q, strict=True))
        energy = sum(float(v @ v) for v in self._v) / 2
        return Sample(self._t, tuple(q.copy() for q in self._q), tension, (energy,), tuple(sorted(self._limit)), notices)


class Failing(Swinging):
    """Becomes NaN, or raises what nobody expects, as soon as it is pulled."""

    def __init__(self, problem: Exception | None = None) -> None:
        super().__init__()
        self.problem = problem

    def step(self) -> Sample:
        sample = super().step()
        if not self._held:
            return sample
        if self.problem is not None:
            raise self.problem
        return Sample(sample.t, (sample.q[0] * np.nan,), sample.tension, sample.series)
