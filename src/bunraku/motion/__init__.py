"""Motion: samples over time of one or several figures, and what can be done to it."""

from bunraku.motion.motion import Motion, together
from bunraku.motion.track import Mark, Track

__all__ = ["Mark", "Motion", "Track", "together"]
