"""A coarse time grid: the same problem with longer steps. Its optimum is a good guess for the fine grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.control.control_problem import ControlProblem
from bunraku.control.control_system import ControlCurve, System
from bunraku.control.cost_arrays import Sheet

Array = NDArray[np.float64]


def coarser(problem: ControlProblem, times: int, *, tolerance: float) -> ControlProblem:
    """The `problem` with steps `times` as long, each solved to `tolerance` [rad or m]. Bounds apply on the fine grid only."""
    s = problem.system
    system = System.of(s.figure, dt=times * s.dt, inputs=s.inputs, share=s.share)
    return ControlProblem(system, _sheet(problem.sheet, times), problem.start, problem.taut, tolerance=tolerance)


def _sheet(sheet: Sheet, c: int) -> Sheet:
    def longer(w: Array) -> Array:  # one sample replaces c samples; the last one keeps its extra weight `at_end`
        if not len(w):
            return w
        out: Array = c * w[::c]
        out[-1] = w[-1] + (c - 1) * w[-2]
        return out

    out: Sheet = sheet._replace(
        wx=longer(sheet.wx), rx=sheet.rx[::c].copy(), wu=c * sheet.wu[::c], ru=sheet.ru[::c].copy(),
        wl=sheet.wl[::c] / c, rl=c * sheet.rl[::c], acceleration=c * sheet.acceleration,  # impulses are c times as large
        wp=longer(sheet.wp), target=sheet.target[::c].copy(), wc=longer(sheet.wc), centre=sheet.centre[::c].copy(),
        offset_x=longer(sheet.offset_x), offset_u=c * sheet.offset_u[::c],
    )  # fmt: skip
    return out


def thinned(curve: ControlCurve, c: int) -> ControlCurve:
    """Every `c`-th sample of `curve`."""
    return ControlCurve(curve.x[::c].copy(), curve.u[c - 1 :: c].copy())


def refined(curve: ControlCurve, gains: Array, c: int, n: int, n_kin: int) -> tuple[ControlCurve, Array]:
    """A coarse `curve` and its `gains` on a grid `c` times as fine: states are interpolated linearly, forces and gains held.

    The first `n` variables are dynamic, the next `n_kin` kinematic.
    """
    fine, coarse = np.arange(c * len(curve) + 1) / c, np.arange(len(curve) + 1)
    x = np.stack([np.interp(fine, coarse, column) for column in curve.x.T], 1)
    u = np.repeat(curve.u, c, 0)
    u[:, :n_kin] = x[1:, n : n + n_kin]  # a kinematic input is the kinematic part of the next state
    return ControlCurve(x, u), np.repeat(gains, c, 0)
