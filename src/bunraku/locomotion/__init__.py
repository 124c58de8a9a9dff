"""Figures that walk, climb, or are guided by an operator."""
