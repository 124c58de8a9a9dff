"""Gait, stride and duration of a step of a climb: as given, or as its size and its speed ask for.

Climbers of different sizes move alike if times are in proportion to √(leg length / g): then the forces on their feet are the same
shares of their weight.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import get_args

from bunraku.errors import FigureError
from bunraku.locomotion.climb.footsteps import Gait, swing_groups


@dataclass(frozen=True)
class PaceOptions:
    """Defaults of the pace. Times are in units of √(leg length / g), which is 0.111 s for the gecko of the library."""

    swing: float = 0.25 / math.sqrt(0.12 / 9.81)
    """Duration of a step in a crawl."""
    stride: float = 0.5
    """Distance per cycle in a crawl [leg lengths]."""
    running_swing: float = 0.5
    """Duration of a step in a trot."""
    running_stride: float = 0.75
    """Distance per cycle in a trot [leg lengths]."""
    samples: int = 50
    """Number of samples in a step."""


@dataclass(frozen=True)
class ClimbPace:
    """How fast a climb is."""

    gait: Gait
    stride: float
    """Distance per cycle [m]."""
    quarter: float
    """Duration of a step [s]."""
    dt: float
    """Time between two samples that are optimised [s]."""


def climb_pace(
    leg: float, feet: int, *, gait: Gait | None = None, speed: float | None = None, stride: float | None = None,
    quarter: float | None = None, dt: float | None = None, pause: float = 0.0, options: PaceOptions = PaceOptions(),
) -> ClimbPace:  # fmt: skip
    """The pace of a climber with legs of length `leg` [m] and a number of `feet`; what is None is chosen.

    gait: which feet swing together; by default a crawl, but a trot if the `speed` is beyond that of the default crawl
    speed: of the body along its path where nothing is slow [m/s]; it sets `quarter`
    stride: distance per cycle [m]
    quarter: duration of a step [s]
    dt: time between two samples [s]
    pause: how long all feet stand after each step [s]
    options: the defaults

    Raises FigureError if both `speed` and `quarter` are given, or if feet that stand for the `pause` cannot reach the speed.
    """
    if gait is not None and gait not in get_args(Gait):
        raise FigureError(f"a gait {gait!r}", kind="climb", field="gait", advice=f"give one of {', '.join(get_args(Gait))}")
    if speed is not None and quarter is not None:
        raise FigureError("speed and quarter", kind="climb", field="speed", advice="give one of them: the other follows")
    unit = math.sqrt(leg / 9.81)
    if gait is None:
        crawls = speed is None or speed <= options.stride * leg / (feet * (options.swing * unit + pause))
        gait = "crawl" if crawls else "trot"
    share, swing = (
        (options.stride, options.swing) if gait == "crawl" else (options.running_stride, options.running_swing)
    )  # fmt: skip
    long, parts = share * leg if stride is None else stride, len(swing_groups(feet, gait))
    step = swing * unit if quarter is None else quarter
    if speed is not None:
        step = long / (parts * speed) - pause
        if step <= 0.0:
            raise FigureError(
                f"a speed of {speed:g} m/s with pauses of {pause:g} s", kind="climb", field="speed",
                advice="go slower, lengthen the stride or leave out the pauses",
            )  # fmt: skip
    return ClimbPace(gait, long, step, step / options.samples if dt is None else dt)
