"""AnyCourse: what is climbed, a ribbon of flat faces or the surface of a mesh."""

from __future__ import annotations

from bunraku.locomotion.climb.course import Course
from bunraku.locomotion.climb.surface_course import SurfaceCourse

AnyCourse = Course | SurfaceCourse
