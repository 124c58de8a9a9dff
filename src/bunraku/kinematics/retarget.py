"""Transfers the motion of one figure (the source) to another (the target), by names and proportions.

Orientations are taken relative to the rest stance, with both figures turned to face the same way. Each part of the target
takes the world orientation of the same part of the source, corrected for the different directions of their bones at rest;
joints with fewer than three rotations come as near as they can. The root follows the source's root, scaled by leg length.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuWarning, MotionError
from bunraku.figure.figure import Figure
from bunraku.figure.frame import WORLD
from bunraku.kinematics.aim import nearest_angles, shortest, turned
from bunraku.kinematics.anatomy import HIPS, Anatomy, BodyPart, anatomy
from bunraku.kinematics.forward import frames_along
from bunraku.kinematics.rest_stance import Stance
from bunraku.kinematics.ways import lengths_along, points_along
from bunraku.motion import Motion
from bunraku.motion.orientation import turns
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Match:
    """Which frame of the source moves which of the target."""

    pairs: dict[str, str]
    """Target's frame: source's frame, in the target's order."""
    source_only: tuple[str, ...]
    target_only: tuple[str, ...]
    """Joints of the target that nothing moves: they stay at their start."""


def match(source: Figure, target: Figure, names: Mapping[str, str] | None = None) -> Match:
    """Which frames of `source` move which of `target`, by their names.

    names: pairs to add or override, {source frame: target frame}. Raises `UnknownName` for frames that do not exist.
    """
    a, b = anatomy(source), anatomy(target)
    found = {b.carrier(part): a.carrier(twin) for part in b.joints if (twin := _twin(a, b, part)) is not None}
    found |= {target.frame(y).name: source.frame(x).name for x, y in (names or {}).items()}
    pairs = {frame.name: found[frame.name] for frame in target.frames if frame.name in found}
    moved = {frame for y in pairs for frame in _chain(target, b, y)}
    used = {frame for x in pairs.values() for frame in _chain(source, a, x)}
    return Match(pairs, _others(source, used), _others(target, moved))


def retarget(motion: Motion, onto: Figure, names: Mapping[str, str] | None = None) -> Motion:
    """A `motion` of one figure transferred to another, within its joint limits.

    onto: the figure that gets the motion.
    names: pairs of frames that cannot be found by their names, {source frame: target frame}; `match` shows all pairs.

    Returns a motion of `onto` at the same times. Spindles move along above their hooks, and strings stay taut. Warns of joints
    that nothing moves; raises `MotionError` where the two figures share no names.
    """
    source = motion.figure
    found = match(source, onto, names)
    if not found.pairs:
        raise MotionError(f"{source.name} and {onto.name} share no names", advice="give pairs: names={'LeftArm': 'lshoulder', …}")
    if found.target_only:
        listed = ", ".join(found.target_only)
        warnings.warn(f"nothing in {source.name} moves {listed} of {onto.name}", BunrakuWarning, stacklevel=2)
    following = _Following(motion, onto, found.pairs)
    return Motion.of(onto, motion.t, with_strings(onto, following.q()), marks=motion.marks)


# -- names -----------------------------------------------------------------------------------------------------


def _twin(a: Anatomy, b: Anatomy, part: BodyPart) -> BodyPart | None:
    """The part of the source `a` that moves a part of the target `b`."""
    twin, head, neck = part, BodyPart("", "head"), BodyPart("", "neck")
    if part in b.spine and a.spine:
        k, n, m = b.spine.index(part), len(b.spine), len(a.spine)
        twin = a.spine[max(round((k + 1) / n * m), 1) - 1]  # the topmost part of the source moves the topmost of the target
    elif part == neck and head not in b.joints and head in a.joints:
        twin = head  # a neck that carries the head looks where the head looks
    return twin if twin in a.joints else None


def _chain(figure: Figure, parts: Anatomy, carrier: str) -> tuple[str, ...]:
    """The rotating frames of the joint whose last frame is `carrier`."""
    for frames in parts.joints.values():
        if frames[-1] == carrier:
            return frames
    for joint in figure.joints:
        if joint.frames[-1] == carrier:
            return joint.frames[3:] if joint.kind == "free" else joint.frames
    return ()


