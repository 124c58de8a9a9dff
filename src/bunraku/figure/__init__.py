"""Figures: frozen trees of frames with bodies, strings, contacts and shapes."""

from bunraku.figure.contact import Closure, Contact
from bunraku.figure.figure import Figure
from bunraku.figure.force import Effort, Force, Push, Spring
from bunraku.figure.frame import WORLD, Frame, Joint, Point, Variable
from bunraku.figure.mass import Body
from bunraku.figure.pulley import Branch, Drum, Eyelet, Pulley
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.figure.string import String, Wire

__all__ = [
    "WORLD", "Body", "Box", "Branch", "Capsule", "Closure", "Contact", "Cylinder", "Drum", "Effort", "Eyelet", "Figure", "Force",
    "Frame", "Joint", "Mesh", "Point", "Pulley", "Push", "Shape", "Sphere", "Spring", "String", "Variable", "Wire",
]  # fmt: skip
