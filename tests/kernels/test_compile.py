from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import bunraku
from bunraku.kernels import fingerprint as prints
from bunraku.kernels import folders
from bunraku.kernels.compile import kernel
from tests.kernels.fresh import Forks

PACKAGE = Path(bunraku.__file__).parent

# A package of two kernel modules: one calls the other, which numba's own cache would not notice to have changed.
INNER = """
from bunraku.kernels.compile import inline
@inline
def inner(x):
    return x + 1.0
"""
OUTER = """
import sys
from bunraku.toys.inner import inner
from bunraku.kernels.cache import cache_folder
from bunraku.kernels.compile import kernel
@kernel
def outer(x):
    return 10.0 * inner(x)
print(outer(2.0), cache_folder(__name__))
"""


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Enough of the package to have kernels of one's own."""
    root = tmp_path_factory.mktemp("copy") / "bunraku"
    shutil.copytree(PACKAGE / "kernels", root / "kernels", ignore=shutil.ignore_patterns("__pycache__"))
    for name in ("__init__.py", "cleanup.py", "errors.py", "progress.py"):
        shutil.copy(PACKAGE / name, root / name)
    (root / "toys").mkdir()
    (root / "toys" / "__init__.py").touch()
    (root / "toys" / "inner.py").write_text(INNER)
    (root / "toys" / "outer.py").write_text(OUTER)
    return root


def run(root: Path, cache: Path, module: str = "outer", **environment: str) -> subprocess.CompletedProcess[str]:
    # The copy comes first on the path, before the package that is installed.
    start = f"import sys; sys.path.insert(0, {str(root.parent)!r}); import bunraku.toys.{module}"
    own = {k: v for k, v in os.environ.items() if not k.startswith("NUMBA_")}
    own |= {"XDG_CACHE_HOME": str(cache), "HOME": str(cache), "PYTHONDONTWRITEBYTECODE": "1", **environment}
    return subprocess.run([sys.executable, "-c", start], capture_output=True, text=True, env=own, check=False)


