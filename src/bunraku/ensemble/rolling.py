"""Rolling: a robot whose base moves along a path, with wheels, if any, that roll without slip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import Agent
from bunraku.figure import Capsule, Cylinder, Figure, Sphere
from bunraku.kinematics import pose
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


def rolled(agent: Agent, base: Array) -> Array:
    """Configurations (T, n) of an `agent` whose base is at `base` (T, 3 or 6); all other variables as in the figure's start.

    Variables with "wheel" in their names turn without slip in the rolling direction. Wheels of an agent that moves in any direction
    have rollers at 45°, as seen from above in the shape of an X.
    """
    figure = agent.figure
    Q = np.repeat(figure.start[None], len(base), 0)
    Q[:, figure.indices(agent.base)] = base
    here = pose(figure, figure.configuration(**dict.fromkeys(agent.base, 0.0)))
    step, turn = np.diff(base[:, :2], axis=0), np.diff(np.unwrap(base[:, 2]))
    heading = base[:-1, 2] + 0.5 * turn
    c, s = np.cos(heading), np.sin(heading)
    ahead, aside = c * step[:, 0] + s * step[:, 1], c * step[:, 1] - s * step[:, 0]
    for frame in figure.frames:
        if frame.variable is None or "wheel" not in frame.variable.name:
            continue
        X = here.X(frame.name)
        along = np.cross(X[:3, :3] @ np.asarray(frame.variable.axis), [0.0, 0.0, 1.0])  # rolling direction, in the base's axes
        hub = X[:3, 3]
        forward, left = ahead - turn * hub[1], aside + turn * hub[0]  # of the point of the base over the hub
        way = along[0] * forward + along[1] * left
        if agent.has_rollers:  # rollers at 45° roll where the wheel does not
            way -= np.sign(hub[0] * hub[1]) * (along[0] * left - along[1] * forward)
        Q[1:, figure.index(frame.variable.name)] += np.cumsum(way) / _radius(figure, frame.name, hub)
    return Q


def heading_along(base: Array, dt: float, *, slow: float = 0.03) -> Array:
    """A `base` (T, 3 or 6) (x, y [m], heading [rad], …), every `dt` [s], with its heading exactly along its way.

    Its heading must be nearly along its way before, forward or backward; below the speed `slow` [m/s] it gradually stays as it is.
    """
    out = base.copy()
    v = np.gradient(base[:, :2], dt, axis=0)
    off = np.arctan2(v[:, 1], v[:, 0]) - base[:, 2]
    off -= np.pi * np.rint(off / np.pi)
    out[:, 2] += off * eased(np.clip(np.linalg.norm(v, axis=1) / slow, 0.0, 1.0))
    return out


def _radius(figure: Figure, frame: str, hub: Array) -> float:
    """Radius of the largest round shape of the wheel; without one, the height of its hub."""
    round_ = [s.geometry.radius for s in figure.shapes if s.frame == frame and isinstance(s.geometry, Cylinder | Capsule | Sphere)]
    return max(round_, default=float(abs(hub[2])) or 1.0)
