"""The text of a BVH file: a skeleton of nodes with channels, and a row of numbers for each sample."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError

Array = NDArray[np.float64]
BVH_CHANNELS = ("Xposition", "Yposition", "Zposition", "Xrotation", "Yrotation", "Zrotation")


@dataclass(frozen=True)
class BvhLimits:
    """How large a BVH file may be; what exceeds these numbers is a mistake."""

    bytes: int = 1 << 29
    """Size of the file."""
    joints: int = 5_000
    """Joints of the skeleton."""
    value: float = 1e9
    """Largest number, in degrees or in the file's unit of length."""


@dataclass(eq=False)
class BvhJoint:
    """A joint of the file, in the file's units and axes."""

    name: str
    parent: int
    offset: tuple[float, float, float] = (0.0, 0.0, 0.0)
    channels: tuple[str, ...] = ()
    ends: list[tuple[float, float, float]] = field(default_factory=list)


@dataclass(frozen=True, eq=False)
class Clip:
    """The content of a file: joints with parents first, `values` (samples, channels) in degrees and the file's units."""

    nodes: tuple[BvhJoint, ...]
    values: Array
    dt: float


class _Words:
    """The words of a text, one after the other, with the place of each."""

    def __init__(self, path: Path, text: str, limits: BvhLimits) -> None:
        self.path, self.lines, self.limits = path, text.splitlines(), limits
        self.row, self.column = 0, 0
        self.at = (0, 0)

    def refuse(self, message: str, advice: str, at: tuple[int, int] | None = None) -> FileError:
        row, column = at or self.at
        source = self.lines[row] if row < len(self.lines) else ""
        return FileError(message, path=str(self.path), line=row + 1, column=column + 1, source=source, advice=advice)

    def next(self, wanted: str) -> str:
        """The next word, or an error that says what was wanted instead of the end."""
        while self.row < len(self.lines):
            found = re.compile(r"[{}]|[^\s{}]+").search(self.lines[self.row], self.column)
            if found:
                self.at, self.column = (self.row, found.start()), found.end()
                return found[0]
            self.row, self.column = self.row + 1, 0
        last = max(len(self.lines) - 1, 0)
        end = (last, len(self.lines[last]) if self.lines else 0)
        raise self.refuse(f"the file ends before {wanted}", "was it cut off? copy or export it again", end)

    def expect(self, word: str, advice: str) -> None:
        got = self.next(word)
        if got.lower() != word.lower():
            raise self.refuse(f"expected {word}, got {_shown(got)}", advice)

    def rest_of_line(self) -> str:
        """A name, which may hold spaces; up to a brace or the end of the line."""
        found = re.compile(r"[^{}]*").match(self.lines[self.row], self.column)
        assert found
        self.at, self.column = (self.row, found.start()), found.end()
        return found[0].strip()

    def number(self, wanted: str) -> float:
        return self.value(self.next(wanted), wanted)

    def value(self, word: str, wanted: str) -> float:
        try:
            value = float(word)
        except ValueError:
            raise self.refuse(f"{_shown(word)} is not a number", f"{wanted} is a number such as 1.5") from None
        if not abs(value) <= self.limits.value:
            raise self.refuse(f"{_shown(word)} is out of range", f"{wanted} is a finite number up to {self.limits.value:g}")
        return value

    def vector(self) -> tuple[float, float, float]:
        return (self.number("OFFSET x"), self.number("OFFSET y"), self.number("OFFSET z"))

    def labelled(self, label: str) -> float:
        """The number after `Frames:` or `Frame Time:`, with or without blanks and colon."""
        for part in label.split():
            got = self.next(f"{label}:")
            word, _, rest = got.partition(":")
            if word.lower() != part.lower():
                raise self.refuse(f"expected {label}:, got {_shown(got)}", "MOTION, Frames: n, Frame Time: s, then the samples")
        number = f"the number of {label}"
        return self.value(rest or self.next(number).lstrip(":") or self.next(number), label)


def read_bvh(path: Path, *, limits: BvhLimits = BvhLimits()) -> Clip:
    """The skeleton and the numbers of the file at `path`; raises FileError if it is not BVH, or larger than `limits`."""
    try:
        size = path.stat().st_size
        if size > limits.bytes:
            message = f"the file is too large: {size >> 20} MB"
            raise FileError(message, path=str(path), advice=f"split it into files of at most {limits.bytes >> 20} MB")
        data = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=str(path), advice="check its name and permissions") from error
    return parse_bvh(path, data, limits=limits)


