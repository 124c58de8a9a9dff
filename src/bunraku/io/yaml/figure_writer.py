"""Figure → the tree of words that its file holds: exact, and as readable as possible.

A frame is nested in its parent where that keeps the order of the frames, and so of the variables; otherwise frames are
listed flat. A shorter form (a `ball`, a `spindle`, `to`, `rpy`) is used only where it gives the same figure again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from bunraku.errors import FigureError
from bunraku.figure import WORLD, Body, Figure, Frame, Joint, Shape, Variable, build
from bunraku.figure.frame import axis_letter
from bunraku.io.yaml.figure_frames import VARIABLE_WORDS
from bunraku.io.yaml.joins_writer import joins_words
from bunraku.io.yaml.shape_writer import attached_words, body_words, pose_words, shape_words

Words = dict[str, Any]
Part = TypeVar("Part", bound=Body | Shape)


@dataclass(frozen=True)
class FrameEntry:
    """Frames that one entry of the file makes, with its words."""

    frames: tuple[Frame, ...]
    words: Words
    joint: Joint | None = None

    @property
    def name(self) -> str:
        """The name of the last frame, to which children are fixed."""
        return self.frames[-1].name

    @property
    def parent(self) -> str:
        """The name of the frame that is the entry's parent."""
        return self.frames[0].parent


def figure_tree(figure: Figure, folder: Path | None = None) -> Words:
    """The words of the file of a `figure`; `folder` is where the file will be."""
    damping = _common_damping(figure)
    entries, joints = _entries(figure, damping)
    bodies, first_bodies, last_bodies = _shared_out(figure.bodies, entries)
    shapes, first_shapes, last_shapes = _shared_out(figure.shapes, entries)
    for entry in entries:
        entry.words.update(attached_words(bodies.get(entry.name, []), shapes.get(entry.name, []), folder))
    tree: Words = {"figure": figure.name}
    tree |= {"gravity": figure.gravity} if figure.gravity != (0.0, 0.0, -9.81) else {}
    tree |= {"damping": damping} if damping else {}
    tree |= _apart(first_bodies, first_shapes, folder)
    tree |= {"frames": _nested(entries) if _is_nested(entries) else [_beside(e.parent, e.words) for e in entries]}
    tree |= _apart(last_bodies, last_shapes, folder)
    tree |= {"joints": [{joint.kind: joint.name, "frames": joint.frames} for joint in joints]} if joints else {}
    return tree | joins_words(figure)


def _apart(bodies: Sequence[Body], shapes: Sequence[Shape], folder: Path | None) -> Words:
    """Parts that are listed outside of the frames that they are fixed in."""
    out: Words = {"bodies": [_beside(b.frame, body_words(b), "frame") for b in bodies]} if bodies else {}
    return out | ({"shapes": [_beside(s.frame, shape_words(s, folder), "frame") for s in shapes]} if shapes else {})


def _beside(parent: str, words: Words, word: str = "parent") -> Words:
    """An entry that names its parent, right after its own name."""
    head, *rest = words.items()
    return dict([head, *([] if parent == WORLD else [(word, parent)]), *rest])


def _shared_out(parts: Sequence[Part], entries: Sequence[FrameEntry]) -> tuple[dict[str, list[Part]], list[Part], list[Part]]:
    """Bodies or shapes by frame, and those listed before and after the frames.

    If listing them by frame would change their order, all are listed after the frames.
    """
    inside = {entry.name for entry in entries}
    by_frame: dict[str, list[Part]] = {}
    for part in parts:
        by_frame.setdefault(part.frame, []).append(part)
    within: list[Part] = [part for entry in entries for part in by_frame.get(entry.name, [])]
    outside: list[Part] = [part for part in parts if part.frame not in inside]
    if [*within, *outside] == list(parts):
        return by_frame, [], outside
    if [*outside, *within] == list(parts):
        return by_frame, outside, []
    return {}, [], list(parts)


# -- nested or flat --------------------------------------------------------------------------------------------------


def _is_nested(entries: Sequence[FrameEntry]) -> bool:
    """Whether entries can be nested in their order: each parent is still open when its child follows, and none is too deep."""
    open_: list[str] = [WORLD]
    for entry in entries:
        while open_ and open_[-1] != entry.parent:
            open_.pop()
        if not open_ or len(open_) > 16:  # deeper nesting is hard to read
            return False
        open_.append(entry.name)
    return True


def _nested(entries: Sequence[FrameEntry]) -> list[Words]:
    top: list[Words] = []
    words = {entry.name: entry.words for entry in entries}
    for entry in entries:
        (top if entry.parent == WORLD else words[entry.parent].setdefault("frames", [])).append(entry.words)
    return top


# -- frames ----------------------------------------------------------------------------------------------------------


def _entries(figure: Figure, damping: float) -> tuple[list[FrameEntry], Sequence[Joint]]:
    """Frames as entries, and the joints that must be listed apart because no entry makes them."""
    entries = list(_grouped(figure, figure.groups, damping))
    made = [entry.joint for entry in entries if entry.joint is not None]
    rest = [joint for joint in figure.groups if joint not in made]
    if (*made, *rest) == figure.groups:
        return entries, rest
    return list(_grouped(figure, (), damping)), figure.groups


