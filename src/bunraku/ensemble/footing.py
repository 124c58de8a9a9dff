"""Footing: what the rechecker asks of those who stand on the ground.

Corners of soles that are down stay where they came down; nothing sinks; of who walks, one foot is always down, and wheels roll on
the ground.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bunraku.ensemble.team import Agent, Team
from bunraku.ensemble.whole_team import feet
from bunraku.figure.shape import Box, Capsule, Cylinder, Shape, Sphere
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
Heights = Callable[[Array], Array]
"""Points (n, 2) ↦ the height of the ground (n,) [m]."""
DOWN = 1e-3  # [m] above the ground at most is what stands on it
SUNK, AFLOAT = 0.01, 0.02  # [m] below and above the ground that the lowest point of who stands may be
CORNERS = np.array(np.meshgrid([-0.5, 0.5], [-0.5, 0.5], [-0.5, 0.5])).reshape(3, -1).T


def floor(scene: Scene) -> Heights:
    """The height of a flat ground."""
    return lambda points: np.full(len(points), 0.0 if scene.floor is None else scene.floor)


def slides(team: Team, motion: Motion, heights: Heights) -> Array:
    """How far corners of soles are from where they came to stand, at each sample; zero where none stands."""
    out = np.zeros(len(motion))
    for agent in team.agents:
        points = [row for _, own in _under(agent, motion, walking=True) for row in own]
        if not points:
            continue
        P = np.stack(points, 1)
        T, n, _ = P.shape
        stands = _up(P, heights) <= DOWN
        # Where it came to stand, carried on from sample to sample.
        begins = stands & ~np.vstack([np.zeros((1, n), bool), stands[:-1]])
        since = np.maximum.accumulate(np.where(begins, np.arange(T)[:, None], 0), 0)
        away = np.linalg.norm(P - np.take_along_axis(P, since[..., None], 0), axis=2)
        out = np.maximum(out, np.where(stands, away, 0.0).max(1))
    return out


def footing(team: Team, motion: Motion, heights: Heights) -> Iterator[tuple[int, str]]:
    """The first sample at which an agent sinks into the ground, or floats over it, and which."""
    for agent in team.agents:
        points = [row for _, own in _under(agent, motion, walking=False) for row in own]
        if not points:
            continue
        up = _up(np.stack(points, 1), heights).min(1)
        for wrong, text in ((up < -SUNK, "sinks {:.3g} m into"), (up > AFLOAT, "floats {:.3g} m over")):
            if wrong.any():
                yield int(np.argmax(wrong)), f"footing: {agent.name} {text.format(np.abs(up[wrong]).max())} the ground"


def _up(P: Array, heights: Heights) -> Array:
    """How far points (T, n, 3) are above the ground."""
    return np.asarray(P[..., 2] - heights(P[..., :2].reshape(-1, 2)).reshape(P.shape[:2]))


def _under(agent: Agent, motion: Motion, *, walking: bool) -> Iterator[tuple[Shape, list[Array]]]:
    """The shapes that an agent stands on, and places (T, 3) of points that may be their lowest.

    Of who walks: those that move apart from the base, by their corners.
    """
    figure, q = agent.figure, motion.track(agent.name).q
    X = frames_along(figure, q)
    joint, index = figure.compiled.frame_joint, figure.frame_index
    base = joint[index[agent.base[2]]] if agent.base[2] in index else -1
    own = set(feet(agent))
    for shape in figure.shapes:
        if shape.frame not in own or not shape.collides or (walking and joint[index[shape.frame]] == base):
            continue
        X_WS = X[:, index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
        points = _corners(shape, X_WS) if walking or isinstance(shape.geometry, Box) else _lowest(shape, X_WS)
        if points:
            yield shape, points


def _corners(shape: Shape, X: Array) -> list[Array]:
    if not isinstance(shape.geometry, Box):
        return []
    return [X[:, :3, :3] @ corner + X[:, :3, 3] for corner in CORNERS * np.asarray(shape.geometry.size)]


def _lowest(shape: Shape, X: Array) -> list[Array]:
    """The lowest point of a round shape, about its own z axis."""
    down = np.array([0.0, 0.0, -1.0])
    middle, axis = X[:, :3, 3], X[:, :3, 2]
    match shape.geometry:
        case Sphere(radius):
            return [middle + radius * down]
        case Capsule(radius, length):
            return [middle + sign * 0.5 * length * axis + radius * down for sign in (-1.0, 1.0)]
        case Cylinder(radius, length):
            rim = down - (axis @ down)[:, None] * axis
            rim /= np.maximum(np.linalg.norm(rim, axis=1, keepdims=True), 1e-12)
            return [middle + sign * 0.5 * length * axis + radius * rim for sign in (-1.0, 1.0)]
    return []
