"""Rotations, rigid motions, curves, small linear algebra. Nothing here depends on figures."""
