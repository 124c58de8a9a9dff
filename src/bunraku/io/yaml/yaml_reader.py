"""YAML 1.2, read strictly: one document, no tags, no duplicate words, no more than a person would write.

`parse` gives a tree of nodes that know their places. The events come from ruamel.yaml. The tree is made here, with an
explicit stack and a count of what aliases expand to, so that no file can exhaust the reader's stack or memory.
"""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import (
    AliasEvent,
    CollectionEndEvent,
    DocumentStartEvent,
    MappingStartEvent,
    NodeEvent,
    ScalarEvent,
    SequenceStartEvent,
)

from bunraku.errors import BunrakuError, FileError, did_you_mean
from bunraku.io.yaml import source as sources
from bunraku.io.yaml.node import Node, is_text
from bunraku.io.yaml.source import Source, YamlLimits
from bunraku.io.yaml.yaml_errors import CHECK_PUNCTUATION, explained
from bunraku.io.yaml.yaml_scanner import events


def read(path: str | os.PathLike[str], *, limits: YamlLimits = YamlLimits()) -> Node:
    """The root of the only document in the file at `path`; raises FileError if it is not YAML, or larger than `limits`."""
    return _Builder(sources.read(path, most=limits.bytes), limits).build()


def parse(text: str | bytes, path: str = "", *, limits: YamlLimits = YamlLimits()) -> Node:
    """The root of the only document in a `text`; `path` is for the messages.

    Raises FileError if the text is not YAML, or larger than `limits`.
    """
    return _Builder(sources.decode(text, path, most=limits.bytes), limits).build()


@dataclass
class _Open:
    """A list or mapping that has begun and not ended."""

    start: Any
    size: int  # nodes counted before it
    items: list[Node] = field(default_factory=list)
    values: dict[str, Node] = field(default_factory=dict)
    keys: dict[str, Node] = field(default_factory=dict)
    key: Node | None = None
    deepest: int = 0

    @property
    def is_mapping(self) -> bool:
        return isinstance(self.start, MappingStartEvent)


