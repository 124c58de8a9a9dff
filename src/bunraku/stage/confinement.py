"""Confines a process: it can write to its own folders, read those and bunraku's own files, and open nothing else.

There are two barriers. An audit hook refuses what Python code opens, with a message. On Linux, Landlock makes the kernel refuse
what libraries open without Python (MuJoCo reads included model files itself). In addition, memory and processor time are limited.
"""

from __future__ import annotations

import contextlib
import ctypes
import enum
import errno
import math
import os
import sys
import sysconfig
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bunraku.errors import FileError
from bunraku.kernels.apart import be_worker
from bunraku.kernels.folders import keep_apart

PACKAGE = Path(__file__).parents[1]
DATA_SUFFIXES = (
    ".yaml", ".yml", ".urdf", ".sdf", ".xml", ".mjcf", ".bvh", ".csv", ".npz", ".npy", ".json", ".stl", ".obj", ".mtl", ".dae",
    ".ply", ".glb", ".gltf", ".bin", ".mcap", ".usd", ".usda", ".usdc", ".c3d", ".trc", ".msh", ".png", ".jpg", ".jpeg", ".wav",
)  # fmt: skip
"""Files with these suffixes are data: outside the folder, only bunraku's own may be read."""
FORBIDDEN_EVENTS = ("subprocess.Popen", "os.exec", "os.posix_spawn", "os.system", "socket.connect", "socket.bind", "os.kill")


class Outside(FileError, PermissionError):
    """A confined process tried to open something else. Libraries that look for files of their own go on, as where they may not."""

    errno = errno.EACCES
    strerror = "it is not among the dropped files"


def confine(folder: Path, *, cache: Path, seconds: float, megabytes: int) -> None:
    """Confines this process permanently.

    folder: the folder whose files it may open, besides its own libraries and compiled kernels.
    cache: where it keeps what it would keep in the user's cache, which it may only read: other processes run the kernels there.
    seconds: limit of processor time [s].
    megabytes: limit of additional memory [MB].
    """
    here, own_cache = folder.resolve(), cache.resolve()
    if hasattr(os, "nice"):
        os.nice(5)  # live figures and other visitors have priority
    os.chdir(here)
    tempfile.tempdir = str(here)  # also for temporary files of libraries
    be_worker()  # missing kernels are compiled in this process: it may start no others
    kernels = keep_apart(own_cache).resolve()
    _limit(seconds, megabytes)
    _landlock([*_libraries(), kernels], [here, own_cache])
    sys.addaudithook(_hook((here, own_cache), kernels))


def _libraries() -> Iterator[Path]:
    """Folders of code that this process may still have to import. Python also imports from the folder of the script that was
    started, which may be anybody's home: only folders with installed packages are libraries."""
    roots = {sys.prefix, sys.base_prefix, sys.exec_prefix, *sysconfig.get_paths().values(), str(PACKAGE)}
    roots |= {path for path in sys.path if path and any(Path(path).glob("*.dist-info"))}
    roots |= {"/usr/lib", "/usr/lib64", "/lib", "/lib64", "/usr/local/lib", "/usr/share/zoneinfo", "/proc/cpuinfo", "/proc/meminfo"}
    roots |= {"/etc/ld.so.cache", "/dev/null", "/dev/urandom", "/sys/devices/system/cpu"}
    yield from (path.resolve() for root in roots if root and (path := Path(root)).exists())


# -- what Python opens -----------------------------------------------------------------------------------------------


