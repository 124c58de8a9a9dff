"""Collision checking: distances and overlaps between figures, within one figure, and with the scene."""

from bunraku.collision.between_samples import Passage
from bunraku.collision.collision_report import CollisionReport, Hit
from bunraku.collision.distance import Clearances, Distance
from bunraku.collision.world import World

__all__ = ["Clearances", "CollisionReport", "Distance", "Hit", "Passage", "World"]
