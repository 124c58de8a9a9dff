"""Whole body: joints that follow the points of a move, by inverse kinematics with the centre of mass.

Feet and centre of mass weigh most, then the trunk's attitude and the hands, then the home posture; joint limits hold throughout.
A hand is led to its place, and where somebody turned it, to its orientation too: with fewer than six joints the place goes first.
All of it is one level: with weights so far apart, strict levels change the last micrometre and cost five times as much.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.figure import WORLD
from bunraku.kinematics import frames_along, pose
from bunraku.kinematics.balance import momentum_along
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import CentreOfMass, FramePose, FrameRotation, PointPosition, Posture, Task
from bunraku.locomotion.guide.humanoid import SIDES, Humanoid
from bunraku.locomotion.guide.move import Move, matrices
from bunraku.locomotion.guide.navigation_points import Points, heading
from bunraku.locomotion.guide.point_paths import rotations
from bunraku.spatial import so3
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]
Places = dict[str, tuple[NDArray[np.int64], ...]]
LESS, LEAST = 1e-2, 1e-7
RELEASED = 30
"""Ticks in which what was pulled aside goes back, or half of the move."""
STEPS = 2
"""Steps of Newton a tick: what is left of the errors is some micrometres."""
FEET = tuple(f"{side}_foot" for side in SIDES)
HANDS = tuple(f"{side}_hand" for side in SIDES)
TURNS = tuple(f"{side}_turn" for side in SIDES)
LEVER = 0.12
"""Of the reach: how far from the hand an angle counts like a distance."""
FREE = (False, False)


@dataclass(frozen=True, eq=False)
class WholeBody:
    """The inverse kinematics of one humanoid, compiled once."""

    humanoid: Humanoid

    @cached_property
    def inverse(self) -> Inverse:
        """With hands that turn as suits the arms."""
        return self._holding(FREE)[0]

    @cached_property
    def quiet(self) -> Inverse:
        """The same without hands: arms go where the posture has them."""
        return self._inverse([])

    @cached_property
    def _known(self) -> dict[tuple[bool, bool], tuple[Inverse, Places]]:
        return {}

    def _holding(self, held: tuple[bool, bool]) -> tuple[Inverse, Places]:
        """With these hands held as they are turned, and where in a row of aims each target stands."""
        if held not in self._known:
            own, turn = self.humanoid, LESS * (LEVER * self.humanoid.limits.reach) ** 2
            hands: list[Task] = [PointPosition(own.hands[k], name=HANDS[k], weight=LESS) for k in (0, 1)]
            hands += [FrameRotation(own.hands[k], name=TURNS[k], weight=turn) for k in (0, 1) if held[k]]
            inverse = self._inverse(hands)
            titles = (*FEET, "com", "trunk", *HANDS, *(TURNS[k] for k in (0, 1) if held[k]))
            self._known[held] = inverse, _places(inverse, titles)
        return self._known[held]

    def _inverse(self, hands: list[Task]) -> Inverse:
        own = self.humanoid
        joints = [name for name in self.moves if name not in self.base]
        return Inverse(
            own.figure,
            [
                *(FramePose(frame, name=name, lever=0.1) for frame, name in zip(own.feet, FEET, strict=True)),
                CentreOfMass(name="com"),
                FrameRotation(own.trunk, name="trunk", weight=LESS),
                *hands,
                Posture(variables=joints, weight=LEAST, priority=0),
            ],
            start=own.home, moves=self.moves, options=InverseOptions(damping=1e-9),
        )  # fmt: skip

    @cached_property
    def moves(self) -> tuple[str, ...]:
        """Variables that move the feet, hands or trunk: heads and fingers stay as they are at home."""
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
        """Variables that move the figure as a whole."""
        free = [joint for joint in self.humanoid.figure.groups if joint.kind == "free"]
        if not free:
            name = self.humanoid.figure.name
            raise BunrakuError(f"{name} is fixed in the world\n  advice: a humanoid has a floating base")
        frames = [self.humanoid.figure.frame(name) for name in free[0].frames]
        return tuple(frame.variable.name for frame in frames if frame.variable is not None)

    @cached_property
    def motors(self) -> NDArray[np.int64]:
        """Places in q of the joints that motors move."""
        figure = self.humanoid.figure
        return figure.indices([name for name in figure.names if name not in self.base])

    @cached_property
    def _quiet_places(self) -> Places:
        return _places(self.quiet, (*FEET, "com", "trunk"))

    def aims(
        self, com: Array, feet: Array, turns: Array, hands: Array | None = None, hand_axes: Array | None = None,
        held: tuple[bool, bool] = FREE,
    ) -> Array:  # fmt: skip
        """Rows of aims for com (k, 3), feet (k, 2, 4), the trunk against its home (k, 3, 3), hands (k, 2, 3), and how those
        that are held are turned (k, 2, 3, 3); without hands, of the quiet one."""
        inverse, at = self._holding(held) if hands is not None else (self.quiet, self._quiet_places)
        k = len(com)
        out = np.tile(inverse.aims, (k, 1))
        out[:, at["com"][0]] = com
        out[:, at["trunk"][0]] = (turns @ self.humanoid.facing).reshape(k, 9)
        angles = np.zeros((k, 3))
        for foot, name in enumerate(FEET):
            out[:, at[name][0]] = feet[:, foot, :3]
            angles[:, 2] = feet[:, foot, 3]
            out[:, at[name][1]] = (matrices(angles) @ self.humanoid.foot_axes[foot]).reshape(k, 9)
        if hands is not None:
            for hand, name in enumerate(HANDS):
                out[:, at[name][0]] = hands[:, hand]
                if held[hand] and hand_axes is not None:
                    out[:, at[TURNS[hand]][0]] = hand_axes[:, hand].reshape(k, 9)
        return out

    def posed(self, points: Points) -> Array:
        """A configuration with everything in its place."""
        q, here = np.array(self.humanoid.home), self.humanoid.pose
        base = self.humanoid.figure.indices(self.base)
        q[base[:3]] = points.com.p + heading(float(points.trunk[2])) @ (q[base[:3]] - here.com)
        q[base[3]] += points.trunk[2]
        aims = self.aims(points.com.p[None], points.feet[None], matrices(points.trunk[None]), points.hands[None])
        return self.inverse.solve(q, aims[0]).q

    def follow(self, move: Move, q: Array) -> Array:
        """Configurations (n + 1, n_q) at every tick of a move, from q on."""
        aims = self.aims(move.segment.samples[:, :3], move.feet, move.turns, move.hands, move.hand_axes, move.held)
        home, so_far = self.humanoid.home, q if move.releases else move.start.posture  # what is let go must not snap
        return _followed(self._holding(move.held)[0], aims, q, (home if so_far is None else so_far, home))

    def follow_quietly(self, move: Move, q: Array, *, home: bool) -> tuple[Array, Array]:
        """The same with arms that stay as they are, or go home joint by joint, whatever hands do; and the posture at the end."""
        start = q if move.start.posture is None else move.start.posture
        end = self.humanoid.home if home else start
        # What hands had pulled aside, some micrometres, goes back by and by: in one tick they would be metres a second squared.
        here, left = pose(self.humanoid.figure, q), 1.0 - eased(np.arange(move.n + 1) / max(RELEASED, move.n // 2))[:, None]
        com = move.segment.samples[:, :3] + left * (here.com - move.segment.samples[0, :3])
        feet = move.feet.copy()
        for k, frame in enumerate(self.humanoid.feet):
            feet[:, k, :3] += left * (here.point(frame) - move.feet[0, k, :3])
        aims = self.aims(com, feet, move.turns)
        # The same for a foot that an ankle at its limit holds a little askew: else arms would swing to set it flat at once.
        for frame, name in zip(self.humanoid.feet, FEET, strict=True):
            place = self._quiet_places[name][1]
            askew = so3.log(here.X(frame)[:3, :3] @ aims[0, place].reshape(3, 3).T)
            aims[:, place] = (rotations(left * askew) @ aims[:, place].reshape(-1, 3, 3)).reshape(-1, 9)
        return _followed(self.quiet, aims, q, (start, end)), end

    def misses(self, move: Move, Q: Array, every: int = 5) -> tuple[float, Array, Array]:
        """How far a foot, its toes and heels included, is from its place at worst after the first tick [m], and at the end the
        hands (2,), and those that are held from how they shall be turned (2,) [rad]."""
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
        """The ZMP of all bodies at every sample (k, 2), on floors (k,), and their centre of mass (k, 3).

        `before` are the samples just before, (m, n_q).
        """
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
        return np.stack([x, y], 1), com[own]


def _places(inverse: Inverse, titles: tuple[str, ...]) -> Places:
    row = np.arange(len(inverse.aims), dtype=float)
    return {title: tuple(x.astype(np.int64).ravel() for x in inverse.view(title, row)) for title in titles}


def _followed(inverse: Inverse, aims: Array, q: Array, postures: tuple[Array, Array]) -> Array:
    """From q along aims; the posture that is wanted goes from one to another, so that nothing snaps."""
    aims[:, -len(q) :] = postures[0] + eased(np.linspace(0.0, 1.0, len(aims)))[:, None] * (postures[1] - postures[0])
    out = np.empty((len(aims), len(q)))
    for k, row in enumerate(aims):
        for _ in range(STEPS):
            q = inverse.step(q, row)
        out[k] = q
    return out
