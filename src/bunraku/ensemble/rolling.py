"""Rolling: a robot whose base moves along a path, with wheels, if any, that roll without slip."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import Agent
from bunraku.figure import Capsule, Cylinder, Figure, Sphere
from bunraku.kinematics import pose

Array = NDArray[np.float64]


def rolled(agent: Agent, base: Array) -> Array:
    """Configurations (T, n) of an `agent` whose base is at `base` (T, 3 or 6); all other variables as in the figure's start.

    Variables with "wheel" in their names turn without slip in the rolling direction.
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
        way = along[0] * (ahead - turn * hub[1]) + along[1] * (aside + turn * hub[0])
        Q[1:, figure.index(frame.variable.name)] += np.cumsum(way) / _radius(figure, frame.name, hub)
    return Q


def _radius(figure: Figure, frame: str, hub: Array) -> float:
    """Radius of the largest round shape of the wheel; without one, the height of its hub."""
    round_ = [s.geometry.radius for s in figure.shapes if s.frame == frame and isinstance(s.geometry, Cylinder | Capsule | Sphere)]
    return max(round_, default=float(abs(hub[2])) or 1.0)
