"""Motions as tables: CSV for spreadsheets, NPZ for NumPy."""
