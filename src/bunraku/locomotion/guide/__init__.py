"""Guiding a humanoid: one point is led, synergetic rules move the rest (*guiding*)."""
