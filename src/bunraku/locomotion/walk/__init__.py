"""People who walk along any path: blended walking cycles, on feet that do not slide."""

from bunraku.locomotion.walk.captured_cycles import captured
from bunraku.locomotion.walk.cycles import Cycle, Cycles, load_cycles, save_cycles
from bunraku.locomotion.walk.walk import Footfall, Walk, WalkOptions, walk

__all__ = ["Cycle", "Cycles", "Footfall", "Walk", "WalkOptions", "captured", "load_cycles", "save_cycles", "walk"]
