"""Files that a visitor drops on the page: kept in a separate folder, and read by processes that can open nothing outside it."""

from __future__ import annotations

import importlib
import json
import struct
import tempfile
import threading
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, cast

from bunraku.cleanup import TemporaryFolder
from bunraku.errors import BunrakuError, BunrakuWarning, FileError
from bunraku.figure import Mesh
from bunraku.figure.mesh_file import read_mesh
from bunraku.motion import Motion
from bunraku.progress import Listener, Progress
from bunraku.stage.confined import Cancelled, Confined
from bunraku.stage.confinement import PACKAGE
from bunraku.stage.entry import Entry, Recorded, Shown
from bunraku.stage.live import Live
from bunraku.stage.plain_answer import NotPlain, packed, packed_size
from bunraku.stage.wire import CloseCode, Refusal
from bunraku.writing import safe_name

Opener = Callable[[Path], Sequence[Entry]] | str
"""Turns a file into entries: a module-level function, or its name, "module:function", so that another process can import it."""


def unpack(body: bytes) -> list[tuple[str, bytes]]:
    """The names and contents of the files in the `body` of a request: a u32 n, n bytes of JSON [[name, size], …], then the files.

    Raises Refusal if it is malformed.
    """
    try:
        (head,) = struct.unpack_from("<I", body)
        listed = json.loads(body[4 : 4 + head])
        sizes = [(str(name), int(size)) for name, size in listed]
    except (struct.error, ValueError, TypeError, RecursionError):
        raise Refusal(CloseCode.MALFORMED, "not a list of files") from None
    if not 0 < len(sizes) <= 64 or any(size < 0 for _, size in sizes) or 4 + head + sum(s for _, s in sizes) != len(body):
        raise Refusal(CloseCode.MALFORMED, "the sizes of the files do not add up")
    out, at = [], 4 + head
    for name, size in sizes:
        out.append((name, body[at : at + size]))
        at += size
    return out


@dataclass(frozen=True)
class UploadLimits:
    """Limits on dropped files."""

    bytes: int = 256 * 2**20
    """Total size of all files dropped on one stage [bytes]."""
    reading: float = 60.0
    """Processor time for reading the files of one drop [s]; on a new machine this includes compiling kernels."""
    working: float = 300.0
    """Processor time of an order in a dropped file [s]."""
    megabytes: int = 3000
    """Memory of a process that reads or runs dropped files [MB]."""
    readers: int = 4
    """Maximum number of drops that are read at the same time; others wait."""
    orders: int = 2
    """Maximum number of dropped orders that run at the same time; others wait."""
    result: int = 200 * 2**20
    """Maximum size of the result of one order, which the stage keeps in memory [bytes]."""
    results: int = 800 * 2**20
    """Maximum total size of the results of all orders of one stage [bytes]."""


