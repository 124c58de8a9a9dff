"""Markers: recordings of optical motion capture (C3D, TRC)."""
