"""Judge: which limit a guided move violates, and which of several moves violates its limits least."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.locomotion.guide.effort import needed, shared
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guided_move import Fault, GuidedMove, Reason
from bunraku.locomotion.guide.whole_body import WholeBody

Array = NDArray[np.float64]


@dataclass(frozen=True)
class JudgeOptions:
    """Tolerances of the judge."""

    foot_error: float = 0.001
    """Largest position error of a foot [m]."""
    hand_error: float = 0.03
    """Largest position error of a guided hand, as a share of its reach."""
    turn_error: float = 0.05
    """Largest rotation error of a guided hand [rad]."""
    zmp_margin: float = 0.125
    """The ZMP of all bodies must keep this share of the planner's margin."""
    onward_margin: float = 0.6
    """The same in a step that ends in motion."""
    friction: float = 0.6
    """Friction between a foot and the ground that a move may need which begins or ends in motion."""
    strength: float = 0.95
    """A move may need this share of the effort limits. The reserve is for its last ticks, whose efforts depend on the next move."""
    second_difference: float = 0.03
    """Largest second difference of a joint over consecutive ticks [rad, m]. It detects inverse kinematics that oscillates between
    limits, which differences over two ticks do not show."""
    flips: float = 4.0
    """If a joint exceeds its speed limit by more than this share of it, its solution flips, and more time does not help."""


