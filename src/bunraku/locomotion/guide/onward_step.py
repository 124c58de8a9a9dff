"""Steps in motion: how far the body moves in a step that follows another without rest between them."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import HumanoidLimits
from bunraku.locomotion.guide.navigation_points import NO_FOOT, Onward, Subgoals, heading

Array = NDArray[np.float64]


def trunk_by(limits: HumanoidLimits, stride: float, command: Command, yaw: float) -> Array:
    """How far a `command` moves the trunk in one segment (3,) [m].

    limits: of the humanoid
    stride: largest motion, as a share of the longest step
    yaw: direction of the trunk [rad]
    """
    along = stride * limits.forward
    return np.asarray(heading(yaw) @ (np.array(command.move) * (along, along, limits.crouch / 3)))


def step_by(feet: Array, stance: int, yaw: float, by: Array, apart: float) -> Array:
    """How far the middle of the `feet` (2, 4) moves in a step in motion (2,) [m].

    stance: the foot that stands
    yaw: direction of the trunk [rad]
    by: how far the body is to move in a step from rest (2,) [m]
    apart: lateral distance between the feet while they walk straight on [m]

    The foot that stands is already ahead of the middle by half a step; the other one is put as far ahead of it as `by` says. So a
    step forward is twice as long as from rest.
    """
    if not by.any():
        return np.zeros(2)
    R, side = heading(yaw)[:2, :2], 1.0 if stance == 0 else -1.0
    ahead, across = R.T @ (feet[stance, :2] - feet[:, :2].mean(0))
    forward, aside = R.T @ by
    if abs(aside) < 0.1 * abs(forward):
        aside += across - 0.5 * side * apart
    return np.asarray(R @ np.array([forward + ahead, aside]))


def next_step(goals: Subgoals, by: Array, apart: float, *, level: float = 0.004) -> Onward | None:
    """The step that would follow the one with these `goals`, if the body does not rest between them.

    by, apart: as in `step_by`
    level: largest difference in height of the feet [m]
    None if something is in the way, or the feet are not level.
    """
    feet, foot = goals.feet, goals.swings
    if foot == NO_FOOT or not goals.lands or goals.notice or abs(float(feet[0, 2] - feet[1, 2])) > level:
        return None
    return Onward(feet[foot, :2] - feet[:, :2].mean(0), step_by(feet, foot, float(goals.trunk[2]), by, apart))
