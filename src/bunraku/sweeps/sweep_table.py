"""The table of a sweep: one line for each run. Written as CSV or Parquet."""

from __future__ import annotations

import csv
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from bunraku.errors import MissingExtra
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.sweeps.cases import Cases
from bunraku.sweeps.result_store import Row
from bunraku.sweeps.swept_values import NUMBER_AND_UNIT
from bunraku.sweeps.value_paths import text_of
from bunraku.writing import writing

TABLE_SUFFIXES = (".csv", ".parquet")
Columns = dict[str, list[Any]]
"""Values by name of the column; None is an empty cell."""


def columns_of(cases: Cases, rows: Mapping[str, Row]) -> Columns:
    """The columns of a table: swept paths, seed, outcome, numbers, seconds by stage, key.

    cases: the runs of the sweep, in order
    rows: those that are finished, by key
    """
    shown = [(case, rows[case.key]) for case in cases.list if case.key in rows]
    out: Columns = {path: [_cell(case.values[k]) for case, _ in shown] for k, path in enumerate(cases.paths)}
    plain = ("seed", "ok", "outcome", "why")
    out |= {word: [row[word] for _, row in shown] for word in plain}
    for group, start in (("numbers", ""), ("seconds", "seconds.")):
        names = dict.fromkeys(name for _, row in shown for name in row[group])
        out |= {_free(f"{start}{name}", out): [row[group].get(name) for _, row in shown] for name in names}
    return out | {"key": [case.key for case, _ in shown]}


def _free(name: str, taken: Columns) -> str:
    """A `name` that no swept path has."""
    return f"result.{name}" if name in taken else name


def _cell(value: Node) -> Any:
    """A swept value: a number, in SI units if it has a unit; otherwise text."""
    text = text_of(value)
    found = NUMBER_AND_UNIT.fullmatch(text) if value.plain and isinstance(value.value, str) else None
    factor = None if found is None else _factor(found[2])
    if found is None or factor is None:
        return None if value.is_nothing else text
    number = float(found[1]) * factor
    return int(number) if re.fullmatch(r"[-+]?\d+", text) and abs(number) < 2**53 else number


def _factor(unit: str | None) -> float | None:
    """The factor of a `unit` to SI; None for what is no unit."""
    factors = [quantity.factor(unit) for quantity in Quantity] if unit else [1.0]
    return next((factor for factor in factors if factor is not None), None)


def save_table(columns: Columns, path: Path) -> None:
    """Writes a table of `columns` to `path` (.csv, or .parquet, which needs the extra `table`). Raises FileError, MissingExtra."""
    if path.suffix.lower() == ".parquet":
        _save_parquet(columns, path)
        return
    with writing(path) as temporary, temporary.open("w", newline="", encoding="utf-8") as file:
        out = csv.writer(file, lineterminator="\n")
        out.writerow(columns)
        out.writerows(zip(*(map(_written, column) for column in columns.values()), strict=True))


def _written(value: Any) -> Any:
    if isinstance(value, bool):
        return "true" if value else "false"
    return "" if value is None else repr(value) if isinstance(value, float) else value


def require_parquet(path: Path) -> None:
    """Raises MissingExtra if `path` is a Parquet file and the package that writes it is missing."""
    if path.suffix.lower() != ".parquet":
        return
    try:
        import pyarrow.parquet  # noqa: F401
    except ImportError:
        raise MissingExtra("pyarrow", "table", "a Parquet table") from None


def _save_parquet(columns: Columns, path: Path) -> None:
    require_parquet(path)
    import pyarrow
    import pyarrow.parquet

    table = pyarrow.table({name: _of_one_kind(column) for name, column in columns.items()})
    with writing(path) as temporary:
        pyarrow.parquet.write_table(table, temporary)


def _of_one_kind(column: Sequence[Any]) -> Sequence[Any]:
    """A column whose values are all numbers, all truth values or all text."""
    kinds = {type(value) for value in column if value is not None}
    if kinds <= {int, float} or len(kinds) == 1:
        return [float(value) if value is not None and kinds == {int, float} else value for value in column]
    return [None if value is None else str(_written(value)) for value in column]
