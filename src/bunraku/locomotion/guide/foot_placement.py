"""Where a foot may be put: not too far, never across the other foot, flat on the ground.

A goal that violates this is replaced by the nearest allowed foothold.
"""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.ground import SceneGround
from bunraku.locomotion.guide.humanoid import Humanoid

Array = NDArray[np.float64]


def bounded(humanoid: Humanoid, foot: int, wanted: Array, stance: Array, *, in_motion: bool = False) -> Array:
    """The foothold (x, y, z, yaw) nearest to `wanted` at which the feet of a `humanoid` neither cross nor are too far apart.

    `foot` is 0 for the left one and 1 for the right one; `stance` (x, y, z, yaw) is the position of the other one [m, rad].

    The farther apart the feet are, the shorter the step forward; `in_motion`, only beyond their distance at home.
    """
    limits, side = humanoid.limits, 1.0 if foot == 0 else -1.0
    inward, outward = limits.turn
    turned = side * _wrapped(wanted[3] - stance[3])
    turned = min(max(turned, -inward), outward)
    c, s = math.cos(stance[3]), math.sin(stance[3])
    dx, dy = wanted[0] - stance[0], wanted[1] - stance[1]
    along, across = c * dx + s * dy, side * (c * dy - s * dx)
    # A turned sole needs more space: its toe or heel comes nearer to the other foot.
    half = 0.5 * float(np.ptp(humanoid.sole[:, 0]))
    least = limits.apart[0] + half * math.sin(abs(turned))
    across = min(max(across, least), limits.apart[1])
    least = min(humanoid.home_apart, limits.apart[1]) if in_motion else limits.apart[0]
    room = 1.0 - (max(across - least, 0.0) / max(limits.apart[1] - least, 1e-9)) ** 2 * 0.5
    along = min(max(along, -limits.forward * room), limits.forward * room)
    across *= side
    return np.array([stance[0] + c * along - s * across, stance[1] + s * along + c * across, wanted[2], stance[3] + side * turned])


def foothold(
    humanoid: Humanoid, ground: SceneGround, foot: int, wanted: Array, stance: Array, now: Array, *, tries: int = 8,
    in_motion: bool = False,
) -> tuple[Array, str]:  # fmt: skip
    """The foothold (x, y, z, yaw) at which a foot is put down, and why it is not the wanted one; "" if it is.

    humanoid, ground: the humanoid and the ground
    foot: 0 left, 1 right
    wanted: the wanted foothold
    stance: position of the other foot
    now: current position of the foot
    tries: number of alternatives on its way
    in_motion: as in `bounded`

    The foothold is within the limits, on even ground, and at most one step higher or lower than the other foot. If the wanted one
    is not, the nearest one on the foot's way or around the foot is taken.
    """
    goal = bounded(humanoid, foot, wanted, stance, in_motion=in_motion)
    if not len(ground.boxes):
        goal[2] = ground.floor
        return goal, ""
    why = ""
    for place in _about(humanoid, foot, goal, stance, now, tries):
        fits, reason = _fits(humanoid, ground, place, stance, now)
        if fits:
            return place, why
        why = why or reason
    return now.copy(), why


def _about(humanoid: Humanoid, foot: int, goal: Array, stance: Array, now: Array, tries: int) -> Iterator[Array]:
    """The goal, positions before and behind it on the foot's way, and positions around the foot; all within the limits."""
    yield goal
    way, far = goal - now, humanoid.limits.forward
    way[3] = _wrapped(way[3])
    length = float(np.hypot(way[0], way[1]))
    if length > 1e-6:
        for k in range(1, 2 * tries):  # alternately a little farther and a little nearer
            s = 1.0 + (1 if k % 2 else -1) * ((k + 1) // 2) * far / (tries * length)
            if s >= 0.0:
                yield bounded(humanoid, foot, now + s * way, stance)
    for radius in (0.0, 0.25, 0.5, 0.75, 1.0):
        for angle in range(8 if radius else 1):
            away = radius * far * np.array([math.cos(angle * math.pi / 4), math.sin(angle * math.pi / 4)])
            yield bounded(humanoid, foot, np.array([now[0] + away[0], now[1] + away[1], now[2], now[3]]), stance)


def _fits(humanoid: Humanoid, ground: SceneGround, place: Array, stance: Array, now: Array) -> tuple[bool, str]:
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


def clear_of_walls(humanoid: Humanoid, ground: SceneGround, com: Array, now: Array, *, tries: int = 8) -> tuple[Array, str]:
    """A goal of the centre of mass at which the trunk of a `humanoid` touches no wall of the `ground`; and why it is not `com`.

    It is the farthest free one of `tries` points on the way from `now` to `com` (3,) [m]. Only obstacles taller than a knee count.
    """
    if not len(ground.boxes):
        return com, ""
    radius = 0.75 * humanoid.width
    middle = now[2] - 0.5 * humanoid.height

    def depth(x: float, y: float) -> float:
        return max(ground.depth(np.array([x, y, z]), radius) for z in (now[2], middle))

    before = max(depth(now[0], now[1]), 0.0)
    for k in range(tries + 1):
        place = com.copy()
        place[:2] += (k / tries) * (now[:2] - com[:2])
        if depth(place[0], place[1]) <= before + 1e-9:
            return place, "a wall is in the way" if k else ""
    return np.array([now[0], now[1], com[2]]), "a wall is in the way"
