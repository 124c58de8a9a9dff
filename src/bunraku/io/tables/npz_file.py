"""NPZ: a motion with its figures, complete in one file, that NumPy alone can read too.

    data = numpy.load("walk.npz")
    data["t"], data["q"], data["variables"], data["figure"]      # the figure as YAML text

The second track's arrays are called q1, v1, …. Strings that lie on bodies are in `laid` (rows: sample, string, number of points)
and `laid_points`. A motion with layers has their keys in `layers`, as JSON, and its arrays are those
below the layers. The reader refuses pickles, arrays larger than the file, and numbers that are not finite.
"""

from __future__ import annotations

import io
import json
import math
import zipfile
from collections.abc import Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.lib import format as npy
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, FileError
from bunraku.figure import Figure
from bunraku.io.yaml.figure_file import figure_yaml, parse_figure
from bunraku.motion import Curve, Key, Layer, Mark, Motion, Track, layered
from bunraku.motion.laid_strings import as_rows, from_rows
from bunraku.motion.still import as_motion
from bunraku.motion.track import OPTIONAL_FIELDS
from bunraku.writing import writing

_SAVED_BY = "motions are written by save(motion, 'name.npz')"


def save_npz(thing: Motion | Figure, path: str | PathLike[str], layers: Sequence[Layer] = ()) -> None:
    """Writes a motion (or a figure at its start, `thing`) to `path`, with its figures, marks and `layers`."""
    motion = as_motion(thing, path)
    marks = [[mark.t, mark.text, mark.kind] for mark in motion.marks]
    arrays: dict[str, Any] = {"t": motion.t, "marks": np.array(json.dumps(marks))}
    if layers:
        arrays["layers"] = np.array(json.dumps([_plain(layer) for layer in layers]))
    for k, track in enumerate(motion.tracks):
        values = {field: getattr(track, field) for field in ("q", *OPTIONAL_FIELDS)}
        if track.laid is not None:
            values |= dict(zip(("laid", "laid_points"), as_rows(track.laid), strict=True))
        texts = {"figure": figure_yaml(track.figure), "name": track.name, "variables": list(track.figure.names)}
        arrays |= {_key(field, k): np.asarray(x) for field, x in (values | texts).items() if x is not None}
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in arrays.items():
            packed = io.BytesIO()
            npy.write_array(packed, array, allow_pickle=False)
            # Numbers hardly compress; stored without compression, they are never mistaken for a zip bomb.
            method = zipfile.ZIP_DEFLATED if array.dtype.kind == "U" else zipfile.ZIP_STORED
            archive.writestr(f"{name}.npy", packed.getvalue(), method)


def load_npz(path: str | PathLike[str]) -> Motion:
    """The motion in the file at `path`, with its layers; raises FileError if it holds none, or is damaged."""
    return _loaded(path)[0]


def load_npz_layers(path: str | PathLike[str]) -> tuple[Motion, tuple[Layer, ...]]:
    """The motion in the file at `path` below its layers, and the layers; raises FileError if it holds none, or is damaged."""
    return _loaded(path)[1:]


def _loaded(path: str | PathLike[str]) -> tuple[Motion, Motion, tuple[Layer, ...]]:
    path = Path(path)
    try:
        with zipfile.ZipFile(path) as archive:
            file = _Archive(archive, path)
            motion, layers = _motion(file), _layers(file)
            return layered(motion, layers), motion, layers
    except OSError as error:
        raise FileError(
            f"cannot be read: {error.strerror or error}", path=str(path), advice="check its name and permissions"
        ) from None
    except FileError:
        raise
    except BunrakuError as error:  # errors of Motion, Track and Figure about shapes, times, names
        raise FileError(str(error).partition("\n")[0], path=str(path), advice=_SAVED_BY) from None
    except (zipfile.BadZipFile, zipfile.LargeZipFile, ValueError, EOFError, NotImplementedError, RuntimeError) as error:
        raise FileError(f"not an NPZ file: {str(error) or 'cut off'}", path=str(path), advice=_SAVED_BY) from None
    except Exception as error:  # noqa: BLE001 - zlib, lzma and struct each have errors of their own
        raise FileError(f"damaged: {error}", path=str(path), advice="copy or save it again") from None


def _key(field: str, track: int) -> str:
    return f"{field}{track or ''}"


