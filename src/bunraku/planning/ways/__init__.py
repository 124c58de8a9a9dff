"""Paths of kinematic figures: curves that are proven free, roadmaps, RRT-Connect, timing within limits."""
