"""How figures are shown: floors, and the direction of the audience."""

from __future__ import annotations

from bunraku.figure import Effort, Figure
from bunraku.kinematics import pose
from bunraku.render.triangles import triangles
from bunraku.scene import Scene
from bunraku.spatial import se3
from bunraku.stage import Live, Posing, Recorded, still

STAGE = Scene("stage")
AIR = Scene("air", floor=None)
FACE_Y = (0.0, 1.0)
"""Direction toward the audience, for figures that face +y."""
FROM_SIDE = (0.0, -1.0)
"""Direction toward the audience, for figures that face +x and are seen from their side."""


def ground(figure: Figure) -> Scene:
    """A floor at z = 0, or lower if the `figure` reaches lower."""
    now = pose(figure)
    lowest = 0.0
    for shape in figure.shapes:
        X_WS = now.X(shape.frame) @ se3.pose(shape.position, shape.rotation)
        lowest = min(lowest, float(se3.transform(X_WS, triangles(shape.geometry).vertices)[:, 2].min()))
    return Scene("stage", floor=lowest if lowest < -1e-3 else 0.0)


def standing(figure: Figure) -> Recorded:
    """A `figure` at its start, on a floor."""
    return still(figure, scene=ground(figure))


def at_hand(figure: Figure) -> Live:
    """A `figure` to play with: simulated if it hangs, posed by inverse kinematics if motors would hold it up."""
    from bunraku.teleop.simulated_figure import Simulated

    scene = ground(figure)
    return Simulated(figure, scene=scene) if figure.strings or _hangs(figure) else Posing(figure, scene)


def _hangs(figure: Figure) -> bool:
    """Whether it is fixed to the world and at most half of its joints have motors."""
    motors = sum(isinstance(force, Effort) for force in figure.forces)
    return not any(joint.kind == "free" for joint in figure.groups) and 2 * motors <= figure.n_dynamic
