"""Clocks for benchmarks, and the table and the file that hold what they say.

Cores are shared and noisy, and noise only ever adds: the minimum over many short repeats is the honest
number. Things that are compared are timed in turns within one run, so that both meet the same noise.
"""

from __future__ import annotations

import gc
import json
import math
import os
import re
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

RESULTS = Path(__file__).with_name("results.json")
NAME = re.compile(r"[a-z0-9_]+(\.[a-z0-9_]+)+")


@dataclass(frozen=True)
class Ratio:
    """One result over another, and how large it may be."""

    numerator: str
    denominator: str
    at_most: float = math.inf


# -- clocks --------------------------------------------------------------------------------------------------


def best_of(function: Callable[[], Any], *, repeat: int | None = None, number: int | None = None) -> float:
    """Microseconds that one call takes: the minimum over `repeat` rounds of `number` calls each.

    The first call, which may compile, is not timed. Without `number`, a round lasts some 2 ms, well within the time that a busy
    machine leaves a process alone; without `repeat`, there are so many rounds that some of them are.
    """
    return interleaved({"it": function}, repeat=repeat, number=number)["it"]


def interleaved(
    peers: Mapping[str, Callable[[], Any]], *, repeat: int | None = None, number: int | None = None
) -> dict[str, float]:
    """Microseconds that one call of each peer takes, timed in turns; see `best_of`."""
    with _undisturbed():
        numbers = {name: number or _calls_per_round(function) for name, function in peers.items()}
        for function in peers.values():
            function()
        best = dict.fromkeys(peers, math.inf)
        order = list(peers)
        if repeat is None:
            slowest = max(_seconds(function, numbers[name]) for name, function in peers.items())
            repeat = min(max(round(0.4 / max(slowest, 1e-9)), 15), 150)
        for _ in range(repeat):
            for name in order:
                best[name] = min(best[name], _seconds(peers[name], numbers[name]) / numbers[name])
            order.append(order.pop(0))  # nobody always comes after the same neighbour
    return {name: 1e6 * seconds for name, seconds in best.items()}


def _seconds(function: Callable[[], Any], number: int) -> float:
    rounds = range(number)
    start = time.perf_counter()
    for _ in rounds:
        function()
    return time.perf_counter() - start


def _calls_per_round(function: Callable[[], Any], *, seconds: float = 0.002) -> int:
    function()
    number = 1
    while (taken := _seconds(function, number)) < seconds / 2:
        number = max(2 * number, min(10 * number, round(number * seconds / max(taken, 1e-9))))
    return number


@contextmanager
def _undisturbed() -> Iterator[None]:
    """No garbage collection in the middle of a round."""
    was_on = gc.isenabled()
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


# -- results -------------------------------------------------------------------------------------------------


def add(results: dict[str, float], new: Mapping[str, float]) -> None:
    """Adds new results, each under a name of its own: `marionette22.step_us`, a finite number."""
    for name, value in new.items():
        if not NAME.fullmatch(name):
            raise ValueError(f"{name!r} should read like marionette22.step_us")
        if name in results:
            raise ValueError(f"{name!r} was measured twice")
        if not math.isfinite(value):
            raise ValueError(f"{name!r} is {value}")
        results[name] = float(value)


def ratios(results: Mapping[str, float], wanted: Mapping[str, Ratio]) -> dict[str, float]:
    """Those ratios of which both parts were measured."""
    return {
        name: results[ratio.numerator] / results[ratio.denominator]
        for name, ratio in wanted.items()
        if ratio.numerator in results and ratio.denominator in results
    }


def too_large(results: Mapping[str, float], wanted: Mapping[str, Ratio]) -> list[str]:
    """The ratios that are above what is wanted."""
    return [name for name, ratio in wanted.items() if results.get(name, 0.0) > ratio.at_most]


def render(results: Mapping[str, float], wanted: Mapping[str, Ratio], notes: Mapping[str, str], *, title: str) -> Table:
    """The results as a table: numbers first, then ratios, green or red."""
    table = Table("name", "value", "wanted", "note", title=title, title_justify="left")
    table.columns[0].no_wrap = True
    table.columns[1].justify = table.columns[2].justify = "right"
    for name in sorted(results, key=wanted.__contains__):
        value, ratio = results[name], wanted.get(name)
        shown = f"{value:.3g}" if abs(value) < 1000 else f"{value:,.0f}"
        if ratio is None:
            table.add_row(name, shown, "", notes.get(name, ""))
        else:
            limit = f"≤ {ratio.at_most:g}" if math.isfinite(ratio.at_most) else ""
            note = notes.get(name, f"{ratio.numerator} / {ratio.denominator}")
            table.add_row(name, shown, limit, note, style="green" if value <= ratio.at_most else "bold red")
    return table


def write(results: Mapping[str, float], path: Path = RESULTS, *, merge: bool = False) -> None:
    """One flat JSON object of names to numbers, all or nothing; `merge` keeps older names."""
    old: dict[str, float] = {}
    if merge and path.exists():
        old = json.loads(path.read_text(encoding="utf-8"))
    draft = path.with_suffix(f".{os.getpid()}.tmp")
    try:
        draft.write_text(json.dumps({**old, **results}, indent=2, sort_keys=True) + "\n", encoding="utf-8")
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
