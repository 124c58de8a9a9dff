"""Whole body: inverse kinematics that follows the points of a move with all joints, including the centre of mass.

Feet and centre of mass have the largest weight, then the trunk's attitude and the hands, then the home posture; joint limits always
hold. A hand follows its position, and once it was turned, its axes too; with fewer than six joints the position has priority. All
tasks have the same priority level: with such different weights, strict levels would change only micrometres and cost five times as
much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import WORLD
from bunraku.kinematics import frames_along, pose
from bunraku.kinematics.balance import momentum_along
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import CentreOfMass, FramePose, FrameRotation, PointPosition, Posture, Task
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.move import Move, matrices
from bunraku.locomotion.guide.navigation_points import Points, heading
from bunraku.locomotion.guide.point_paths import rotations
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]
Places = dict[str, tuple[NDArray[np.int64], ...]]


@dataclass(frozen=True)
class WholeBodyOptions:
    """Numbers that tune the inverse kinematics. Weights are relative to those of feet and centre of mass, which are 1."""

    hand_weight: float = 1e-2
    """Weight of hands and of the trunk's attitude."""
    posture_weight: float = 1e-7
    """Weight of the home posture."""
    hand_lever: float = 0.12
    """Length that converts a hand's rotation error into a position error, as a share of the reach."""
    newton_steps: int = 2
    """Newton steps per tick; they leave errors of a few micrometres."""
    release_ticks: int = 30
    """Ticks over which joints that a hand had pulled aside return; at least half of the move."""


class TaskNames(NamedTuple):
    """Names of the tasks of inverse kinematics, left and right."""

    feet: tuple[str, str] = ("left_foot", "right_foot")
    hands: tuple[str, str] = ("left_hand", "right_hand")
    turns: tuple[str, str] = ("left_turn", "right_turn")


TASK_NAMES = TaskNames()


