"""What touches what: figures, themselves and the scene."""

from bunraku.collision.continuous import Passage
from bunraku.collision.distance import Clearances, Distance
from bunraku.collision.report import Hit, Report
from bunraku.collision.world import World

__all__ = ["Clearances", "Distance", "Hit", "Passage", "Report", "World"]
