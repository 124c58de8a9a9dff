"""MarkerCloud: where the markers of a recording are over time."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class MarkerLimits:
    """How large a recording may be; what exceeds these numbers is a mistake."""

    bytes: int = 1 << 30
    """Size of the file."""
    markers: int = 2_000
    """Markers."""
    place: float = 1e6
    """Largest coordinate [m]."""


@dataclass(frozen=True, eq=False)
class MarkerCloud:
    """Markers by name, in the file's axes."""

    names: tuple[str, ...]
    t: Array
    """Times [s], (T,)."""
    points: Array
    """(T, n, 3) [m]; NaN where a marker was not seen."""
    up: str
    """The axis that points up according to the file, or to the custom of its format."""


def metres(unit: str) -> float | None:
    """The length of a `unit` [m]; None if it is unknown."""
    return {"mm": 0.001, "cm": 0.01, "dm": 0.1, "m": 1.0, "meters": 1.0, "in": 0.0254, "inches": 0.0254}.get(unit.strip().lower())


def cloud_of(path: Path, names: list[str], t: Array, points: Array, up: str, limits: MarkerLimits) -> MarkerCloud:
    """The cloud of `points` (T, n, 3) [m] at times `t` [s]; markers without a name or that were never seen are left out.

    path: the file, for messages
    names: of the markers; one that is used twice gets a number
    up: the axis that points up
    limits: what is too large

    A marker at the origin, exactly, was not seen. Raises FileError if there is nothing left.
    """
    points = np.array(points, float)
    points[(~np.isfinite(points)).any(-1) | (points == 0.0).all(-1)] = np.nan
    if np.nanmax(np.abs(points), initial=0.0) > limits.place:
        raise FileError(f"a marker is {np.nanmax(np.abs(points)):.3g} m away", path=str(path), advice="is the file whole?")
    if len(names) > limits.markers:
        raise FileError(f"{len(names)} markers", path=str(path), advice=f"at most {limits.markers} are read")
    seen = [k for k, name in enumerate(names) if name.strip() and not name.startswith("*") and np.isfinite(points[:, k]).any()]
    if not seen:
        raise FileError("there are no markers", path=str(path), advice="export the trajectories of labelled markers")
    own: list[str] = []
    for k in seen:
        name, number = names[k].strip(), 2
        while name in own:
            name, number = f"{names[k].strip()} {number}", number + 1
        own.append(name)
    return MarkerCloud(tuple(own), t, points[:, seen], up)


def read_marker_bytes(path: Path, limits: MarkerLimits) -> bytes:
    """The bytes of the file at `path`; raises FileError if it cannot be read or is larger than `limits`."""
    try:
        if path.stat().st_size > limits.bytes:
            raise FileError("larger than 1 GB", path=str(path), advice="is this a recording of markers?")
        return path.read_bytes()
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror}", path=str(path), advice="check the name") from None
