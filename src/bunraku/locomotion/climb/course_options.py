"""CourseOptions: how the body rounds corners, and how near to an edge a foot may stand."""

from __future__ import annotations

from dataclasses import astuple, dataclass


@dataclass(frozen=True)
class CourseOptions:
    """Lengths of a course, all in lengths of the climber's leg."""

    before: float = 2.5
    """Floor before the first segment, for the gecko to stand on."""
    after: float = 5.0 / 3.0
    """Surface after the last segment."""
    smoothing: float = 7.0 / 6.0
    """Width of the window that rounds the corners of the body's path."""
    spacing: float = 1.0 / 60.0
    """Distance between two samples of the body's path."""
    edge: float = 0.1
    """Distance that a foot keeps from a convex edge; the body passes higher over such an edge by the same amount."""
    riser: float = 0.05
    """Distance that the toes keep from a concave crease and from the vertical face of a step (riser)."""
    edge_reach: float = 5.0 / 6.0
    """Distance ahead and behind within which an edge lifts the body, and a curve slows it down."""
    outer_stride: float = 0.65
    """Largest stride of the outer feet in a curve, or that on a straight path if it is larger."""

    def metres(self, leg: float) -> CourseOptions:
        """The same lengths in metres, for a `leg` of this length [m]."""
        return CourseOptions(*(leg * length for length in astuple(self)))
