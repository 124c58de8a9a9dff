"""The text of a file, in which errors point at a line and a column."""

from __future__ import annotations

import codecs
import os
import re
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from bunraku.errors import FileError, did_you_mean

# Characters that do not belong in a text file: control characters, lone surrogates, line breaks that some editors do not show.
_JUNK = re.compile("[^\t\n\r\x20-\x7e\xa0-\u2027\u202a-\ud7ff\ue000-\ufefe\uff00-\ufffd\U00010000-\U0010ffff]")


@dataclass(frozen=True)
class YamlLimits:
    """How large a YAML file may be. People write these files; a larger one is a mistake, or an attack."""

    bytes: int = 256_000
    """Size of the file: some five thousand lines."""
    values: int = 12_000
    """Scalars, lists and mappings, with aliases written out."""
    depth: int = 100
    """Levels of nesting."""


@dataclass(frozen=True)
class Source:
    """A text and the name of the file that it comes from."""

    text: str
    path: str = ""

    @cached_property
    def lines(self) -> list[str]:
        """The lines of the text, without their breaks."""
        return re.split(r"\r\n|\n|\r", self.text)

    def error(self, message: str, line: int, column: int, *, advice: str = "") -> FileError:
        """The error with this `message` and `advice` that points at a `line` and a `column`, counted from 1."""
        shown = self.lines[line - 1] if line <= len(self.lines) else ""
        shown = "".join(c if c.isprintable() or c == "\t" else "·" for c in shown) or " "
        return FileError(message, path=self.path, line=line, column=column, source=shown, advice=advice)

    def error_at(self, message: str, index: int, *, advice: str = "") -> FileError:
        """The error with this `message` and `advice` that points at the character `index` of the text, counted from 0."""
        before = Source(self.text[:index]).lines
        return self.error(message, len(before), len(before[-1]) + 1, advice=advice)


def read(path: str | os.PathLike[str], *, most: int = YamlLimits.bytes) -> Source:
    """The text of the file at `path`, which must be UTF-8 and have at most `most` bytes; raises FileError if it is not."""
    try:
        with Path(path).open("rb") as file:
            data = file.read(most + 1)
    except (OSError, ValueError) as error:  # ValueError: a NUL in the name
        why = getattr(error, "strerror", None) or str(error)
        raise FileError(f"cannot be read: {why}", path=str(path), advice=_neighbours(path)) from None
    return decode(data, str(path), most=most)


def decode(data: str | bytes, path: str = "", *, most: int = YamlLimits.bytes) -> Source:
    """The text in `data`, at most `most` bytes of UTF-8; `path` is for the messages. Raises FileError if it is no text."""
    if len(data) > most:
        text = data if isinstance(data, str) else data.decode("utf-8", errors="replace")
        size, advice = f"the file is larger than {most // 1000} kB", "keep large tables in files of their own"
        raise Source(text, path).error_at(size, min(len(text), most), advice=advice)
    text = data if isinstance(data, str) else _utf8(data, path)
    source = Source(text.removeprefix("\ufeff"), path)
    if junk := _JUNK.search(source.text):
        what = f"the character U+{ord(junk[0]):04X} does not belong in a text file"
        raise source.error_at(what, junk.start(), advice="remove it; is this really a YAML file?")
    return source


def _utf8(data: bytes, path: str) -> str:
    def refuse(message: str, index: int) -> FileError:
        good = data[:index].decode("utf-8", errors="replace")
        bad = data[index : index + 200].decode("latin-1")  # latin-1 shows any byte as one character
        return Source(good + bad, path).error_at(message, len(good), advice="save it as UTF-8 text")

    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        raise refuse("the file is in UTF-16", 0)
    if b"\0" in data:
        raise refuse("binary data, not text", data.index(0))
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise refuse(f"the byte 0x{data[error.start]:02x} is not UTF-8", error.start) from None


def _neighbours(path: str | os.PathLike[str]) -> str:
    """Advice for a file that is not there: files of the same folder with similar names."""
    try:
        if Path(path).is_dir():
            return "it is a folder: name a file in it"
        names = [p.name for p in Path(path).absolute().parent.iterdir() if p.suffix == Path(path).suffix]
    except (OSError, ValueError):
        return "check the name of the folder"
    return did_you_mean(Path(path).name, sorted(names)) if names else "check the name"