def _others(figure: Figure, taken: set[str]) -> tuple[str, ...]:
    """Joints that turn and are not taken."""
    last = ((joint.name, joint.frames[-1], figure.frame(joint.frames[-1]).variable) for joint in figure.joints)
    return tuple(name for name, frame, v in last if frame not in taken and v is not None and v.motion == "rotate")


# -- following -------------------------------------------------------------------------------------------------


class _Following:
    """Computes the target's q from the root outward; each joint corrects for what those before it could not reach."""

    def __init__(self, motion: Motion, onto: Figure, pairs: dict[str, str]) -> None:
        self.figure, self.pairs = onto, pairs
        self.a, self.b = Stance(anatomy(motion.figure)), Stance(anatomy(onto))
        self.X = frames_along(motion.figure, motion.q)
        self.front = self.b.axes @ self.a.axes.T  # the rotation from the source's facing direction to the target's
        self.out = np.tile(onto.start, (len(motion), 1))
        self.part = {self.b.anatomy.carrier(part): part for part in self.b.anatomy.joints}
        self.turn = {turn.name: turn for turn in turns(onto)}
        self.chain = {y: _chain(onto, self.b.anatomy, y) for y in pairs}
        self.carrier = {frames[0]: y for y, frames in self.chain.items() if frames}
        self.R: dict[str, Array] = {WORLD: np.broadcast_to(np.eye(3), (len(motion), 3, 3))}

    def q(self) -> Array:
        for frame in self.figure.frames:
            if frame.name in self.carrier:
                self._solve(self.carrier[frame.name])
            R = self.R[frame.parent] @ so3.matrix(frame.rotation)
            if frame.variable is not None and frame.variable.motion in ("rotate", "screw"):
                R = R @ turned(frame.variable.axis, self.out[:, self.figure.index(frame.variable.name)])
            self.R[frame.name] = R
        self._move_root()
        return self.out

    def _solve(self, name: str) -> None:
        frames = [self.figure.frame(frame) for frame in self.chain[name]]
        variables = [frame.variable for frame in frames if frame.variable is not None]
        columns = self.figure.indices(v.name for v in variables)
        axes, between = np.array([v.axis for v in variables]), so3.matrix([frame.rotation for frame in frames])
        limits = self.figure.limits[0][columns], self.figure.limits[1][columns]
        local = self.R[frames[0].parent].swapaxes(1, 2) @ self._with_bend(name, self._desired(name))
        angles = self.out[:, columns]
        turn = self.turn.get(name)
        outside = np.ones(len(angles), bool)
        if turn is not None and np.array_equal(turn.columns, columns):
            angles = turn.along(between[0].T @ local, angles[0])
            outside = np.any((angles < limits[0]) | (angles > limits[1]), axis=1)
        angles[outside] = nearest_angles(axes, between, self._weighed(name, local[outside]), angles[outside], limits)
        self.out[:, columns] = angles

    def _weighed(self, name: str, R: Array) -> Array:
        """R, weighted for the case that it cannot be reached: the direction of the bone matters more than the twist about it."""
        part = self.part.get(name)
        bone = None if part is None else self.b.bone(part)
        if bone is None:
            return R
        own = self.b.X(name)[:3, :3].T @ bone / np.linalg.norm(bone)
        return np.asarray(R @ (0.2 * np.eye(3) + np.outer(own, own)))

    def _desired(self, name: str) -> Array:
        """The desired orientation: the source's rotation since rest, turned to the target's facing direction, and applied to the
        target's rest with its bone along the source's."""
        k = self.a.figure.frame_index[self.pairs[name]]
        since = self.X[:, k, :3, :3] @ self.a.frames[k, :3, :3].T
        return np.asarray(self.front @ since @ self.front.T @ self._laid(name) @ self.b.X(name)[:3, :3])

    def _laid(self, name: str) -> Array:
        """The rotation from the target's bone at rest to the source's; that of the part above, where one has no bone."""
        part = self.part.get(name)
        if part is None or not part.side:
            return np.eye(3)
        ours, theirs = self.b.bone(part), self.a.bone(part)
        if ours is not None and theirs is not None:
            return shortest(ours, self.front @ theirs)
        if part.name == "foot" or part.above not in self.b.anatomy.joints:
            return np.eye(3)
        return self._laid(self.b.anatomy.carrier(part.above))

    def _with_bend(self, name: str, desired: Array) -> Array:
        """`desired`, twisted about its bone so that the hinge below (elbow, knee) bends in the same plane as the source's."""
        part = self.part.get(name)
        below = None if part is None else part.below
        hinge = self.b.anatomy.joints.get(below) if below is not None else None
        if part is None or below is None or hinge is None or len(hinge) != 1 or hinge[0] not in self.pairs:
            return desired
        bone, next_bone, variable = self.b.bone(part), self.b.bone(below), self.figure.frame(hinge[0]).variable
        if bone is None or next_bone is None or variable is None:
            return desired
        now = desired @ self.b.X(name)[:3, :3].T
        u = now @ (bone / np.linalg.norm(bone))
        axis = now @ (self.b.X(hinge[0])[:3, :3] @ variable.axis)
        axis = axis - np.sum(axis * u, 1, keepdims=True) * u
        f = self._desired(hinge[0]) @ self.b.X(hinge[0])[:3, :3].T @ (next_bone / np.linalg.norm(next_bone))
        normal = np.cross(u, f)
        bend = np.linalg.norm(normal, axis=1, keepdims=True)
        one_way = variable.upper + variable.lower
        sign = np.sign(one_way if np.isfinite(one_way) and one_way else np.sum(normal * axis)) or 1.0
        # A straight limb has no such plane: there the twist is the source's.
        sure = np.clip(bend / 0.4, 0.0, 1.0) ** 2
        wanted = sure * sign * normal / np.maximum(bend, 1e-9) + (1.0 - sure) * axis
        angle = np.arctan2(np.sum(u * np.cross(axis, wanted), 1), np.sum(axis * wanted, 1))
        return np.asarray(turned(u, angle) @ desired)

    def _move_root(self) -> None:
        """The hips follow the source's hips, in proportion to the legs."""
        root = self.b.anatomy.joints.get(HIPS)
        slides = [] if root is None else _slides(self.figure, self.figure.frame(root[0]).parent)
        if root is None or HIPS not in self.a.anatomy.joints or not slides:
            return
        theirs, ours = self.a.hips(self.X), self.b.hips(self.b.frames)
        if theirs is None or ours is None:
            theirs = self.X[:, self.a.figure.frame_index[self.a.anatomy.carrier(HIPS)], :3, 3]
            ours = self.b.X(root[-1])[:3, 3]
        sizes = (self.b.leg, self.a.leg) if self.b.leg and self.a.leg else (self.b.height, self.a.height)
        scale = sizes[0] / sizes[1] if sizes[1] else 1.0
        X = self.b.X(root[-1])
        hips = X[:3, :3].T @ (ours - X[:3, 3])  # in the root's own axes
        place = scale * theirs @ self.front.T - self.R[root[-1]] @ hips
        for name in slides:
            variable = self.figure.frame(name).variable
            assert variable is not None
            axis = self.b.X(name)[:3, :3] @ variable.axis
            self.out[:, self.figure.index(variable.name)] = variable.start + (place - X[:3, 3]) @ axis


