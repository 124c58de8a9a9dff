"""Guiding a humanoid: an operator moves one point, and synergetic rules move the rest of the body (*guiding*)."""
