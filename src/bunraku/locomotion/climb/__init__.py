"""Climbing: footsteps along a path over surfaces, a gait, smoothing of the whole motion, and the adhesion that it needs."""
