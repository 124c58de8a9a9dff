"""Choreography: modes and their optimal switching times, and shows written as scripts."""

from bunraku.choreography.perform import PerformOptions, perform
from bunraku.choreography.score import score
from bunraku.choreography.script_file import load_script
from bunraku.choreography.show_result import Performance
from bunraku.choreography.switching_times import OptimalTimes, TimeLimits, TimesOptions, optimize_times

__all__ = [
    "OptimalTimes", "PerformOptions", "Performance", "TimeLimits", "TimesOptions", "load_script", "optimize_times", "perform",
    "score",
]  # fmt: skip
