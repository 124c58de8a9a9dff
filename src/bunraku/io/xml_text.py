"""XML whose elements know their place in the file, so that every error points at it.

Documents with a DOCTYPE are refused, so that entities cannot expand without limit, and nothing outside the file is read.
"""

from __future__ import annotations

import codecs
import math
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from xml.parsers import expat

from bunraku.errors import FigureError, FileError

_XML_NUMBER = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?|[+-]?inf(inity)?|nan", re.IGNORECASE | re.ASCII)


@dataclass(frozen=True)
class XmlLimits:
    """How large an XML file may be."""

    bytes: int = 20_000_000
    """Size of the file."""
    elements: int = 50_000
    """Tags."""
    depth: int = 400
    """Levels of nesting; each body of a chain is one level."""


@dataclass(frozen=True)
class XmlSource:
    """The UTF-8 bytes of a file, in which errors point at a place."""

    data: bytes
    path: str = ""

    def error(self, message: str, index: int, *, advice: str = "") -> FileError:
        """The error with this `message` and `advice` that points at the byte `index`, counted from 0."""
        start = self.data.rfind(b"\n", 0, index) + 1
        end = self.data.find(b"\n", index)
        before = self.data[start:index].decode(errors="replace")
        after = self.data[index : end if end >= 0 else None][:400].decode(errors="replace")
        line, column = self.data.count(b"\n", 0, index) + 1, len(before) + 1
        shown = before + after
        return FileError(message, path=self.path, line=line, column=column, source=shown, advice=advice)

    def error_in_line(self, message: str, line: int, *, advice: str = "") -> FileError:
        """The error with this `message` and `advice` that points at a `line`, counted from 1."""
        index = 0
        for _ in range(line - 1):
            index = self.data.find(b"\n", index) + 1
        blank = re.compile(rb"[ \t]*").match(self.data, index)
        return self.error(message, blank.end() if blank else index, advice=advice)


@dataclass(eq=False)
class Element:
    """A tag with its attributes and children, and where it begins in the source."""

    tag: str
    attributes: dict[str, str]
    source: XmlSource = field(repr=False)
    index: int
    children: list[Element] = field(default_factory=list, repr=False)
    text: str = field(default="", repr=False)

    # -- content ---------------------------------------------------------------------------------------------

    def all(self, tag: str) -> list[Element]:
        """The children with this `tag`."""
        return [child for child in self.children if child.tag == tag]

    def child(self, tag: str) -> Element | None:
        """The only child with this `tag`, if there is one; raises FileError if there are several."""
        found = self.all(tag)
        if len(found) > 1:
            raise found[1].error(f"a second <{tag}>", advice=f"one <{self.tag}> has one <{tag}>")
        return found[0] if found else None

    def needed(self, tag: str, *, advice: str = "") -> Element:
        """The only child with this `tag`; raises FileError with `advice` if there is none."""
        found = self.child(tag)
        if found is None:
            raise self.error(f"<{self.tag}> has no <{tag}>", advice=advice or f"add <{tag} …/>")
        return found

    def word(self, name: str, default: str | None = None) -> str:
        """The text of the attribute `name`; without a `default` it must be there and not be empty."""
        text = self.attributes.get(name, default)
        if text is None or (default is None and not text.strip()):
            raise self.error(f"<{self.tag}> has no {name}", advice=f'write <{self.tag} {name}="…">')
        return text

    def number(self, name: str, default: float | None = None) -> float:
        """The number in the attribute `name`, or `default` where there is none; raises FileError if it is not finite."""
        return self.numbers(name, 1, None if default is None else (default,))[0]

    def numbers(self, name: str, count: int, default: Sequence[float] | None = None) -> tuple[float, ...]:
        """The `count` finite numbers, separated by blanks, in the attribute `name`, or `default` where there is none."""
        if name not in self.attributes and default is not None:
            return tuple(default)
        return self._parsed(self.word(name), count, name)

    def inner(self, count: int) -> tuple[float, ...]:
        """The `count` finite numbers, separated by blanks, between this tag and its end."""
        return self._parsed(self.text, count, "")

    def _parsed(self, text: str, count: int, name: str) -> tuple[float, ...]:
        """The numbers in a `text`, that of the attribute `name` or of the element; raises FileError if they are not finite."""
        words, place = text.split(), name or self.tag
        advice = "write a number" if count == 1 else f"write {count} numbers separated by blanks"
        if len(words) != count:
            raise self.error(f"{place}: expected {count} number{'s' * (count > 1)}, got {len(words)} words", name, advice=advice)
        for word in words:
            if not _XML_NUMBER.fullmatch(word):
                hint = "use a decimal point" if "," in word else advice
                raise self.error(f"{place}: {word[:40]!r} is not a number", name, advice=hint)
            if not math.isfinite(float(word)):
                raise self.error(f"{place}: {word[:40]} is not finite", name, advice=advice)
        return tuple(float(word) for word in words)

    # -- errors ----------------------------------------------------------------------------------------------

    def error(self, message: str, attribute: str = "", *, advice: str = "") -> FileError:
        """The error with this `message` and `advice` that points at this tag, or at its `attribute`."""
        index = self.index
        if attribute:
            tag = self.source.data[index : self.source.data.find(b">", index) + 1]
            if found := re.search(rb"\s(" + re.escape(attribute).encode() + rb")\s*=", tag):
                index += found.start(1)
        return self.source.error(message, index, advice=advice)

    @contextmanager
    def blamed(self) -> Iterator[None]:
        """Errors about figures that are raised in the block become a FileError that points here."""
        try:
            yield
        except FigureError as error:
            place = f"{error.kind} {error.name!r}: {error.field}: ".replace(": : ", ": ")
            raise self.error(place + error.message, advice=error.advice) from None


