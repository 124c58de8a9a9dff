"""Live: figures that hands and sticks move, and the show that opens the stage."""

from bunraku.teleop.opening import opening_show
from bunraku.teleop.simulated import Simulated

__all__ = ["Simulated", "opening_show"]
