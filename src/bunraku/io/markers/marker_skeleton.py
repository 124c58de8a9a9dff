"""A skeleton in a cloud of markers: joint centres and segments from landmarks of the body.

Hip joints are where Bell and others (1990) found them, in proportion to the pelvis. Knees and ankles are between their markers,
or half their width inward; where they have none, they are the points that stay fixed in the markers above and below them
(Ehrig and others, 2006). Bones keep their mean lengths. At rest the body stands upright with its arms hanging, and looks along y.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.io.markers.landmarks import cluster, landmarks
from bunraku.io.markers.marker_cloud import MarkerCloud
from bunraku.io.rig import Rig
from bunraku.kinematics.aim import shortest

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BodyOptions:
    """Measures of a person that markers do not show."""

    hip_back: float = 0.19
    """How far hip joints are behind the markers on the front of the hips, over the distance of these."""
    hip_down: float = 0.30
    """How far below them, over the same."""
    hip_out: float = 0.36
    """How far to each side, over the same."""
    knee_width: float = 0.10
    """Width of a knee [m], where only its outer side has a marker."""
    ankle_width: float = 0.07
    """Width of an ankle [m], where only its outer side has a marker."""
    shoulder_drop: float = 0.05
    """How far a shoulder joint is below its marker [m]."""
    waist: float = 0.5
    """How far the joint of the spine is above the hip joints, over the distance of the markers on the front of the hips."""
    least_seen: float = 0.3
    """Markers that are seen in a smaller part of the samples are not used."""


def upright(cloud: MarkerCloud, up: str | None) -> tuple[Array, Array]:
    """The rotation (3, 3) that takes the axis `up` of a `cloud` to z, and its points (T, n, 3) [m] after it, gaps filled.

    Where `up` is None, it is the axis along which the trunk is above the legs, or else the one that the file names.
    """
    points = filled(cloud.points)
    axis = np.zeros(3)
    if up is not None:
        axis["xyz".index(up)] = 1.0
    else:
        found = {mark: points[:, cloud.names.index(name)] for mark, name in landmarks(cloud.names).items()}
        low = [p for mark, p in found.items() if any(word in mark for word in ("knee", "ankle", "heel", "toe"))]
        high = [p for mark, p in found.items() if any(word in mark for word in ("hip", "shoulder", "head", "nape", "sacrum"))]
        if low and high:
            rise = np.median(np.mean(high, 0) - np.mean(low, 0), axis=0)
            k = int(np.argmax(np.abs(rise)))
            axis[k] = np.sign(rise[k]) or 1.0
        else:
            axis["xyz".index(cloud.up)] = 1.0
    R = shortest(axis, [0.0, 0.0, 1.0])
    return R, points @ R.T


def filled(points: Array) -> Array:
    """The `points` (T, n, 3) with straight lines through gaps; before a marker is seen first, and after the last, it is at rest."""
    out = np.array(points)
    samples = np.arange(len(out))
    for k in range(out.shape[1]):
        seen = np.isfinite(out[:, k]).all(-1)
        if seen.any() and not seen.all():
            out[:, k] = np.stack([np.interp(samples, samples[seen], out[seen, k, axis]) for axis in range(3)], 1)
    return out


def body_rig(cloud: MarkerCloud, points: Array, name: str, options: BodyOptions = BodyOptions()) -> Rig | None:
    """The skeleton in a `cloud`, or None where its pelvis, or all else, cannot be found.

    points: those of the cloud (T, n, 3) [m], z up and without gaps
    name: of the skeleton
    options: measures of a person
    """
    seen = np.isfinite(cloud.points).all(-1).mean(0) >= options.least_seen
    names = [marker for marker, usable in zip(cloud.names, seen, strict=True) if usable]
    place = {marker: points[:, k] for k, marker in enumerate(cloud.names) if seen[k]}
    body = _Body({mark: place[marker] for mark, marker in landmarks(names).items()}, place, options)
    if not body.pelvis():
        return None
    body.trunk()
    for side in ("left", "right"):
        body.leg(side)
        body.arm(side)
    proper = all(np.allclose(np.linalg.det(axes), 1.0, atol=1e-6) for axes in body.axes.values())  # no markers on top of each other
    return body.rig(name) if len(body.joints) > 2 and proper else None


class _Body:
    """Grows from the pelvis outward. Axes of segments: x to the right, y ahead, z up, while the body stands."""

    def __init__(self, marks: dict[str, Array], place: dict[str, Array], options: BodyOptions) -> None:
        self.marks, self.place, self.options = marks, place, options
        self.joints: dict[str, Array] = {}
        self.axes: dict[str, Array] = {}
        self.parent: dict[str, str] = {}

    def add(self, joint: str, parent: str, centre: Array, axes: Array) -> None:
        self.joints[joint], self.axes[joint], self.parent[joint] = centre, axes, parent

    def middle(self, *marks: str) -> Array | None:
        found = [self.marks[mark] for mark in marks if mark in self.marks]
        return np.mean(found, 0) if found else None

    def pelvis(self) -> bool:
        left, right = (self.marks.get(f"{side} front of the hip") for side in ("left", "right"))
        behind = self.middle("left back of the hip", "right back of the hip")
        behind = behind if behind is not None else self.marks.get("sacrum")
        if left is None or right is None:
            return False
        front = (left + right) / 2
        ahead = front - behind if behind is not None else self._trunk_ahead()
        if ahead is None:
            return False
        self.width = float(np.median(np.linalg.norm(right - left, axis=1)))
        axes = _axes(right - left, ahead, first=0)
        x, y, z = np.moveaxis(axes, -1, 0)
        o, w = self.options, self.width
        self.hips = {side: front - o.hip_back * w * y - o.hip_down * w * z + sign * o.hip_out * w * x
                     for side, sign in (("left", -1.0), ("right", 1.0))}  # fmt: skip
        self.add("Hips", "", (self.hips["left"] + self.hips["right"]) / 2, axes)
        return True

    def _trunk_ahead(self) -> Array | None:
        chest, back = self.marks.get("chest"), self.middle("nape", "back")
        return None if chest is None or back is None else chest - back

    def trunk(self) -> None:
        left, right = (self.marks.get(f"{side} shoulder") for side in ("left", "right"))
        if left is None or right is None:
            return
        hips, pelvis = self.joints["Hips"], self.axes["Hips"]
        waist = hips + self.options.waist * self.width * pelvis[..., 2]
        neck = self.middle("nape", "chest")
        neck = neck if neck is not None else (left + right) / 2
        axes = _axes(neck - waist, right - left, first=2, second=0)
        self.add("Spine", "Hips", waist, axes)
        head = self.middle(*(mark for mark in self.marks if "head" in mark))
        self.add("Neck", "Spine", neck, axes)
        if head is not None:
            self.add("Head", "Neck", head, self._head_axes(axes))

    def _head_axes(self, spine: Array) -> Array:
        front = self.middle("left front of the head", "right front of the head")
        back = self.middle("left back of the head", "right back of the head")
        left, right = (self.middle(f"{side} front of the head", f"{side} back of the head") for side in ("left", "right"))
        if front is None or back is None or left is None or right is None:
            return spine
        return _axes(right - left, front - back, first=0)

    def leg(self, side: str) -> None:
        hip, pelvis = self.hips[side], self.axes["Hips"]
        knee, knee_axis = self._hinge(side, "knee", self.options.knee_width, hip, pelvis[..., 0])
        knee = knee if knee is not None else self._between(side, "thigh", "shank")
        if knee is None:
            return
        Side = side.capitalize()
        thigh = _axes(hip - knee, knee_axis, first=2, second=0)
        self.add(f"{Side}UpLeg", "Hips", hip, thigh)
        ankle, ankle_axis = self._hinge(side, "ankle", self.options.ankle_width, knee, thigh[..., 0])
        ankle = ankle if ankle is not None else self._between(side, "shank", "foot")
        shin = thigh if ankle is None else _axes(knee - ankle, ankle_axis, first=2, second=0)
        self.add(f"{Side}Leg", f"{Side}UpLeg", knee, shin)
        toe, heel = self.marks.get(f"{side} toe"), self.marks.get(f"{side} heel")
        if ankle is None:
            return
        ahead = None if toe is None else toe - (heel if heel is not None else ankle)
        foot = shin if ahead is None else _axes(ahead, shin[..., 0], first=1, second=0)
        self.add(f"{Side}Foot", f"{Side}Leg", ankle, foot)
        if toe is not None:
            self.add(f"{Side}ToeBase", f"{Side}Foot", toe, foot)

    def arm(self, side: str) -> None:
        elbow = self.middle(f"{side} outer elbow", f"{side} inner elbow")
        if "Spine" not in self.joints or elbow is None:
            return
        Side, spine = side.capitalize(), self.axes["Spine"]
        shoulder = self.marks[f"{side} shoulder"] - self.options.shoulder_drop * spine[..., 2]
        outer, inner = (self.marks.get(f"{side} {where} elbow") for where in ("outer", "inner"))
        sign = 1.0 if side == "right" else -1.0
        across = spine[..., 0] if outer is None or inner is None else sign * (outer - inner)
        upper = _axes(shoulder - elbow, across, first=2, second=0)
        self.add(f"{Side}Arm", "Spine", shoulder, upper)
        wrist = self.middle(f"{side} outer wrist", f"{side} inner wrist")
        lower = upper if wrist is None else _axes(elbow - wrist, upper[..., 0], first=2, second=0)
        self.add(f"{Side}ForeArm", f"{Side}Arm", elbow, lower)
        hand = self.marks.get(f"{side} hand")
        if wrist is not None:
            own = lower if hand is None else _axes(wrist - hand, lower[..., 0], first=2, second=0)
            self.add(f"{Side}Hand", f"{Side}ForeArm", wrist, own)

    def _hinge(self, side: str, joint: str, width: float, above: Array, right: Array) -> tuple[Array | None, Array]:
        """The centre of a knee or ankle, and its axis, to the right."""
        outer, inner = (self.marks.get(f"{side} {where} {joint}") for where in ("outer", "inner"))
        sign = 1.0 if side == "right" else -1.0
        if outer is None:
            return inner, right
        if inner is not None:
            return (outer + inner) / 2, sign * (outer - inner)
        along = _unit(outer - above)
        inward = -sign * _unit(right - np.sum(right * along, 1, keepdims=True) * along)
        return outer + width / 2 * inward, right

    def _between(self, side: str, above: str, below: str) -> Array | None:
        """The point that stays fixed in two clusters of markers, if both have at least three."""
        clusters = [np.stack([self.place[m] for m in cluster(self.place, side, part)], 1) if cluster(self.place, side, part) else
                    np.zeros((1, 0, 3)) for part in (above, below)]  # fmt: skip
        return None if min(part.shape[1] for part in clusters) < 3 else fixed_point(*clusters)

    def rig(self, name: str) -> Rig:
        """Bones with their mean lengths; where they add up to other places than the markers show, the orientations count."""
        bones = list(self.joints)
        parents = [bones.index(self.parent[bone]) if self.parent[bone] else -1 for bone in bones]
        rest = np.tile(np.eye(4), (len(bones), 1, 1))
        X = np.tile(np.eye(4), (len(self.joints["Hips"]), len(bones), 1, 1))
        rest[0, 2, 3] = np.median(self.joints["Hips"][:, 2])
        X[:, 0, :3, 3] = self.joints["Hips"]
        for k, (bone, parent) in enumerate(zip(bones, parents, strict=True)):
            X[:, k, :3, :3] = self.axes[bone]
            if parent >= 0:
                step = self.joints[bone] - self.joints[bones[parent]]
                offset = np.median(np.einsum("tji,tj->ti", self.axes[bones[parent]], step), axis=0)
                rest[k, :3, 3] = rest[parent, :3, 3] + offset
                X[:, k, :3, 3] = X[:, parent, :3, 3] + self.axes[bones[parent]] @ offset
        return Rig(name, tuple(bones), tuple(parents), rest, X)


def fixed_point(above: Array, below: Array) -> Array:
    """The point (T, 3) that stays as fixed as it can in two clusters of markers (T, n, 3) and (T, m, 3), `above` and `below`.

    Least squares of |R c + t − S d − s| over points c and d of the clusters. Along the axis of a hinge nothing is known: there the
    point stays half-way between the clusters.
    """
    (R, t), (S, s) = _placed(above), _placed(below)
    half = (above.mean(1) + below.mean(1)) / 2
    c = np.mean(np.einsum("tji,tj->ti", R, half - t), 0)
    d = np.mean(np.einsum("tji,tj->ti", S, half - s), 0)
    A = np.concatenate([R, -S], 2).reshape(-1, 6)
    gap = (S @ d + s - R @ c - t).reshape(-1)
    change = np.linalg.lstsq(A, gap, rcond=0.1)[0]
    return np.asarray((R @ (c + change[:3]) + t + S @ (d + change[3:]) + s) / 2)


def _placed(points: Array) -> tuple[Array, Array]:
    """The rotations (T, 3, 3) and positions (T, 3) of a cluster of markers, relative to its first sample (Kabsch)."""
    centre = points.mean(1)
    own, moved = points[0] - centre[0], points - centre[:, None]
    U, _, V = np.linalg.svd(np.einsum("tni,nj->tij", moved, own))
    flip = np.ones((len(points), 3))
    flip[:, 2] = np.sign(np.linalg.det(U @ V))
    return (U * flip[:, None]) @ V, centre


def _unit(v: Array) -> Array:
    return np.asarray(v / np.maximum(np.linalg.norm(v, axis=-1, keepdims=True), 1e-9))


def _axes(main: Array, other: Array, *, first: int, second: int = 1) -> Array:
    """Right-handed axes (T, 3, 3): number `first` along `main`, number `second` near `other`."""
    a = _unit(main)
    b = _unit(other - np.sum(other * a, -1, keepdims=True) * a)
    third = 3 - first - second
    sign = 1.0 if (first, second) in ((0, 1), (1, 2), (2, 0)) else -1.0
    out = np.zeros((*main.shape, 3))
    out[..., first], out[..., second], out[..., third] = a, b, sign * np.cross(a, b)
    return out
