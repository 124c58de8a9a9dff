"""Legs of a walking figure: lengths, soles, and closed-form inverse kinematics of hip, knee and ankle."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FigureError
from bunraku.figure import Box, Figure
from bunraku.kinematics import pose
from bunraku.spatial import so3

Array = NDArray[np.float64]
SIDES = ("left", "right")


@dataclass(frozen=True, eq=False)
class Leg:
    """One leg, in the axes of the pelvis and of the foot."""

    side: str
    hip: Array
    """Position of the hip in the pelvis frame [m]."""
    thigh: float
    """Distance from hip to knee [m]."""
    shin: float
    """Distance from knee to ankle [m]."""
    ankle: float
    """Height of the ankle over the sole [m]."""
    heel: float
    """Position of the rear end of the sole, forward of the ankle [m]; negative."""
    toe: float
    """Position of the front end of the sole, forward of the ankle [m]."""
    columns: NDArray[np.int64]
    """Indices of hip (rz, ry, rx), knee_ry, ankle (rz, ry, rx) in the configuration."""

    @property
    def reach(self) -> float:
        """Largest distance of the ankle from the hip [m], with the knee bent by 0.16 rad."""
        return self.distance(0.16)

    def distance(self, bend: float) -> float:
        """From hip to ankle [m] with the knee bent by `bend` [rad]."""
        return float(np.sqrt(self.thigh**2 + self.shin**2 + 2.0 * self.thigh * self.shin * np.cos(bend)))

    def solve(self, hip: Array, R_WP: Array, ankle: Array, R_WA: Array, ahead: Array) -> Array:
        """Angles (n, 7) [rad] of a leg from `hip` (n, 3) on a pelvis `R_WP` (n, 3, 3) to `ankle` (n, 3) of a foot `R_WA`.

        The knee points toward `ahead` (n, 3). Its angle follows from the law of cosines; a leg that does not reach is straight.
        """
        line = ankle - hip
        d = np.sqrt((line**2).sum(1))
        a, b = self.thigh, self.shin
        knee = np.arccos(np.clip((d**2 - a * a - b * b) / (2.0 * a * b), -1.0, 1.0))
        e_z = -line / d[:, None]
        e_y = np.cross(e_z, ahead)
        e_y /= np.sqrt((e_y**2).sum(1))[:, None]
        R_WL = np.stack([np.cross(e_y, e_z), e_y, e_z], -1)  # axes of the line from hip to ankle
        lean = np.arctan2(b * np.sin(knee), a + b * np.cos(knee))
        R_WT = R_WL @ so3.about(1, -lean)
        R_WS = R_WL @ so3.about(1, knee - lean)
        out = np.empty((len(d), 7))
        out[:, :3] = so3.angles_zyx(R_WP.swapaxes(1, 2) @ R_WT)
        out[:, 3] = knee
        out[:, 4:] = so3.angles_zyx(R_WS.swapaxes(1, 2) @ R_WA)
        return out


def legs_of(figure: Figure) -> tuple[Leg, Leg]:
    """The left and the right leg of a `figure` with a free pelvis and with ball joints as hips, knees and ankles (the mannequin).

    Raises FigureError if a joint is missing, or a leg does not hang straight down in the zero configuration.
    """
    wanted = [f"pelvis_{v}" for v in ("tx", "ty", "tz", "rz", "ry", "rx")]
    wanted += [f"{side}_{joint}_{v}" for side in SIDES for joint in ("hip", "knee", "ankle") for v in ("rz", "ry", "rx")]
    missing = [name for name in wanted if name not in figure.names]
    if missing:
        raise FigureError(
            f"cannot walk: it has no {', '.join(missing[:3])}{' …' if len(missing) > 3 else ''}", kind="figure", name=figure.name,
            advice="name pelvis, hips, knees and ankles as the mannequin's are named",
        )  # fmt: skip
    return _leg(figure, "left"), _leg(figure, "right")


def _leg(figure: Figure, side: str) -> Leg:
    here = pose(figure, np.zeros(figure.n_q))
    pelvis, hip, knee, ankle = (here.X(name)[:3, 3] for name in ("pelvis", f"{side}_hip", f"{side}_knee", f"{side}_ankle"))
    down = np.array([0.0, 0.0, -1.0])
    thigh, shin = float((knee - hip) @ down), float((ankle - knee) @ down)
    if not np.allclose([knee - hip, ankle - knee], [thigh * down, shin * down], atol=1e-9) or min(thigh, shin) <= 0.0:
        why = "the leg does not hang straight down in the zero configuration"
        raise FigureError(why, kind="frame", name=f"{side}_hip", advice="build it as the mannequin's legs are built")
    names = [f"{side}_hip_rz", f"{side}_hip_ry", f"{side}_hip_rx", f"{side}_knee_ry"]
    names += [f"{side}_ankle_rz", f"{side}_ankle_ry", f"{side}_ankle_rx"]
    corners = _sole(figure, side) - ankle
    low = float(corners[:, 2].min())
    edge = corners[corners[:, 2] < low + 1e-6]
    return Leg(
        side, hip - pelvis, thigh, shin, -low, float(edge[:, 0].min()), float(edge[:, 0].max()), figure.indices(names)
    )  # fmt: skip


def _sole(figure: Figure, side: str) -> Array:
    """Corners of the boxes of the foot in the zero configuration; without boxes, those of a foot of 25 cm."""
    here, foot = pose(figure, np.zeros(figure.n_q)), f"{side}_ankle"
    out = []
    for shape in figure.shapes:
        frame = shape.frame
        while frame != foot and frame != "world" and figure.frame(frame).variable is None:
            frame = figure.frame(frame).parent
        if frame == foot and isinstance(shape.geometry, Box):
            signs = np.array([[x, y, z] for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5)])
            X = here.X(shape.frame)
            local = np.array(shape.position) + signs * shape.geometry.size @ so3.matrix(shape.rotation).T
            out.append(local @ X[:3, :3].T + X[:3, 3])
    at = here.X(foot)[:3, 3]
    return np.concatenate(out) if out else at + np.array([[-0.07, 0.0, -0.075], [0.18, 0.0, -0.075]])
