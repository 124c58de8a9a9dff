"""Choreography: modes in time, the times that suit them best, and shows that a person writes."""

from bunraku.choreography.perform import Performance, perform
from bunraku.choreography.score import score
from bunraku.choreography.script_file import load_script
from bunraku.choreography.switching_times import Limits, optimize_times

__all__ = ["Limits", "Performance", "load_script", "optimize_times", "perform", "score"]
