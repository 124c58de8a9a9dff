"""Stances of the actor, as a choreographer says them, and the joint angles of each."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.figure.library.actors import ActorSizes
from bunraku.spatial import so3

Array = NDArray[np.float64]
SIZE = ActorSizes()
SOLE = SIZE.sole[3]  # height of the ankle over the boards [m]
REST_HIPS = (0.0, -0.085, -0.035)  # from where legs would be straight [m]: knees bent, shins that lean forward a little


@dataclass(frozen=True)
class Stance:
    """What the actor does with its body. Lengths in metres, angles in degrees; x to its right, y ahead, z up."""

    hips: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """Where the hips are, from where they are at rest."""
    lean: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The trunk: bent forward, tipped to its right, turned to its left."""
    head: tuple[float, float, float] = (0.0, 0.0, 0.0)
    """The head on the trunk: bent forward, tipped to its right, turned to its left."""
    left_foot: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    """Where the left foot is, from where it stands at rest, and how far its leg is turned to the left."""
    right_foot: tuple[float, float, float, float] = (0.0, 0.0, 0.0, 0.0)
    left_arm: tuple[float, float, float, float] = (40.0, 6.0, 0.0, 36.0)
    """Angles: turned outward about the vertical, raised ahead, tipped outward, elbow bent."""
    right_arm: tuple[float, float, float, float] = (40.0, 6.0, 0.0, 36.0)

    @property
    def row(self) -> Array:
        """All numbers in a row."""
        return np.concatenate([np.atleast_1d(getattr(self, f.name)) for f in fields(self)])


def reach(x: float, y: float, z: float, swivel: float = 0.0) -> tuple[float, float, float, float]:
    """The angles of an arm whose palm is at this place, seen from its own shoulder: x outward, y ahead, z up [m].

    The elbow hangs below the line from shoulder to hand, or is turned outward from there by `swivel` [degrees].
    """
    a, b = SIZE.upper_arm, SIZE.forearm + 0.03
    at = np.array([x, y, z])
    away = min(float(np.linalg.norm(at)), 0.998 * (a + b))
    along = at / np.linalg.norm(at)
    down = np.array([0.0, 0.0, -1.0]) - along * -along[2]
    down /= np.linalg.norm(down)
    elbow = math.cos(math.radians(swivel)) * down + math.sin(math.radians(swivel)) * np.cross(down, along)
    bend = math.acos((away**2 - a * a - b * b) / (2 * a * b))
    off = math.atan2(b * math.sin(bend), a + b * math.cos(bend))
    upper = math.cos(off) * along + math.sin(off) * elbow
    hinge = np.cross(elbow, along)
    R = np.stack([hinge, np.cross(-upper, hinge), -upper], 1)
    turned, tipped, raised = math.atan2(R[1, 0], R[0, 0]), -math.asin(R[2, 0]), math.atan2(R[2, 1], R[2, 2])
    return -math.degrees(turned), math.degrees(raised), -math.degrees(tipped), math.degrees(bend)


def angles(figure: Figure, rest: Array, rows: Array) -> Array:
    """Configurations (T, n_q) of the actor in these stances, one per row; its hands are those of `rest`."""
    out = np.repeat(rest[None], len(rows), 0)
    for q, row in zip(out, rows, strict=True):
        _set(figure, q, row)
    return out


def _set(figure: Figure, q: Array, row: Array) -> None:
    def put(name: str, value: float) -> None:
        q[figure.index(name)] = value

    hips, lean, head = row[:3], row[3:6], row[6:9]
    fore, side, turn = np.radians(lean)
    R = so3.about(2, turn) @ so3.about(1, side) @ so3.about(0, -fore)
    p = hips + np.array(REST_HIPS) + np.array([0.0, 0.0, SIZE.thigh + SIZE.shin + SOLE])
    for name, value in zip(("tx", "ty", "tz", "rz", "ry", "rx"), (*p, turn, side, -fore), strict=True):
        put(f"torso_{name}", value)
    for name, value in zip(("rx", "ry", "rz"), np.radians(head) * [-1, 1, 1], strict=True):
        put(f"neck_{name}", value)
    for letter, s, foot in (("l", -1.0, row[9:13]), ("r", 1.0, row[13:17])):
        at = np.array([s * SIZE.hips, 0.0, 0.0]) + foot[:3]
        hip = p + R @ np.array([s * SIZE.hips, 0.0, 0.0])
        for name, value in zip(
            ("hip_rz", "hip_ry", "hip_rx", "knee_rx", "ankle_ry", "ankle_rx"),
            _leg(R, hip, at, math.radians(foot[3]) - turn),
            strict=True,
        ):
            put(letter + name, value)
    for letter, s, arm in (("l", -1.0, row[17:21]), ("r", 1.0, row[21:25])):
        outward, raised, tip, bend = np.radians(arm)
        for name, value in zip(("rz", "ry", "rx"), (-s * outward, -s * tip, raised), strict=True):
            put(f"{letter}shoulder_{name}", value)
        put(f"{letter}elbow_rx", bend)


def _reach(away: float, most: float = 0.7975, soft: float = 0.003) -> float:
    """`away`, or smoothly less so that no knee is straight: then the foot leaves the boards instead [m]."""
    return most - soft * float(np.logaddexp(0.0, (most - away) / soft))


def _leg(R: Array, hip: Array, at: Array, turn: float) -> tuple[float, ...]:
    """Angles of a leg whose sole rests at `at`, level if the ankle lets it: hip about z, y and x, knee, and ankle about y and x."""
    a, b = SIZE.thigh, SIZE.shin
    H = R @ so3.about(2, turn)
    d = H.T @ (at + np.array([0.0, 0.0, SOLE]) - hip)
    side = math.atan2(-d[0], -d[2])
    Y, Z = d[1], -math.hypot(d[0], d[2])
    away = _reach(math.hypot(Y, Z))
    knee = -math.acos((away**2 - a * a - b * b) / (2 * a * b))
    thigh = math.atan2(Y, -Z) - math.atan2(b * math.sin(knee), a + b * math.cos(knee))
    up = (H @ so3.about(1, side) @ so3.about(0, thigh + knee)).T @ np.array([0.0, 0.0, 1.0])
    # Ry(β) Rx(γ) e_z = (cos γ sin β, −sin γ, cos γ cos β) is up
    most = 0.95 * SIZE.ankle
    tip, aside = np.clip([-math.asin(up[1]), 2.0 * math.atan2(up[0], up[2])], -most, most)
    return turn, side, thigh, knee, float(aside) / 2.0, float(tip)
