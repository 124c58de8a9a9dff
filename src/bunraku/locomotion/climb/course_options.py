"""CourseOptions: how the body rounds corners, and how near to an edge a foot may stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CourseOptions:
    """Lengths of a course, all in metres."""

    before: float = 0.3
    """Floor before the first segment, for the gecko to stand on."""
    after: float = 0.2
    """Surface after the last segment."""
    smoothing: float = 0.14
    """Width of the window that rounds the corners of the body's path."""
    spacing: float = 0.002
    """Distance between two samples of the body's path."""
    edge: float = 0.012
    """Distance that a foot keeps from a convex edge; the body passes higher over such an edge by the same amount."""
    riser: float = 0.024
    """Distance that a foot keeps from the foot of a step's vertical face (riser), which its toes would hit."""
    edge_reach: float = 0.1
    """Distance ahead and behind within which an edge lifts the body."""