class Uploads:
    """A temporary folder, with a subfolder for each drop, and one for compiled kernels.

    Dropped files are read and run by confined processes only.


    opener: turns a file into entries; None: files are refused.
    limits: limits on dropped files.
    """

    def __init__(self, opener: Opener | None, limits: UploadLimits = UploadLimits()) -> None:
        self.opener = opener if opener is None or isinstance(opener, str) else f"{opener.__module__}:{opener.__qualname__}"
        self.limits = limits
        self._folder: TemporaryFolder | None = None
        self._bytes = 0
        self._results = 0
        self._confined = Confined(*self.modules)
        self._readers = threading.Semaphore(limits.readers)
        self._orders = threading.Semaphore(limits.orders)

    @property
    def modules(self) -> tuple[str, ...]:
        """What a confined process imports before it is confined."""
        return () if self.opener is None else (self.opener.partition(":")[0], "trimesh.exchange.load")

    def prepare(self) -> None:
        """Prepares a process to read files, so that the first visitor who drops one does not wait."""
        if self.opener is not None:
            self._confined.prepare()

    def open(self, files: Sequence[tuple[str, bytes]], warn: Callable[[str], object] = lambda text: None) -> list[Entry]:
        """Entries of `files` (name, content) that were dropped together; raises BunrakuError if one cannot be read.

        warn: called with a message about what was left out, such as meshes that were not dropped.
        """
        if self.opener is None:
            raise BunrakuError("this stage opens no files")
        self._bytes += sum(len(data) for _, data in files)
        if self._bytes > self.limits.bytes:
            raise BunrakuError(f"more than {self.limits.bytes // 2**20} MB were dropped here\n  advice: start the stage again")
        names = [safe_name(name) for name, _ in files]
        if twice := [name for name in names if names.count(name) > 1]:
            raise BunrakuError(f"two files are called {twice[0]}\n  advice: rename one, or drop them one after the other")
        try:
            folder = self._new_folder()
            for name, (_, data) in zip(names, files, strict=True):
                (folder / name).write_bytes(data)
        except OSError as problem:
            raise BunrakuError(
                f"the stage cannot keep the files: {problem.strerror}\n  advice: free some space where it runs"
            ) from None
        # Files with these suffixes belong to another file that was dropped with them.
        attached = (".stl", ".obj", ".mtl", ".dae", ".ply", ".glb", ".gltf", ".bin", ".png", ".jpg", ".jpeg", ".wav")
        wanted = [name for name in names if not name.lower().endswith(attached)] or names
        with self._readers:
            paths = [folder / name for name in wanted]
            read, left_out = self._run(
                _read, self.opener, paths, folder=folder, seconds=self.limits.reading, largest=self.limits.result
            )
        for text in left_out:
            warn(_without(folder, text))
        return [self._entry(one, paths[one.file], folder) for one in read]

    def _run(self, function: Callable[..., Any], *args: Any, folder: Path, seconds: float, **options: Any) -> Any:
        cache = self._cache()

        def check(thing: Any) -> None:
            if isinstance(thing, Mesh):
                _require_own(thing, (folder, cache))

        try:
            return self._confined.run(
                function, *args, folder=folder, cache=cache, seconds=seconds, megabytes=self.limits.megabytes, check=check,
                **options,
            )  # fmt: skip
        except BunrakuError as problem:
            raise type(problem)(_without(folder, str(problem))) from None

    def _entry(self, read: ReadEntry, path: Path, folder: Path) -> Entry:
        shows = read.shows or _Ordered(self, path, read.number, folder)
        return Entry(read.title, shows, read.about, read.group or "Opened", read.front)

    def ordered(self, path: Path, number: int, folder: Path, progress: Listener | None, cancel: threading.Event) -> Recorded:
        """The result of an order in a dropped file.

        path: the file.
        number: index of the entry among those of the file.
        folder: folder of the drop.
        progress: called with its progress.
        cancel: an event that cancels it.
        """
        while not self._orders.acquire(timeout=0.2):
            if cancel.is_set():
                raise Cancelled("cancelled")
            if progress is not None:
                progress(Progress("waiting", 0.0, "other orders are running"))
        try:
            left = min(self.limits.result, self.limits.results - self._results)
            made: Recorded = self._run(
                _made, self.opener, path, number, folder=folder, seconds=self.limits.working, largest=left, progress=progress,
                cancel=cancel, long=True,
            )  # fmt: skip
        finally:
            self._orders.release()
        self._results += packed_size(made)
        return made

    def _new_folder(self) -> Path:
        if self._folder is None:
            self._folder = TemporaryFolder()
        return Path(tempfile.mkdtemp(dir=self._folder.name)).resolve()

    def _cache(self) -> Path:
        """Where confined processes keep kernels that they had to compile and scenes that they made, as long as the stage runs."""
        assert self._folder is not None
        folder = Path(self._folder.name).resolve() / "cache"
        folder.mkdir(exist_ok=True)
        return folder

    def close(self) -> None:
        """Cancels waiting work, and removes the files."""
        self._confined.close()
        if self._folder is not None:
            self._folder.cleanup()


def _without(folder: Path, text: str) -> str:
    """`text` without the path of the folder: visitors know files by name, and must not learn where they are kept."""
    return text.replace(f"{folder}/", "").replace(str(folder), "")


