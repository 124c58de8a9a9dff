"""imitate: turns a person's motion into a reference for a marionette: retargeted, low-pass filtered, exaggerated.

The marionette may not be able to follow the reference. But its strings are long enough everywhere along it, so the string lengths
of the reference are a good guess for `optimize`.
"""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.dynamics import settle
from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics.forward import configuration
from bunraku.kinematics.retarget import retarget, with_strings
from bunraku.motion import Motion
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]


def imitate(
    motion: Motion, figure: Figure, *, exaggerate: float = 1.0, simplify: float | None = None, dt: float = 0.01,
    start: ArrayLike | None = None, about: Literal["first", "mean"] = "first", lead: float = 1.0, trail: float = 1.0,
) -> Motion:  # fmt: skip
    """A reference for a marionette: the deviation of `motion` from its rest pose, added to the pose in which the marionette hangs.

    motion: the motion to imitate, of any skeleton that can be retargeted
    figure: the marionette
    exaggerate: factor applied to the angles
    simplify: cut-off frequency of the low-pass filter [Hz]
    dt: time between samples [s]
    start: the configuration in which the figure hangs still, `settle(figure)` by default
    about: the rest pose of the motion: its "first" pose, or the "mean" of its angles
    lead: time over which the reference departs from the start [s]
    trail: time over which the angles return at the end [s]

    Returns a Motion of `figure`, not necessarily feasible. Raises BunrakuError if a factor or frequency is out of range.
    """
    if not 0.0 < exaggerate < 10.0 or (simplify is not None and not 0.0 < simplify < 0.5 / dt):
        raise BunrakuError(
            f"exaggerate {exaggerate}, simplify {simplify}\n"
            f"  advice: give a factor such as 0.7 or 1.3, and a frequency below {0.5 / dt:g} Hz"
        )
    rest = settle(figure) if start is None else configuration(figure, start)
    own = (motion if motion.figure == figure else retarget(motion, figure)).unwrap()
    own = own.shift(-own.t[0]).resample(dt)
    n, q = figure.n_dynamic, own.q.copy()
    if simplify is not None:
        q[:, :n] = _low_pass(q[:, :n], simplify, dt)
    turning = np.array([v.motion != "translate" for v in figure.variables])[:n]
    away = q[:, :n] - np.where(turning & (about == "mean"), q[:, :n].mean(0), q[0, :n])
    ease = _ease(own.t, lead) * (_ease(own.t[-1] - own.t, trail))
    q[:, :n] = rest[:n] + np.where(turning, exaggerate * ease[:, None] * away, _ease(own.t, lead)[:, None] * away)
    q[:, n:] = rest[n:]
    q = with_strings(figure, q)
    q[:, n:] += rest[n:] - q[0, n:]
    return Motion.of(figure, own.t, q, marks=own.marks)


def _low_pass(q: Array, frequency: float, dt: float) -> Array:
    """Filters without delay; the signal is extended by its end values."""
    from scipy.signal import butter, sosfiltfilt  # imported here: it loads all of scipy.stats, which few calls need

    sos = butter(2, frequency, fs=1.0 / dt, output="sos")
    pad = min(len(q) - 1, int(3.0 / (frequency * dt)))
    return np.asarray(sosfiltfilt(sos, q, axis=0, padtype="odd", padlen=pad))


def _ease(t: Array, over: float) -> Array:
    return eased(t / over) if over > 0.0 else np.ones_like(t)
