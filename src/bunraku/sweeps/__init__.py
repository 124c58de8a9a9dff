"""sweep: many runs of any order, on this machine or a cluster; each result is stored at once, and nothing is done twice."""

from __future__ import annotations

from bunraku.sweeps.result_store import ResultStore
from bunraku.sweeps.sweep import SweepOptions, sweep
from bunraku.sweeps.sweep_result import Sweep

__all__ = ["ResultStore", "Sweep", "SweepOptions", "sweep"]
