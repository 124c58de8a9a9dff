"""Sweeps on this machine, with real worker processes."""

from __future__ import annotations

import csv
import os
import signal
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.cli import app
from bunraku.errors import BunrakuError, BunrakuWarning, FileError
from bunraku.sweeps.order_document import OrderDocument
from bunraku.sweeps.result_store import ResultStore
from bunraku.sweeps.run_batch import Batch, Luggage, WorkerMismatch, run_batch
from bunraku.sweeps.sweep import cases_of
from bunraku.sweeps.swept_values import axis_of
from bunraku.sweeps.value_paths import text_of
from bunraku.workers import ClusterSecurity
from tests.patience import until

SWING = "simulate: pendulum\nduration: 100 ms\nstart: {angle: 40 deg}\n"


def quarter(motion: Any) -> Mapping[str, float]:
    """A measure of a result."""
    return {"quarter": 0.25 * motion.duration, "name": motion.figure.name}


def test_runs_measures_and_motions(tmp_path: Path) -> None:
    """The numbers and motions are those of the runs alone; a run that cannot be read is a row, too."""
    order = tmp_path / "swing.yaml"
    order.write_text(SWING)
    over = {"start.angle": "30 deg,60deg", "dt": ["10 ms", "-1"]}
    found = bunraku.sweep(order, over, measure=quarter, motions=True, workers=1, store=tmp_path / "store")
    assert found.outcome.ok
    assert found.table["ok"] == [True, False, True, False]
    assert found.table["start.angle"] == pytest.approx(np.radians([30, 30, 60, 60]))
    assert found.table["quarter"] == [0.025, None, 0.025, None]
    assert "-1 is not more than zero" in found.table["why"][1]
    order.write_text(SWING.replace("40", "60"))
    alone = bunraku.load(order).run()
    np.testing.assert_array_equal(found.motion_of(2).q, alone.q)
    with pytest.raises(BunrakuError, match="no stored motion"):
        found.motion_of(1)
    again = bunraku.sweep(order, over, measure=quarter, workers=1, store=tmp_path / "store")
    assert (again.found, again.table) == (4, found.table)


def test_a_worker_does_what_is_asked(tmp_path: Path) -> None:
    """In this process: luggage is asked for once, and what is stored is not run again."""
    cases = cases_of(
        OrderDocument.of({"simulate": "pendulum", "duration": 0.1}), {"dt": "5ms,10ms"}, seeds=None, samples=None, seed=0
    )
    luggage = Luggage.of(cases, measure=None, motions=False, files=True)
    store = ResultStore.opened(tmp_path)
    batch = Batch(cases.list, luggage.name, store.folder, store.label)
    assert run_batch(batch, None).needs_luggage
    first = run_batch(batch, luggage)
    assert [run.stored for run in first.runs] == [True, True]
    assert run_batch(batch, None).runs == first.runs
    elsewhere = Batch(cases.list, luggage.name, store.folder, "another store")
    assert [run.stored for run in run_batch(elsewhere, None).runs] == [False, False]
    other = replace(luggage, name="other", code="0.1.0 (sources 0)")
    with pytest.raises(WorkerMismatch, match=r"a worker has bunraku .*, not 0\.1\.0 \(sources 0\)"):
        run_batch(replace(batch, luggage="other"), other)


def test_files_travel_with_the_order(tmp_path: Path) -> None:
    """A worker on another machine, which sees none of the files."""
    home, away = tmp_path / "home", tmp_path / "away"
    (home / "parts").mkdir(parents=True)
    (home / "parts" / "puppet.yaml").write_text(
        "figure: puppet\nframes: [{rx: a, start: 0.3, bodies: [{mass: 1, com: [0, 0, -1]}]}]\n"
    )
    order = home / "order.yaml"
    order.write_text("simulate: parts/puppet.yaml\nduration: 50 ms\n")
    cases = cases_of(OrderDocument.of(order), {}, seeds=None, samples=None, seed=0)
    luggage = Luggage.of(cases, measure=None, motions=False, files=True)
    home.rename(away)
    answer = run_batch(Batch(cases.list, luggage.name, tmp_path / "nowhere", "x"), luggage)
    assert [run.row["ok"] for run in answer.runs] == [True]