class _Ordered:
    """Runs an order of a dropped file when a visitor first opens it; can be cancelled."""

    def __init__(self, uploads: Uploads, path: Path, number: int, folder: Path) -> None:
        self._uploads, self._path, self._number, self._folder = uploads, path, number, folder
        self._cancel = threading.Event()

    def __call__(self, progress: Listener | None = None) -> Recorded:
        self._cancel.clear()
        return self._uploads.ordered(self._path, self._number, self._folder, progress, self._cancel)

    def cancel(self) -> None:
        self._cancel.set()


# -- in a confined process -------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ReadEntry:
    """An entry of a dropped file."""

    title: str
    shows: Recorded | Callable[..., Shown] | None
    """None if it must be computed: a confined process does that too, when a visitor opens the entry."""
    about: str
    group: str
    front: tuple[float, float] | None
    file: int
    """Index of its file among those that were read."""
    number: int
    """Index of the entry among those of its file."""

    def __post_init__(self) -> None:
        texts = (self.title, self.about, self.group)
        shown = self.shows is None or isinstance(self.shows, Recorded | partial)
        numbers = (*(self.front or (0.0, 0.0)), self.file, self.number)
        if not (shown and all(isinstance(one, str) for one in texts) and all(isinstance(one, int | float) for one in numbers)):
            raise BunrakuError("not an entry")


def _function(opener: str) -> Callable[[Path], Sequence[Entry]]:
    module, _, name = opener.partition(":")
    found: Callable[[Path], Sequence[Entry]] = getattr(importlib.import_module(module), name)
    return found


def _read(opener: str, paths: Sequence[Path]) -> tuple[list[ReadEntry], list[str]]:
    """The entries of all files, and messages about what was left out."""
    out = []
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always", BunrakuWarning)
        for file, path in enumerate(paths):
            for number, entry in enumerate(_function(opener)(path)):
                out.append(ReadEntry(entry.title, _sendable(entry), entry.about, entry.group, entry.front, file, number))
    said = [str(one.message) for one in heard if issubclass(one.category, BunrakuWarning)]
    return out, list(dict.fromkeys(said))


def _sendable(entry: Entry) -> Recorded | Callable[..., Shown] | None:
    """What an `entry` shows, tried out within the limits of this process; None if it must be computed and cannot be sent."""
    shows = Recorded(entry.shows) if isinstance(entry.shows, Motion) else entry.shows
    try:
        packed(shows)
    except NotPlain:
        return None
    for file in mesh_files(entry.open()):
        read_mesh(Mesh(file))
    return cast(Recorded | Callable[..., Shown], shows)


def _made(opener: str, path: Path, number: int, progress: Listener | None = None) -> Recorded | Live:
    """What the entry shows. The script of a dropped show stays here: it would be performed anew outside of confinement."""
    made = _function(opener)(path)[number].open(progress=progress)
    return replace(made, book=None) if isinstance(made, Recorded) else made


def own_meshes(thing: Recorded | Live, folder: Path) -> Recorded | Live:
    """The `thing`, if all its meshes are in the `folder` or are bunraku's own; raises FileError otherwise."""
    for file in mesh_files(thing):
        _require_own(Mesh(file), (folder,))
    return thing


def _require_own(mesh: Mesh, folders: Sequence[Path]) -> None:
    path = Path(mesh.file).resolve()
    if not any(path.is_relative_to(home.resolve()) for home in (*folders, PACKAGE)):
        raise FileError("the mesh was not dropped with the figure", path=path.name, advice="drop both at once")


def mesh_files(thing: Recorded | Live) -> Iterator[str]:
    """The mesh files that a `thing` refers to."""
    figures: Any = [t.figure for t in thing.motion.tracks] if isinstance(thing, Recorded) else thing.figures
    for shape in (*(s for f in figures for s in f.shapes), *thing.scene.obstacles):
        if isinstance(shape.geometry, Mesh):
            yield shape.geometry.file
