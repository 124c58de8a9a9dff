"""Judge: what a performance does wrong, and which of several that all do something wrong does it least."""

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
from bunraku.locomotion.guide.performance import ARM, WRIST, ZMP, Fault, Performance
from bunraku.locomotion.guide.whole_body import WholeBody

Array = NDArray[np.float64]
OFF_FOOT, OFF_HAND, OFF_TURN = 0.001, 0.03, 0.05
"""What inverse kinematics may miss: a foot [m], a hand, of how far it reaches, and how it is turned [rad]."""
LEAST = 0.125
"""Of the planner's margin: what the ZMP of all bodies must keep."""
STRENGTH = 0.95
"""Of the motors: the last ticks of a move are known only when the next begins."""
JERK = 0.03
"""What the way of a joint in one tick may differ from that in the next [rad]: inverse kinematics may swing to and fro between
limits, which differences over two ticks do not see."""
FLIPS = 4.0
"""A joint that is so many times too fast flips over, however much time there is."""


@dataclass(frozen=True, eq=False)
class Judge:
    """The limits of a whole body, and what is around it."""

    guide: Guide
    body: WholeBody

    @cached_property
    def speed(self) -> Array:
        """What the motors can (motors,) [rad/s, m/s]."""
        return self._limits("speed")

    @cached_property
    def effort(self) -> Array:
        """What the motors can (motors,) [N m, N]."""
        return self._limits("effort")

    def _limits(self, word: str) -> Array:
        return np.array([getattr(v, word) for v in self.guide.humanoid.figure.variables], float)[self.body.motors]

    def fault(self, done: Performance, before: Array, *, strength: float = STRENGTH) -> Fault:
        """What a performance does wrong, if anything; `before` are the samples that it follows, its first the last of them."""
        move, longer = done.move, self.guide.planner.longer
        feet, hands, turns = self.body.misses(move, done.q)
        if feet > OFF_FOOT:
            return Fault("a leg does not reach that far")
        off = hands / self.guide.humanoid.limits.reach
        if any(in_world and off[hand] > OFF_HAND for hand, (in_world, _) in enumerate(move.goals.hands)):
            return Fault(ARM)
        if any(in_world and turns[hand] > OFF_TURN for hand, (in_world, _) in enumerate(move.goals.hands)):
            return Fault(WRIST)
        speeds = self._speeds(done)
        if (speed := float(speeds.max()) - 1.0) > 0.0:
            longer = min(speed, 1.0) * move.segment.duration if speed < FLIPS else 0.0
            about = self._worst(speeds, self.speed, ("rad/s", "m/s"))
            return Fault("a joint would have to move too fast", longer, speed, about)
        jerks = self._jerks(done, before)
        if (jerk := float(jerks.max()) - 1.0) > 0.0:
            return Fault("a joint would jerk", longer, jerk, self.guide.humanoid.figure.names[self.body.motors[jerks.argmax()]])
        if (short := LEAST * self.guide.planner.margin - done.margin) > 0.0:
            return Fault(ZMP, longer, short)
        efforts = self._efforts(done, before)
        if (effort := float(efforts.max()) - strength) > 0.0:
            about = self._worst(efforts, self.effort, ("N m", "N"), strength)
            return Fault("a motor is not strong enough", longer, effort, about)
        return Fault("something would touch") if self._touches(done) else Fault()

    def excess(self, done: Performance, before: Array) -> tuple[float, float]:
        """How far the ZMP leaves the feet [m], and by what parts of them all other limits are passed together: what is less is
        better, the first before the second."""
        short = 1.0 - done.margin / (LEAST * self.guide.planner.margin)
        askew = self.body.misses(done.move, done.q)[0] / OFF_FOOT - 1.0
        motors = (own.max() - 1.0 for own in (self._speeds(done), self._jerks(done, before), self._efforts(done, before)))
        over = (*motors, short, askew, float(self._touches(done)))
        return max(-done.margin, 0.0), float(sum(max(part, 0.0) for part in over))

    def efforts(self, done: Performance, before: Array) -> Array:
        """The motors' efforts at every tick, (n + 1, motors); where ticks see only one side of themselves, as at the next."""
        return self._all_efforts(done, before)[1:]

    def _all_efforts(self, done: Performance, before: Array) -> Array:
        """The same and at the last tick before, (n + 2, motors): only now is known what follows it."""
        own, Q, first = self.guide.humanoid, np.concatenate([before[:-1], done.q]), len(before) - 2
        wanted = needed(own.figure, Q, done.move.segment.dt)[first:]
        wanted[-2:] = wanted[-3]
        shares = np.concatenate([np.clip(2.0 * done.shares[:1] - done.shares[1:2], 0.0, 1.0), done.shares])
        return shared(own.figure, Q[first:], wanted, self._base, own.feet, shares, 0.1 * own.height)[:, self.body.motors]

    # -- of every motor, in parts of its limit -----------------------------------------------------------------------

    def _speeds(self, done: Performance) -> Array:
        ways = np.abs(np.diff(done.q[:, self.body.motors], axis=0))
        return np.asarray(ways.max(0) / (done.move.segment.dt * self.speed))

    def _jerks(self, done: Performance, before: Array) -> Array:
        Q = np.concatenate([before[:-1], done.q])[:, self.body.motors]
        return np.asarray(np.abs(np.diff(Q, n=2, axis=0)).max(0) / JERK)

    def _efforts(self, done: Performance, before: Array) -> Array:
        return np.asarray(np.abs(self._all_efforts(done, before)).max(0) / self.effort)

    def _worst(self, parts: Array, limits: Array, units: tuple[str, str], most: float = 1.0) -> str:
        """Which motor passes its limit most, how far it goes and how far it may; units of those that turn, and that slide."""
        k = int(parts.argmax())
        joint = self.guide.humanoid.figure.variables[self.body.motors[k]]
        unit = units[joint.motion == "translate"]
        return f"{joint.name}: {parts[k] * limits[k]:.3g} {unit}, at most {most * limits[k]:.3g}"

    @cached_property
    def _base(self) -> NDArray[np.int64]:
        return self.guide.humanoid.figure.indices(self.body.base)

    # -- what touches --------------------------------------------------------------------------------------------------

    def _touches(self, done: Performance) -> bool:
        n = len(done.q)
        return any(self._world.collides(q) for q in done.q[[n // 3, 2 * n // 3, -1]])

    @cached_property
    def _world(self) -> World:
        """The body and what is around, without what touches at home and the ground that feet stand on."""
        figure, scene = self.guide.humanoid.figure, self.guide.scene
        world = World(figure, scene.replace(floor=None))
        allowed = list(world.touching_at(self.body.posed(self.guide.start())))
        feet = {next(self._links(frame), frame) for frame in self.guide.humanoid.feet}
        allowed += [(foot, obstacle.name) for foot in feet for obstacle in scene.obstacles]
        # A limb may fold on itself as far as its joints let it, and what hangs from one link rubs on its neighbours.
        near = {frame: list(self._links(frame))[:4] for frame in {shape.frame for shape in figure.shapes}}
        for a, b in combinations(near, 2):
            if any(i + j <= 3 for i, over in enumerate(near[a]) for j, other in enumerate(near[b]) if over == other):
                allowed.append((a, b))
        return world.allowing(allowed)

    def _links(self, frame: str) -> Iterator[str]:
        """The frames with shapes that carry a frame, itself included, upward."""
        figure = self.guide.humanoid.figure
        with_shapes = {shape.frame for shape in figure.shapes}
        while frame in figure.frame_index:
            if frame in with_shapes:
                yield frame
            frame = figure.frame(frame).parent
