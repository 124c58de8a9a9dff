"""People who walk: cycles of walking blended along any way, on feet that do not slide."""

from bunraku.locomotion.walk.captured_cycles import captured
from bunraku.locomotion.walk.cycles import Cycle, Cycles, load_cycles, save_cycles
from bunraku.locomotion.walk.walk import Footfall, Walk, walk

__all__ = ["Cycle", "Cycles", "Footfall", "Walk", "captured", "load_cycles", "save_cycles", "walk"]
