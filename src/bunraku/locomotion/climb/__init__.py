"""Climbing: a path over surfaces, feet that stick, the whole motion smoothed, and the adhesion that it takes."""
