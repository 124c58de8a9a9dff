"""What a confined process may answer: plain values, arrays of numbers, and objects of a fixed list of classes, as bytes.

A file that takes over the process that reads it can answer anything. So no answer is unpickled: an object comes as its fields, and
the constructor of its class checks them, as it does for a figure that was read from a file. Only classes that `Recorded` and
`Humanoid` are made of can be named, and only a few functions, each of which makes what an entry shows.
"""

from __future__ import annotations

import functools
import importlib
import json
import struct
import types
from collections.abc import Callable, Iterator
from dataclasses import fields, is_dataclass
from typing import Any, get_args, get_type_hints

import numpy as np

from bunraku.errors import BunrakuError
from bunraku.progress import Progress


class _Admitted:
    """What an answer may name."""

    roots = ("bunraku.stage.entry:Recorded", "bunraku.locomotion.guide.humanoid:Humanoid", "bunraku.stage.uploads:ReadEntry")
    """Objects of these classes can be sent, and of all classes that their fields name."""
    functions = (
        "bunraku.stage.entry:still", "bunraku.teleop.viewing_places:standing", "bunraku.teleop.viewing_places:at_hand",
        "bunraku.verbs.guide.run:guided_live",
    )  # fmt: skip
    """Functions whose calls can be sent: `functools.partial` of one of them, with arguments that can be sent."""


class NotPlain(BunrakuError):
    """A value that cannot be sent."""


def packed(value: Any) -> bytes:
    """A `value` as bytes: a u64 n, n bytes of JSON, then the arrays. Raises NotPlain if a part of it cannot be sent."""
    return b"".join(_written(value))


def packed_size(value: Any) -> int:
    """How many bytes `packed` makes of a `value`."""
    return sum(len(part) for part in _written(value))


def _written(value: Any) -> Iterator[Any]:
    writer = _Writer()
    text = json.dumps({"value": writer.plain(value), "objects": writer.objects, "arrays": writer.heads}).encode()
    yield struct.pack("<Q", len(text))
    yield text
    yield from writer.data


def unpacked(data: bytes, check: Callable[[Any], object] = lambda thing: None) -> Any:
    """The value that `packed` made these bytes of (`data`).

    check: called with each object.
    Raises BunrakuError if the bytes are anything else, and what `check` raises.
    """
    try:
        (size,) = struct.unpack_from("<Q", data)
        return _Reader(json.loads(data[8 : 8 + size]), memoryview(data)[8 + size :], check).value()
    except BunrakuError:
        raise
    except Exception as problem:  # noqa: BLE001 (constructors that get fields of any kind fail in any way)
        raise BunrakuError(f"the answer cannot be read: {type(problem).__name__}: {problem}"[:300]) from None


@functools.cache
def _classes() -> dict[str, type[Any]]:
    """The classes whose objects can be sent, by name."""
    out: dict[str, type[Any]] = {}
    for root in (Progress, *map(_imported, _Admitted.roots)):
        for kind in _reached(root, set()):
            name = f"{kind.__module__}:{kind.__qualname__}"
            out[name] = kind
    return out


def _reached(hint: Any, seen: set[Any]) -> Iterator[type[Any]]:
    """The dataclasses in a type `hint`, in those of their fields, and derived from them."""
    for inner in get_args(hint):
        yield from _reached(inner, seen)
    if isinstance(hint, type) and is_dataclass(hint) and hint not in seen:
        seen.add(hint)
        yield hint
        hints = get_type_hints(hint)
        for inner in (*(hints[field.name] for field in fields(hint)), *hint.__subclasses__()):  # a pulley is a point, too
            yield from _reached(inner, seen)


def _imported(name: str) -> Any:
    module, _, of = name.partition(":")
    return getattr(importlib.import_module(module), of)


