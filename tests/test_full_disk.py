"""A full disk: every writer gives one clear error, keeps the old file and leaves no part of a new one."""

from __future__ import annotations

import contextlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import bunraku
from bunraku import library
from bunraku.choreography import cue_shifts, motion_library, rehearse
from bunraku.choreography.repertoire import MotionPiece
from bunraku.ensemble.scenes import meshed_solids
from bunraku.errors import BunrakuError, FileError
from bunraku.locomotion.walk.cycles import load_cycles, save_cycles
from bunraku.motion import Motion
from bunraku.planning.strings.parallel_trees import Board
from bunraku.planning.strings.search import TreeState
from bunraku.planning.strings.search_tree import SearchTree
from bunraku.render.film_writer import _whole
from bunraku.render.plots import plot
from bunraku.scene import Heightfield, Obstacle, Scene
from bunraku.stage.uploads import Uploads
from bunraku.verbs.entries import entries_of
from bunraku.writing import writing
from tests.slow_cases import cases

OLD = b"the old file\n"
Room = Callable[[int], Path]


@pytest.fixture(scope="module")
def disk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A disk of 64 kB."""
    folder = tmp_path_factory.mktemp("disk")
    try:
        mount = ["mount", "-t", "tmpfs", "-o", "size=64k", "bunraku-test", str(folder)]
        mounted = subprocess.run(mount, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    if not mounted:
        pytest.skip("no small disk can be mounted here: that takes Linux and root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "--lazy", str(folder)], check=True)


@pytest.fixture
def room(disk: Path) -> Iterator[Room]:
    """Fills the disk so that some bytes are left; a file that the test gave before stays."""

    def left(count: int) -> Path:
        with (disk / "filler").open("wb", buffering=0) as file:
            with contextlib.suppress(OSError):
                while file.write(b"x" * 4096) == 4096:
                    pass
            file.truncate(file.tell() // 4096 * 4096 - count)
        return disk

    yield left
    for path in disk.iterdir():
        shutil.rmtree(path) if path.is_dir() else path.unlink()


def quiet(capfd: pytest.CaptureFixture[str]) -> bool:
    """Whether nothing was printed, but that kernels are compiled."""
    out, err = capfd.readouterr()
    return not out and all(line.startswith("bunraku: compiling kernels") for line in err.splitlines())


def swing(samples: int = 11) -> Motion:
    t = np.linspace(0.0, 1.0, samples)
    return Motion.of(library.named("pendulum"), t, np.sin(5.0 * t)[:, None])


def stepping(n: int = 200) -> Motion:
    puppet = library.named("marionette22")
    q = puppet.start + np.random.default_rng(0).normal(size=(n, puppet.n_q))
    return Motion.of(puppet, np.arange(n) / 30.0, q)


def hills(name: str = "hills") -> Scene:
    heights = tuple(tuple(float(x) for x in row) for row in np.random.default_rng(0).normal(size=(30, 30)))
    return Scene("hills", obstacles=(Obstacle(name, Heightfield(heights, (1.0, 1.0))),))


def tree() -> SearchTree:
    row = np.random.default_rng(0).normal(size=(500, 6))
    return SearchTree(np.arange(500) - 1, row[:, 0], row[:, 1], row.reshape(500, 2, 3), ("a", "b"), row, row)


def pieces(path: Path) -> None:
    motion = stepping()
    motion_library.save_pieces(path, {"step": MotionPiece("step", motion, ("legs",))})


def solid(path: Path) -> None:
    import trimesh

    meshed_solids.written(path.stem, [trimesh.creation.icosphere(subdivisions=4)], (1.0, 0.0, 0.0), path.parent)


def page(path: Path) -> None:
    with writing(path) as temporary:
        temporary.write_bytes(b"<html>" * 20_000)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.mp4": lambda path: bunraku.save(swing(), path, fps=10, size=(96, 72)),
    "a.png": lambda path: bunraku.save(swing(), path),
    "figure.png": lambda path: bunraku.save(library.named("marionette22"), path),
    "a.npz": lambda path: bunraku.save(swing(), path),
    "long.npz": lambda path: bunraku.save(stepping(), path),
    "a.csv": lambda path: bunraku.save(stepping(), path),
    "a.glb": lambda path: bunraku.save(stepping(), path),
    "a.bvh": lambda path: bunraku.save(stepping(), path),
    "figure.yaml": lambda path: bunraku.save(library.named("marionette22"), path),
    "figure.xml": lambda path: bunraku.save(library.named("pendulum"), path),
    "scene.yaml": lambda path: bunraku.save(Scene("room"), path),
    "plot.png": lambda path: plot(swing(), path),
    "plot.svg": lambda path: plot(swing(), path),
    "plot.pdf": lambda path: plot(swing(), path),
    "page.html": page,
    "tree.npz": lambda path: tree().save(path),
    "cycles.npz": lambda path: save_cycles(load_cycles(), path),
    "pieces.npz": pieces,
    "solid.stl": solid,
}


@pytest.mark.parametrize("name", WRITERS)
def test_one_error_and_the_old_file_stays(name: str, room: Room, capfd: pytest.CaptureFixture[str], disk: Path) -> None:
    path = disk / name
    path.write_bytes(OLD)
    room(0)
    with pytest.raises(FileError, match="No space left on device") as caught:
        WRITERS[name](path)
    assert str(caught.value).startswith(f"{path}: cannot be written")
    assert path.read_bytes() == OLD
    assert {p.name for p in disk.iterdir()} == {name, "filler"}
    assert quiet(capfd)


@pytest.mark.parametrize("kilobytes", cases((4, 8, 16, 32, 40), slow=("4", "16", "32")))
def test_a_film_that_fits_in_part(kilobytes: int, room: Room, capfd: pytest.CaptureFixture[str], disk: Path) -> None:
    """Wherever the disk is full: in the pictures, in the index, or while the index goes to the front."""
    path = disk / "a.mp4"
    path.write_bytes(OLD)
    room(kilobytes * 1024)
    with pytest.raises(FileError, match="No space left on device"):
        bunraku.save(stepping(60), path, fps=30, size=(320, 240))
    assert path.read_bytes() == OLD
    assert {p.name for p in disk.iterdir()} == {"a.mp4", "filler"}
    assert quiet(capfd)


def test_a_scene_in_two_files_changes_in_both_or_in_none(room: Room, disk: Path) -> None:
    for name in ("a.yaml", "a_hills.csv"):
        (disk / name).write_bytes(OLD)
    room(20 * 1024)  # enough for the first of the two
    heights = tuple((0.0,) * 30 for _ in range(30))
    low = Scene("both", obstacles=(Obstacle("hills", Heightfield(heights, (1.0, 1.0))), *hills("peaks").obstacles))
    with pytest.raises(FileError, match="No space left on device"):
        bunraku.save(low, disk / "a.yaml")
    assert {p.name: p.read_bytes() for p in disk.iterdir() if p.name != "filler"} == {"a.yaml": OLD, "a_hills.csv": OLD}


def test_what_is_kept_for_the_next_time_is_not_needed(room: Room, disk: Path) -> None:
    """A rehearsal, the shifts of cues, the news of a search: they cost time, or are not told, and nothing fails."""
    room(0)
    found = rehearse.Rehearsed(np.zeros((9, 9)), np.zeros((9, 9)), np.zeros((9, 9)), 1, "found", True)
    rehearse._kept(disk / "a.npz", found)
    cue_shifts._kept(disk / "a.txt", np.zeros(9))
    Board(str(disk), 0.0).writer(1)(TreeState(1.0, 1, 1, 1.0, 1.0))
    assert not [p.name for p in disk.iterdir() if p.suffix in (".npz", ".txt", ".json")]


def test_dropped_files_that_cannot_be_kept(room: Room, disk: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(room(4096)))
    uploads = Uploads(entries_of)
    with pytest.raises(BunrakuError, match="cannot keep the files: No space left on device"):
        uploads.open([("a.yaml", b"x" * 50_000)])
    uploads.close()


def test_the_command_says_it_in_words(room: Room, disk: Path, tmp_path: Path) -> None:
    room(0)
    (tmp_path / "order.yaml").write_text("simulate: pendulum\nduration: 0.1\n")
    start = [sys.executable, "-c", "from bunraku.cli import main; main()"]
    words = [*start, "simulate", str(tmp_path / "order.yaml"), "-o", str(disk / "a.mp4")]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr
    assert "x264" not in done.stderr + done.stdout
    assert "wrote" not in done.stdout
    assert {p.name for p in disk.iterdir()} == {"filler"}


def test_kernels_are_compiled_and_not_kept(room: Room, disk: Path, tmp_path: Path) -> None:
    (tmp_path / "halves.py").write_text("from bunraku.kernels.compile import kernel\n@kernel\ndef half(x):\n    return 0.5 * x\n")
    room(0)
    code = (
        f"import sys, warnings, pathlib; sys.path.insert(0, {str(tmp_path)!r})\n"
        f"from bunraku.kernels.folders import use_root; use_root(pathlib.Path({str(disk)!r}))\n"
        "warnings.showwarning = lambda message, *_, **__: print('warning:', message)\n"
        "from halves import half; print(half(8.0), half(8))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    warning, answer = done.stdout.splitlines()
    assert warning.startswith("warning: compiled kernels cannot be kept")
    assert "No space left on device" in warning
    assert answer == "4.0 4.0"
    assert not list(disk.rglob("*.part"))


def test_a_film_with_its_end_cut_off_is_not_whole(tmp_path: Path) -> None:
    path = tmp_path / "a.mp4"
    bunraku.save(swing(), path, fps=10, size=(96, 72))
    data = path.read_bytes()
    assert _whole(path)
    for damaged in (data[:-1], data[:40], b"", data + b"x", data.replace(b"moov", b"free", 1)):
        path.write_bytes(damaged)
        assert not _whole(path)
