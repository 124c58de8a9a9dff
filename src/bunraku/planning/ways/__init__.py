"""Paths of kinematic figures: curves proven free of collisions, roadmaps, RRT-Connect, timing within limits."""