class _Writer:
    """Turns values into JSON; an object that occurs often is written once."""

    def __init__(self) -> None:
        self.objects: list[Any] = []
        self.heads: list[Any] = []
        self.data: list[np.ndarray[Any, Any]] = []
        self._known: dict[int, tuple[int, Any]] = {}  # with the object, so that no other gets its identity

    def plain(self, value: Any) -> Any:
        if isinstance(value, np.generic):
            value = value.item()
        if value is None or type(value) in (bool, int, float, str):
            return value
        if type(value) is tuple:
            return [self.plain(one) for one in value]
        if type(value) is list:
            return {"list": [self.plain(one) for one in value]}
        if type(value) is dict:
            return {"dict": [[self.plain(key), self.plain(one)] for key, one in value.items()]}
        if isinstance(value, np.ndarray) and value.dtype.kind in "fiub":
            return {"array": self._array(value)}
        if isinstance(value, functools.partial):
            return self._call(value)
        if f"{type(value).__module__}:{type(value).__qualname__}" in _classes():
            return {"object": self._object(value)}
        raise NotPlain(f"a {type(value).__name__} cannot be sent")

    def _array(self, array: np.ndarray[Any, Any]) -> int:
        self.heads.append([array.dtype.newbyteorder("<").str, list(array.shape)])
        self.data.append(np.ascontiguousarray(array, array.dtype.newbyteorder("<")).reshape(-1).view(np.uint8))
        return len(self.heads) - 1

    def _object(self, value: Any) -> int:
        if id(value) not in self._known:
            name = f"{type(value).__module__}:{type(value).__qualname__}"
            written = [name, {field.name: self.plain(getattr(value, field.name)) for field in fields(value) if field.init}]
            self.objects.append(written)
            self._known[id(value)] = (len(self.objects) - 1, value)
        return self._known[id(value)][0]

    def _call(self, call: functools.partial[Any]) -> Any:
        name = f"{getattr(call.func, '__module__', '')}:{getattr(call.func, '__qualname__', '')}"
        if name not in _Admitted.functions:
            raise NotPlain(f"a call of {name} cannot be sent")
        return {"call": name, "args": self.plain(tuple(call.args)), "words": self.plain(dict(call.keywords))}


class _Reader:
    """Makes values of JSON and of the bytes of arrays."""

    def __init__(self, document: dict[str, Any], data: memoryview, check: Callable[[Any], object]) -> None:
        self._document = document
        self._arrays = list(_arrays(document["arrays"], data))
        self._objects: list[Any] = []
        for name, given in document["objects"]:  # each names only objects before it
            self._objects.append(_classes()[name](**{str(field): self._made(one) for field, one in given.items()}))
            check(self._objects[-1])

    def value(self) -> Any:
        return self._made(self._document["value"])

    def _made(self, plain: Any) -> Any:
        if isinstance(plain, list):
            return tuple(self._made(one) for one in plain)
        if not isinstance(plain, dict):
            return plain
        makers: dict[str, Callable[[Any], Any]] = {
            "list": lambda given: [self._made(one) for one in given],
            "dict": lambda given: {self._made(key): self._made(one) for key, one in given},
            "array": lambda given: self._arrays[given],
            "object": lambda given: self._objects[given],
            "call": lambda given: functools.partial(
                _function(given), *self._made(plain["args"]), **{str(k): v for k, v in self._made(plain["words"]).items()}
            ),
        }
        kind = next(iter(plain))
        return makers[kind](plain[kind])


def _arrays(heads: Any, data: memoryview) -> Iterator[np.ndarray[Any, Any]]:
    at = 0
    for word, shape in heads:
        dtype = np.dtype(str(word))
        if dtype.kind not in "fiub" or not all(type(n) is int and n >= 0 for n in shape):
            raise ValueError(f"an array of {dtype} with shape {shape}")
        size = dtype.itemsize
        for n in shape:
            size *= n
        if at + size > len(data):
            raise ValueError("an array is cut off")
        yield np.frombuffer(data[at : at + size], dtype).reshape(shape)
        at += size


def _function(name: str) -> types.FunctionType:
    if name not in _Admitted.functions:
        raise ValueError(f"{name} may not be called")
    found: types.FunctionType = _imported(name)
    return found
