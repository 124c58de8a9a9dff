"""Which joint of a figure is which part of a body, by the names that are common in skeletons."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property

from bunraku.figure.figure import Figure
from bunraku.figure.frame import Frame

# For each part of a body the names that may mean it, without side and numbers, the likeliest first.
_TRUNK = {
    "hips": "hips hip pelvis torso trunk root base lower_torso",
    "spine": "spine lower_back waist abdomen back lower_spine upper_spine chest upper_chest thorax upper_torso",
    "neck": "neck",
    "head": "head skull",
}
_SIDED = {
    "clavicle": "clavicle collar collar_bone shoulder",
    "upper_arm": "arm up_arm upper_arm humerus shoulder",
    "forearm": "forearm fore_arm lower_arm low_arm elbow radius",
    "hand": "hand wrist",
    "thigh": "up_leg upper_leg thigh femur hip leg",
    "shin": "leg low_leg lower_leg shin calf knee tibia",
    "foot": "foot ankle",
    "toe": "toe toes toe_base",
}
_LIMBS = (("clavicle", "upper_arm", "forearm", "hand"), ("thigh", "shin", "foot", "toe"))
"""Parts of the limbs, from the trunk outward."""


@dataclass(frozen=True)
class BodyPart:
    """A part of the body."""

    side: str
    """"left", "right", or "" for the trunk."""
    name: str
    """"hips", "spine 0", "forearm" …"""

    @property
    def below(self) -> BodyPart | None:
        """The next part of the limb, outward: the forearm of an upper arm."""
        return self._next(1)

    @property
    def above(self) -> BodyPart | None:
        """The next part of the limb, toward the trunk."""
        return self._next(-1)

    def _next(self, way: int) -> BodyPart | None:
        for limb in _LIMBS:
            if self.name in limb and 0 <= (k := limb.index(self.name) + way) < len(limb):
                return BodyPart(self.side, limb[k])
        return None

    def __str__(self) -> str:
        return f"{self.side} {self.name}".strip()


HIPS = BodyPart("", "hips")


@dataclass(frozen=True, eq=False)
class Anatomy:
    """Which frames of a figure are which parts of a body."""

    figure: Figure
    joints: dict[BodyPart, tuple[str, ...]]
    """The rotating frames of each part, first to last."""
    places: dict[BodyPart, str]
    """The frame where each part begins."""

    def carrier(self, part: BodyPart) -> str:
        """The frame that turns with `part`."""
        return self.joints[part][-1]

    @cached_property
    def spine(self) -> tuple[BodyPart, ...]:
        """Parts of the spine, from below."""
        return tuple(part for part in self.joints if part.name.startswith("spine"))


def anatomy(figure: Figure) -> Anatomy:
    """The parts of `figure`, as far as the names of its frames tell."""
    turning = [frame.name for frame in figure.frames if frame.variable is not None and _turns(frame)]
    joints: dict[BodyPart, list[str]] = {}
    known = {name: _read(name) for name in turning}
    for name, frames in _runs(figure, turning, known):
        part = _part(name, known.values())
        if part is not None and part.name == "spine":
            part = BodyPart("", f"spine {sum(p.name.startswith('spine') for p in joints)}")
        if part is not None:
            joints.setdefault(part, frames)
    free = next((group for group in figure.groups if group.kind == "free"), None)
    if free is not None and HIPS not in joints:
        base = list(free.frames[3:])
        joints = {HIPS: base} | {part: frames for part, frames in joints.items() if frames != base}
    places = {part: frames[-1] for part, frames in joints.items()}
    for frame in figure.frames:
        part = _part(_read(frame.name), known.values()) if frame.variable is None else None
        if part is not None and part.name != "spine":
            places.setdefault(part, frame.name)
    return Anatomy(figure, {part: tuple(frames) for part, frames in joints.items()}, places)


def _turns(frame: Frame) -> bool:
    return frame.variable is not None and frame.variable.motion == "rotate"


def _runs(figure: Figure, turning: list[str], known: dict[str, tuple[str, str]]) -> list[tuple[tuple[str, str], list[str]]]:
    """Frames of one joint: each is the parent of the next, and they share name and side."""
    out: list[tuple[tuple[str, str], list[str]]] = []
    ending: dict[str, list[str]] = {}
    for name in turning:
        parent = figure.frame(name).parent
        run = ending.get(parent)
        if run is None or known[name] != known[run[-1]] or len(run) == 3:
            run = []
            out.append((known[name], run))
        run.append(name)
        ending[name] = run
    return out


def _read(name: str) -> tuple[str, str]:
    """Side and plain words: mixamorig:LeftUpLeg is ("left", "up_leg"), and rhip_rx is ("right", "hip")."""
    plain = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", name.split(":")[-1])
    plain = re.sub(r"(?<=[A-Z])(?=[A-Z][a-z])", "_", plain).lower()
    ignored = {"joint", "frame", "link", "bone", "yaw", "roll", "pitch", "rx", "ry", "rz", "j"}
    words = [w for w in re.split(r"[^a-z]+", plain) if w and w not in ignored]
    side = ""
    for k, word in enumerate(words):
        long, rest = re.match(r"(left|right|l(?=$)|r(?=$))?(.*)", word).groups()  # type: ignore[union-attr]
        if long:
            side = "left" if long[0] == "l" else "right"
            words[k] = rest
            break
    words = [word for word in words if word]
    if not side and words and words[0][0] in "lr" and words[0][1:] in _words():
        side, words[0] = ("left" if words[0][0] == "l" else "right"), words[0][1:]
    return side, "_".join(words)


def _words() -> set[str]:
    return {word for words in _SIDED.values() for word in words.split()}


def _part(read: tuple[str, str], all_read: Iterable[tuple[str, str]]) -> BodyPart | None:
    side, words = read
    not_limbs = {"thumb", "index", "middle", "ring", "pinky", "finger", "end", "spindle", "string", "eye", "jaw"}
    if set(words.split("_")) & not_limbs or not words:
        return None
    table = _SIDED if side else _TRUNK
    meant = [part for part, synonyms in table.items() if words in synonyms.split()]
    # A word that may mean two parts means the first if another joint has a clearer name for the second, else the second.
    either = {"shoulder": ("clavicle", "upper_arm"), "leg": ("shin", "thigh")}
    if side and words in either:
        first, second = either[words]
        better = {w for w in _SIDED[second].split() if w != words}
        meant = [first] if any(s == side and w in better for s, w in all_read) else [second]
    elif side and words == "hip" and any(s == side and w in {"up_leg", "upper_leg", "thigh", "femur"} for s, w in all_read):
        meant = []  # in CMU's skeletons, a joint between hips and thigh that does not move
    return BodyPart(side, meant[0]) if meant else None