def parse_bvh(path: Path, data: bytes, *, limits: BvhLimits = BvhLimits()) -> Clip:
    """The skeleton and the numbers in `data`; `path` is for the messages, `limits` and errors are those of `read_bvh`."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("latin-1")  # an old encoding may distort names, but numbers are the same in all
    words = _Words(path, text, limits)
    words.expect("HIERARCHY", "a BVH file starts with the word HIERARCHY")
    nodes = _hierarchy(words)
    samples = words.labelled("Frames")
    at_count = words.at
    if samples < 0 or samples != int(samples):
        raise words.refuse(f"Frames: {samples:g} is not possible", "give a whole number of samples")
    dt = words.labelled("Frame Time")
    if dt <= 0.0:
        raise words.refuse(f"a Frame Time of {dt:g} s is not possible", "give the seconds between samples, such as 0.008333")
    width = sum(len(node.channels) for node in nodes)
    if not width:
        raise words.refuse("no joint has a channel", "add CHANNELS to the joints that move", at_count)
    values = _numbers(words, int(samples), width, at_count)
    return Clip(tuple(nodes), values, dt)


def _hierarchy(words: _Words) -> list[BvhJoint]:
    """Nodes up to the word MOTION."""
    nodes: list[BvhJoint] = []
    while True:
        word = words.next("ROOT or MOTION").upper()
        if word == "MOTION" and nodes:
            return nodes
        if word != "ROOT":
            raise words.refuse(f"expected {'MOTION' if nodes else 'ROOT'}, got {_shown(word)}", "ROOT Hips { … } MOTION …")
        _tree(words, nodes)


def _tree(words: _Words, nodes: list[BvhJoint]) -> None:
    """One ROOT with everything in it. A stack, not recursion: files may nest deeper than Python can recurse."""
    open_nodes = [_begin(words, nodes, -1)]
    while open_nodes:
        current = nodes[open_nodes[-1]]
        word = words.next(f"}} of {current.name}")
        match word.upper():
            case "OFFSET":
                current.offset = words.vector()
            case "CHANNELS":
                current.channels = _channels(words, current)
            case "JOINT":
                open_nodes.append(_begin(words, nodes, open_nodes[-1]))
            case "END":
                _end_site(words, current)
            case "}":
                open_nodes.pop()
            case _:
                raise words.refuse(f"{_shown(word)} inside {current.name}", "a joint holds OFFSET, CHANNELS, JOINT, End Site and }")


def _begin(words: _Words, nodes: list[BvhJoint], parent: int) -> int:
    name = words.rest_of_line()
    if not name:
        raise words.refuse("a joint without a name", "write the name after ROOT or JOINT, on the same line")
    if len(nodes) >= words.limits.joints:
        raise words.refuse(f"more than {words.limits.joints} joints", "is this a skeleton?")
    words.expect("{", f"open the joint {name} with {{")
    nodes.append(BvhJoint(name, parent))
    return len(nodes) - 1


def _end_site(words: _Words, node: BvhJoint) -> None:
    words.rest_of_line()
    words.expect("{", "End Site { OFFSET x y z }")
    word = words.next("OFFSET of the End Site")
    if word.upper() == "OFFSET":
        node.ends.append(words.vector())
        word = words.next("} of the End Site")
    if word != "}":
        raise words.refuse(f"expected }}, got {_shown(word)}", "End Site { OFFSET x y z }")


def _channels(words: _Words, node: BvhJoint) -> tuple[str, ...]:
    count = words.number("the number of channels")
    if count not in range(7):
        raise words.refuse(f"{count:g} channels", "a joint has 0 to 6 channels")
    if node.channels:
        raise words.refuse(f"{node.name} has CHANNELS twice", "keep one of them")
    out: list[str] = []
    for _ in range(int(count)):
        word = words.next("a channel")
        channel = next((name for name in BVH_CHANNELS if name.lower() == word.lower()), None)
        if channel is None:
            wanted = f"CHANNELS says {int(count)}" if word.upper() in ("JOINT", "END", "}") else "no such channel"
            raise words.refuse(f"{_shown(word)}: {wanted}", f"channels are {', '.join(BVH_CHANNELS)}")
        if channel in out:
            raise words.refuse(f"{node.name} has {channel} twice", "list each channel of a joint once")
        out.append(channel)
    return tuple(out)


def _numbers(words: _Words, samples: int, width: int, at_count: tuple[int, int]) -> Array:
    lines = words.lines[words.row :]
    if lines:
        lines[0] = lines[0][words.column :].rjust(len(lines[0]))  # blanks keep the columns right for messages
    parts: list[Array] = []
    block = 4_000  # lines turned into numbers at a time, so that large files do not fill the memory
    for start in range(0, len(lines), block):
        try:
            parts.append(np.array(list(map(float, " ".join(lines[start : start + block]).split())), float))
        except ValueError:
            raise _bad_number(words, lines, start) from None
    values = np.concatenate([np.zeros(0), *parts])
    if not (np.abs(values) <= words.limits.value).all():
        raise _bad_number(words, lines, 0)
    if values.size != samples * width:
        raise _bad_count(words, lines, samples, width, at_count)
    return values.reshape(samples, width)


def _bad_number(words: _Words, lines: list[str], start: int) -> FileError:
    for k in range(start, len(lines)):
        for found in re.finditer(r"\S+", lines[k]):
            words.at = (words.row + k, found.start())
            try:
                words.value(found[0], "every value of a sample")
            except FileError as error:
                return error
    raise AssertionError("every number is good")


def _bad_count(words: _Words, lines: list[str], samples: int, width: int, at_count: tuple[int, int]) -> FileError:
    for k, line in enumerate(lines):
        count = len(line.split())
        if count not in (0, width):
            at = (words.row + k, len(line.rstrip()))
            advice = "each sample is one line with a number for every channel; was the file cut off?"
            return words.refuse(f"{count} numbers in a sample of {width} channels", advice, at)
    found = sum(1 for line in lines if line.strip())
    return words.refuse(f"Frames: says {samples}, but {found} samples follow", f"write Frames: {found}", at_count)


def _shown(word: str) -> str:
    return repr(word if len(word) <= 30 else word[:30] + "…")
