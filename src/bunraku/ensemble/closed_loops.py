"""Loops: the variables of a team that tuning may change, and the arms that then close the kinematic loops through the object.

Agents that hold one object form closed chains (*carrying*, Fig. 5). The active part may move freely: the trunk of a person, other
parts that hang from it (the head, a free arm), the object, and the swivel of elbows. The passive part is the arms that hold: they
follow from the active part in closed form, or have no solution.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import OBJECT, Agent, Grasp
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.figure import WORLD, Figure
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.inverse.arm import ClosedArm
from bunraku.kinematics.inverse.general_arm import GeneralArm
from bunraku.spatial import se3

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True, eq=False)
class Loop:
    """An arm that holds the object."""

    agent: Agent
    hold: Grasp
    arm: ClosedArm | GeneralArm
    first: int
    """Index of the agent's first variable in the whole configuration."""

    @property
    def columns(self) -> Ints:
        """Indices of the arm's variables in the whole configuration."""
        return self.first + self.arm.indices

    @cached_property
    def shell(self) -> tuple[Array, Array, float, float]:
        """The shoulder in the arm's base frame, the wrist in the object's frame, and their smallest and largest distance [m]."""
        own = self.agent.shells[self.agent.holds.index(self.hold)]
        figure = self.agent.figure
        q = figure.configuration(**dict.fromkeys(self.agent.base, 0.0))
        X_WB = _carrier(self.arm, frames_along(figure, q[None]))[0]
        spare = self.agent.spare  # planning shrank the shell by this reserve; a posture may use it
        wrist = se3.transform(self.hold.X_OT, own.wrist)
        return se3.transform(se3.inverse(X_WB), own.shoulder), wrist, max(own.least - spare, 0.0), own.most + spare


@dataclass(frozen=True, eq=False)
class Active:
    """The variables of the whole configuration that tuning changes, and their owners.

    A change is a row of numbers (n_active,): one for each of `columns`, then one for each elbow that can swivel.
    """

    columns: Ints
    """Indices in the whole configuration."""
    owner: tuple[str, ...]
    """The agent, or the object, to which each number belongs."""
    kind: tuple[str, ...]
    """Kind of each number: trunk, limb, object or swivel."""

    def __len__(self) -> int:
        return len(self.owner)

    def where(self, kind: str, owners: Iterable[str] | None = None) -> Ints:
        """Indices, in a change, of the numbers of one `kind`, of all owners or only of `owners`."""
        own = None if owners is None else set(owners)
        pairs = enumerate(zip(self.kind, self.owner, strict=True))
        return np.array([k for k, (what, who) in pairs if what == kind and (own is None or who in own)], np.int64)


