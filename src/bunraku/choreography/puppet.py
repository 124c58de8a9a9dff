"""Puppet: how a marionette hangs and what each of its strings moves, so that motions can be placed, combined and turned.

A puppet's strings belong to its *parts*. Strings that hook to the root body carry the torso; every other string moves the limb
that it hooks to. Motions of different parts can run at the same time. Two kinematic variables move every spindle along x and y, so
the whole puppet can be moved across the stage and turned about the vertical.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.dynamics import settle
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics import pose

Array = NDArray[np.float64]
Index = NDArray[np.int64]
TORSO = "torso"  # name of the part that hangs from the strings of the root body


@dataclass(frozen=True, eq=False)
class Puppet:
    """A figure that hangs at the middle of the stage, facing +y."""

    figure: Figure
    rest: Array
    """The configuration at rest, (n_q,)."""

    __repr__ = brief

    @classmethod
    def hanging(cls, figure: Figure) -> Puppet:
        """The `figure` at rest, with the string lengths of its start."""
        return cls(figure, settle(figure))

    def __post_init__(self) -> None:
        for name, found in (("string", self.figure.strings), ("free body to hang on them", self.root)):
            if len(found) == 0:
                raise BunrakuError(
                    f"{self.figure.name} is not a marionette: it has no {name}\n  advice: try marionette22 or marionette25"
                )
        _ = self.spindles

    @cached_property
    def root(self) -> tuple[int, ...]:
        """The variables that move the root body: translations x, y, z and the turn about the vertical."""
        figure, found = self.figure, []
        for frame in figure.frames:
            if frame.variable is None or frame.variable.name not in figure.names[: figure.n_dynamic]:
                break
            found.append(figure.index(frame.variable.name))
        return tuple(found[:4]) if len(found) >= 6 else ()

    @cached_property
    def spindles(self) -> Index:
        """The kinematic variables that move the spindle of each string along x and y, (strings, 2)."""
        figure, n = self.figure, self.figure.n_dynamic
        P, out = pose(figure, figure.start), []
        for string in figure.strings:
            J = P.point_jacobian(string.spindle.frame, string.spindle.position)
            across = [np.flatnonzero(np.all(np.abs(J - axis[:, None]) < 1e-12, axis=0)) for axis in np.eye(3)[:2]]
            if any(len(a) != 1 or a[0] < n for a in across):
                raise BunrakuError(
                    f"{figure.name}: the spindle of {string.name} does not move along x and y by kinematic variables of its own\n"
                    "  advice: give every spindle a translation x and a translation y, as in marionette22"
                )
            out.append([int(a[0]) for a in across])
        return np.array(out)

    @cached_property
    def parts(self) -> dict[str, Index]:
        """The variables of every part, dynamic and kinematic; none belongs to two parts.

        A limb with several strings has the words that their names share: left_leg and left_leg_shin move the part left_leg.
        """
        figure, parts = self.figure, dict[str, set[int]]()
        chains = {frame.name: self._chain(frame.name) for frame in figure.frames}
        trunk = set(chains[figure.strings[0].hook.frame])
        parts[TORSO] = set(trunk)
        for k, string in enumerate(figure.strings):
            limb = [q for q in chains[string.hook.frame] if q not in trunk]
            own = parts.setdefault(self.part_of[string.name], set())
            own |= set(self.spindles[k].tolist())
            own |= {figure.index(v) for v in figure.names if v == f"{string.name}_length"}
            if limb:  # and everything that hangs from the limb
                own |= {q for chain in chains.values() if limb[0] in chain for q in chain if q not in trunk}
        return {name: np.array(sorted(own)) for name, own in parts.items()}

    @cached_property
    def part_of(self) -> dict[str, str]:
        """The name of the part that each string moves, by the string's name."""
        figure = self.figure
        trunk = set(self._chain(figure.strings[0].hook.frame))
        limbs: dict[int, list[str]] = {}
        for string in figure.strings:
            limb = [q for q in self._chain(string.hook.frame) if q not in trunk]
            limbs.setdefault(limb[0] if limb else -1, []).append(string.name)
        out: dict[str, str] = {}
        for first, names in limbs.items():
            shared = "_".join(w for w in names[0].split("_") if all(w in other.split("_") for other in names))
            out |= dict.fromkeys(names, TORSO if first < 0 else shared or names[0])
        return out

    @cached_property
    def legs(self) -> tuple[str, ...]:
        """Length variables of the strings of the lowest limbs at rest: the puppet stands on these."""
        figure, P, low = self.figure, pose(self.figure, self.rest), dict[str, float]()
        for name, own in self.parts.items():
            limb = set(own[own < figure.n_dynamic].tolist())
            if name != TORSO:
                low[name] = min(float(P.X(f.name)[2, 3]) for f in figure.frames if limb.intersection(self._chain(f.name)))
        ground = min(low.values(), default=0.0) + 0.05  # [m] allowed difference in height of the feet
        lowest = {string for string, part in self.part_of.items() if low.get(part, ground) < ground}
        return tuple(s.variable for s in figure.strings if s.variable and s.ratio > 0.0 and s.name in lowest)

    def _chain(self, frame: str) -> list[int]:
        """The dynamic variables between the world and a frame."""
        figure, found = self.figure, []
        while frame != "world":
            here = figure.frame(frame)
            if here.variable is not None and (q := figure.index(here.variable.name)) < figure.n_dynamic:
                found.append(q)
            frame = here.parent
        return found[::-1]

    def variables(self, parts: Iterable[str]) -> Index:
        """Indices into q of the variables of these `parts`, sorted."""
        return np.unique(np.concatenate([self.parts[part] for part in parts]))

    def placed(self, q: Array, x: Array, y: Array, turn: Array) -> Array:
        """Configurations `q` (T, n_q) at the middle of the stage, moved to (`x`, `y`) [m], turned by `turn` [rad], (T,) each."""
        out = np.array(q)
        c, s = np.cos(turn), np.sin(turn)
        for i, j in (self.root[:2], *self.spindles.tolist()):
            out[:, i] = x + c * q[:, i] - s * q[:, j]
            out[:, j] = y + s * q[:, i] + c * q[:, j]
        out[:, self.root[3]] += turn
        return out
