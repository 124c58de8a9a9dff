"""CSV: a motion as a table that any spreadsheet opens. Times first; names and units in the first line.

    t [s],elbow [rad],hand_x [m],v:elbow [rad/s],tension:hand [N]

The figure is not in the file: it is given when loading, or is the figure of the library that has these variables.
Marks are not in the file either.
"""

from __future__ import annotations

import csv
import re
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError, MotionError, NotFinite, did_you_mean
from bunraku.figure import Figure, library
from bunraku.io.yaml.quantity import Quantity
from bunraku.motion import Motion, Track
from bunraku.motion.still import as_motion
from bunraku.writing import writing

Array = NDArray[np.float64]


def save_csv(thing: Motion | Figure, path: str | PathLike[str]) -> None:
    """Writes all tracks of a motion (or a figure at its start, `thing`) to `path`, with speeds and forces where there are any."""
    motion = as_motion(thing, path)
    columns: list[tuple[str, Array]] = [("t [s]", motion.t)]
    for track in motion.tracks:
        prefix = f"{track.name}/" if len(motion.tracks) > 1 else ""
        for field, names in _fields(track.figure).items():
            values = getattr(track, field)
            if values is not None:
                columns += [(f"{prefix}{name} [{unit}]", values[:, k]) for k, (name, unit) in enumerate(names)]
    rows = np.stack([values for _, values in columns], 1).tolist()
    with writing(path) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, lineterminator="\n").writerow([name for name, _ in columns])
        file.writelines(",".join(map(repr, row)) + "\n" for row in rows)


def _fields(figure: Figure) -> dict[str, list[tuple[str, str]]]:
    """Names and units of the columns of each field."""
    q = [(v.name, "rad" if v.motion in ("rotate", "screw") else "m") for v in figure.variables]
    return {
        "q": q,
        "v": [(f"v:{name}", f"{unit}/s") for name, unit in q],
        "tension": [(f"tension:{rope.name}", "N") for rope in (*figure.strings, *figure.wires)],
        "contact": [(f"contact:{contact.name}", "N") for contact in figure.contacts],
    }


# -- loading ---------------------------------------------------------------------------------------------------


def load_csv(path: str | PathLike[str], figure: Figure | None = None) -> Motion:
    """The motion of one figure in the file at `path`.

    figure: whose motion it is; by default the figure of the library that has these variables

    Raises FileError, which points at the cell, if the table does not fit the figure.
    """
    table = _Table(Path(path))
    chosen = figure if figure is not None else table.guessed()
    return table.motion(chosen)


