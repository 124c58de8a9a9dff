"""Motion: samples over time of one or several figures, and what can be done to it."""

from bunraku.motion.motion import Mark, Motion, Track

__all__ = ["Mark", "Motion", "Track"]
