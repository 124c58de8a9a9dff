"""Motion: samples over time of one or several figures, and what can be done to it."""

from bunraku.motion.layers import Curve, Key, Layer, layered
from bunraku.motion.motion import Motion, together
from bunraku.motion.track import Mark, Track

__all__ = ["Curve", "Key", "Layer", "Mark", "Motion", "Track", "layered", "together"]