class _Table:
    """The header's names, and the lines below it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        try:
            if path.stat().st_size > 1 << 29:
                raise FileError("the file is too large", path=str(path), advice="at most 512 MB are read; use NPZ")
            text = path.read_bytes().decode("utf-8-sig")
        except OSError as error:
            raise FileError(f"cannot be read: {error.strerror}", path=str(path), advice="check the name") from None
        except UnicodeDecodeError as error:
            what = f"the byte at {error.start} is not UTF-8"
            raise FileError(what, path=str(path), advice="save the table as UTF-8 CSV") from None
        self.lines = re.split(r"\r\n|\n|\r", text)
        self.header = self._header()

    def refuse(self, message: str, line: int, column: int, advice: str) -> FileError:
        """The error that points at a line and a column of the text, counted from 1."""
        source = self.lines[line - 1]
        return FileError(message, path=str(self.path), line=line, column=column, source=source, advice=advice)

    def _header(self) -> list[tuple[str, str]]:
        """Names and units."""
        try:
            cells = next(csv.reader(self.lines[:1], strict=True), [])
        except csv.Error as error:
            raise self.refuse(f"the header cannot be read: {error}", 1, 1, "write names with units: t [s],elbow [rad]") from None
        out = []
        for cell in cells:
            found = re.fullmatch(r"\s*(.*?)\s*(?:\[([^][]*)\])?\s*", cell, re.DOTALL)
            assert found
            out.append((found[1], found[2] or ""))
        names = [name for name, _ in out]
        if not names or names[0] != "t":
            advice = "the first column is t [s]; columns are separated by commas"
            raise self.refuse("the first column is not t", 1, 1, advice)
        if len(set(names)) < len(names):
            k = next(k for k, first in enumerate(map(names.index, names)) if first < k)
            raise self.refuse(f"the column {names[k]!r} exists twice", 1, self._column(k), "keep one of them")
        return out

    def _column(self, cell: int, line: int = 1) -> int:
        """The column of the text at which a cell starts, if nothing before it is quoted."""
        cells = self.lines[line - 1].split(",")
        return 1 + sum(len(c) + 1 for c in cells[:cell])

    def guessed(self) -> Figure:
        """The figure of the library that has these variables."""
        names = {name for name, _ in self.header[1:] if ":" not in name}
        for known in library.names():
            figure = library.named(known)
            if set(figure.names) == names:
                return figure
        raise self.refuse(
            "no figure of the library has these variables", 1, 1, "pass the figure: load('motion.csv', figure=my_figure)"
        )

    def motion(self, figure: Figure) -> Motion:
        values = self._numbers()
        place = {name: k for k, (name, _) in enumerate(self.header)}
        found: dict[str, Any] = {}
        used = {"t"}
        for field, names in _fields(figure).items():
            there = [name for name, _ in names if name in place]
            if field == "q" or there:
                missing = next((name for name, _ in names if name not in place), None)
                if missing is not None:
                    advice = f"{figure.name} has the columns {', '.join(name for name, _ in names[:8])} …"
                    raise self.refuse(f"there is no column {missing!r}", 1, 1, advice)
                factors = np.array([self._factor(place[name], unit) for name, unit in names])
                found[field] = values[:, [place[name] for name, _ in names]] * factors
                used |= set(there)
        spare = next((name for name in place if name not in used), None)
        if spare is not None:
            known = [name for names in _fields(figure).values() for name, _ in names]
            raise self.refuse(f"{figure.name} has no {spare!r}", 1, self._column(place[spare]), did_you_mean(spare, known))
        try:
            return Motion(values[:, 0] * self._factor(0, "s"), (Track(figure, **found),))
        except (MotionError, NotFinite) as error:
            raise FileError(str(error).partition("\n")[0], path=str(self.path), advice="times must increase") from None

    def _factor(self, cell: int, unit: str) -> float:
        """The factor that converts the numbers of a column to `unit`."""
        given = self.header[cell][1] or unit
        quantity = next(quantity for quantity in Quantity if quantity.unit == unit)
        factor = quantity.factor(given)
        if factor is None:
            advice = f"units of {quantity}: {', '.join([unit, *quantity.others])}"
            raise self.refuse(f"expected [{unit}], got [{given}]", 1, self._column(cell), advice)
        return factor

    def _numbers(self) -> Array:
        width = len(self.header)
        rows = [(k, line) for k, line in enumerate(self.lines[1:], 2) if line.strip()]
        if not rows:
            raise self.refuse("no samples", 1, 1, "give a line of numbers for each sample, below the header")
        try:
            values = np.array([list(map(float, line.split(","))) for _, line in rows])
        except ValueError:
            raise self._bad(rows, width) from None
        if values.shape[1] != width or not np.isfinite(values).all():
            raise self._bad(rows, width)
        return values

    def _bad(self, rows: list[tuple[int, str]], width: int) -> FileError:
        """The first cell that is no finite number, or the first line of another length."""
        for k, line in rows:
            cells = line.split(",")
            if len(cells) != width:
                advice = "one number for each column of the header; decimals are written with a point"
                return self.refuse(f"expected {width} numbers, got {len(cells)}", k, len(line) + 1, advice)
            for n, cell in enumerate(cells):
                if not _finite(cell):
                    what = f"{cell.strip()[:30]!r} is not a finite number"
                    return self.refuse(what, k, self._column(n, k), "write it as 1.5e-3")
        raise AssertionError("every cell is good")


def _finite(cell: str) -> bool:
    try:
        return bool(np.isfinite(float(cell)))
    except ValueError:
        return False
