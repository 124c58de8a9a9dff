"""Where a foot may be put: not too far, never across the other, flat on the ground. What lies outside is brought to the nearest."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.ground import Ground
from bunraku.locomotion.guide.humanoid import Humanoid

Array = NDArray[np.float64]
TRIES = 8


def bounded(humanoid: Humanoid, foot: int, wanted: Array, stance: Array) -> Array:
    """The nearest place (x, y, z, yaw) to the wanted one from which the feet do not cross and the stance foot can be left."""
    limits, side = humanoid.limits, 1.0 if foot == 0 else -1.0
    inward, outward = limits.turn
    turned = side * _wrapped(wanted[3] - stance[3])
    turned = min(max(turned, -inward), outward)
    c, s = math.cos(stance[3]), math.sin(stance[3])
    dx, dy = wanted[0] - stance[0], wanted[1] - stance[1]
    along, across = c * dx + s * dy, side * (c * dy - s * dx)
    # A turned sole needs more room: its toe or heel swings toward the other foot.
    half = 0.5 * float(np.ptp(humanoid.sole[:, 0]))
    least = limits.apart[0] + half * math.sin(abs(turned))
    across = min(max(across, least), limits.apart[1])
    # The farther apart, the less far ahead.
    room = 1.0 - ((across - limits.apart[0]) / (limits.apart[1] - limits.apart[0])) ** 2 * 0.5
    along = min(max(along, -limits.forward * room), limits.forward * room)
    across *= side
    return np.array([stance[0] + c * along - s * across, stance[1] + s * along + c * across, wanted[2], stance[3] + side * turned])


def foothold(humanoid: Humanoid, ground: Ground, foot: int, wanted: Array, stance: Array, now: Array) -> tuple[Array, str]:
    """Where the foot is put down: bounded, on one level, at most a step higher or lower. The next on its way, or
    anywhere about, where the wanted place is no good; and why."""
    goal = bounded(humanoid, foot, wanted, stance)
    if not len(ground.boxes):
        goal[2] = ground.floor
        return goal, ""
    why = ""
    for place in _about(humanoid, foot, goal, stance, now):
        fits, reason = _fits(humanoid, ground, place, stance, now)
        if fits:
            return place, why
        why = why or reason
    return now.copy(), why


def _about(humanoid: Humanoid, foot: int, goal: Array, stance: Array, now: Array) -> Iterator[Array]:
    """The goal; places before and behind it on the foot's way; places around where the foot is; all of them bounded."""
    yield goal
    way, far = goal - now, humanoid.limits.forward
    way[3] = _wrapped(way[3])
    length = float(np.hypot(way[0], way[1]))
    if length > 1e-6:
        for k in range(1, 2 * TRIES):  # in turns: a little more, a little less
            s = 1.0 + (1 if k % 2 else -1) * ((k + 1) // 2) * far / (TRIES * length)
            if s >= 0.0:
                yield bounded(humanoid, foot, now + s * way, stance)
    for radius in (0.0, 0.25, 0.5, 0.75, 1.0):
        for angle in range(8 if radius else 1):
            away = radius * far * np.array([math.cos(angle * math.pi / 4), math.sin(angle * math.pi / 4)])
            yield bounded(humanoid, foot, np.array([now[0] + away[0], now[1] + away[1], now[2], now[3]]), stance)


def _fits(humanoid: Humanoid, ground: Ground, place: Array, stance: Array, now: Array) -> tuple[bool, str]:
    z, even = ground.under(humanoid.sole, place)
    place[2] = z
    ways = (now + s * (place - now) for s in (0.25, 0.5, 0.75))
    highest = max(z, *(ground.under(humanoid.sole, way)[0] for way in ways))
    if highest - stance[2] > humanoid.limits.rise:
        return False, "a wall is in the way of the foot"
    if stance[2] - z > humanoid.limits.rise:
        return False, "the ground drops too far there"
    return even, "" if even else "the foot would stand on an edge"


def _wrapped(angle: float) -> float:
    return math.remainder(angle, 2.0 * math.pi)


def clear_of_walls(humanoid: Humanoid, ground: Ground, com: Array, now: Array) -> tuple[Array, str]:
    """The centre of mass as far toward its goal as nothing taller than a knee stands within the trunk's breadth."""
    if not len(ground.boxes):
        return com, ""
    radius = 0.75 * humanoid.width
    middle = now[2] - 0.5 * humanoid.height

    def depth(x: float, y: float) -> float:
        return max(ground.depth(np.array([x, y, z]), radius) for z in (now[2], middle))

    before = max(depth(now[0], now[1]), 0.0)
    for k in range(TRIES + 1):
        place = com.copy()
        place[:2] += (k / TRIES) * (now[:2] - com[:2])
        if depth(place[0], place[1]) <= before + 1e-9:
            return place, "a wall is in the way" if k else ""
    return np.array([now[0], now[1], com[2]]), "a wall is in the way"
