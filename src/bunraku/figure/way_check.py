"""Checks of the way of a string: where pulleys, drums and branches may stand on it."""

from __future__ import annotations

from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from bunraku.errors import FigureError
from bunraku.figure import plain_kinematics
from bunraku.figure.frame import WORLD, Point
from bunraku.figure.pulley import Branch, Drum, Pulley
from bunraku.figure.string import String

if TYPE_CHECKING:
    from bunraku.figure.figure import Figure


def check_way(figure: Figure, string: String) -> None:
    """Raises FigureError where `string`, one of those of `figure`, has a way that cannot be followed."""

    def refuse(message: str, advice: str, field: str = "eyelets") -> None:
        raise FigureError(message, kind=string.kind, name=string.name, field=field, advice=advice)

    if isinstance(string.hook, Pulley | Drum):
        refuse("the hook is round", "a string begins at a point; put a drum at its spindle", "hook")
    if isinstance(string.spindle, Pulley):
        refuse("the spindle is a pulley", "a string ends at a point or a drum", "spindle")
    way = string.way
    for k, at in enumerate(way):
        if isinstance(at, Drum) and k < len(way) - 1:
            refuse("a drum on the way", "a drum is the spindle of a string")
        if isinstance(at, Branch) and not all(_is_eyelet(way[k + s]) for s in (-1, 1)):
            refuse("a branch begins or ends at a pulley", "put a point before and after each branch")
        if isinstance(at, Branch) and _is_lone(way, k):
            refuse("a branch of a single point", "each branch needs two points or more")
    if isinstance(string.spindle, Drum) and any(isinstance(at, Branch) for at in way):
        refuse("several branches end on one drum", "wind one branch, or give it a length", "spindle")
    turned = {frame.variable.name for frame in figure.frames if frame.variable is not None}
    if isinstance(string.spindle, Drum) and string.spindle.layered and string.variable not in turned:
        refuse("nothing turns a drum with layers", "name the variable of a joint that is the angle of the drum", "variable")
    if isinstance(string.spindle, Drum) and string.spindle.layered and string.elastic:
        refuse("an elastic string on a drum with layers", "leave its stiffness out, or turns and thickness", "stiffness")
    if string.rubbing and any(isinstance(at, Branch) for at in way):
        refuse("friction on a string of several branches", "leave friction out, or make a string of each branch", "friction")
    if string.rubbing and string.elastic:
        refuse("friction on a string that stretches", "leave its stiffness out, or friction", "friction")
    if string.rubbing and not string.pulls_only:
        refuse("friction on a wire", "make it a string, or leave friction out", "friction")
    for a, b in pairwise(way):
        if isinstance(a, Pulley) and isinstance(b, Pulley | Drum):
            _check_row(figure, string, a, b)


def _is_eyelet(at: Point | Branch) -> bool:
    return isinstance(at, Point) and not isinstance(at, Pulley | Drum)


def _is_lone(way: tuple[Point | Branch, ...], k: int) -> bool:
    """Whether the branch that ends or begins at place k has one point."""
    places = [-1, *(i for i, at in enumerate(way) if isinstance(at, Branch)), len(way)]
    return any(b - a < 3 for a, b in pairwise(places) if k in (a, b))


def _check_row(figure: Figure, string: String, a: Pulley, b: Pulley | Drum) -> None:
    """Pulleys in a row have a turn each, and axes that are parallel in every configuration."""
    advice = "put an eyelet between them"

    def refuse(message: str, advice: str = advice) -> None:
        raise FigureError(message, kind=string.kind, name=string.name, field="eyelets", advice=advice)

    if a.axis is None or b.axis is None:
        refuse("a sphere is next to another pulley")
        return
    if not (a.turn and b.turn):
        refuse("pulleys in a row without a turn", "give each its turn: 1 or -1 about its axis; or put an eyelet between them")
    X_W = plain_kinematics.poses(figure.frames)
    along, other = (X_W[p.frame][:3, :3] @ np.array(axis) for p, axis in ((a, a.axis), (b, b.axis)))
    if np.linalg.norm(np.cross(along, other)) > 1e-9:
        refuse("the axes of two pulleys in a row are not parallel")
    for name in set(_carriers(figure, a.frame)) ^ set(_carriers(figure, b.frame)):
        variable = figure.frame(name).variable
        if variable is not None and variable.motion != "translate":
            turns = X_W[name][:3, :3] @ np.array(variable.axis)
            if np.linalg.norm(np.cross(turns, along)) > 1e-9:
                refuse(f"{variable.name!r} tilts the axes of two pulleys in a row against each other")


def _carriers(figure: Figure, name: str) -> list[str]:
    """The frames that carry a frame, itself first."""
    out = []
    while name != WORLD:
        out.append(name)
        name = figure.frame(name).parent
    return out
