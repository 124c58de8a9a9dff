"""What tunes a course: where the body rounds a corner, and how near to an edge a foot may stand."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CourseOptions:
    """Lengths of a course, all in metres."""

    before: float = 0.3
    """Floor before the first segment, for the gecko to stand on."""
    after: float = 0.2
    """Surface behind the last segment."""
    smoothing: float = 0.14
    """Width of the window that rounds off the corners in the way of the body."""
    spacing: float = 0.002
    """Distance between two samples of the way of the body."""
    edge: float = 0.012
    """Distance that a foot keeps from an edge that it could slip off; the body goes higher over such an edge by as much."""
    riser: float = 0.024
    """Distance that a foot keeps from a riser that its toes would bump into."""
    edge_reach: float = 0.1
    """Distance ahead and behind within which an edge lifts the body."""