def _slides(figure: Figure, name: str) -> list[str]:
    """The frames that slide, from the frame `name` up to the world."""
    out = []
    while name != WORLD:
        frame = figure.frame(name)
        if frame.variable is not None and frame.variable.motion == "translate":
            out.append(name)
        name = frame.parent
    return out


def with_strings(figure: Figure, q: Array) -> Array:
    """Samples `q` (T, n) of `figure`, in place, with spindles above their hooks and strings just taut.

    Spindles that the puppeteer moves follow their hooks; each string is as long as the distance between its ends.
    """

    def hooks(q: Array) -> list[Array]:
        frames = frames_along(figure, q)
        return [points_along(figure, frames, rope.hook) for rope in figure.strings]

    for rope, now, start in zip(figure.strings, hooks(q), hooks(figure.start[None]), strict=True):
        moved = now - start
        for name in _slides(figure, rope.spindle.frame):
            variable = figure.frame(name).variable
            if variable is not None and variable.kinematic:
                q[:, figure.index(variable.name)] = variable.start + moved @ variable.axis
    own, reach = {variable.name for variable in figure.lengths}, lengths_along(figure, q)
    for k, rope in enumerate(figure.strings):
        if rope.variable in own:
            q[:, figure.index(rope.variable)] = rope.winding(reach[:, k])
    return q