def test_arguments(tmp_path: Path) -> None:
    pendulum = {"simulate": "pendulum", "duration": 0.1}
    with pytest.raises(BunrakuError, match="unknown word 'mas'") as error:
        bunraku.sweep(pendulum, {"figure.mas": [1]}, store=tmp_path)
    assert "did you mean mass" in str(error.value)
    with pytest.raises(BunrakuError, match="cannot be sent to workers"):
        bunraku.sweep(pendulum, measure=lambda motion: {}, store=tmp_path)
    here = Path(__file__)
    with pytest.raises(BunrakuError, match="certificates are for a cluster"):
        bunraku.sweep(pendulum, security=ClusterSecurity(here, here, here), store=tmp_path)
    with pytest.raises(BunrakuError, match="seeds"):
        bunraku.sweep("living_room", seeds=0, store=tmp_path)
    with pytest.raises(BunrakuError, match="too many"):
        bunraku.sweep(pendulum, {"dt": "1:2:10000", "duration": "1:2:10000"}, store=tmp_path)
    assert not list(tmp_path.glob("*/*.json"))


def broken(motion: Any) -> dict[str, float]:
    """A measure that raises for some runs."""
    if motion.figure.mass > 2.5:
        raise AttributeError("no such number")
    return {"mass": motion.figure.mass}


@pytest.mark.slow
def test_a_measure_and_a_run_that_raise(tmp_path: Path) -> None:
    """Their lines say why; the other runs go on. What `measure` did is tried again, what is wrong with the order is not."""
    pendulum = {"simulate": "pendulum", "duration": 0.05}
    found = bunraku.sweep(pendulum, {"figure.mass": [1, 2, 3, -1]}, measure=broken, workers=1, store=tmp_path)
    assert found.table["ok"] == [True, True, False, False]
    assert found.table["mass"][:2] == [1.0, 2.0]
    assert found.table["outcome"][2:] == ["error", "error"]
    assert "AttributeError: no such number (test_sweep.py, line" in found.table["why"][2]
    assert "mass" in found.table["why"][3]
    again = bunraku.sweep(pendulum, {"figure.mass": [1, 2, 3, -1]}, measure=broken, workers=1, store=tmp_path)
    assert again.found == 3


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix" or (hasattr(os, "geteuid") and os.geteuid() != 0), reason="a small disk needs root")
def test_a_full_disk(tmp_path: Path) -> None:
    """One clear error; what is stored is whole, and the sweep goes on when there is room."""
    store, pendulum, over = tmp_path / "store", {"simulate": "pendulum", "duration": 0.05}, {"dt": "1ms:2ms:40"}
    store.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=128k", "tmpfs", str(store)], check=False).returncode:
        pytest.skip("nothing can be mounted here")
    try:
        with pytest.raises(FileError, match="no more results can be stored: No space left on device") as error:
            bunraku.sweep(pendulum, over, workers=1, store=store, motions=True)
        assert "repeat the sweep" in str(error.value)
        kept = len(list(ResultStore.opened(store).rows()))
        assert 0 < kept < 40
        assert not list(store.glob("*/.*"))
        subprocess.run(["mount", "-o", "remount,size=8m", str(store)], check=True)
        found = bunraku.sweep(pendulum, over, workers=1, store=store, motions=True)
        assert (found.found, found.table["ok"]) == (kept, [True] * 40)
    finally:
        subprocess.run(["umount", "-l", str(store)], check=True)


def test_seeds_of_an_order_that_draws_none(tmp_path: Path) -> None:
    with pytest.warns(BunrakuWarning, match="simulate draws no random numbers"):
        found = bunraku.sweep({"simulate": "pendulum", "duration": 0.05}, seeds=9, workers=1, store=tmp_path)
    assert len(found) == 1


# -- the command line ------------------------------------------------------------------------------------------------


