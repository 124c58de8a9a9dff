"""Puppeteers: what sets the kinematic variables and force inputs over time, as one row for each step."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import Figure
from bunraku.motion import Motion

Array = NDArray[np.float64]
Curve = Callable[[float], ArrayLike]
Puppeteer = Curve | Mapping[str, Callable[[float], float] | float] | Motion | ArrayLike | None
"""A function of time that gives all values in order; functions or numbers by name; a Motion; rows; or nothing: at rest."""


def kinematic_rows(figure: Figure, puppeteer: Puppeteer, times: Array, rest: Array) -> Array:
    """The kinematic variables of `figure` at `times` [s], a row each; those that `puppeteer` does not set stay at `rest`."""
    if isinstance(puppeteer, Motion):
        puppeteer = _of_motion(figure, puppeteer, times)
    return _rows("puppeteer", figure.kinematic, puppeteer, times, rest)


def force_rows(figure: Figure, forces: Puppeteer, times: Array) -> Array:
    """The force inputs of `figure` at `times` [s], a row each, from `forces`; zero where it sets none."""
    names = tuple(force.name for force in figure.forces)
    return _rows("forces", names, forces, times, np.zeros(len(names)))


def _of_motion(figure: Figure, motion: Motion, times: Array) -> Array:
    track = motion.resample(times=times).tracks[0] if len(motion) > 1 else motion.tracks[0]
    missing = [name for name in figure.kinematic if name not in track.figure.names]
    if missing:
        raise UnknownName("variable", missing[0], track.figure.names)
    rows = track.q[:, track.figure.indices(figure.kinematic)]
    return rows if len(rows) == len(times) else np.repeat(rows[:1], len(times), 0)


def _rows(what: str, names: Sequence[str], given: object, times: Array, rest: Array) -> Array:
    out = np.repeat(rest[None, :], len(times), 0)
    if isinstance(given, Mapping):
        for name, value in given.items():
            if name not in names:
                raise UnknownName({"puppeteer": "kinematic variable", "forces": "force input"}[what], str(name), tuple(names))
            column = [value(float(t)) for t in times] if callable(value) else [value] * len(times)
            out[:, list(names).index(name)] = _numbers(what, column, (len(times),), f"a number for {name}")
    elif callable(given):
        rows = [_numbers(what, given(float(t)), None, "numbers") for t in times]
        if any(row.shape != rest.shape for row in rows):
            shape = next(row.shape for row in rows if row.shape != rest.shape)
            raise BunrakuError(f"the {what} gives shape {shape}, but there are {len(names)}: {', '.join(names)}")
        out = np.array(rows).reshape(out.shape)
    elif given is not None:
        rows_ = _numbers(what, given, None, "rows of numbers")
        if rows_.shape != out.shape:
            raise BunrakuError(
                f"the {what} has shape {rows_.shape}, expected {out.shape}: a row a step, a column for each of {names}"
            )
        out = np.array(rows_)
    if not np.isfinite(out).all():
        k, i = (int(x) for x in np.argwhere(~np.isfinite(out))[0])
        raise NotFinite(f"the {what} sets {names[i]} to {out[k, i]} at t = {times[k]:.6g} s")
    return np.ascontiguousarray(out)


def _numbers(what: str, given: object, shape: tuple[int, ...] | None, wanted: str) -> Array:
    try:
        out = np.asarray(given, float)
    except (TypeError, ValueError):
        out = np.empty((0, 0, 0))
    if out.ndim > 2 or (shape is not None and out.shape != shape):
        raise BunrakuError(f"the {what} must give {wanted}, got {str(given)[:60]}")
    return out