def _hook(own: tuple[Path, ...], kernels: Path) -> Any:
    roots = (*_libraries(), kernels)
    package = PACKAGE.resolve()

    def hook(event: str, args: tuple[Any, ...]) -> None:
        if event in FORBIDDEN_EVENTS:
            raise Outside("dropped files may not start programs or use the network", path=str(args[0])[:100])
        if event not in ("open", "os.listdir", "os.scandir") or not args or not isinstance(args[0], str | bytes | os.PathLike):
            return
        name = os.fsdecode(args[0])
        path = Path(os.path.realpath(name))
        if any(path.is_relative_to(folder) for folder in own):
            return
        if event != "open" and any(path.is_relative_to(root) for root in (*roots, Path("/usr"))):
            return  # for imports
        reading = event != "open" or not args[2] & (os.O_WRONLY | os.O_RDWR | os.O_CREAT)
        if reading and path.is_relative_to(package):
            return
        if reading and path.suffix.lower() not in DATA_SUFFIXES and any(path.is_relative_to(root) for root in roots):
            return
        raise Outside("is not among the dropped files", path=name[:200], advice="drop it together with the others")

    return hook


# -- what anybody opens ----------------------------------------------------------------------------------------------


class _Call(enum.IntEnum):
    """System calls of Landlock; their numbers are the same on every processor."""

    CREATE_RULESET = 444
    ADD_RULE = 445
    RESTRICT_SELF = 446


class _Right(enum.IntFlag):
    """Access rights to files below a path."""

    EXECUTE = 1
    WRITE_FILE = 2
    READ_FILE = 4
    READ_DIR = 8
    TRUNCATE = 1 << 14
    OWN = 0b1_1011_1110  # write, read, list and remove files and folders, make both; not: execute, make devices, sockets, links
    ALL = (1 << 13) - 1  # all rights of Landlock's first version


class _Ruleset(ctypes.Structure):
    _fields_ = (("handled_access_fs", ctypes.c_uint64), ("handled_access_net", ctypes.c_uint64), ("scoped", ctypes.c_uint64))


class _PathBeneath(ctypes.Structure):
    _pack_ = 1
    _layout_ = "ms"
    _fields_ = (("allowed_access", ctypes.c_uint64), ("parent_fd", ctypes.c_int32))


def _landlock(read: list[Path], write: list[Path]) -> None:
    """If the kernel has Landlock: allows reading below `read`, and reading and writing below `write`, and nothing else.

    Newer kernels also refuse TCP connections, and signals and sockets to other processes.
    """
    if not sys.platform.startswith("linux"):
        return
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_Call.CREATE_RULESET, None, 0, 1)
    if version < 1:  # an older kernel: only the hook protects
        return
    truncate = _Right.TRUNCATE if version >= 3 else _Right(0)
    rules = _Ruleset(_Right.ALL | truncate, 0b11 if version >= 4 else 0, 0b11 if version >= 6 else 0)
    ruleset = libc.syscall(_Call.CREATE_RULESET, ctypes.byref(rules), 8 if version < 4 else 16 if version < 6 else 24, 0)
    for rights, paths in (
        (_Right.EXECUTE | _Right.READ_FILE | _Right.READ_DIR, read),
        (_Right.OWN | truncate, write),
    ):
        for path in paths:
            with contextlib.suppress(OSError):
                handle = os.open(path, os.O_PATH | os.O_CLOEXEC)
                own = rights if path.is_dir() else rights & (_Right.EXECUTE | _Right.READ_FILE | _Right.WRITE_FILE)
                rule = _PathBeneath(own, handle)
                libc.syscall(_Call.ADD_RULE, ruleset, 1, ctypes.byref(rule), 0)
                os.close(handle)
    libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS, which Landlock requires from unprivileged processes
    libc.syscall(_Call.RESTRICT_SELF, ruleset, 0)
    os.close(ruleset)


# -- time and memory -------------------------------------------------------------------------------------------------


def _limit(seconds: float, megabytes: int) -> None:
    try:
        import resource
    except ImportError:  # Windows: the stage kills processes that take too long
        return
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize() if Path("/proc/self/statm").exists() else 0
    most = used + megabytes * 2**20
    spent = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    cpu = math.ceil(spent + seconds) + 1
    for kind, soft, hard in ((resource.RLIMIT_AS, most, most), (resource.RLIMIT_CPU, cpu, cpu + 5), (resource.RLIMIT_CORE, 0, 0)):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (soft, hard))
