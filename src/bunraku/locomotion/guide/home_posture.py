"""A level home posture: soles flat on one floor, side by side, with the centre of mass above their middle."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import permutations, product

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import Figure
from bunraku.kinematics import Pose, pose
from bunraku.kinematics.inverse.options import InverseOptions
from bunraku.kinematics.inverse.solver import Inverse
from bunraku.kinematics.inverse.tasks import CentreOfMass, FramePose, FrameRotation, Posture, Task

Array = NDArray[np.float64]


def sole_axes(R_WF: Array, *, most: float = 0.2) -> Array:
    """Axes of a sole, x forward and z up, in its foot's frame (3, 3), which stands nearly level with the axes `R_WF` (3, 3).

    They are the axes of that frame, exchanged and reversed, that are nearest to those of the world. Where they are tilted by more
    than `most` [rad], the frame is taken to be turned on purpose, and the foot to stand level.
    """
    best, error = np.asarray(R_WF.T), math.inf
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        A = np.zeros((3, 3))
        A[list(order), range(3)] = signs
        tilt = math.acos(min(max(float((R_WF @ A)[2, 2]), -1.0), 1.0))
        turn = tilt + 0.1 * abs(math.atan2(float((R_WF @ A)[1, 0]), float((R_WF @ A)[0, 0])))
        if np.linalg.det(A) > 0.0 and tilt < most and turn < error:
            best, error = A, turn
    return best


def tilt_of(R: Array) -> float:
    """Angle between the z axis of `R` (3, 3) and the vertical [rad]."""
    return math.acos(min(max(float(R[2, 2]), -1.0), 1.0))


@dataclass(frozen=True)
class Legs:
    """Variables that bend the legs forward, (hip, knee, ankle) of each, and their sense about the axis to the left (±1)."""

    joints: tuple[tuple[tuple[str, float], ...], ...]

    @classmethod
    def found(cls, figure: Figure, chains: Sequence[Sequence[str]], here: Pose) -> Legs:
        """Those of the legs with these jointed frames (`chains`, from the base on), where the `figure` is `here`."""
        legs = []
        for chain in chains:
            J = here.jacobian(chain[-1])[3:]
            lateral = []
            for frame in chain:
                variable = figure.frame(frame).variable
                if variable is not None and abs(J[1, figure.index(variable.name)]) > 0.7:
                    lateral.append((variable.name, math.copysign(1.0, J[1, figure.index(variable.name)])))
            legs.append((lateral[-3], lateral[-2], lateral[-1]) if len(lateral) >= 3 else ())
        return cls(tuple(legs))

    def bent(self, figure: Figure, q: Array, angle: float) -> Array:
        """The configuration `q` of the `figure` with each knee bent further by an `angle` [rad], shins backward."""
        out = q.copy()
        for leg in self.joints:
            for (name, sense), share in zip(leg, (-0.5, 1.0, -0.5), strict=bool(leg)):
                k = figure.index(name)
                lower, upper = (limit[k] for limit in figure.limits)
                out[k] = min(max(q[k] + share * sense * angle, lower), upper)
        return out


def levelled(figure: Figure, feet: tuple[str, str], axes: tuple[Array, Array], at: Array, q: Array) -> Array:
    """A configuration near `q` (n_q,) with level soles, side by side, and the centre of mass above their middle.

    figure: the figure, with a free base
    feet: frames of the feet
    axes: axes of the soles in these frames (3, 3)
    at: middle of each sole in its foot's frame (3,) [m]
    q: a configuration, facing x
    """
    here = pose(figure, q)
    X = [here.X(foot) for foot in feet]
    places = np.array([frame[:3, :3] @ at + frame[:3, 3] for frame in X])
    middle, apart = places.mean(0), abs(float(places[0, 1] - places[1, 1]))
    tasks: list[Task] = []
    for frame, A, side in zip(feet, axes, (0.5, -0.5), strict=True):
        target = np.eye(4)
        target[:3, :3] = A.T
        target[:3, 3] = middle - A.T @ at + np.array([0.0, side * apart, 0.0])
        tasks.append(FramePose(frame, target=target, lever=0.3))
    com = np.array([middle[0], middle[1], here.com[2]])
    base = next(joint for joint in figure.groups if joint.kind == "free").frames[-1]
    upright = np.array(here.X(base)[:3, :3])
    joints = [v.name for v in figure.variables]
    inverse = Inverse(
        figure,
        [
            *tasks, CentreOfMass(target=com, axes="xy"), CentreOfMass(target=com, axes="z", name="height", weight=1e-2),
            FrameRotation(base, target=upright, weight=1e-2), Posture(variables=joints, target=q, weight=1e-5, priority=0),
        ],
        start=q, options=InverseOptions(damping=1e-9),
    )  # fmt: skip
    return inverse.solve(q).q


def standing(
    figure: Figure, feet: tuple[str, str], axes: tuple[Array, Array], at: Array, legs: Legs, bent: float,
    start: Array | None = None,
) -> Array:  # fmt: skip
    """A level posture with bent knees.

    figure, feet, axes, at: as in `levelled`
    legs: the joints that bend
    bent: how far knees are bent, at least [rad]
    start: the posture (n_q,) from which it differs as little as possible; by default the figure's start
    """
    q = np.array(figure.start) if start is None else start
    now = min((sense * q[figure.index(name)] for leg in legs.joints for name, sense in leg[1:2]), default=bent)
    seed = legs.bent(figure, q, max(bent - now, 0.0))
    return levelled(figure, feet, axes, at, seed)


def _variable(figure: Figure, frame: str) -> str:
    variable = figure.frame(frame).variable
    assert variable is not None
    return variable.name


def mirrored(figure: Figure, here: Pose, left: Sequence[str], right: Sequence[str]) -> Array:
    """For each jointed frame of a `left` limb of a `figure`: the sign (±1) with which that of the `right` limb mirrors it.

    `here` is the pose of a posture in which both limbs mirror each other.
    """
    signs = []
    for pair in zip(left, right, strict=True):
        x, y = (np.array(here.jacobian(frame)[3:, figure.index(_variable(figure, frame))]) for frame in pair)
        signs.append(1.0 if x @ (np.array([-1.0, 1.0, -1.0]) * y) > 0.0 else -1.0)
    return np.array(signs)


def relaxed_arms(figure: Figure, q: Array, left: Sequence[str], right: Sequence[str], *, tries: int = 400) -> Array:
    """The configuration `q` of a `figure` with arms that leave hands and joints room in every direction.

    left, right: jointed frames of the arms, without those of the trunk
    tries: number of random postures; the best one counts
    """
    here, rng, (lower, upper) = pose(figure, q), np.random.default_rng(0), figure.limits
    places = [figure.indices([_variable(figure, frame) for frame in arm]) for arm in (left, right)]
    low, high = np.maximum(lower[places[0]], -2.5), np.minimum(upper[places[0]], 2.5)
    hand, shoulder = left[-1], here.point(left[0])
    best, most = q, -math.inf
    for k in range(tries):
        trial = q.copy()
        share = 0.0 if k == 0 else 0.6 * rng.random()
        trial[places[0]] = np.clip(q[places[0]], low, high) + share * rng.uniform(-1.0, 1.0, len(low)) * (high - low)
        if (trial[places[0]] > high).any() or (trial[places[0]] < low).any():
            continue
        now = pose(figure, trial)
        J = now.jacobian(hand)[:3, places[0]]
        at = now.point(hand) - shoulder
        room = float(np.minimum(np.minimum(trial[places[0]] - low, high - trial[places[0]]), 0.4).min())
        turn = float(np.abs(trial[places[0]] - q[places[0]]).sum())
        size = float(np.linalg.norm(at)) + 1e-9
        # Below the shoulder, in front, not across the body; no singularity.
        value = 2.0 * float(np.linalg.svd(J, compute_uv=False)[min(2, len(low) - 1)]) / size + room - 0.15 * turn
        value -= 1.5 * max(at[2] / size + 0.3, 0.0) + 2.0 * max(0.15 - at[0] / size, 0.0) + 3.0 * max(-at[1] / size, 0.0)
        value -= 1.0 * max(at[1] / size - 0.45, 0.0)
        if value > most:
            best, most = trial, value
    best[places[1]] = np.clip(mirrored(figure, here, left, right) * best[places[0]], lower[places[1]], upper[places[1]])
    return best
