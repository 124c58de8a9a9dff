"""TRC, the text format of motion capture that OpenSim and Cortex use: three lines of facts, two of names, then a line a sample."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

from bunraku.errors import FileError
from bunraku.io.markers.marker_cloud import MarkerCloud, MarkerLimits, cloud_of, metres, read_marker_bytes


def read_trc(path: Path, limits: MarkerLimits = MarkerLimits()) -> MarkerCloud:
    """The markers in the TRC file at `path`; raises FileError, with the line, if it is none, is cut off, or exceeds `limits`."""
    data = read_marker_bytes(path, limits)
    try:
        lines = data.decode("utf-8-sig").splitlines()
    except UnicodeDecodeError:
        lines = data.decode("latin-1").splitlines()

    def refuse(row: int, message: str, advice: str) -> FileError:
        source = lines[row][:200] if row < len(lines) else ""
        return FileError(message, path=str(path), line=row + 1, column=1, source=source, advice=advice)

    if not lines or not lines[0].startswith("PathFileType"):
        raise refuse(0, "not a TRC file", "its first line begins with PathFileType")
    if len(lines) < 5:
        raise refuse(len(lines) - 1, "the file ends before its names", "was it cut off? export it again")
    facts = dict(zip(lines[1].split(), lines[2].split(), strict=False))
    try:
        rate, count, samples = float(facts["DataRate"]), int(facts["NumMarkers"]), int(facts["NumFrames"])
    except (KeyError, ValueError):
        raise refuse(
            2, "DataRate, NumFrames or NumMarkers is missing", "the second line names them, the third has their values"
        ) from None
    unit = metres(facts.get("Units", "mm"))
    if unit is None or not 0.0 < rate < 1e6 or count < 1:
        raise refuse(2, f"DataRate {rate:g}, NumMarkers {count}, Units {facts.get('Units')}", "units are mm, cm, m or in")
    names = [word.strip() for word in lines[3].split("\t")[2:] if word.strip()]
    if len(names) < count:
        raise refuse(3, f"{len(names)} names for {count} markers", "write the name of each marker above its X")
    rows = [(k, line) for k, line in enumerate(lines[5:], 5) if line.strip()]
    if not 1 <= samples <= len(rows):
        raise refuse(
            len(lines) - 1, f"{samples} samples are announced, but {len(rows)} follow", "was the file cut off? export it again"
        )
    values = np.full((samples, 2 + 3 * count), np.nan)
    for sample, (k, line) in enumerate(rows[:samples]):
        words = line.rstrip("\r\n").split("\t") if "\t" in line else line.split()
        if len(words) < 2 + 3 * count and sample == len(rows) - 1 and len(words) < len(rows[0][1].rstrip().split("\t")):
            raise refuse(k, f"{len(words)} columns instead of {2 + 3 * count}", "was the file cut off? export it again")
        try:
            row = [float(word) if word.strip() else math.nan for word in words[: 2 + 3 * count]]
        except ValueError:
            raise refuse(
                k, "a column is not a number", "columns are separated by tabs; a marker that is not seen has empty ones"
            ) from None
        values[sample, : len(row)] = row
    even, t = np.arange(samples) / rate, values[:, 1] - values[0, 1]
    times = even if not np.isfinite(t).all() or np.abs(t - even).max(initial=0.0) < 0.6 / rate or np.any(np.diff(t) <= 0.0) else t
    return cloud_of(path, names[:count], times, values[:, 2:].reshape(samples, count, 3) * unit, "y", limits)