def test_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swing.yaml").write_text(SWING)
    command = [
        "sweep",
        "swing.yaml",
        "--over",
        "figure.mass=1:4:4",
        "--store",
        "store",
        "-o",
        "table.csv",
        "--plot",
        "mass.png",
        "--workers",
        "1",
    ]
    ended = CliRunner().invoke(app, command)
    assert ended.exit_code == 0, ended.output
    rows = list(csv.DictReader(Path("table.csv").read_text(encoding="utf-8").splitlines()))
    assert [float(row["figure.mass"]) for row in rows] == [1, 2, 3, 4]
    energies = [float(row["energy_end"]) for row in rows]
    assert np.allclose(energies, np.array([1, 2, 3, 4]) * energies[0])
    assert "4 of 4" in ended.stderr  # progress in a file
    assert Path("mass.png").stat().st_size > 5000
    again = CliRunner().invoke(app, command)
    assert "4 were stored before" in again.stdout


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--over", "dt"], "no values"),
        (["--over", "dt=1", "--over", "dt=2"], "given twice"),
        (["-o", "table.xlsx"], "cannot hold a table"),
        (["--x", "dt"], "no effect"),
        (["--tls-key", "key.pem"], "three files"),
        (["--cluster", "nonsense"], "no cluster answers at 'nonsense'"),
        (["--over", "durration=1"], "did you mean duration"),
        (["--over", "duration=1:x"], "duration=1:x: not a range"),  # and no picture of a cross
    ],
)
def test_bad_options(options: list[str], told: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("swing.yaml").write_text(SWING)
    ended = CliRunner().invoke(app, ["sweep", "swing.yaml", "--store", "store", *options])
    assert ended.exit_code == 1
    assert told in " ".join(ended.stderr.split())
    assert "Traceback" not in ended.stderr


@pytest.mark.skipif(os.name != "posix", reason="signals")
@pytest.mark.slow
def test_ctrl_c_and_kill_of_the_sweeping_process(tmp_path: Path) -> None:
    """Either leaves no process and no part of a file behind, and the next sweep runs only the rest."""
    (tmp_path / "swing.yaml").write_text(SWING.replace("100 ms", "4 s"))
    command = [sys.executable, "-m", "bunraku.cli", "sweep", "swing.yaml", "--over", "dt=1ms:2ms:400", "--store", "store"]
    command[1:3] = ["-c", "from bunraku.cli import main; main()"]
    rows: list[int] = []
    for number in (signal.SIGINT, signal.SIGKILL):
        process = subprocess.Popen([*command, "--workers", "2"], cwd=tmp_path, stderr=subprocess.DEVNULL, start_new_session=True)
        until(lambda: len(_stored(tmp_path)) > (rows[-1] if rows else 0) + 20)
        process.send_signal(number)
        assert process.wait() == (130 if number == signal.SIGINT else -signal.SIGKILL)
        until(lambda group=process.pid: not _members(group))
        rows.append(len(_stored(tmp_path)))
        assert not [path for path in tmp_path.rglob(".*") if "part" in path.name] or number == signal.SIGKILL  # not by Ctrl-C
    stamps = {path: path.stat().st_mtime_ns for path in _stored(tmp_path)}
    ended = subprocess.run([*command, "-o", "table.csv"], cwd=tmp_path, capture_output=True, text=True, check=True)
    assert f"{rows[-1]} were stored before" in ended.stdout
    assert {path: path.stat().st_mtime_ns for path in stamps} == stamps  # none was done twice
    assert len(_stored(tmp_path)) == 400
    assert not [path for path in tmp_path.rglob(".*") if "part" in path.name]  # the next sweep removed what was left


def _stored(folder: Path) -> list[Path]:
    """The results in a store; what a killed process was writing is hidden, and is none."""
    return [path for path in folder.glob("store/*/*.json") if not path.name.startswith(".")]


@pytest.mark.slow
def test_two_sweeps_at_once_share_the_work(tmp_path: Path) -> None:
    """On one store, of partly the same runs: each run is done once, by either of them."""
    script = "import bunraku; bunraku.sweep('swing.yaml', {'dt': '%s'}, workers=1, store='store', measure=sweeps_log.logged)"
    (tmp_path / "swing.yaml").write_text(SWING.replace("100 ms", "1 s"))
    (tmp_path / "sweeps_log.py").write_text(
        "def logged(motion):\n    open('runs.log', 'a').write(f'{float(motion.t[1])!r}\\n')\n    return {}\n"
    )
    ranges = ("1ms:2ms:101", "1.5ms:2.5ms:101")  # 51 values are in both
    commands = [[sys.executable, "-c", "import sweeps_log; " + script % one] for one in ranges]
    both = [subprocess.Popen(command, cwd=tmp_path, env=os.environ | {"PYTHONPATH": str(tmp_path)}) for command in commands]
    assert [process.wait() for process in both] == [0, 0]
    values = {float(line) for line in (tmp_path / "runs.log").read_text().split()}
    stored = len(list(tmp_path.glob("store/*/*.json")))
    assert len((tmp_path / "runs.log").read_text().split()) == stored
    assert stored == len({round(1e3 * value, 6) for value in values}) + _twice_written(ranges)


def _twice_written(ranges: tuple[str, ...]) -> int:
    """Values that both ranges have, but that differ in the last bit: they are different runs."""
    texts = [{text_of(node) for node in axis_of("dt", one)} for one in ranges]  # type: ignore[union-attr]
    numbers = [{round(float(text.split()[0]), 6) for text in own} for own in texts]
    return len(numbers[0] & numbers[1]) - len(texts[0] & texts[1])


def _members(group: int) -> list[str]:
    """Processes of a session that are not dead."""
    listed = subprocess.run(["ps", "-o", "stat=", "-s", str(group)], capture_output=True, text=True, check=False).stdout
    return [state for state in listed.split() if not state.startswith("Z")]