class _Archive:
    """Entries that are checked before they are unpacked."""

    def __init__(self, archive: zipfile.ZipFile, path: Path) -> None:
        self.archive, self.path = archive, path
        self.entries = {info.filename.removesuffix(".npy"): info for info in archive.infolist()}
        # Text compresses about tenfold; a file that expands a hundredfold was made to fill the memory.
        allowed = (1 << 26) + 64 * path.stat().st_size
        total = sum(info.file_size for info in self.entries.values())
        if total > allowed:
            raise self.refuse(f"suspicious: {total >> 20} MB packed into {path.stat().st_size >> 10} kB")

    def refuse(self, message: str) -> FileError:
        return FileError(message, path=str(self.path), advice=_SAVED_BY)

    def __contains__(self, name: str) -> bool:
        return name in self.entries

    def array(self, name: str, kinds: str = "fiu", dimensions: int = 2) -> NDArray[Any]:
        if name not in self.entries:
            raise self.refuse(f"there is no array {name!r}")
        info = self.entries[name]
        with self.archive.open(info) as file:
            header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(npy.read_magic(file))
            if header is None:
                raise self.refuse(f"{name!r} has an unknown format")
            shape, by_columns, dtype = header(file)
            if dtype.kind not in kinds or len(shape) != dimensions or min(shape, default=0) < 0:
                raise self.refuse(f"{name!r} is a {len(shape)}-dimensional array of {dtype}")
            size = math.prod(shape) * dtype.itemsize
            if size > info.file_size:
                raise self.refuse(f"{name!r} should have {size} bytes, but has {info.file_size}")
            data = file.read(size)
        if len(data) != size:
            raise self.refuse(f"{name!r} is cut off")
        return np.frombuffer(data, dtype).reshape(shape, order="F" if by_columns else "C")

    def text(self, name: str) -> str:
        return str(self.array(name, "U", 0).item())


def _motion(file: _Archive) -> Motion:
    t = file.array("t", dimensions=1)
    tracks: list[Track] = []
    while _key("q", len(tracks)) in file:
        if len(tracks) == 1_000:
            raise file.refuse("more than 1000 tracks")
        tracks.append(_track(file, len(tracks)))
    if not tracks:
        raise file.refuse("there is no array 'q'")
    return Motion(t, tuple(tracks), _marks(file))


def _track(file: _Archive, k: int) -> Track:
    figure = parse_figure(file.text(_key("figure", k)), f"{file.path}:{_key('figure', k)}")
    names = tuple(file.array(_key("variables", k), "Uf", 1).tolist())  # NumPy saves an empty list of names as floats
    if names != figure.names:
        raise file.refuse(f"the variables of {figure.name} are not those of the motion")
    values: dict[str, Any] = {field: file.array(_key(field, k)) for field in ("q", *OPTIONAL_FIELDS) if _key(field, k) in file}
    if _key("laid", k) in file:
        rows, points = file.array(_key("laid", k)), file.array(_key("laid_points", k))
        values["laid"] = from_rows(rows, points, len(values["q"]))
    return Track(figure, name=file.text(_key("name", k)), **values)


def _marks(file: _Archive) -> tuple[Mark, ...]:
    try:
        return tuple(Mark(float(t), str(text), str(kind)) for t, text, kind in json.loads(file.text("marks")))
    except (TypeError, ValueError, RecursionError):
        raise file.refuse("the marks are not a list of [t, text, kind]") from None


def _plain(layer: Layer) -> dict[str, Any]:
    curves = [[curve.track, curve.variable, [[key.t, key.offset] for key in curve.keys]] for curve in layer.curves]
    return {"name": layer.name, "weight": layer.weight, "muted": layer.muted, "curves": curves}


def _layers(file: _Archive) -> tuple[Layer, ...]:
    if "layers" not in file:
        return ()
    try:
        return tuple(_layer(**plain) for plain in json.loads(file.text("layers")))
    except (TypeError, ValueError, RecursionError):
        raise file.refuse("the layers are not a list of {name, weight, muted, curves}") from None


def _layer(name: str, weight: float, muted: bool, curves: list[Any]) -> Layer:
    own = (
        Curve(str(track), str(variable), tuple(Key(float(t), float(offset)) for t, offset in keys))
        for track, variable, keys in curves
    )
    return Layer(str(name), tuple(own), float(weight), bool(muted))