@dataclass(frozen=True, eq=False)
class Loops:
    """The closed chains of a team."""

    whole: WholeTeam

    @cached_property
    def loops(self) -> tuple[Loop, ...]:
        """One loop for each arm that holds."""
        out = []
        for agent in self.whole.team.agents:
            first = self.whole.columns[agent.name].start
            out += [Loop(agent, hold, agent.arm(hold), first) for hold in agent.holds]
        return tuple(out)

    @cached_property
    def active(self) -> Active:
        """The variables that may move freely."""
        columns: list[int] = []
        owner: list[str] = []
        kind: list[str] = []
        for agent in self.whole.team.agents:
            own = [loop.arm for loop in self.loops if loop.agent is agent]
            for what, found in zip(("trunk", "limb"), mobility(agent.figure, own), strict=True):
                columns += [self.whole.columns[agent.name].start + k for k in found]
                owner += [agent.name] * len(found)
                kind += [what] * len(found)
        held = self.whole.columns[OBJECT]
        columns += range(held.start, held.stop)
        swivels = [loop.agent.name for loop in self.loops if loop.arm.swivels]
        owner += [OBJECT] * (held.stop - held.start) + swivels
        kind += ["object"] * (held.stop - held.start) + ["swivel"] * len(swivels)
        return Active(np.array(columns, np.int64), tuple(owner), tuple(kind))

    @cached_property
    def room(self) -> tuple[Array, Array]:
        """Lower and upper limits of the active columns; the object's are its allowed heights and tilts."""
        lower, upper = (np.concatenate(limits) for limits in zip(*(f.limits for f in self.whole.figures), strict=True))
        carried, held = self.whole.team.carried, self.whole.columns[OBJECT].start
        lower[held + 2], upper[held + 2] = carried.heights
        lower[held + 4 : held + 6], upper[held + 4 : held + 6] = -carried.tilt, carried.tilt
        return lower[self.active.columns], upper[self.active.columns]

    # -- closing -----------------------------------------------------------------------------------------------------

    def changed(self, Q: Array, Z: Array) -> tuple[Array, Bools]:
        """`Q` (T, n) changed by `Z` (T or 1, n_active) with arms that hold, and whether a solution within limits exists (T,)."""
        columns, rounding = self.active.columns, 1e-9
        out = np.array(Q)
        out[:, columns] += Z[:, : len(columns)]
        lower, upper = self.room
        # A variable that was beyond a limit before may stay there, but not move farther out.
        low, high = np.minimum(lower, Q[:, columns]), np.maximum(upper, Q[:, columns])
        here = out[:, columns]
        ok = ((here >= low - rounding) & (here <= high + rounding)).all(1)
        swivels = np.broadcast_to(Z[:, len(columns) :], (len(Q), len(self.active) - len(columns)))
        return out, ok & self._close(out, Q, swivels)

    def _close(self, Q: Array, like: Array, swivels: Array) -> Bools:
        """Writes the arms into Q, each in the solution nearest to its angles in `like`, with its elbow swivelled by `swivels`."""
        held = self.whole.columns[OBJECT]
        X_WO = _object(self.whole.figures[-1], Q[:, held])
        ok = np.ones(len(Q), np.bool_)
        turned = 0
        for agent in self.whole.team.agents:
            own = self.whole.columns[agent.name]
            frames = frames_along(agent.figure, Q[:, own])
            for loop in self.loops:
                if loop.agent is not agent:
                    continue
                arm, near = loop.arm, like[:, loop.columns]
                swivel = np.zeros(len(Q))
                if isinstance(arm, ClosedArm) and arm.swivels:
                    swivel = arm.swivels_of(near) + swivels[:, turned]
                    turned += 1
                X_WB = _carrier(arm, frames)
                # All targets relative to the arm's base at the first sample, because `nearest_many` takes one q for all.
                X = X_WB[0] @ se3.inverse(X_WB) @ X_WO @ loop.hold.X_OT
                angles, found = arm.nearest_many(X, Q[0, own], swivel=swivel, near=near)
                Q[np.ix_(found, loop.columns)] = angles[found]
                ok &= found
        return ok

    def spans(self, Q: Array, ways: Array) -> tuple[Array, Array]:
        """How far the object of `Q` (T, n) may move along directions `ways` (T, 3) with all wrists in their shells.

        Returns the lowest and the highest factor (T,) of each direction; highest < lowest if a wrist is already outside.
        """
        low, high = np.full(len(Q), -np.inf), np.full(len(Q), np.inf)
        X_WO = _object(self.whole.figures[-1], Q[:, self.whole.columns[OBJECT]])
        for agent in self.whole.team.agents:
            frames = frames_along(agent.figure, Q[:, self.whole.columns[agent.name]])
            for loop in self.loops:
                if loop.agent is agent:
                    shoulder, wrist, least, most = loop.shell
                    X_WB = _carrier(loop.arm, frames)
                    away = X_WO[:, :3, :3] @ wrist + X_WO[:, :3, 3] - X_WB[:, :3, :3] @ shoulder - X_WB[:, :3, 3]
                    a, b = _within(away, ways, least, most)
                    low, high = np.maximum(low, a), np.minimum(high, b)
        return low, high