@dataclass(frozen=True, eq=False)
class WholeBody:
    """The inverse kinematics of one humanoid, compiled once."""

    humanoid: Humanoid
    options: WholeBodyOptions = WholeBodyOptions()

    @cached_property
    def inverse(self) -> Inverse:
        """Inverse kinematics with hands that are free to turn."""
        return self._holding((False, False))[0]

    @cached_property
    def quiet(self) -> Inverse:
        """Inverse kinematics without hand tasks: arms follow the posture."""
        return self._inverse([])

    @cached_property
    def _known(self) -> dict[tuple[bool, bool], tuple[Inverse, Places]]:
        return {}

    def _holding(self, held: tuple[bool, bool]) -> tuple[Inverse, Places]:
        """The inverse kinematics in which the `held` hands follow their axes, and the indices of each target in a row of aims."""
        if held not in self._known:
            own, weight = self.humanoid, self.options.hand_weight
            turn = weight * (self.options.hand_lever * self.humanoid.limits.reach) ** 2
            hands: list[Task] = [PointPosition(own.hands[k], name=TASK_NAMES.hands[k], weight=weight) for k in (0, 1)]
            hands += [FrameRotation(own.hands[k], name=TASK_NAMES.turns[k], weight=turn) for k in (0, 1) if held[k]]
            inverse = self._inverse(hands)
            titles = (*TASK_NAMES.feet, "com", "trunk", *TASK_NAMES.hands, *(TASK_NAMES.turns[k] for k in (0, 1) if held[k]))
            self._known[held] = inverse, _places(inverse, titles)
        return self._known[held]

    def _inverse(self, hands: list[Task]) -> Inverse:
        own = self.humanoid
        joints = [name for name in self.moves if name not in self.base]
        return Inverse(
            own.figure,
            [
                *(FramePose(frame, name=name, lever=0.1) for frame, name in zip(own.feet, TASK_NAMES.feet, strict=True)),
                CentreOfMass(name="com"),
                FrameRotation(own.trunk, name="trunk", weight=self.options.hand_weight),
                *hands,
                Posture(variables=joints, weight=self.options.posture_weight, priority=0),
            ],
            start=own.home, moves=self.moves, options=InverseOptions(damping=1e-9),
        )  # fmt: skip

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """Variables that move the feet, hands or trunk; heads and fingers keep the home configuration."""
        own, some = self.humanoid, set()
        for frame in (*own.feet, *own.hands, own.trunk):
            while frame != WORLD:
                at = own.figure.frame(frame)
                if at.variable is not None:
                    some.add(at.variable.name)
                frame = at.parent
        return tuple(name for name in own.figure.names if name in some)

    @cached_property
    def base(self) -> tuple[str, ...]:
        """Variables of the floating base."""
        free = [joint for joint in self.humanoid.figure.groups if joint.kind == "free"]
        if not free:
            name = self.humanoid.figure.name
            raise BunrakuError(f"{name} is fixed in the world\n  advice: give it a floating base")
        frames = [self.humanoid.figure.frame(name) for name in free[0].frames]
        return tuple(frame.variable.name for frame in frames if frame.variable is not None)

    @cached_property
    def motors(self) -> NDArray[np.int64]:
        """Indices in q of the joints with motors."""
        figure = self.humanoid.figure
        return figure.indices([name for name in figure.names if name not in self.base])

    @cached_property
    def _quiet_places(self) -> Places:
        return _places(self.quiet, (*TASK_NAMES.feet, "com", "trunk"))

    def aims(
        self, com: Array, feet: Array, turns: Array, hands: Array | None = None, hand_axes: Array | None = None,
        held: tuple[bool, bool] = (False, False),
    ) -> Array:  # fmt: skip
        """Rows of targets (k, n) for `inverse`; without hands, for `quiet`.

        com: centre of mass (k, 3) [m]
        feet: (x, y, z, yaw) of both (k, 2, 4) [m, rad]
        turns: rotations of the trunk relative to the home configuration (k, 3, 3)
        hands: positions (k, 2, 3) [m]
        hand_axes: axes of the hands (k, 2, 3, 3)
        held: which hands follow their axes
        """
        inverse, at = self._holding(held) if hands is not None else (self.quiet, self._quiet_places)
        k = len(com)
        out = np.tile(inverse.aims, (k, 1))
        out[:, at["com"][0]] = com
        out[:, at["trunk"][0]] = (turns @ self.humanoid.facing).reshape(k, 9)
        angles = np.zeros((k, 3))
        for foot, name in enumerate(TASK_NAMES.feet):
            out[:, at[name][0]] = feet[:, foot, :3]
            angles[:, 2] = feet[:, foot, 3]
            out[:, at[name][1]] = (matrices(angles) @ self.humanoid.foot_axes[foot]).reshape(k, 9)
        if hands is not None:
            for hand, name in enumerate(TASK_NAMES.hands):
                out[:, at[name][0]] = hands[:, hand]
                if held[hand] and hand_axes is not None:
                    out[:, at[TASK_NAMES.turns[hand]][0]] = hand_axes[:, hand].reshape(k, 9)
        return out

    def posed(self, points: Points) -> Array:
        """A configuration (n_q,) with all `points` at their positions."""
        q, here = np.array(self.humanoid.home), self.humanoid.pose
        base = self.humanoid.figure.indices(self.base)
        q[base[:3]] = points.com.p + heading(float(points.trunk[2])) @ (q[base[:3]] - here.com)
        q[base[3]] += points.trunk[2]
        aims = self.aims(points.com.p[None], points.feet[None], matrices(points.trunk[None]), points.hands[None])
        return self.inverse.solve(q, aims[0]).q

    def follow(self, move: Move, q: Array) -> Array:
        """Configurations (n + 1, n_q) at every tick of a `move`, starting from `q` (n_q,)."""
        aims = self.aims(move.segment.samples[:, :3], move.feet, move.turns, move.hands, move.hand_axes, move.held)
        home, so_far = self.humanoid.home, q if move.releases else move.start.posture  # a released hand must not jump back
        return _followed(
            self._holding(move.held)[0], aims, q, (home if so_far is None else so_far, home), self.options.newton_steps
        )

    def follow_quietly(self, move: Move, q: Array, *, home: bool) -> tuple[Array, Array]:
        """Configurations (n + 1, n_q) along a `move` from `q`, with arms that stay or go `home`; and the last posture."""
        start = q if move.start.posture is None else move.start.posture
        end = self.humanoid.home if home else start
        # Hands had pulled feet and centre of mass aside by micrometres. Correcting that within one tick would need metres per s².
        here, left = (
            pose(self.humanoid.figure, q),
            1.0 - eased(np.arange(move.n + 1) / max(self.options.release_ticks, move.n // 2))[:, None],
        )
        com = move.segment.samples[:, :3] + left * (here.com - move.segment.samples[0, :3])
        feet = move.feet.copy()
        for k, frame in enumerate(self.humanoid.feet):
            feet[:, k, :3] += left * (here.point(frame) - move.feet[0, k, :3])
        aims = self.aims(com, feet, move.turns)
        # The same for a foot that an ankle at its limit holds slightly tilted: otherwise arms would swing to flatten it at once.
        for frame, name in zip(self.humanoid.feet, TASK_NAMES.feet, strict=True):
            place = self._quiet_places[name][1]
            askew = so3.log(here.X(frame)[:3, :3] @ aims[0, place].reshape(3, 3).T)
            aims[:, place] = (rotations(left * askew) @ aims[:, place].reshape(-1, 3, 3)).reshape(-1, 9)
        return _followed(self.quiet, aims, q, (start, end), self.options.newton_steps), end

    def misses(self, move: Move, Q: Array, every: int = 5) -> tuple[float, Array, Array]:
        """Errors of configurations `Q` (n + 1, n_q) of a `move`.

        Returns the largest error of a foot, toes and heels included, after the first tick, checked at every `every`-th tick [m];
        the errors of the hands at the end (2,) [m]; and those of their axes, for hands that are held (2,) [rad].
        """
        own, figure = self.humanoid, self.humanoid.figure
        some = np.unique(np.append(np.arange(1, len(Q), every), len(Q) - 1))
        X = frames_along(figure, Q[some])
        length, width = 0.5 * np.ptp(own.sole, axis=0)
        worst = 0.0
        for k, frame in enumerate(own.feet):
            at = X[:, figure.frame_index[frame]]
            away = np.linalg.norm(at[:, :3, 3] - move.feet[some, k, :3], axis=1)
            worst = max(worst, float((away + length * np.abs(at[:, 2, 0]) + width * np.abs(at[:, 2, 1])).max()))
        ends = [X[-1, figure.frame_index[frame]] for frame in own.hands]
        hands = [np.linalg.norm(X_WH[:3, 3] - move.hands[-1, k]) for k, X_WH in enumerate(ends)]
        turns = [np.linalg.norm(so3.log(X_WH[:3, :3] @ move.hand_axes[-1, k].T)) * move.held[k] for k, X_WH in enumerate(ends)]
        return worst, np.array(hands), np.array(turns)

    def zmp(self, Q: Array, before: Array, floors: Array, dt: float) -> tuple[Array, Array]:
        """The ZMP of all bodies at samples `Q` (k, n_q), (k, 2) [m], and their centre of mass (k, 3) [m].

        before: the samples just before, (m, n_q)
        floors: heights of the floor (k,) [m]
        dt: time between samples [s]
        """
        zmp, com, _ = self.contact(Q, before, floors, dt)
        return zmp, com

    def contact(self, Q: Array, before: Array, floors: Array, dt: float) -> tuple[Array, Array, Array]:
        """The same at samples `Q`, and what holds the feet in place (k, 2): the horizontal force, and the moment about the vertical
        axis through the ZMP [m], both divided by the vertical force. `before`, `floors` and `dt` are as in `zmp`."""
        figure = self.humanoid.figure
        all_q = np.concatenate([before, Q])
        momentum, com = momentum_along(figure, all_q, np.gradient(all_q, dt, axis=0))
        rate = np.gradient(momentum, dt, axis=0)
        g, mass = np.array(figure.gravity), float(figure.compiled.tree.joints["mass"].sum())
        force, moment = rate[:, :3] - mass * g, rate[:, 3:] - np.cross(com, mass * g)
        own = slice(len(before), None)
        fz = force[own, 2]
        x = (floors * force[own, 0] - moment[own, 1]) / fz
        y = (floors * force[own, 1] + moment[own, 0]) / fz
        flat = np.hypot(force[own, 0], force[own, 1]) / fz
        turning = np.abs(moment[own, 2] - (x * force[own, 1] - y * force[own, 0])) / fz
        return np.stack([x, y], 1), com[own], np.stack([flat, turning], 1)


def _places(inverse: Inverse, titles: tuple[str, ...]) -> Places:
    row = np.arange(len(inverse.aims), dtype=float)
    return {title: tuple(x.astype(np.int64).ravel() for x in inverse.view(title, row)) for title in titles}


def _followed(inverse: Inverse, aims: Array, q: Array, postures: tuple[Array, Array], steps: int) -> Array:
    """Configurations from q along targets; the wanted posture changes smoothly from the first to the second."""
    aims[:, -len(q) :] = postures[0] + eased(np.linspace(0.0, 1.0, len(aims)))[:, None] * (postures[1] - postures[0])
    out = np.empty((len(aims), len(q)))
    for k, row in enumerate(aims):
        for _ in range(steps):
            q = inverse.step(q, row)
        out[k] = q
    return out
