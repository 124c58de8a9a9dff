"""C3D, the binary format of motion capture (c3d.org): a header, parameters by group and name, and the points of every sample.

Written by PC, DEC or MIPS machines: 16-bit integers that a scale turns into lengths, or 32-bit floats, of three kinds. What else
a file holds, such as forces, is skipped.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.io.markers.marker_cloud import MarkerCloud, MarkerLimits, cloud_of, metres, read_marker_bytes

Array = NDArray[np.float64]
Parameters = dict[tuple[str, str], Any]
"""Values by group and name: text, a list of texts, or an array."""


@dataclass(frozen=True)
class Machine:
    """How a kind of machine writes numbers."""

    order: Literal["<", ">"]
    dec: bool = False

    def whole(self, data: bytes, kind: str = "i2") -> NDArray[Any]:
        """The integers of a `kind` in `data`."""
        return np.frombuffer(data, np.dtype(kind).newbyteorder(self.order))

    def floats(self, data: bytes) -> Array:
        """The 32-bit floats in `data`. DEC's have swapped halves, and are four times as large in IEEE's reading."""
        if self.dec:
            halves = np.frombuffer(data, "<u2").reshape(-1, 2)[:, ::-1]
            return np.ascontiguousarray(halves).view("<f4")[:, 0].astype(float) / 4.0
        return np.frombuffer(data, np.dtype("f4").newbyteorder(self.order)).astype(float)


def read_c3d(path: Path, limits: MarkerLimits = MarkerLimits()) -> MarkerCloud:
    """The markers in the C3D file at `path`; raises FileError if it is none, is cut off, or exceeds `limits`."""
    data = read_marker_bytes(path, limits)
    try:
        with np.errstate(all="ignore"):  # damaged floats are looked for later
            return _cloud(path, data, limits)
    except (struct.error, IndexError, ValueError, OverflowError):
        raise FileError("the file is damaged or cut off", path=str(path), advice="copy or export it again") from None


def _cloud(path: Path, data: bytes, limits: MarkerLimits) -> MarkerCloud:
    if len(data) < 512 or data[1] != 0x50 or not data[0]:
        raise FileError("not a C3D file", path=str(path), advice="is it whole? C3D files begin with a header of 512 bytes")
    begin = 512 * (data[0] - 1)
    kinds = {84: Machine("<"), 85: Machine("<", dec=True), 86: Machine(">")}
    machine = kinds.get(data[begin + 3])
    if machine is None:
        raise FileError("the parameters are not where the header says", path=str(path), advice="is the file whole?")
    head = machine.whole(data[:512], "u2").tolist()
    given = _parameters(data, begin, machine)
    count, analog, first, last = head[1], head[2], head[3], head[4]
    scale = _number(given, "SCALE", float(machine.floats(data[12:16])[0]))
    rate = _number(given, "RATE", float(machine.floats(data[20:24])[0]))
    size = 4 if scale < 0.0 else 2
    start = 512 * (int(_number(given, "DATA_START", head[8])) - 1)
    samples = _samples(given, machine, last - first + 1)
    width = 4 * count + analog
    if not (0 < start <= len(data) and samples > 0 and count > 0):
        raise FileError("there are no markers", path=str(path), advice="export the trajectories of labelled markers")
    if start + samples * width * size > len(data):
        found = max(len(data) - start, 0) // (width * size)
        advice = "the file is cut off: copy or export it again"
        raise FileError(f"{samples} samples are announced, but there are {found}", path=str(path), advice=advice)
    raw = data[start : start + samples * width * size]
    values = machine.floats(raw) if size == 4 else machine.whole(raw).astype(float)
    values = values.reshape(samples, width)[:, : 4 * count].reshape(samples, count, 4)
    points = values[..., :3] * (1.0 if size == 4 else scale)
    points[values[..., 3] < 0.0] = np.nan
    unit = metres(_text(given, "UNITS")) or 0.001
    labels = [label for k in range(1, 40) for label in _texts(given, f"LABELS{'' if k == 1 else k}")]
    names = [*labels[:count], *(f"marker {k + 1}" for k in range(len(labels), count))]
    up = {"Y": "y", "Z": "z", "X": "x"}.get(_text(given, "Y_SCREEN").strip("+- ")[:1].upper(), "z")
    return cloud_of(path, names, np.arange(samples) / (rate if rate > 0.0 else 100.0), points * unit, up, limits)


def _samples(given: Parameters, machine: Machine, announced: int) -> int:
    """The number of samples: 16 bits of the header are too few for long recordings."""
    ends = [given.get(("TRIAL", f"ACTUAL_{word}_FIELD")) for word in ("START", "END")]
    if all(isinstance(end, np.ndarray) and end.size == 2 for end in ends):
        first, last = (int(low) % 65536 + 65536 * (int(high) % 65536) for low, high in ends)  # type: ignore[misc]
        if last >= first:
            return last - first + 1
    return int(_number(given, "LONG_FRAMES", announced))


def _parameters(data: bytes, begin: int, machine: Machine) -> Parameters:
    groups: dict[int, str] = {}
    raw: list[tuple[int, str, Any]] = []
    place = begin + 4
    while place + 4 <= len(data):
        length, group = abs(struct.unpack_from("b", data, place)[0]), struct.unpack_from("b", data, place + 1)[0]
        name = data[place + 2 : place + 2 + length].decode("latin-1").strip().upper()
        at = place + 2 + length
        step = int(machine.whole(data[at : at + 2])[0])
        if not length or not group:
            break
        if group < 0:
            groups[-group] = name
        else:
            raw.append((group, name, _value(data, at + 2, machine)))
        if step <= 0:
            break
        place = at + step
    return {(groups.get(group, ""), name): value for group, name, value in raw}


def _value(data: bytes, at: int, machine: Machine) -> Any:
    kind, dimensions = struct.unpack_from("bB", data, at)
    shape = list(data[at + 2 : at + 2 + dimensions])
    if len(shape) != dimensions or dimensions > 7 or kind not in (-1, 1, 2, 4):
        raise ValueError("a parameter of no known kind")
    count = int(np.prod(shape)) if shape else 1
    body = data[at + 2 + dimensions : at + 2 + dimensions + count * abs(kind)]
    if len(body) != count * abs(kind):
        raise ValueError("a parameter is cut off")
    if kind == -1:
        text = body.decode("latin-1")
        width = shape[0] if shape else 1
        return [text[k : k + width].strip("\0 ") for k in range(0, count, width)] if width and dimensions > 1 else text.strip("\0 ")
    return machine.floats(body) if kind == 4 else machine.whole(body, "i2" if kind == 2 else "i1")


def _number(given: Parameters, name: str, otherwise: float) -> float:
    value = given.get(("POINT", name))
    usable = isinstance(value, np.ndarray) and value.size == 1 and np.isfinite(value[0]) and value[0] != 0
    return float(value[0]) if usable and value is not None else otherwise


def _text(given: Parameters, name: str) -> str:
    value = given.get(("POINT", name), "")
    return value[0] if isinstance(value, list) and value else value if isinstance(value, str) else ""


def _texts(given: Parameters, name: str) -> list[str]:
    value = given.get(("POINT", name), [])
    return value if isinstance(value, list) else [value] if isinstance(value, str) and value else []
