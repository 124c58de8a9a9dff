"""Joint states (sensor_msgs/msg/JointState): messages from samples, and motions from messages, of a log or of a topic."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuWarning, FileError, MotionError, NotFinite, did_you_mean
from bunraku.figure import Figure, library
from bunraku.io.logs import ros_messages as ros
from bunraku.motion import Motion

Array = NDArray[np.float64]
States = Sequence[tuple[int, Any]]
"""Times [ns] and messages with `name`, `position` and `velocity`."""


def joint_state(time: int, names: Sequence[str], **values: list[float]) -> dict[str, Any]:
    """The message of joints (`names`) at a `time` [ns]; `values` are position, velocity or effort."""
    head = {"stamp": ros.stamp(time), "frame_id": ""}
    return {"header": head, "name": list(names), "position": [], "velocity": [], "effort": []} | values


def motion_of_states(states: States, figure: Figure | None, *, source: str) -> Motion:
    """The motion of a `figure` in joint `states`; by default of the figure of the library that has these variables.

    source: where they are from, for messages.

    Joints are found by their names. Variables that the states do not have stay at the start; joints that the figure does not have
    are left out; a warning names both. Raises FileError if nothing fits.
    """
    times, columns, speeds = _columns(states, source)
    own = figure if figure is not None else _guessed(source, columns)
    known = [name for name in columns if name in own.names]
    if not known:
        advice = did_you_mean(next(iter(columns), ""), own.names)
        raise FileError(f"none of the joints is a variable of {own.name}", path=source, advice=advice)
    spare, missing = [name for name in columns if name not in own.names], [name for name in own.names if name not in columns]
    for names, what in ((spare, "joints left out"), (missing, "variables that stay at the start")):
        if names:
            warnings.warn(BunrakuWarning(f"{source}: {what}: {', '.join(names[:8])}{' …' * (len(names) > 8)}"), stacklevel=3)
    q = np.tile(own.start, (len(times), 1))
    for name in known:
        q[:, own.index(name)] = columns[name]
    v = None
    if all(name in speeds for name in own.names):
        v = np.stack([speeds[name] for name in own.names], 1)
    try:
        return Motion.of(own, times, q, v=v)
    except (MotionError, NotFinite) as error:
        raise FileError(str(error).partition("\n")[0], path=source, advice="are the messages whole?") from None


def _columns(states: States, source: str) -> tuple[Array, dict[str, Array], dict[str, Array]]:
    """Times [s], and positions and speeds (T,) by the names of joints. A joint that a message does not name keeps its value."""
    times: list[int] = []
    rows: list[dict[str, float]] = []
    rates: list[dict[str, float]] = []
    for time, message in states:
        names = list(message.name)
        if len(message.position) != len(names):
            raise FileError("a joint state has names without positions", path=source, advice="are the messages whole?")
        row = (rows[-1] if rows else {}) | dict(zip(names, message.position, strict=True))
        rate = dict(zip(names, message.velocity, strict=False)) if len(message.velocity) == len(names) else {}
        if times and time <= times[-1]:  # several publishers at one time: one sample
            rows[-1], rates[-1] = row, rates[-1] | rate
        else:
            times.append(time)
            rows.append(row)
            rates.append(rate)
    every = list(dict.fromkeys(name for row in rows for name in row))
    first = {name: next(row[name] for row in rows if name in row) for name in every}
    columns = {name: np.array([row.get(name, first[name]) for row in rows]) for name in every}
    speeds = {name: np.array([rate[name] for rate in rates]) for name in every if all(name in rate for rate in rates)}
    return np.array(times) * 1e-9, columns, speeds


def _guessed(source: str, columns: dict[str, Array]) -> Figure:
    for name in library.names():
        figure = library.named(name)
        if set(figure.names) == set(columns):
            return figure
    raise FileError("no figure of the library has these joints", path=source, advice="pass the figure: figure=my_figure")
