"""The verb guide: logs into files, and clear refusals."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from rich.console import Console

from bunraku import io
from bunraku.errors import FileError
from bunraku.stage import Sticks
from bunraku.stage.input_log import InputLog
from bunraku.verbs.guide.run import entry, live, replayed

QUIET = Console(quiet=True)


def log_of(path: Path) -> list[np.ndarray]:
    """A second of forward, saved as the stage saves it, and what was seen."""
    own = live("humanoid", None)
    log, seen = InputLog(own), [own.reset().q[0]]
    for step in range(300):
        if step in (10, 210):
            command = Sticks((0.0, float(step == 10), 0.0, 0.0, 0.0, 0.0))
            own.apply(command)
            log.add(step, command)
        seen.append(own.step().q[0])
    path.write_text(log.to_json(), encoding="utf-8")
    return seen


def test_a_log_becomes_files(tmp_path: Path) -> None:
    seen = log_of(tmp_path / "log.json")
    out, plot = tmp_path / "walk.npz", tmp_path / "loci.png"
    said = dict(replayed("humanoid", None, tmp_path / "log.json", [out], plot, seconds=0.45, console=QUIET))
    assert "moves" in said["replayed"]
    assert np.array_equal(io.load(out).q, np.array(seen)), "to the last bit"
    assert plot.stat().st_size > 10_000


@pytest.mark.parametrize(
    ("log", "output", "message"),
    [
        ("missing.json", "walk.npz", "cannot be read"),
        ("bad.json", "walk.npz", "not an input log"),
        ("bad.json", "walk.odt", "cannot hold a motion"),
    ],
)
def test_refusals(tmp_path: Path, log: str, output: str, message: str) -> None:
    (tmp_path / "bad.json").write_text("{}", encoding="utf-8")
    with pytest.raises(FileError, match=message):
        list(replayed("humanoid", None, tmp_path / log, [tmp_path / output], None, seconds=0.1, console=QUIET))


def test_a_figure_is_not_a_scene(tmp_path: Path) -> None:
    path = tmp_path / "arm.yaml"
    path.write_text("figure: arm\nframes: []\n", encoding="utf-8")
    with pytest.raises(FileError):
        live("humanoid", path)


def test_the_entry_opens() -> None:
    assert entry("humanoid", None).open().figures[0].name == "humanoid"
