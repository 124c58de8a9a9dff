"""Files that a visitor drops on the page: kept in a folder of their own, from which nothing in them leads out."""

from __future__ import annotations

import json
import struct
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError, FileError
from bunraku.figure import Mesh
from bunraku.stage.entry import Entry, Recorded
from bunraku.stage.live import Live
from bunraku.stage.page_export import safe_name
from bunraku.stage.wire import MALFORMED, Refusal

Opener = Callable[[Path], Sequence[Entry]]
ATTACHED = (".stl", ".obj", ".mtl", ".dae", ".ply", ".png", ".jpg", ".jpeg")
"""Files that belong to another that is dropped with them."""
MOST_BYTES = 256 * 2**20
"""Of everything that has been dropped on one stage."""


def unpack(body: bytes) -> list[tuple[str, bytes]]:
    """Files by name: a u32, so many bytes of JSON [[name, size], …], and the files one after the other."""
    try:
        (head,) = struct.unpack_from("<I", body)
        listed = json.loads(body[4 : 4 + head])
        sizes = [(str(name), int(size)) for name, size in listed]
    except (struct.error, ValueError, TypeError, RecursionError):
        raise Refusal(MALFORMED, "not a list of files") from None
    if not 0 < len(sizes) <= 64 or any(size < 0 for _, size in sizes) or 4 + head + sum(s for _, s in sizes) != len(body):
        raise Refusal(MALFORMED, "the sizes of the files do not add up")
    out, at = [], 4 + head
    for name, size in sizes:
        out.append((name, body[at : at + size]))
        at += size
    return out


class Uploads:
    """A temporary folder, with a subfolder for each drop."""

    def __init__(self, opener: Opener | None) -> None:
        self.opener = opener
        self._folder: tempfile.TemporaryDirectory[str] | None = None
        self._bytes = 0

    def open(self, files: Sequence[tuple[str, bytes]]) -> list[Entry]:
        """Entries of files that were dropped together, read by the strict loaders."""
        if self.opener is None:
            raise BunrakuError("this stage opens no files")
        self._bytes += sum(len(data) for _, data in files)
        if self._bytes > MOST_BYTES:
            raise BunrakuError(f"more than {MOST_BYTES // 2**20} MB were dropped here\n  advice: start the stage again")
        folder = self._new_folder()
        names = [safe_name(name) for name, _ in files]
        for name, (_, data) in zip(names, files, strict=True):
            (folder / name).write_bytes(data)
        wanted = [name for name in names if not name.lower().endswith(ATTACHED)] or names
        return [self._loaded(entry, folder) for name in wanted for entry in self._entries(folder / name)]

    def _entries(self, path: Path) -> Sequence[Entry]:
        assert self.opener is not None
        try:
            return self.opener(path)
        except FileError as problem:
            # The visitor knows the file by its name, and has no business knowing where we keep it.
            raise BunrakuError(str(problem).replace(f"{path.parent}/", "")) from None

    def _loaded(self, entry: Entry, folder: Path) -> Entry:
        thing = entry.open()
        for file in mesh_files(thing):
            if not Path(file).resolve().is_relative_to(folder.resolve()):
                raise FileError("the mesh was not dropped with the figure", path=Path(file).name, advice="drop both at once")
        return replace(entry, shows=thing, group=entry.group or "Opened")

    def _new_folder(self) -> Path:
        if self._folder is None:
            self._folder = tempfile.TemporaryDirectory(prefix="bunraku-")
        return Path(tempfile.mkdtemp(dir=self._folder.name))

    def close(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def mesh_files(thing: Recorded | Live) -> Iterator[str]:
    figures: Any = [t.figure for t in thing.motion.tracks] if isinstance(thing, Recorded) else thing.figures
    for shape in (*(s for f in figures for s in f.shapes), *thing.scene.obstacles):
        if isinstance(shape.geometry, Mesh):
            yield shape.geometry.file
