"""Where agents may stand: kernels of sampling."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from bunraku.kernels.compile import inline, kernel


class Standing(NamedTuple):
    """How an agent stands in front of the object; compiled into the kernel."""

    square: float = 0.45
    """Largest deviation from squarely facing the object, for an agent with two hands [rad]."""


STANDING = Standing()


@inline
def _reaches(x, y, heading, spheres, wrists):
    """Whether every wrist is within the smallest and largest distance of its two spheres' centres."""
    c, s = np.cos(heading), np.sin(heading)
    for k in range(spheres.shape[0]):
        u = x + c * spheres[k, 0] - s * spheres[k, 1] - wrists[k // 2, 0]
        v = y + s * spheres[k, 0] + c * spheres[k, 1] - wrists[k // 2, 1]
        w = spheres[k, 2] - wrists[k // 2, 2]
        d = np.sqrt(u * u + v * v + w * w)
        if d < spheres[k, 3] or d > spheres[k, 4]:
            return False
    return True


@kernel
def stand(spheres, facing, outward, spread, behind, within, wrists, dice, out):
    """Writes into `out` (T, 3) a position (x, y, heading) from which an agent reaches its `wrists` (T, n, 3).

    Each row of `dice` (T, tries, 3), random numbers from 0 to 1, is a try; if none reaches, the last one is kept. A try treats all
    arms as one, from the middle of the shoulders to the middle of the wrists. The height between them is known, so the shells
    `spheres` (2 n, 5) give the possible distances. Two hands are faced squarely, up to STANDING.square. One hand is faced up to
    `facing` [rad], from the direction `outward` (T,) [rad] up to `spread` [rad] to either side, with its shoulder no farther than
    `within` [m] from `behind` (T, 3).
    """
    arms = wrists.shape[1]
    middle = np.zeros(3)
    least, most = 0.0, np.inf
    for k in range(arms):
        least, most = max(least, spheres[2 * k, 3]), min(most, spheres[2 * k, 4])
        for r in range(3):
            middle[r] += spheres[2 * k, r] / arms
    for t in range(wrists.shape[0]):
        x = y = z = 0.0
        for k in range(arms):
            x, y, z = x + wrists[t, k, 0] / arms, y + wrists[t, k, 1] / arms, z + wrists[t, k, 2] / arms
        far = max(most * most - (z - middle[2]) ** 2, 1e-6)
        near = min(max(least * least - (z - middle[2]) ** 2, 0.0), far)
        for m in range(dice.shape[1]):
            rho = np.sqrt(near + dice[t, m, 0] * (far - near))
            if arms > 1:
                line = np.arctan2(wrists[t, 0, 1] - wrists[t, 1, 1], wrists[t, 0, 0] - wrists[t, 1, 0])
                own = np.arctan2(spheres[0, 1] - spheres[2, 1], spheres[0, 0] - spheres[2, 0])
                bearing = line - own + np.pi + STANDING.square * (2.0 * dice[t, m, 1] - 1.0)
                turn = STANDING.square * (2.0 * dice[t, m, 2] - 1.0)
            else:
                bearing = outward[t] + spread * (2.0 * dice[t, m, 1] - 1.0)
                turn = facing * (2.0 * dice[t, m, 2] - 1.0)
            heading = bearing + np.pi + turn  # it stands at `bearing` from the wrists and faces them
            c, s = np.cos(heading), np.sin(heading)
            out[t, 0] = x + rho * np.cos(bearing) - (c * middle[0] - s * middle[1])
            out[t, 1] = y + rho * np.sin(bearing) - (s * middle[0] + c * middle[1])
            out[t, 2] = np.remainder(heading + np.pi, 2.0 * np.pi) - np.pi
            u = out[t, 0] + (c * middle[0] - s * middle[1]) - behind[t, 0]
            v = out[t, 1] + (s * middle[0] + c * middle[1]) - behind[t, 1]
            w = middle[2] - behind[t, 2]
            if u * u + v * v + w * w > within * within:
                continue
            if _reaches(out[t, 0], out[t, 1], out[t, 2], spheres, wrists[t]):
                break