@dataclass(frozen=True, eq=False)
class Judge:
    """Compares whole-body moves with the limits of motors, balance and surroundings."""

    guide: Guide
    body: WholeBody
    options: JudgeOptions = JudgeOptions()

    @cached_property
    def speed(self) -> Array:
        """Largest speeds of the motors (motors,) [rad/s, m/s]."""
        return self._limits("speed")

    @cached_property
    def effort(self) -> Array:
        """Largest efforts of the motors (motors,) [N m, N]."""
        return self._limits("effort")

    def _limits(self, word: str) -> Array:
        return np.array([getattr(v, word) for v in self.guide.humanoid.figure.variables], float)[self.body.motors]

    def fault(self, done: GuidedMove, before: Array, *, strength: float | None = None) -> Fault:
        """The first limit that the move `done` violates; an empty fault if it violates none.

        `before` (k, n_q) are the samples before it; the last of them is its first sample. `strength` is the allowed share of the
        motors' effort limits, by default that of the options.
        """
        move, longer, options = done.move, self.guide.planner.longer, self.options
        strength = options.strength if strength is None else strength
        feet, hands, turns = self.body.misses(move, done.q)
        if feet > options.foot_error:
            return Fault(Reason.LEG)
        off = hands / self.guide.humanoid.limits.reach
        if any(in_world and off[hand] > options.hand_error for hand, (in_world, _) in enumerate(move.goals.hands)):
            return Fault(Reason.ARM)
        if any(in_world and turns[hand] > options.turn_error for hand, (in_world, _) in enumerate(move.goals.hands)):
            return Fault(Reason.WRIST)
        speeds = self._speeds(done)
        if (speed := float(speeds.max()) - 1.0) > 0.0:
            longer = min(speed, 1.0) * move.segment.duration if speed < options.flips else 0.0
            about = self._worst(speeds, self.speed, ("rad/s", "m/s"))
            return Fault(Reason.SPEED, longer, speed, about)
        bends = self._second_differences(done, before)
        if (bend := float(bends.max()) - 1.0) > 0.0:
            return Fault(Reason.JERK, longer, bend, self.guide.humanoid.figure.names[self.body.motors[bends.argmax()]])
        share = options.zmp_margin if done.move.goals.onward is None else options.onward_margin
        if (short := share * self.guide.planner.margin - done.margin) > 0.0:
            return Fault(Reason.ZMP, longer, short)
        moving = move.start.onward is not None or move.goals.onward is not None
        if moving and (slips := self._slips(done) - 1.0) > 0.0:
            return Fault(Reason.SLIP, longer, slips)
        efforts = self._efforts(done, before)
        if (effort := float(efforts.max()) - strength) > 0.0:
            about = self._worst(efforts, self.effort, ("N m", "N"), strength)
            return Fault(Reason.EFFORT, longer, effort, about)
        return Fault(Reason.TOUCH) if self._touches(done) else Fault()

    def excess(self, done: GuidedMove, before: Array) -> tuple[float, float]:
        """By how much the move `done` violates its limits, to compare several moves; `before` is as in `fault`.

        The first number is how far the ZMP leaves the feet [m], the second the sum of all other excesses, each as a share of its
        limit.
        """
        options, parts = self.options, (self._speeds(done), self._second_differences(done, before), self._efforts(done, before))
        short = 1.0 - done.margin / (options.zmp_margin * self.guide.planner.margin)
        askew = self.body.misses(done.move, done.q)[0] / options.foot_error - 1.0
        motors = (own.max() - 1.0 for own in parts)
        over = (*motors, short, askew, float(self._touches(done)))
        return max(-done.margin, 0.0), float(sum(max(part, 0.0) for part in over))

    def efforts(self, done: GuidedMove, before: Array) -> Array:
        """Efforts of the motors at every tick of the move `done` (n + 1, motors) [N m, N]; `before` is as in `fault`.

        The last two ticks have no successors; they repeat the efforts of the tick before them.
        """
        return self._all_efforts(done, before)[1:]

    def _all_efforts(self, done: GuidedMove, before: Array) -> Array:
        """The same, preceded by the last tick before the move, (n + 2, motors), whose effort is known only now."""
        own, Q, first = self.guide.humanoid, np.concatenate([before[:-1], done.q]), len(before) - 2
        wanted = needed(own.figure, Q, done.move.segment.dt)[first:]
        wanted[-2:] = wanted[-3]
        shares = np.concatenate([np.clip(2.0 * done.shares[:1] - done.shares[1:2], 0.0, 1.0), done.shares])
        return shared(own.figure, Q[first:], wanted, self._base, own.feet, shares, 0.1 * own.height)[:, self.body.motors]

    def _slips(self, done: GuidedMove) -> float:
        """Share of the friction of one foot that the move `done` needs. The sole's corners hold it against turning."""
        sole, (flat, turning) = self.guide.humanoid.sole, done.grip
        lever = float(np.linalg.norm(sole - sole.mean(0), axis=1).mean())
        return float(np.hypot(flat, turning / lever)) / self.options.friction

    # -- of every motor, in shares of its limit -----------------------------------------------------------------------

    def _speeds(self, done: GuidedMove) -> Array:
        ways = np.abs(np.diff(done.q[:, self.body.motors], axis=0))
        return np.asarray(ways.max(0) / (done.move.segment.dt * self.speed))

    def _second_differences(self, done: GuidedMove, before: Array) -> Array:
        Q = np.concatenate([before[:-1], done.q])[:, self.body.motors]
        return np.asarray(np.abs(np.diff(Q, n=2, axis=0)).max(0) / self.options.second_difference)

    def _efforts(self, done: GuidedMove, before: Array) -> Array:
        return np.asarray(np.abs(self._all_efforts(done, before)).max(0) / self.effort)

    def _worst(self, parts: Array, limits: Array, units: tuple[str, str], most: float = 1.0) -> str:
        """The motor that exceeds its limit most, its value and its limit; `units` are those of rotating and of sliding joints."""
        k = int(parts.argmax())
        joint = self.guide.humanoid.figure.variables[self.body.motors[k]]
        unit = units[joint.motion == "translate"]
        return f"{joint.name}: {parts[k] * limits[k]:.3g} {unit}, at most {most * limits[k]:.3g}"

    @cached_property
    def _base(self) -> NDArray[np.int64]:
        return self.guide.humanoid.figure.indices(self.body.base)

    # -- what touches --------------------------------------------------------------------------------------------------

    def _touches(self, done: GuidedMove) -> bool:
        n = len(done.q)
        return any(self._world.collides(q) for q in done.q[[n // 3, 2 * n // 3, -1]])

    @cached_property
    def _world(self) -> World:
        """The body and the scene. Pairs that touch in the home configuration may touch, and so may the feet and the ground."""
        figure, scene = self.guide.humanoid.figure, self.guide.scene
        world = World(figure, scene.replace(floor=None))
        allowed = list(world.touching_at(self.body.posed(self.guide.start())))
        feet = {next(self._links(frame), frame) for frame in self.guide.humanoid.feet}
        allowed += [(foot, obstacle.name) for foot in feet for obstacle in scene.obstacles]
        # A limb may fold onto itself as far as its joints allow, and a body may touch its neighbours in the tree.
        near = {frame: list(self._links(frame))[:4] for frame in {shape.frame for shape in figure.shapes}}
        for a, b in combinations(near, 2):
            if any(i + j <= 3 for i, over in enumerate(near[a]) for j, other in enumerate(near[b]) if over == other):
                allowed.append((a, b))
        return world.allowing(allowed)

    def _links(self, frame: str) -> Iterator[str]:
        """Frames with shapes, from a frame (included) up to the root."""
        figure = self.guide.humanoid.figure
        with_shapes = {shape.frame for shape in figure.shapes}
        while frame in figure.frame_index:
            if frame in with_shapes:
                yield frame
            frame = figure.frame(frame).parent
