"""Whatever is wrong with the cache: the kernel is compiled anew, one line says so, and nothing of a stranger's is run."""

from __future__ import annotations

import os
import pickle
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol

import pytest

from bunraku.kernels import cache, folders
from tests.kernels.fresh import Forks

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")

KERNEL = """
import warnings
warnings.showwarning = lambda message, *_, **__: print("warning:", message)
from bunraku.kernels.compile import kernel
from numba.core import event
class Heard(event.Listener):
    def on_start(self, event):
        print("compiled")
    def on_end(self, event):
        pass
event.register("numba:compile", Heard())
@kernel
def half(x):
    return 0.5 * x
print(half(8.0))
"""


class Trap:
    """Runs a stranger's code when it is unpickled."""

    def __init__(self, mark: Path) -> None:
        self.mark = mark

    def __reduce__(self) -> tuple[Callable[..., object], tuple[str]]:
        return os.mkdir, (str(self.mark),)


class Run(Protocol):
    """What the kernel says, in a process of its own with a cache of its own."""

    def __call__(self, tmp_path: Path, code: str = "") -> list[str]: ...


@pytest.fixture(scope="module")
def run(forks: Forks) -> Run:
    def run(tmp_path: Path, code: str = "") -> list[str]:
        (tmp_path / "halves.py").write_text(KERNEL)
        start = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{code}\nimport halves"
        done = forks.run(start, tmp_path, {"XDG_CACHE_HOME": str(tmp_path / "cache"), "TMPDIR": str(tmp_path)})
        assert done.returncode == 0, done.stderr
        assert "Traceback" not in done.stderr
        return done.stdout.splitlines()

    return run


def kept(tmp_path: Path) -> Path:
    (file,) = (tmp_path / "cache").rglob("half.*.nbc")
    return file


def truncated(file: Path) -> None:
    file.write_bytes(file.read_bytes()[:-20])


def garbled(file: Path) -> None:
    data = bytearray(file.read_bytes())
    data[len(data) // 2] ^= 1
    file.write_bytes(data)


def emptied(file: Path) -> None:
    file.write_bytes(b"")


def dangling(file: Path) -> None:
    file.unlink()
    file.symlink_to(file.with_name("nowhere"))


def a_folder(file: Path) -> None:
    file.unlink()
    file.mkdir()


def a_pipe_dream(file: Path) -> None:
    """Sound by its checksum, and not a kernel."""
    file.write_bytes(cache._sealed(pickle.dumps(("not", "a", "kernel"))))


def another_users(file: Path) -> None:
    """Sound, but somebody else could have written it."""
    if os.geteuid() != 0:
        pytest.skip("only root gives files away")
    file.write_bytes(cache._sealed(pickle.dumps(Trap(file.parents[4] / "sprung"))))
    os.chown(file, 12345, 12345)


@pytest.fixture(scope="module")
def warm(run: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache with the kernel in it, as the second of two processes finds it."""
    folder = tmp_path_factory.mktemp("warm")
    assert run(folder) == ["compiled", "4.0"]
    assert run(folder) == ["4.0"]
    return folder / "cache"


@pytest.mark.parametrize(
    "damage", [truncated, garbled, emptied, dangling, a_folder, a_pipe_dream, another_users], ids=lambda damage: damage.__name__
)
def test_a_damaged_file(damage: Callable[[Path], None], run: Run, warm: Path, tmp_path: Path) -> None:
    shutil.copytree(warm, tmp_path / "cache")
    damage(kept(tmp_path))
    warning, *rest = run(tmp_path, "import halves; del sys.modules['halves']")
    assert warning.startswith("warning: a cached kernel cannot be used")
    assert rest == ["compiled", "4.0", "4.0"]  # compiled anew, and sound when it is loaded again
    assert not (tmp_path / "sprung").exists()


def test_an_unreadable_file(run: Run, warm: Path, tmp_path: Path) -> None:
    """Root reads everything, so the reading itself is made to fail."""
    shutil.copytree(warm, tmp_path / "cache")
    fail = (
        "import pathlib; old = pathlib.Path.read_bytes\n"
        "def read_bytes(self):\n"
        "    if self.suffix == '.nbc': raise PermissionError(13, 'Permission denied')\n"
        "    return old(self)\n"
        "pathlib.Path.read_bytes = read_bytes"
    )
    warning, *rest = run(tmp_path, fail)
    assert "Permission denied" in warning
    assert rest == ["compiled", "4.0"]


def test_a_full_disk(run: Run, tmp_path: Path) -> None:
    """No file may grow beyond 2 kB."""
    said = run(tmp_path, "import resource; resource.setrlimit(resource.RLIMIT_FSIZE, (2048, 2048))")
    assert said[0] == "compiled"
    assert said[1].startswith("warning: compiled kernels cannot be kept")
    assert said[2:] == ["4.0"]
    assert not list((tmp_path / "cache").rglob("*.part"))


def test_a_folder_of_somebody_else_is_not_used(run: Run, tmp_path: Path) -> None:
    if os.geteuid() != 0:
        pytest.skip("only root gives folders away")
    for folder in (tmp_path / "cache" / "bunraku" / "kernels", tmp_path / f"bunraku-{os.geteuid()}"):
        folder.mkdir(parents=True)
        os.chown(folder, 12345, 12345)
    warning, *rest = run(tmp_path)
    assert "belongs to somebody else" in warning
    assert rest == ["compiled", "4.0"]
    assert not list((tmp_path / "cache").rglob("*.nbc"))
    (private,) = tmp_path.glob("bunraku-kernels-*")
    assert private.stat().st_mode & 0o077 == 0


def test_a_link_to_a_folder_is_not_used(run: Run, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "cache" / "bunraku").mkdir(parents=True)
    (tmp_path / "cache" / "bunraku" / "kernels").symlink_to(tmp_path / "elsewhere")
    warning, *rest = run(tmp_path)
    assert "it is a link" in warning
    assert rest == ["compiled", "4.0"]
    assert not list((tmp_path / "elsewhere").iterdir())


def test_what_others_could_write_into_is_made_private(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "bunraku" / "kernels"
    folder.mkdir(parents=True)
    folder.chmod(0o777)
    assert folders._opened(folder) == folder
    assert folder.stat().st_mode & 0o077 == 0
