"""Checks of a whole climb: adhesion, torques, contacts and clearances, block by block, with only the near slabs in each block."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.shape import Box
from bunraku.locomotion.climb.adhesion import AdhesionAlong, adhesion_along
from bunraku.locomotion.climb.climb_dynamics import (
    loads,
    needed_forces,
    shared_forces,
    tipping_accelerations,
    tipping_angles,
    torques,
)
from bunraku.locomotion.climb.climb_failures import ClimbFailure, clearances, contacts
from bunraku.locomotion.climb.foot_swing import FootPaths
from bunraku.locomotion.climb.gecko import Gecko, blocks
from bunraku.scene import Scene

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ClimbChecks:
    """What is measured at every sample of a climb, and the first contact."""

    held: AdhesionAlong
    """The smallest adhesion, as if the climber stood still."""
    moving: AdhesionAlong
    """The smallest adhesion in motion."""
    torques: Array
    """Torques of the motors (T, motors) [N·m]."""
    clearance: Array
    """Distance of everything but feet and lower legs from the surface (T,) [m]."""
    leg_clearance: Array
    """Distance of the lower legs from the surface (T,) [m]."""
    leans: Array
    """Angle between the link above each ankle and the foot's normal (T, ankles) [rad]."""
    tips: Array
    """Angle by which the body turns about the line between two feet while only they stand (T,) [rad]."""
    contacts: list[ClimbFailure]
    """The first contact, if there is one."""


def check_climb(
    gecko: Gecko, scene: Scene, Q: Array, feet: FootPaths, *, friction: float, grip: float, seen: float
) -> ClimbChecks:  # fmt: skip
    """Checks the climb of a `gecko`.

    scene: the surface
    Q: configurations (T, n_q) at the samples of `feet`
    feet: the paths of the feet
    friction, grip: as in `hold`
    seen: clearances are computed up to this distance [m]
    """
    found: list[tuple[Any, ...]] = []
    touched: list[ClimbFailure] = []
    dt = float(feet.t[1] - feet.t[0])
    for part in blocks(len(Q)):
        around = slice(max(part.start - 1, 0), min(part.stop + 1, len(Q)))  # accelerations need a sample on either side
        inner = slice(part.start - around.start, part.stop - around.start)
        own, here = Q[part], feet.part(part)
        needed = needed_forces(gecko, Q[around], dt).part(inner)
        near = near_scene(gecko, scene, own)
        held = adhesion_along(gecko, own, here, friction=friction, grip=grip)
        moving = adhesion_along(gecko, own, here, friction=friction, grip=grip, loads=loads(needed))
        torque = torques(gecko, needed, here.p, shared_forces(needed, here.p, here.aloft))
        tips = tipping_accelerations(needed, here.p, here.aloft, moving.tipping)
        found.append((held, moving, torque, *clearances(gecko, near, own, seen), leans(gecko, needed.frames, here), tips))
        if not touched:
            touched = [ClimbFailure(part.start + hit.sample, hit.outcome) for hit in contacts(gecko, near, own)]
    held, moving = (AdhesionAlong.joined([one[k] for one in found]) for k in (0, 1))
    torque, clearance, legs, lean, tips = (np.concatenate([one[k] for one in found]) for k in (2, 3, 4, 5, 6))
    return ClimbChecks(held, moving, torque, clearance, legs, lean, tipping_angles(tips, dt), touched)


def leans(gecko: Gecko, frames: Array, feet: FootPaths) -> Array:
    """Angle between the link above each ankle of a `gecko` and the normal of its foot (T, ankles) [rad].

    frames: poses of all frames (T, frames, 4, 4)
    feet: the paths of the feet at the same samples
    """
    n, index = gecko.n_ankles, gecko.figure.frame_index
    above, own = ([index[name] for name in names[:n]] for names in (gecko.holders, gecko.roles.feet))
    along = frames[:, above][..., :3, 3] - frames[:, own][..., :3, 3]
    cosine = np.einsum("tfi,tfi->tf", along, feet.R[:, :n, :, 2]) / np.linalg.norm(along, axis=2)
    return np.asarray(np.arccos(np.clip(cosine, -1.0, 1.0)))


def near_scene(gecko: Gecko, scene: Scene, Q: Array) -> Scene:
    """The obstacles of a `scene` that a `gecko` in configurations `Q` (T, n_q) might touch."""
    m = gecko.measures
    reach = 2.0 * max(m["ahead"], m["behind"], m["tail"], m["spread"]) + m["leg"]
    low, high = Q[:, :3].min(0) - reach, Q[:, :3].max(0) + reach
    near = []
    for obstacle in scene.obstacles:
        if not isinstance(obstacle.geometry, Box):
            near.append(obstacle)
            continue
        half = 0.5 * float(np.linalg.norm(obstacle.geometry.size))
        at = np.asarray(obstacle.position)
        if np.linalg.norm(np.maximum(np.maximum(low - at, at - high), 0.0)) <= half:
            near.append(obstacle)
    return Scene(scene.name, tuple(near), floor=scene.floor)
