"""Inverse dynamics of a climb: what the feet must give to move all bodies as planned, and the torques of the motors.

A body of mass m and inertia I, whose centre accelerates with a, needs the force m(a − g) and, about its centre, the moment
d(Iω)/dt. Both come from differences of the frames, so they are those of the motion as it is, between samples as well.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.kinematics import frames_along
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.motion_accelerations import turns_between

Array = NDArray[np.float64]


class NeededForces(NamedTuple):
    """What moves every body at every sample."""

    frames: Array
    """Poses of all frames (T, frames, 4, 4)."""
    place: Array
    """Centres of mass of the bodies (T, bodies, 3) [m]."""
    force: Array
    """Forces on the bodies, weight balanced (T, bodies, 3) [N]."""
    moment: Array
    """Moments about the centres of the bodies (T, bodies, 3) [N·m]."""
    mass: Array
    """Masses of the bodies (bodies,) [kg]."""

    def part(self, samples: slice) -> NeededForces:
        """Some `samples` only."""
        return NeededForces(self.frames[samples], self.place[samples], self.force[samples], self.moment[samples], self.mass)


def needed_forces(gecko: Gecko, Q: Array, dt: float, gravity: float = 9.81) -> NeededForces:
    """What moves the bodies of a `gecko` along `Q` (T, n_q), with samples `dt` [s] apart; it begins and ends at rest.

    `gravity` [m/s²] acts along −z.
    """
    X, index = frames_along(gecko.figure, Q), gecko.figure.frame_index
    bodies = [body for body in gecko.figure.bodies if body.mass > 0.0]
    mass = np.array([body.mass for body in bodies])
    at = np.array([index[body.frame] for body in bodies])
    R, com = X[:, at, :3, :3], np.array([body.com for body in bodies])
    place = X[:, at][..., :3, 3] + np.einsum("tbij,bj->tbi", R, com)
    still = np.concatenate([place[:1], place, place[-1:]])
    force = mass[:, None] * np.diff(still, 2, axis=0) / dt**2
    force[..., 2] += mass * gravity
    spin = np.zeros((len(Q) + 1, len(bodies), 3))  # angular momenta at the middles between samples
    for k, body in enumerate(bodies):
        xx, yy, zz, xy, xz, yz = body.inertia
        inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        w = turns_between(R[:, k])
        turned = np.einsum("tij,jk,tk->ti", R[:-1, k], inertia, w / dt)
        spin[1:-1, k] = turned + 0.5 * np.cross(np.einsum("tij,tj->ti", R[:-1, k], w), turned)  # in the axes of the middle
    return NeededForces(X, place, force, np.diff(spin, axis=0) / dt, mass)


def loads(needed: NeededForces, gravity: float = 9.81) -> Array:
    """What the feet give in all (T, 6): force in body weights, and moment about the centre of mass in weights times metres.

    needed: what moves the bodies
    gravity: as in `needed_forces` [m/s²]
    """
    weight = float(needed.mass.sum()) * gravity
    centre = np.einsum("b,tbi->ti", needed.mass, needed.place) / needed.mass.sum()
    moment = (np.cross(needed.place - centre[:, None], needed.force) + needed.moment).sum(1)
    return np.concatenate([needed.force.sum(1), moment], 1) / weight


def shared_forces(needed: NeededForces, feet: Array, aloft: NDArray[np.bool_], gravity: float = 9.81) -> Array:
    """Forces on the standing feet (T, feet, 3), in body weights, that move the bodies and have the least sum of squares.

    Two feet bear no moment about the line between them; it is left out.

    needed: what moves the bodies
    feet: places of the feet (T, feet, 3) [m]
    aloft: which feet are in the air at each sample (T, feet)
    gravity: as in `needed_forces` [m/s²]
    """
    load = loads(needed, gravity)
    centre = np.einsum("b,tbi->ti", needed.mass, needed.place) / needed.mass.sum()
    arm = feet - centre[:, None]
    size = float(np.abs(arm).max())
    G = np.zeros((len(feet), 6, feet.shape[1], 3))  # from the forces to their sum and their moment, both of similar size
    x, y, z = np.moveaxis(arm / size, 2, 0)
    for k in range(3):
        G[:, k, :, k] = 1.0
    G[:, 3, :, 1], G[:, 3, :, 2], G[:, 4, :, 0], G[:, 4, :, 2], G[:, 5, :, 0], G[:, 5, :, 1] = -z, y, z, -x, -y, x
    G *= ~aloft[:, None, :, None]
    rows = G.reshape(len(feet), 6, -1)
    load[:, 3:] /= size
    shares = np.linalg.pinv(rows @ np.swapaxes(rows, 1, 2), rcond=1e-9, hermitian=True) @ load[..., None]
    return np.asarray((np.swapaxes(rows, 1, 2) @ shares).reshape(feet.shape))


def tipping_accelerations(
    needed: NeededForces, feet: Array, aloft: NDArray[np.bool_], tipping: Array, gravity: float = 9.81
) -> Array:
    """How fast the body begins to turn about the line between two feet that stand alone (T,) [rad/s²]; zero where others stand.

    needed: what moves the bodies
    feet: places of the feet (T, feet, 3) [m]
    aloft: which feet are in the air (T, feet)
    tipping: the moment about that line that they cannot bear (T,) [weights·m]
    gravity: as in `needed_forces` [m/s²]
    """
    two, out = np.flatnonzero((~aloft).sum(1) == 2), np.zeros(len(feet))
    if len(two):
        standing = feet[two][~aloft[two]].reshape(-1, 2, 3)
        along = standing[:, 1] - standing[:, 0]
        along /= np.linalg.norm(along, axis=1, keepdims=True)
        arm = np.cross(needed.place[two] - standing[:, :1], along[:, None])
        inertia = np.einsum("b,tbi,tbi->t", needed.mass, arm, arm)
        out[two] = float(needed.mass.sum()) * gravity * tipping[two] / inertia
    return out


def tipping_angles(accelerations: Array, dt: float) -> Array:
    """Angles (T,) [rad] by which the body turns about the line between two feet, from `accelerations` [rad/s²] at samples `dt` [s]
    apart; it is upright at the beginning and at the end of each step, when others stand."""
    out, moves = np.zeros(len(accelerations)), np.flatnonzero(accelerations != 0.0)
    for run in np.split(moves, np.flatnonzero(np.diff(moves) > 1) + 1):
        if len(run):
            angle = np.cumsum(np.cumsum(accelerations[run])) * dt**2
            out[run] = angle - angle[-1] * np.arange(1, len(run) + 1) / len(run)
    return out


def torques(gecko: Gecko, needed: NeededForces, feet: Array, forces: Array, gravity: float = 9.81) -> Array:
    """Torques of the motors of a `gecko`, body and legs first, then the tail (T, motors) [N·m].

    needed: what moves the bodies
    feet: places of the feet (T, feet, 3) [m]
    forces: on the feet (T, feet, 3), in body weights
    gravity: as in `needed_forces` [m/s²]
    """
    figure, weight = gecko.figure, float(needed.mass.sum()) * gravity
    parent = {frame.name: frame.parent for frame in figure.frames}

    def carried(by: str, frame: str) -> bool:
        while frame in parent and frame != by:
            frame = parent[frame]
        return frame == by

    holders = {frame.variable.name: frame for frame in figure.frames if frame.variable is not None}
    bodies = [body.frame for body in figure.bodies if body.mass > 0.0]
    motors = [*gecko.active.tolist(), *gecko.tail.tolist()]
    out = np.empty((len(needed.frames), len(motors)))
    for k, motor in enumerate(motors):
        frame = holders[figure.names[motor]]
        assert frame.variable is not None
        X = needed.frames[:, figure.frame_index[frame.name]]
        axis, origin = np.einsum("tij,j->ti", X[:, :3, :3], np.asarray(frame.variable.axis)), X[:, None, :3, 3]
        own = [i for i, name in enumerate(bodies) if carried(frame.name, name)]
        held = [i for i, name in enumerate(gecko.roles.feet) if carried(frame.name, name)]
        moment = (np.cross(needed.place[:, own] - origin, needed.force[:, own]) + needed.moment[:, own]).sum(1)
        moment -= weight * np.cross(feet[:, held] - origin, forces[:, held]).sum(1)
        out[:, k] = np.einsum("ti,ti->t", axis, moment)
    return out
