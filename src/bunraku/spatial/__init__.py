"""Rotations, rigid motions, curves, small linear algebra. No figure in sight."""
