"""Climbing: footsteps along a path over surfaces, a gait, the whole motion smoothed, and the adhesion that it takes."""
