"""Shapes over planes: a tight lower bound of their height, so that coal need not look at what stands clear of the ground."""

from __future__ import annotations

import numpy as np

from bunraku.collision.world_arrays import ORIGIN, STATIC
from bunraku.kernels.compile import kernel
from bunraku.kinematics.tree import carry, place
from bunraku.spatial.algebra import dot3


@kernel
def over_planes(world, Q, ints, margins, over):
    """over[row]: whether the box around the shape of that row keeps the row's margin [m] from its plane.

    False for rows that are not of a plane. The box is that of `world.half`; of a shape that is a box, it is the shape itself.
    """
    n, n_joints = world.joint.shape[0], world.joints.shape[0]
    R, p, S = np.empty((n_joints, 3, 3)), np.empty((n_joints, 3)), np.empty((n_joints, 6))
    placed = -1
    for row in range(ints.shape[0]):
        t, i, s = ints[row, 0], ints[row, 1], ints[row, 2] - n
        over[row] = False
        if s < 0 or world.kind[s] != STATIC.plane:
            continue
        if t != placed:
            place(world.joints, 0, n_joints, Q[t], ORIGIN, R, p, S)
            placed = t
        up = (world.static_ends[s, 0], world.static_ends[s, 1], world.static_ends[s, 2])
        j = world.joint[i]
        a = (world.ends[i, 0] + world.ends[i, 3], world.ends[i, 1] + world.ends[i, 4], world.ends[i, 2] + world.ends[i, 5])
        middle = carry(R, p, ORIGIN, j, (0.5 * a[0], 0.5 * a[1], 0.5 * a[2]), 1.0)
        height = dot3(up, middle) - world.static_radius[s]
        for c in range(3):
            axis = carry(R, p, ORIGIN, j, (world.pose[i, 0, c], world.pose[i, 1, c], world.pose[i, 2, c]), 0.0)
            height -= world.half[i, c] * abs(dot3(up, axis))
        over[row] = height >= margins[row]
