"""The clocks, and the file that holds what they say."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from benchmarks import table


def test_clock_counts_microseconds_and_leaves_the_first_call_out(monkeypatch: pytest.MonkeyPatch) -> None:
    now, calls = [0.0], [0.05, 0.003, 0.003, 0.001, 0.002, 0.004, 0.001]  # what each call takes [s]
    monkeypatch.setattr(table, "time", SimpleNamespace(perf_counter=lambda: now[0]))

    def work() -> None:
        now[0] += calls.pop(0)

    assert table.best_of(work, repeat=3, number=2) == pytest.approx(1500.0)  # the best round: 1 and 2 ms
    assert not calls


def test_peers_take_turns() -> None:
    order: list[str] = []
    table.interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, repeat=2, number=1)
    assert order == ["a", "b", "a", "b", "b", "a"]  # once each untimed, then in turns, rotating


def test_ratio_needs_both_parts() -> None:
    wanted = {"pose.ratio": table.Ratio("pose.ours_us", "pose.theirs_us", at_most=2.0)}
    assert table.ratios({"pose.ours_us": 3.0}, wanted) == {}
    measured = table.ratios({"pose.ours_us": 3.0, "pose.theirs_us": 1.0}, wanted)
    assert measured == {"pose.ratio": 3.0}
    assert table.too_large(measured, wanted) == ["pose.ratio"]


@pytest.mark.parametrize(("name", "value"), [("Step", 1.0), ("a.step_us", float("nan")), ("a.old_us", 1.0)])
def test_refuses_odd_names_twins_and_what_is_not_finite(name: str, value: float) -> None:
    with pytest.raises(ValueError, match=name):
        table.add({"a.old_us": 1.0}, {name: value})


def test_file_is_replaced_or_merged(tmp_path: Path) -> None:
    file = tmp_path / "results.json"
    table.write({"a.us": 1.0, "b.us": 2.0}, file)
    table.write({"b.us": 3.0}, file, merge=True)
    assert json.loads(file.read_text()) == {"a.us": 1.0, "b.us": 3.0}
    table.write({"c.us": 4.0}, file)
    assert json.loads(file.read_text()) == {"c.us": 4.0}
    assert list(tmp_path.iterdir()) == [file]