class _Builder:
    """Turns ruamel's events into nodes."""

    def __init__(self, source: Source, limits: YamlLimits) -> None:
        self.source, self.limits = source, limits
        self.stack: list[_Open] = []
        self.root: Node | None = None
        self.size = 0
        self.last: Any = None
        self.anchors: dict[str, tuple[Node, int, int] | None] = {}
        """What an anchor stands for, with the nodes in it and the levels below it; None while it is still open."""

    def build(self) -> Node:
        for event in self._events():
            self.last = event.end_mark
            self._take(event)
        if self.root is None:
            advice = "begin it with a line such as figure: my_figure, or simulate: marionette25"
            raise self.source.error("the file is empty", 1, 1, advice=advice)
        return self.root

    def _events(self) -> Iterator[Any]:
        try:
            yield from events(self.source.text, depth=self.limits.depth)
        except MarkedYAMLError as error:
            raise explained(self.source, error) from None
        except AssertionError:  # %YAML 1.0: ruamel knows 1.1 and 1.2
            raise self.source.error("directives (%…) are not allowed", 1, 1, advice="remove the line") from None
        except (YAMLError, ValueError, OverflowError):  # an escape that is no character, …
            line, column = (self.last.line + 1, self.last.column + 1) if self.last is not None else (1, 1)
            raise self.source.error("cannot read what follows", line, column, advice=CHECK_PUNCTUATION) from None

    def _take(self, event: Any) -> None:
        if isinstance(event, DocumentStartEvent):
            self._check_document(event)
        if not isinstance(event, NodeEvent):
            if isinstance(event, CollectionEndEvent):
                self._close()
            return
        if event.anchor is not None and not isinstance(event, AliasEvent):
            self.anchors[event.anchor] = None
        self._count(event, 1, 0)
        match event:
            case AliasEvent():
                self._add(*self._behind(event))
            case ScalarEvent():
                self._check_tag(event)
                node = self._node(event, event.value, plain=not event.style)
                self._check_one_line(event, node)
                self._name(event, node, 1, 0)
                self._add(node, 0)
            case MappingStartEvent() | SequenceStartEvent():
                self._check_tag(event)
                self.stack.append(_Open(event, self.size))

    def _node(self, event: Any, value: Any, *, plain: bool = True, keys: dict[str, Node] | None = None) -> Node:
        mark = event.start_mark
        return Node(self.source, mark.line + 1, mark.column + 1, value, plain, keys or {})

    def _error(self, event: Any, message: str, advice: str) -> FileError:
        return self._node(event, "").error(message, advice=advice)

    # -- the tree ------------------------------------------------------------------------------------------------

    def _close(self) -> None:
        done = self.stack.pop()
        value = done.values if done.is_mapping else tuple(done.items)
        node = self._node(done.start, value, keys=done.keys)
        self._name(done.start, node, 1 + self.size - done.size, done.deepest)
        self._add(node, done.deepest)

    def _add(self, node: Node, depth: int) -> None:
        if not self.stack:
            self.root = node
            return
        into = self.stack[-1]
        into.deepest = max(into.deepest, depth + 1)
        if not into.is_mapping:
            into.items.append(node)
        elif into.key is None:
            into.key = self._checked_key(into, node)
        else:
            word = str(into.key.value)
            if node.is_nothing:  # ruamel places it where the next token begins: its word is a better place
                node = replace(node, line=into.key.line, column=into.key.column)
            into.keys[word], into.values[word], into.key = into.key, node, None

    def _checked_key(self, into: _Open, key: Node) -> Node:
        if not isinstance(key.value, str):
            raise key.error(f"expected a word before the ':', got {key.described}", advice="write word: value")
        if key.plain and key.value == "<<":
            raise key.error("'<<' (merge) is not supported", advice="YAML 1.2 has no merge: repeat the words")
        if key.value in into.keys:
            first = into.keys[key.value].line
            message = f"the word {key.value[:40]!r} was already used in line {first}"
            raise key.error(message, advice="keep one of them")
        return key

    # -- anchors and aliases -------------------------------------------------------------------------------------

    def _name(self, event: Any, node: Node, size: int, depth: int) -> None:
        if event.anchor is not None:
            self.anchors[event.anchor] = (node, size, depth)

    def _behind(self, event: Any) -> tuple[Node, int]:
        """What an alias stands for, and how deep that is; it counts as if it were written out."""
        if event.anchor not in self.anchors:
            names = did_you_mean(event.anchor, self.anchors)
            raise self._error(event, f"no anchor is called {event.anchor[:40]!r}", names)
        behind = self.anchors[event.anchor]
        if behind is None:
            raise self._error(event, f"the alias {event.anchor[:40]!r} is inside itself", "write the part out")
        node, size, depth = behind
        self._count(event, size - 1, depth)
        return node, depth

    # -- limits --------------------------------------------------------------------------------------------------

    def _count(self, event: Any, nodes: int, depth: int) -> None:
        self.size += nodes
        if self.size > self.limits.values:
            what = "with its aliases written out, the file" if isinstance(event, AliasEvent) else "the file"
            advice = "keep large tables in files of their own, and aliases few"
            raise self._error(event, f"{what} holds more than {self.limits.values} values", advice)
        if len(self.stack) + depth > self.limits.depth:
            advice = "write it flatter; frames may be listed one after the other, each with parent: …"
            raise self._error(event, f"nested more than {self.limits.depth} deep", advice)

    def _check_tag(self, event: Any) -> None:
        if event.tag not in (None, "", "!"):
            raise self._error(event, f"the tag {str(event.tag)[:60]!r} is not allowed", "remove it: values are plain")

    def _check_one_line(self, event: Any, node: Node) -> None:
        """Text may run over lines in quotes or after '|'; without, it is nearly always an accident."""
        if not node.plain or event.end_mark.line == event.start_mark.line:
            return
        if self.stack and self.stack[-1].start.flow_style:
            advice = f"a ',' or a closing bracket is missing before line {event.end_mark.line + 1}"
            raise self._error(self.stack[-1].start, "a bracket that is never closed", advice)
        line = next(k for k in range(node.line + 1, event.end_mark.line + 2) if self.source.lines[k - 1].strip())
        column = 1 + len(self.source.lines[line - 1]) - len(self.source.lines[line - 1].lstrip())
        message = f"this line continues the text of line {node.line}"
        raise self.source.error(message, line, column, advice="check its indentation, or put the text in quotes")

    def _check_document(self, event: Any) -> None:
        if self.root is not None:
            raise self._error(event, "a second document", "a file holds one document: remove the '---'")
        if event.version is not None or event.tags:
            raise self._error(event, "directives (%…) are not allowed", "remove the lines that begin with %")