def named(root: Element, tag: str) -> dict[str, Element]:
    """The children of `root` with this `tag`, by name; raises FileError if two have the same."""
    out: dict[str, Element] = {}
    for element in root.all(tag):
        name = element.word("name")
        if name in out:
            hint = f"every {tag} has a name of its own"
            raise element.error(f"a second {tag} called {name[:80]!r}", "name", advice=hint)
        out[name] = element
    return out


# -- reading -------------------------------------------------------------------------------------------------


def read(path: str | os.PathLike[str], *, root: str = "", limits: XmlLimits = XmlLimits()) -> Element:
    """The root element of the file at `path`; `root` is the tag that it must have.

    Raises FileError if it has another, is not XML, or is larger than `limits`.
    """
    try:
        with Path(path).open("rb") as file:
            data = file.read(limits.bytes + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or error
        raise FileError(f"cannot be read: {why}", path=str(path), advice="check its name and permissions") from None
    return parse(data, path=str(path), root=root, limits=limits)


def parse(text: str | bytes, *, path: str = "", root: str = "", limits: XmlLimits = XmlLimits()) -> Element:
    """The root element of a `text`; `path` is for the messages, `root`, `limits` and errors are those of `read`."""
    if len(text) > limits.bytes:
        raise FileError("the file is too large", path=path, advice=f"at most {limits.bytes // 10**6} MB are read")
    source = XmlSource(_utf8(text if isinstance(text, str) else _decode(text, path), path), path)
    element = _Builder(source, limits).build()
    if root and element.tag != root:
        raise element.error(f"expected <{root}>, got <{element.tag[:40]}>", advice="is this the right file?")
    return element


def _decode(data: bytes, path: str) -> str:
    """The text of `data`: by its byte order mark, by the encoding that it declares, or as UTF-8."""
    declared = re.match(rb"""^\s*<\?xml[^>]{0,200}?encoding\s*=\s*["']([A-Za-z0-9._-]{1,40})["']""", data[:400])
    marks = {codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16"}
    encoding = next((name for mark, name in marks.items() if data.startswith(mark)), None)
    encoding = encoding or (declared[1].decode() if declared else "utf-8")
    try:
        if not codecs.lookup(encoding)._is_text_encoding:
            raise LookupError
        return data.decode(encoding)
    except LookupError:
        message = f"unknown encoding {encoding!r}"
        raise XmlSource(data, path).error(message, 0, advice="save it as UTF-8") from None
    except UnicodeError as error:
        index = getattr(error, "start", 0)
        message, advice = f"not {encoding} text", "save it as UTF-8; is it an XML file?"
        raise XmlSource(data, path).error(message, index, advice=advice) from None


def _utf8(text: str, path: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError as error:
        line = text.count("\n", 0, error.start) + 1
        raise FileError("an incomplete character", path=path, line=line, advice="save it as UTF-8") from None


class _Builder:
    """Turns expat's events into elements."""

    def __init__(self, source: XmlSource, limits: XmlLimits) -> None:
        self.source, self.limits = source, limits
        self.parser = expat.ParserCreate("utf-8")
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.end
        self.parser.CharacterDataHandler = self.words
        self.parser.buffer_text = True
        self.parser.StartDoctypeDeclHandler = self.doctype
        self.root: Element | None = None
        self.stack: list[Element] = []
        self.count = 0

    def start(self, tag: str, attributes: dict[str, str]) -> None:
        element = Element(tag, attributes, self.source, self.parser.CurrentByteIndex)
        self.count += 1
        if self.count > self.limits.elements:
            raise element.error(f"more than {self.limits.elements} elements", advice="split the file")
        if len(self.stack) >= self.limits.depth:
            raise element.error(f"nested more than {self.limits.depth} deep", advice="is a closing tag missing?")
        if self.stack:
            self.stack[-1].children.append(element)
        else:
            self.root = element
        self.stack.append(element)

    def end(self, _tag: str) -> None:
        self.stack.pop()

    def words(self, text: str) -> None:
        if self.stack:
            self.stack[-1].text += text

    def doctype(self, *_: object) -> None:
        index = self.parser.CurrentByteIndex
        raise self.source.error("DOCTYPE is not allowed", index, advice="remove it")

    def build(self) -> Element:
        try:
            self.parser.Parse(self.source.data, True)
        except expat.ExpatError as error:
            hint = f"<{self.stack[-1].tag[:40]}> is still open" if self.stack else "is it an XML file?"
            index = min(max(self.parser.ErrorByteIndex, 0), len(self.source.data))
            raise self.source.error(f"not XML: {expat.ErrorString(error.code)}", index, advice=hint) from None
        assert self.root is not None
        return self.root
