"""Paths to the values of an order file: `cost.1.forces`, `figure.frames.torso.at.2`, `figure.strings.*.start`.

A word of a path is a key of a mapping, the index of an entry of a list (from 0), or the name of an entry: the value of its first
key or of its key `name`. `*` stands for all that have the rest of the path. Where a path goes on behind the name of a file or of a
figure of the library, it goes on inside that file or figure.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError, did_you_mean
from bunraku.figure import library
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.figure_file import figure_yaml
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.source import Source

Place = tuple[str | int, ...]
"""Keys and indices from the root of a document to one of its values."""


def node_of(value: Any, told: str = "") -> Node:
    """The document that holds a Python `value`: numbers, text, true and false, None, lists and mappings.

    told: its name in messages.
    Text is read as in a file without quotes, so "10 cm" is a length. Raises BunrakuError for values that no file can hold.
    """
    if isinstance(value, dict):
        keys = {str(word): node_of(str(word), told) for word in value}
        inner: Any = {str(word): node_of(one, told) for word, one in value.items()}
        return Node(Source("", told), 1, 1, inner, keys=keys)
    if hasattr(value, "tolist"):  # an array, or a number of numpy
        value = value.tolist()
    if isinstance(value, list | tuple):
        return Node(Source("", told), 1, 1, tuple(node_of(one, told) for one in value))
    if value is None or isinstance(value, str | os.PathLike):
        text = "~" if value is None else str(value)
    elif isinstance(value, bool | int | float):
        text = yaml_reader.scalar(value)
    else:
        raise BunrakuError(f"{told}: a {type(value).__name__} cannot be in a file\n  advice: give numbers, text, lists or mappings")
    return Node(Source(text, told), 1, 1, text)


def text_of(node: Node) -> str:
    """The value of a `node` in one line."""
    if isinstance(node.value, str):
        return node.value
    if isinstance(node.value, dict):
        return "{" + ", ".join(f"{word}: {text_of(one)}" for word, one in node.value.items()) + "}"
    return "[" + ", ".join(map(text_of, node.value)) + "]"


def opened(root: Node, path: str, folder: Path) -> Node:
    """The document `root` with the files and figures of the library that a `path` leads into, written out in it.

    folder: file names in the document are relative to it.
    """
    words = path.split(".")
    for place in _stubs(root, words, ()):
        stub = at(root, place)
        inner = _behind(stub, folder)
        if inner is not None:
            return opened(put(root, place, inner), path, folder)
    return root


def _stubs(node: Node, words: list[str], before: Place) -> Iterator[Place]:
    """The scalars in front of the end of a path."""
    if not words:
        return
    if isinstance(node.value, str):
        yield before
        return
    for step in _steps(node, words[0]):
        yield from _stubs(_child(node, step), words[1:], (*before, step))


def _behind(stub: Node, folder: Path) -> Node | None:
    """The document of the file or of the library's figure that a scalar names."""
    name = str(stub.value)
    file = folder / name
    if file.suffix.lower() in (".yaml", ".yml") and file.is_file():
        return _rebased(yaml_reader.read(file), file.parent, folder)
    if name in library.names():
        return yaml_reader.parse(figure_yaml(library.named(name)), f"figure {name}")
    return None


def _rebased(node: Node, old: Path, new: Path) -> Node:
    """A document whose names of files are relative to the folder `old`, with names relative to `new`."""
    if isinstance(node.value, dict):
        return replace(node, value={word: _rebased(one, old, new) for word, one in node.value.items()})
    if isinstance(node.value, tuple):
        return replace(node, value=tuple(_rebased(one, old, new) for one in node.value))
    if old != new and Path(node.value).suffix and (old / node.value).is_file():
        return replace(node, value=os.path.relpath(old / node.value, new))
    return node


def places(root: Node, path: str, top: tuple[str, ...], told: str) -> tuple[Place, ...]:
    """The places that a `path` stands for. The last word of a path may be a new key of a mapping.

    root: the document.
    top: keys that the document may have.
    told: the path as it was given, for messages.
    Raises BunrakuError, with similar words, if the path leads nowhere.
    """
    words = path.split(".")
    found = tuple(_reached(root, words, ()))
    if found:
        return found
    node, walked, given = root, "", told.split(".")
    for k, word in enumerate(words):
        known = tuple(dict.fromkeys((*_known(node), *(top if k == 0 else ()))))
        steps = list(_steps(node, word))
        if not steps and k == 0 and word in top:
            raise BunrakuError(f"{told}: the order does not say {word!r}\n  advice: add {word}: … to the order, with this value")
        if not steps:
            what = f"{walked or 'the order'} has no {word!r}" if known else f"{walked} is {node.described}, which has no parts"
            raise BunrakuError(f"{told}: {what}\n  advice: {did_you_mean(word, known) if known else f'sweep {walked}'}")
        node, walked = _child(node, steps[0]), ".".join(given[: k + 1])
    raise BunrakuError(f"{told}: nothing is there\n  advice: give the path of a value")


def _reached(node: Node, words: list[str], before: Place) -> Iterator[Place]:
    if not words:
        yield before
        return
    steps = list(_steps(node, words[0]))
    if not steps and len(words) == 1 and isinstance(node.value, dict) and before and "*" not in words[0]:
        yield (*before, words[0])  # a new key: the reader of the order says whether it may be there
    for step in steps:
        yield from _reached(_child(node, step), words[1:], (*before, step))


def _steps(node: Node, word: str) -> Iterator[str | int]:
    """The keys or indices of a `node` that a `word` of a path stands for."""
    if isinstance(node.value, dict):
        yield from (key for key in node.value if key == word or ("*" in word and fnmatchcase(key, word)))
    elif isinstance(node.value, tuple):
        if word.isdecimal() and int(word) < len(node.value):
            yield int(word)
            return
        for k, item in enumerate(node.value):
            if word == "*" or any(fnmatchcase(name, word) for name in _names(item)):
                yield k


def _names(item: Node) -> Iterator[str]:
    """The names of an entry of a list: the value of its first key, and of its key `name`."""
    if isinstance(item.value, dict) and item.value:
        for node in (next(iter(item.value.values())), item.value.get("name")):
            if node is not None and isinstance(node.value, str):
                yield node.value


def _known(node: Node) -> tuple[str, ...]:
    if isinstance(node.value, dict):
        return tuple(node.value)
    if isinstance(node.value, tuple):
        return tuple(next(_names(item), str(k)) for k, item in enumerate(node.value))
    return ()


def _child(node: Node, step: str | int) -> Node:
    inner: Any = node.value
    child: Node = inner[step]
    return child


def at(root: Node, place: Place) -> Node:
    """The value of a document (`root`) at a `place`."""
    for step in place:
        root = _child(root, step)
    return root


def put(root: Node, place: Place, value: Node | None) -> Node:
    """The document `root` with a `value` at a `place`; None removes a key."""
    if not place:
        assert value is not None
        return value
    step, rest = place[0], place[1:]
    if isinstance(root.value, dict):
        inner, keys = dict(root.value), dict(root.keys)
        if value is None and not rest:
            inner.pop(str(step), None)
            keys.pop(str(step), None)
        else:
            assert value is not None or rest
            inner[str(step)] = value if not rest and value is not None else put(inner[str(step)], rest, value)
            keys.setdefault(str(step), replace(root, value=str(step), keys={}))
        return replace(root, value=inner, keys=keys)
    items = list(root.value)
    items[int(step)] = put(items[int(step)], rest, value)  # type: ignore[arg-type]
    return replace(root, value=tuple(items))  # type: ignore[arg-type]
