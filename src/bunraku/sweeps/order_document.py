"""OrderDocument: an order as the document that it was read from, in which values can be replaced before it is read again."""

from __future__ import annotations

import hashlib
import json
import os
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError, FileError, UnknownName
from bunraku.io.shipped import found, shipped_orders
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.node import Node
from bunraku.sweeps.value_paths import Place, at, node_of, opened, places, put
from bunraku.verbs.loading import VERBS, order_class
from bunraku.verbs.order import Order

RESULT_FORMAT = 1
"""Version of what is stored for a run; it is part of the key of every result."""
FIGURE_VERBS = ("simulate", "optimize", "plan", "climb")
"""Verbs whose first word names the figure; `figure` in a path stands for that word."""
_FILE_SUFFIXES = (
    ".yaml", ".yml", ".urdf", ".sdf", ".xml", ".mjcf", ".bvh", ".npz", ".csv", ".json", ".mcap",
    ".stl", ".obj", ".glb", ".gltf", ".dae", ".ply", ".off", ".usd", ".usda", ".usdc", ".c3d", ".trc", ".wav",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class OrderDocument:
    """An order that has not been read yet: its document, and the folder to which names of files are relative."""

    verb: str
    name: str
    """For messages: the name of the file, or the first two words."""
    root: Node = field(repr=False)
    folder: Path

    @classmethod
    def of(cls, order: str | os.PathLike[str] | Order | Mapping[str, Any]) -> OrderDocument:
        """The document of an `order`: a file, the name of a shipped order, an order that `bunraku.load` returned, or a mapping.

        Raises FileError or UnknownName if it is none.
        """
        if isinstance(order, Order):
            if order.document is None:
                advice = "give the file, the order as bunraku.load returns it, or a mapping with the words of a file"
                raise BunrakuError(
                    f"this {type(order).__name__} was made or changed in Python, so it has no file\n  advice: {advice}"
                )
            root, folder = order.document
            return cls._checked(root, folder, Path(root.source.path).stem)
        if isinstance(order, Mapping):
            root = node_of(dict(order), "the order")
            return cls._checked(root, Path.cwd(), " ".join(f"{k}: {v}" for k, v in list(order.items())[:1]))
        file = found(Path(order))
        if not file.suffix and not file.exists():
            raise UnknownName("file or order", str(order), shipped_orders())
        return cls._checked(yaml_reader.read(file), file.parent, file.stem)

    @classmethod
    def _checked(cls, root: Node, folder: Path, name: str) -> OrderDocument:
        verb = next((word for word in VERBS if root.get(word) is not None), None)
        if verb is None:
            raise root.error("this is no order", advice=f"begin it with one of: {', '.join(VERBS)}")
        return cls(verb, name, root, folder.absolute())

    @property
    def order(self) -> type[Order]:
        """The class of its order."""
        return order_class(self.verb)

    def read(self) -> Order:
        """The order; raises FileError if a value is wrong."""
        return self.order.read(self.root, self.folder)

    def opened(self, path: str) -> OrderDocument:
        """This document with the files and figures that a `path` leads into written out in it."""
        return replace(self, root=opened(self.root, self.full(path), self.folder))

    def full(self, path: str) -> str:
        """A `path` from the root: `figure` stands for the verb's own word."""
        first, dot, rest = path.partition(".")
        own = first == "figure" and self.verb in FIGURE_VERBS and dot
        return f"{self.verb}.{rest}" if own else path

    def places(self, path: str) -> tuple[Place, ...]:
        """The places in the document that a `path` stands for; raises BunrakuError if there are none."""
        words = self.order.words
        if path in words:
            return ((path,),)  # a word of the verb, whether it is in this document or not
        return places(self.root, self.full(path), words, path)

    def has(self, place: Place) -> bool:
        """Whether there is a value at a `place`."""
        parent = at(self.root, place[:-1])
        return isinstance(parent.value, tuple) or parent.get(str(place[-1])) is not None

    def with_value(self, where: tuple[Place, ...], value: Node) -> OrderDocument:
        """This document with a `value` at every place of `where`; `~` removes a word."""
        root = self.root
        for place in where:
            root = put(root, place, None if value.is_nothing else value)
        return replace(self, root=root)

    # -- files ---------------------------------------------------------------------------------------------------

    def files(self) -> dict[Path, bytes]:
        """All files that the document names, and that those name in turn, by absolute path."""
        out: dict[Path, bytes] = {}
        _collect(self.root, self.folder, out)
        return out

    def digest(self, *, without: tuple[Place, ...] = ()) -> str:
        """A hash of the whole content, files included, but for the values at some places (`without`)."""
        root = self.root
        for place in without:
            root = put(root, place, node_of(""))
        sums = sorted((os.path.relpath(path, self.folder), hashlib.sha256(data).hexdigest()) for path, data in self.files().items())
        return hashlib.sha256(json.dumps([RESULT_FORMAT, self.verb, canonical(root), sums]).encode()).hexdigest()


def canonical(node: Node) -> Any:
    """The content of a `node` as JSON: comments, places, and how numbers are written do not matter."""
    if isinstance(node.value, dict):
        return {"": [[word, canonical(one)] for word, one in node.value.items()]}
    if isinstance(node.value, tuple):
        return [canonical(one) for one in node.value]
    if not node.plain:
        return ["text", node.value]
    plain = re.fullmatch(r"[-+]?(?:\.\d+|\d+(?:\.\d*)?)(?:[eE][-+]?\d+)?", node.value)
    return repr(float(node.value)) if plain else node.value


def _scalars(node: Node) -> Iterator[str]:
    if isinstance(node.value, str):
        yield node.value
    else:
        for one in node.value.values() if isinstance(node.value, dict) else node.value:
            yield from _scalars(one)


def _collect(root: Node, folder: Path, out: dict[Path, bytes]) -> None:
    """Adds the files that a document names to `out`."""
    for text in _scalars(root):
        if text.lower().endswith(_FILE_SUFFIXES) and len(text) < 1000:
            _add(folder / text, out)


def _add(file: Path, out: dict[Path, bytes]) -> None:
    path = Path(os.path.normpath(file))
    if path in out or not path.is_file():
        return
    try:
        out[path] = path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=str(path), advice="check its permissions") from None
    if path.suffix.lower() in (".yaml", ".yml"):
        try:
            _collect(yaml_reader.read(path), path.parent, out)
        except FileError:
            return  # the reader of the order says what is wrong with it
    elif path.suffix.lower() in (".urdf", ".sdf", ".xml", ".mjcf", ".dae"):
        for name in re.findall(rb"""\b(?:(?:filename|file)\s*=\s*["']|uri>\s*)([^"'<>:]+)""", out[path]):
            _add(path.parent / name.decode(errors="replace"), out)