def _grouped(figure: Figure, groups: Iterable[Joint], damping: float) -> Iterable[FrameEntry]:
    joints = {joint.frames[0]: joint for joint in groups}
    k = 0
    while k < len(figure.frames):
        frame = figure.frames[k]
        joint = joints.get(frame.name)
        entry = _joint(figure.frames[k : k + len(joint.frames)], joint, damping) if joint is not None else None
        entry = entry or _spindle(figure.frames[k : k + 3], damping) or _single(frame, damping)
        yield entry
        k += len(entry.frames)


def _single(frame: Frame, damping: float) -> FrameEntry:
    pose, variable = pose_words(frame.position, frame.rotation), frame.variable
    if variable is None:
        return FrameEntry((frame,), {"fixed": frame.name, **pose})
    letter = axis_letter(variable.axis)
    words: Words
    match variable.motion:
        case "rotate" | "translate" if letter is not None:
            words = {f"{variable.motion[0]}{letter}": frame.name}
        case "rotate" | "translate":
            words = {variable.motion: frame.name, "axis": variable.axis}
        case "screw":
            words = {"screw": frame.name, "axis": letter or variable.axis, "pitch": variable.pitch}
        case _:
            raise FigureError("a length moves no frame", kind="frame", name=frame.name, advice="make it one of the lengths")
    named = {} if variable.name == frame.name else {"variable": variable.name}
    return FrameEntry((frame,), words | pose | named | _variable_words(variable, damping))


def _joint(frames: Sequence[Frame], joint: Joint, damping: float) -> FrameEntry | None:
    """A ball or free joint, if its frames and variables have the names that those words give them."""
    variables = [frame.variable for frame in frames if frame.variable is not None]
    each = [_variable_words(v, damping) for v in variables]
    words: Words = {}
    for word in VARIABLE_WORDS:
        if not any(word in own for own in each):
            continue
        values = [own.get(word, _default(word)) for own in each]
        same = word != "start" and all(value == values[0] for value in values)
        words[word] = values[0] if same else values
    make = build.ball if joint.kind == "ball" else build.free
    pose = pose_words(frames[0].position, frames[0].rotation)
    entry = FrameEntry(tuple(frames), {joint.kind: joint.name, **pose, **words}, joint)
    return entry if _gives(make(joint.name, **pose, **words), entry, damping) else None


def _spindle(frames: Sequence[Frame], damping: float) -> FrameEntry | None:
    """The entry of a spindle, if these frames begin with one."""
    last = next((k for k, frame in enumerate(frames) if frame.name.endswith("_spindle")), None)
    if last is None:
        return None
    frames, name = frames[: last + 1], frames[last].name.removesuffix("_spindle")
    variables = [frame.variable for frame in frames if frame.variable is not None]
    moves = [axis_letter(v.axis) or "?" for v in variables]
    if not name or len(variables) != len(frames) or not set(moves) <= set("xyz") or len(set(moves)) < len(moves):
        return None
    at = list(frames[0].position)
    for letter, variable in zip(moves, variables, strict=True):
        at["xyz".index(letter)] = variable.start
    own = _variable_words(variables[0], damping)
    words: Words = {word: value for word, value in own.items() if word not in ("start", "kinematic")}
    words |= {} if variables[0].kinematic else {"kinematic": False}
    words = {"at": at, **({} if moves == ["x", "y"] else {"moves": "".join(moves)}), **words}
    entry = FrameEntry(tuple(frames), {"spindle": name, **words})
    return entry if _gives(build.spindle(name, **words), entry, damping) else None


def _gives(node: build.FrameNode, entry: FrameEntry, damping: float) -> bool:
    """Whether a shorter form makes the same frames."""
    parents = [entry.parent, *(frame.name for frame in entry.frames[:-1])]
    made = [replace(frame, parent=parent) for frame, parent in zip(node.frames, parents, strict=False)]
    return [_damped(frame, damping) for frame in made] == list(entry.frames)


def _damped(frame: Frame, damping: float) -> Frame:
    v = frame.variable
    if v is None or v.kinematic or v.damping:
        return frame
    return replace(frame, variable=replace(v, damping=damping))


# -- variables -------------------------------------------------------------------------------------------------------


def _default(word: str) -> Any:
    """What a variable has where the file does not give this word."""
    return (Variable.lower, Variable.upper) if word == "limits" else getattr(Variable, word)


def _variable_words(v: Variable, damping: float) -> Words:
    """The words of a variable that differ from the defaults."""
    values: Words = {word: getattr(v, word) for word in VARIABLE_WORDS if word != "limits"}
    values["limits"] = (v.lower, v.upper)
    if not v.kinematic and v.damping == damping:
        values["damping"] = 0.0
    return {word: values[word] for word in VARIABLE_WORDS if values[word] != _default(word)}


def _common_damping(figure: Figure) -> float:
    """The damping that most dynamic variables have, if all have some and several the same."""
    dampings = [f.variable.damping for f in figure.frames if f.variable is not None and not f.variable.kinematic]
    if len(dampings) < 2 or not all(dampings):
        return 0.0
    value, times = Counter(dampings).most_common(1)[0]
    return value if times > 1 else 0.0