# -- writing ---------------------------------------------------------------------------------------------------------

YamlTree = dict[str, Any] | list[Any] | tuple[Any, ...] | str | float | bool


def dump(tree: YamlTree, *, limits: YamlLimits = YamlLimits()) -> str:
    """YAML text of a `tree` of dicts and lists: what is short and flat in one line, the rest in blocks.

    Raises BunrakuError where the text would exceed the `limits` for reading it again.
    """
    text = "\n".join(_block(tree, "")) + "\n"
    if len(text.encode()) > limits.bytes or _size(tree) > limits.values:
        most = f"{limits.bytes // 1000} kB and {limits.values} values"
        raise BunrakuError(f"too large for a YAML file\n  advice: keep it under {most}, or keep it in Python")
    return text


def _size(tree: YamlTree) -> int:
    """How many nodes the tree has when it is read again."""
    if isinstance(tree, dict):
        return 1 + len(tree) + sum(_size(value) for value in tree.values())
    return 1 + (sum(_size(item) for item in tree) if isinstance(tree, list | tuple) else 0)


def _block(tree: YamlTree, indent: str) -> list[str]:
    lines = []
    if isinstance(tree, dict):
        for word, value in tree.items():
            start = f"{indent}{scalar(word)}:"
            short = _short(value, len(start))
            lines += [f"{start} {short}"] if short is not None else [start, *_block(value, indent + "  ")]
    elif isinstance(tree, list | tuple):
        for item in tree:
            short = _short(item, len(indent) + 1)
            inner = [indent + "  " + short] if short is not None else _block(item, indent + "  ")
            lines += [f"{indent}- {inner[0][len(indent) + 2 :]}", *inner[1:]]
    return lines


def _short(tree: YamlTree, column: int) -> str | None:
    """The tree in one line of at most 110 characters; None where it needs a block."""
    short = _flow(tree)
    whole = not isinstance(tree, dict | list | tuple) or not tree
    return short if whole or (short is not None and column + 1 + len(short) <= 110) else None


def _flow(tree: YamlTree) -> str | None:
    """The tree in one line, or None where a list of mappings makes it worth a block."""
    if isinstance(tree, dict):
        parts = {word: _flow(value) for word, value in tree.items()}
        if None in parts.values():
            return None
        return "{" + ", ".join(f"{scalar(word)}: {part}" for word, part in parts.items()) + "}"
    if isinstance(tree, list | tuple):
        items = [_flow(item) for item in tree]
        if None in items or any(isinstance(item, dict) for item in tree):
            return None
        return "[" + ", ".join(str(item) for item in items) + "]"
    return scalar(tree)


def scalar(value: str | float | bool) -> str:
    """One `value` as YAML reads it back: floats to the last bit, text in quotes where it needs them."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        if re.fullmatch(r"[^\W\d][\w.+/-]*", value) and is_text(value):
            return value
        return "".join(c if c.isprintable() else f"\\U{ord(c):08x}" for c in json.dumps(value, ensure_ascii=False))
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    return repr(int(value)) if value == int(value) and abs(value) < 1e15 else repr(float(value))
