"""A wheel brings its machine code: nothing is compiled on the machine where it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path
from types import SimpleNamespace

import pytest
from numba import types

from bunraku.kernels import cache, processor
from bunraku.kinematics.tree import pose as pose_kernel

ROOT = Path(__file__).parents[1]
SIMULATE = """
from numba.core import event
class Heard(event.Listener):
    def on_start(self, event):
        print("compiled", event.data["dispatcher"])
    def on_end(self, event):
        pass
event.register("numba:compile", Heard())
import bunraku
from bunraku import library
print(bunraku.__file__)
print(bunraku.simulate(library.marionette25(), duration=0.1).t[-1])
"""


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="the cache folder is set by XDG_CACHE_HOME")
def test_a_first_simulation_from_the_wheel_compiles_nothing(tmp_path: Path) -> None:
    build = [sys.executable, ROOT / "tools" / "wheel.py", "--quick", "--level", processor.levels()[0], "--to", tmp_path]
    subprocess.run(build, check=True)
    (wheel,) = tmp_path.glob("*.whl")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(tmp_path / "installed")
    own = {**os.environ, "PYTHONPATH": str(tmp_path / "installed"), "XDG_CACHE_HOME": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", SIMULATE], env=own, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    place, end = done.stdout.split()
    assert place.startswith(str(tmp_path))
    assert float(end) == pytest.approx(0.1)
    assert done.stderr == ""
    assert not [*(tmp_path / "cache").rglob("*.nb?")]  # nor in a process apart
    assert not [*(tmp_path / "cache").rglob("digests.txt")], "sources were parsed though the wheel knows their digests"


def test_levels_are_those_of_the_processor_best_first(monkeypatch: pytest.MonkeyPatch) -> None:
    def of(*features: str) -> tuple[str, ...]:
        monkeypatch.setattr(processor.platform, "machine", lambda: "x86_64")
        monkeypatch.setattr(processor.llvm, "get_host_cpu_features", lambda: dict.fromkeys(features, True))
        processor.levels.cache_clear()
        try:
            return processor.levels()
        finally:
            processor.levels.cache_clear()

    second, third, fourth = processor.X86_LEVELS.values()
    assert of() == ()
    assert of(*second) == ("x86-64-v2",)
    assert of(*second, *fourth) == ("x86-64-v2",)  # a level has all that the one before has
    assert of(*second, *third) == ("x86-64-v3", "x86-64-v2")
    assert of(*second, *third, *fourth) == ("x86-64-v4", "x86-64-v3", "x86-64-v2")


def test_the_named_level_is_the_one_that_is_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cache, "shipped_folder", lambda: tmp_path)
    monkeypatch.setattr(cache, "levels", lambda: ("x86-64-v4", "x86-64-v2"))
    kernel, codegen = pose_kernel._cache, SimpleNamespace(magic_tuple=lambda: ("linux", "this", ""))
    signature = types.none(types.int64)
    for level in cache.levels():
        file = tmp_path / level / cache.module_folder(pose_kernel.__module__) / kernel._file_name(signature, ("linux", level, ""))
        file.parent.mkdir(parents=True)
        file.touch()
    for named, features, found in (
        (None, None, "x86-64-v4"), ("x86-64-v2", None, "x86-64-v2"), ("haswell", None, None), ("x86-64-v2", "+avx", None),
    ):  # fmt: skip
        monkeypatch.setattr(cache.config, "CPU_NAME", named)
        monkeypatch.setattr(cache.config, "CPU_FEATURES", features)
        file = kernel.shipped(signature, codegen)
        assert (file and file.relative_to(tmp_path).parts[0]) == found


def test_a_clone_has_no_machine_code() -> None:
    assert not cache.shipped_folder().exists()
