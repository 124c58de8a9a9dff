"""How figures are shown: floors, the direction of the audience, and a word on what can be tried."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Effort, Figure
from bunraku.kinematics import frames_along
from bunraku.motion import Motion
from bunraku.render.triangles import triangles
from bunraku.scene import Scene
from bunraku.spatial import se3
from bunraku.stage import Live, Posing, Recorded, still

STAGE = Scene("stage")
FACE_Y = (0.0, 1.0)
"""Direction toward the audience, for figures that face +y."""
FROM_SIDE = (0.0, -1.0)
"""Direction toward the audience, for figures that face +x and are seen from their side."""


def ground(thing: Figure | Motion) -> Scene:
    """A floor at z = 0, or lower if the `thing`, a figure at its start or a motion at any time, reaches lower."""
    motion = thing if isinstance(thing, Motion) else Motion.of(thing, [0.0, 1.0], [thing.start, _lowered(thing)])
    lowest = 0.0
    for track in motion.tracks:
        X_W = frames_along(track.figure, np.ascontiguousarray(track.q[:: max(len(motion) // 200, 1)]))
        for shape in track.figure.shapes:
            if shape.frame in track.figure.frame_index:
                z = X_W[:, track.figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
                heights = z[:, 2, :3] @ triangles(shape.geometry).vertices.T + z[:, 2, 3:]
                lowest = min(lowest, float(heights.min()))
    return Scene("stage", floor=lowest if lowest < -1e-3 else 0.0)


def _lowered(figure: Figure) -> NDArray[np.float64]:
    """Where a `figure` reaches lowest: at its start, or with its angles at zero if it hangs from the world without strings."""
    return figure.start if figure.strings or not is_simulated(figure) else np.zeros(figure.n_q)


def standing(figure: Figure) -> Recorded:
    """A `figure` at its start, on a floor."""
    return still(figure, scene=ground(figure))


def on_floor(motion: Motion, *, reference: Motion | None = None) -> Recorded:
    """A `motion` above a floor that it does not pass, with its `reference` as a ghost."""
    return Recorded(motion, ground(motion), reference=reference)


def at_hand(figure: Figure) -> Live:
    """A `figure` to play with: simulated if it hangs, posed by inverse kinematics if motors would hold it up."""
    from bunraku.teleop.simulated_figure import Simulated

    scene = ground(figure)
    return Simulated(figure, scene=scene) if is_simulated(figure) else Posing(figure, scene)


def is_simulated(figure: Figure) -> bool:
    """Whether physics moves a `figure` that is played with: it has strings, or it hangs from the world with few motors."""
    motors = sum(isinstance(force, Effort) for force in figure.forces)
    hangs = not any(joint.kind == "free" for joint in figure.groups) and 2 * motors <= figure.n_dynamic
    return bool(figure.strings) or hangs


def to_try(figure: Figure) -> str:
    """What a visitor can try with a `figure` at hand."""
    if figure.strings:
        return "Drag an end of a string or a limb; the mouse wheel winds a string, a click pins a limb"
    return "Drag it and let go" if is_simulated(figure) else "Drag a limb, and the rest follows; a click pins a limb"
