"""Tables and plots of a sweep."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

from bunraku.errors import BunrakuError, UnknownName
from bunraku.outcome import DONE
from bunraku.sweeps.cases import cases_of
from bunraku.sweeps.order_document import OrderDocument
from bunraku.sweeps.result_store import ResultStore
from bunraku.sweeps.sweep_result import Sweep


def swept(folder: Path, over: Any, *, seeds: list[int] | None = None) -> Sweep:
    """A sweep with made-up results: cost = k², and every fifth run fails."""
    document = OrderDocument.of({"simulate": "pendulum", "duration": 1})
    cases = cases_of(document, over, seeds=seeds, samples=None, seed=0)
    rows = {}
    for k, case in enumerate(cases.list):
        ok = k % 5 != 4
        numbers = {"cost": 0.1 * k * k, "word": "text", "duration": 2.0 + k} if ok else {}
        told = {"ok": ok, "outcome": "done" if ok else "error", "why": "" if ok else "too, short", "advice": ""}
        rows[case.key] = {"key": case.key, "seed": case.seed, **told, "numbers": numbers, "seconds": {"run": 0.5}, "moved": ok}
    return Sweep(DONE, cases, rows, ResultStore.opened(folder / "store"), 2, {"runs": 1.0, "sweep": 2.0})


def test_columns(tmp_path: Path) -> None:
    table = swept(tmp_path, {"dt": "5ms,10 ms", "duration": [1, 2.5, "3 min"]}).table
    assert list(table)[:6] == ["dt", "duration", "seed", "ok", "outcome", "why"]
    assert table["dt"] == [0.005] * 3 + [0.01] * 3
    assert table["duration"] == [1, 2.5, 180.0] * 2  # in SI units
    assert table["result.duration"][:2] == [2.0, 3.0]  # what the result has by the same name
    assert table["cost"][4] is None
    assert table["seconds.run"] == [0.5] * 6


def test_other_values_are_text(tmp_path: Path) -> None:
    table = swept(tmp_path, {"start": ["settle", {"angle": "3 deg"}, None]}).table
    assert table["start"] == ["settle", "{angle: 3 deg}", None]


def test_csv(tmp_path: Path) -> None:
    found = swept(tmp_path, {"dt": "1ms:5ms:5"})
    found.save(tmp_path / "table.csv")
    rows = list(csv.DictReader((tmp_path / "table.csv").read_text(encoding="utf-8").splitlines()))
    assert [float(one["dt"]) for one in rows] == found.table["dt"]
    assert [one["cost"] for one in rows][-1] == ""
    assert rows[4]["why"] == "too, short"
    assert rows[0]["ok"] == "true"


def test_parquet(tmp_path: Path) -> None:
    parquet = pytest.importorskip("pyarrow.parquet")
    found = swept(tmp_path, {"dt": "1ms:5ms:5", "start": ["settle", "start"]})
    found.save(tmp_path / "table.parquet")
    assert parquet.read_table(tmp_path / "table.parquet").to_pydict() == found.table


def test_formats_that_hold_no_table(tmp_path: Path) -> None:
    with pytest.raises(BunrakuError, match=r"\.csv"):
        swept(tmp_path, {"dt": [0.01]}).save(tmp_path / "table.xlsx")


def test_plots(tmp_path: Path) -> None:
    found = swept(tmp_path, {"dt": "1ms:5ms:5", "start": ["settle", "start"]})
    for name, options in {"a.png": {}, "b.svg": {"y": "seconds.run"}, "c.pdf": {"x": "cost", "y": "duration"}}.items():
        found.plot(tmp_path / name, **options)
        assert (tmp_path / name).stat().st_size > 2000
    with pytest.raises(UnknownName, match="did you mean cost"):
        found.plot(tmp_path / "d.png", y="cots")
    with pytest.raises(BunrakuError, match="has no numbers"):
        found.plot(tmp_path / "d.png", y="word")
    assert not (tmp_path / "d.png").exists()


def test_report_and_motions(tmp_path: Path) -> None:
    found = swept(tmp_path, {"dt": "1ms:5ms:5"})
    told = str(found)
    assert "5 of 5, 4 of them ok; 2 were stored before" in told
    assert "1× error: too, short" in told
    assert "0 … 0.9, median 0.25" in told
    assert len(found) == 5
    with pytest.raises(BunrakuError, match="motions=True"):
        found.motion_of(0)