def mobility(figure: Figure, arms: Iterable[ClosedArm | GeneralArm]) -> tuple[list[int], list[int]]:
    """Variables of the trunk of a `figure`, which carries all `arms` that hold, and of other parts that hang from it: head, free
    arms.

    Legs hang from the floating pelvis: neither may be moved.
    """
    tree = figure.compiled.tree
    frame, q = figure.compiled.joint_frame, tree.joints["variable"]
    floats = {name for group in figure.groups if group.kind == "free" for name in group.frames}
    chains = []
    for arm in arms:
        joint = -1 if arm.base == WORLD else int(figure.compiled.frame_joint[figure.frame_index[arm.base]])
        own = [] if joint < 0 else [int(j) for j in tree.chain[joint, 1 : 1 + tree.chain[joint, 0]]][::-1]
        chains.append(own)
    shared = [j for j in chains[0] if all(j in chain for chain in chains)] if chains else []
    if not any(frame[j] in floats for j in shared):
        return [], []  # a figure without a floating base stands where planning has placed it
    last = max((k for k, j in enumerate(shared) if frame[j] in floats), default=-1)
    trunk = [j for j in shared[last + 1 :] if len(chains) > 1 or not _only(figure, j, shared)]
    if not trunk:
        return [], []
    holding = {int(j) for arm in arms for j in arm.indices}
    passive = {j for chain in chains for j in chain}
    hanging = []
    for j in range(len(q)):
        above = [int(i) for i in tree.chain[j, 1 : 1 + tree.chain[j, 0]]]
        if trunk[-1] in above and j not in passive and int(q[j]) not in holding:
            hanging.append(j)
    return [int(q[j]) for j in trunk], [int(q[j]) for j in hanging]


def _only(figure: Figure, joint: int, shared: list[int]) -> bool:
    """Whether only the arm hangs from a joint of its chain: then the joint is part of the shoulder girdle, not of the trunk."""
    tree = figure.compiled.tree
    after = set(shared[shared.index(joint) :])
    own = {j for j in range(len(tree.joints)) if joint in tree.chain[j, 1 : 1 + tree.chain[j, 0]]}
    ends = {j for j in own if not any(int(tree.joints["parent"][i]) == j for i in own)}
    return len(ends) == 1 and bool(after)


def _carrier(arm: ClosedArm | GeneralArm, frames: Array) -> Array:
    """Pose of the frame that carries the arm, at each sample."""
    if arm.base == WORLD:
        return np.broadcast_to(np.eye(4), (len(frames), 4, 4))
    return np.asarray(frames[:, arm.figure.frame_index[arm.base]])


def _object(figure: Figure, Q: Array) -> Array:
    return np.asarray(frames_along(figure, Q)[:, figure.frame_index[OBJECT]])


def _within(away: Array, ways: Array, least: float, most: float) -> tuple[Array, Array]:
    """The interval of s around 0 in which least ≤ |away + s·way| ≤ most; from 1 to −1 if s = 0 is outside."""
    a = np.maximum(np.einsum("ti,ti->t", ways, ways), 1e-12)
    b, c = np.einsum("ti,ti->t", away, ways), np.einsum("ti,ti->t", away, away)
    outer = np.sqrt(np.maximum(b * b - a * (c - most**2), 0.0))
    low, high = (-b - outer) / a, (-b + outer) / a
    hollow = b * b - a * (c - least**2)
    inner = np.sqrt(np.maximum(hollow, 0.0))
    first, last = (-b - inner) / a, (-b + inner) / a
    high = np.where((hollow > 0.0) & (first >= 0.0), np.minimum(high, first), high)
    low = np.where((hollow > 0.0) & (last <= 0.0), np.maximum(low, last), low)
    out = (c > most**2) | (c < least**2)
    return np.where(out, 1.0, low), np.where(out, -1.0, high)