# Another clone has a module more, whose type has gone through a kernel that both have.
GUEST = """
from collections import namedtuple
from bunraku.kernels.compile import kernel
from bunraku.toys.inner import inner
Box = namedtuple("Box", "x")
@kernel
def guest(box):
    return first(box) + inner(2.0)
"""
SHARED = """
from bunraku.kernels.compile import inline
@inline
def first(box):
    return box[0]
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_what_another_clone_has_left_does_no_harm(copy: Path, tmp_path: Path) -> None:
    toys = copy / "toys"
    (toys / "shared.py").write_text(SHARED)
    (toys / "guest.py").write_text("from bunraku.toys.shared import first\n" + GUEST + "print(guest(Box(1.0)))\n")
    start = run(copy, tmp_path, module="guest")
    assert start.stdout.strip() == "4.0", start.stderr
    (toys / "guest.py").unlink()
    (toys / "host.py").write_text(
        "from bunraku.toys.shared import first\nfrom bunraku.kernels.compile import kernel\n"
        "@kernel\ndef host(x):\n    return first((x, 2))\nprint(host(5.0))\n"
    )
    for _ in range(2):
        here = run(copy, tmp_path, module="host")
        assert here.stdout.strip() == "5.0", here.stderr
    assert "compiling" not in here.stderr


@pytest.mark.parametrize("word", ["inline", "bare", "woven"])
def test_every_kind_of_kernel_counts(word: str, tmp_path: Path) -> None:
    toys = tmp_path / "toys"
    toys.mkdir()
    (toys / "inner.py").write_text(INNER.replace("inline", word))
    (toys / "outer.py").write_text(OUTER)
    assert "bunraku.toys.inner" in prints.kernel_sources(tmp_path, "bunraku.toys.outer")


@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_an_edit_in_one_module_recompiles_its_callers(copy: Path, tmp_path: Path) -> None:
    first = run(copy, tmp_path)
    assert first.returncode == 0, first.stderr
    value, folder = first.stdout.split()
    assert value == "30.0"
    assert list(Path(folder).rglob("*.nbc"))
    assert "compiling" in first.stderr
    again = run(copy, tmp_path)
    assert again.stdout == first.stdout
    assert "compiling" not in again.stderr  # it came from the disk

    inner = copy / "toys" / "inner.py"
    inner.write_text(INNER.replace("+ 1.0", "+ 2.0"))
    try:
        changed = run(copy, tmp_path)
    finally:
        inner.write_text(INNER)
    other_value, other_folder = changed.stdout.split()
    assert other_value == "40.0"
    assert other_folder != folder


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_a_read_only_home_still_works(copy: Path, tmp_path: Path) -> None:
    home = tmp_path / "home"
    home.write_text("not a folder: nothing can be made in it, not even by root")
    spare = tmp_path / "spare"
    spare.mkdir()
    result = run(copy, home, TMPDIR=str(spare))
    assert result.returncode == 0, result.stderr
    value, folder = result.stdout.split()
    assert value == "30.0"
    assert Path(folder).is_relative_to(spare)


def test_without_the_compiler_the_same_lines_run(copy: Path, tmp_path: Path) -> None:
    result = run(copy, tmp_path, NUMBA_DISABLE_JIT="1")
    assert result.stdout.split()[0] == "30.0"
    assert "compiling" not in result.stderr


def test_fingerprint_sees_what_is_beneath_and_nothing_else(copy: Path) -> None:
    def fingerprint(name: str) -> str:
        prints._imports.cache_clear()
        prints.fingerprint.cache_clear()
        return prints.fingerprint(copy, f"bunraku.toys.{name}")

    inner, outer = fingerprint("inner"), fingerprint("outer")
    assert inner != outer
    for name, text in (("inner", INNER), ("outer", OUTER)):
        path = copy / "toys" / f"{name}.py"
        path.write_text('"""What this is."""\n# a word\n' + text)
        assert (fingerprint("inner"), fingerprint("outer")) == (inner, outer)
        path.write_text(text + "RATE = 2.0\n")
        assert fingerprint("outer") != outer
        assert (fingerprint("inner") == inner) == (name == "outer")
        path.write_text(text)
        assert (fingerprint("inner"), fingerprint("outer")) == (inner, outer)
    note = copy / "toys" / "note.py"
    note.write_text("from bunraku.kernels.compile import kernel\n")
    assert fingerprint("outer") == outer
    note.unlink()


def test_a_kernel_sees_all_modules_whose_kernels_it_can_reach() -> None:
    """Not by reading imports, as the code under test does, but by asking which compiled functions are within reach."""
    import bunraku.dynamics  # noqa: F401

    for name, loaded in list(sys.modules.items()):
        if name.startswith("bunraku."):
            sources = prints.kernel_sources(PACKAGE, name)
            for thing in list(vars(loaded).values()):
                if isinstance(thing, numba.core.dispatcher.Dispatcher):
                    assert thing.py_func.__module__ in sources, (name, thing)


def test_nan_is_not_optimised_away() -> None:
    @kernel
    def is_nan(x: float) -> bool:
        return x != x

    assert is_nan(np.nan)
    assert not is_nan(np.inf)


def test_old_caches_are_forgotten_and_young_ones_kept(tmp_path: Path) -> None:
    old, young = tmp_path / "dynamics.kkt-0123", tmp_path / "dynamics.kkt-4567"
    for folder in (old, young):
        folder.mkdir()
    os.utime(old, (0, 0))
    folders._forget_old(tmp_path)
    assert list(tmp_path.iterdir()) == [young]


def test_importing_bunraku_compiles_nothing(tmp_path: Path) -> None:
    code = "import bunraku; bunraku.library.marionette22(); import bunraku.kinematics, bunraku.render.image"
    own = {**os.environ, "XDG_CACHE_HOME": str(tmp_path), "HOME": str(tmp_path)}
    own.pop("NUMBA_CACHE_DIR", None)
    result = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=own, check=False)
    assert result.returncode == 0, result.stderr
    assert result.stderr == ""
    assert not list(tmp_path.rglob("*.nb[ic]"))


FORKED = """
import os
import numpy as np
import bunraku
from bunraku.kinematics.forward import frames_along

bob = bunraku.library.pendulum()
bunraku.pose(bob)  # its threads stay for a while
child = os.fork()
if child == 0:
    print(frames_along(bob, bob.start[None]).shape, flush=True)
    os._exit(0)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_forked_process_compiles_what_it_needs(forks: Forks, tmp_path: Path) -> None:
    done = forks.run(FORKED, tmp_path, {"XDG_CACHE_HOME": str(tmp_path)})
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-1] == "0"
