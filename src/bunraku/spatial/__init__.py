"""Rotations, rigid motions, curves, difference quotients, and the one numba decorator. No figure in sight."""
