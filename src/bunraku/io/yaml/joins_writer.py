"""Strings, springs, forces, contacts and closures → the words of a figure file."""

from __future__ import annotations

import math
from typing import Any

from bunraku.figure import WORLD, Branch, Contact, Drum, Effort, Eyelet, Figure, Force, Point, Pulley, Spring, String, Variable
from bunraku.figure.frame import ORIGIN, axis_letter

Words = dict[str, Any]


def joins_words(figure: Figure) -> Words:
    """The sections of a `figure` file for strings, springs, forces, contacts and closures; empty ones are left out."""
    own = _own_lengths(figure)
    shared = [v for v in figure.lengths if v not in own.values()]
    tree: Words = {
        "lengths": [{"length": v.name, **_length_words(v)} for v in shared],
        "strings": [_string_words(s, own.get(s.name)) for s in figure.strings],
        "wires": [_string_words(s, own.get(s.name)) for s in figure.wires],
        "springs": [_spring_words(s) for s in figure.springs],
        "forces": [_force_words(f) for f in figure.forces],
        "contacts": [_contact_words(c) for c in figure.contacts],
        "closures": [
            {"closure": c.name, "a": _point(c.a), "b": _point(c.b), **({} if c.kind == "point" else {"kind": c.kind})}
            for c in figure.closures
        ],
        "allowed": figure.allowed,
    }
    return {word: entries for word, entries in tree.items() if entries}


def _point(at: Point) -> Any:
    return at.frame if at.position == ORIGIN else [at.frame, at.position]


# -- strings ---------------------------------------------------------------------------------------------------------


def _own_lengths(figure: Figure) -> dict[str, Variable]:
    """By string, the variables that need no entry of their own; none, if that would change their order."""
    lengths = {v.name: v for v in figure.lengths}
    own: dict[str, Variable] = {}
    for string in (*figure.strings, *figure.wires):
        length = lengths.get(string.variable or "")
        plain = string.length == 0.0 and string.ratio == 1.0
        if length is not None and plain and length not in own.values() and _is_simple(length):
            own[string.name] = length
    listed = [v for v in figure.lengths if v not in own.values()]
    return own if (*listed, *own.values()) == figure.lengths else {}


def _is_simple(v: Variable) -> bool:
    return v == Variable(v.name, "length", kinematic=True, start=v.start, lower=v.lower, upper=v.upper, speed=v.speed)


def _string_words(string: String, own: Variable | None) -> Words:
    """`own` is the length variable that only this string has."""
    words: Words = {string.kind: string.name, "hook": _point(string.hook), "spindle": _along(string.spindle)}
    if string.eyelets:
        words["through"] = [_along(at) for at in string.eyelets]
    if string.elastic:
        words |= {"stiffness": string.stiffness} | ({"damping": string.damping} if string.damping else {})
    if own is not None:
        words |= {} if own.name == f"{string.name}_length" else {"length": own.name}
        return words | {"start": own.start} | _length_words(own)
    if string.variable is None:
        return words | {"length": string.length}
    words |= {"length": string.length} if string.length else {}
    return words | {"variable": string.variable} | ({} if string.ratio == 1.0 else {"ratio": string.ratio})


def _along(at: Point | Branch) -> Any:
    """A point, eyelet, pulley, drum or branch on the way of a string."""
    match at:
        case Branch(divisor):
            return {"branch": divisor}
        case Pulley():
            words: Words = {"pulley": _point(at), "radius": at.radius}
            words |= {} if at.axis is None else {"axis": axis_letter(at.axis) or at.axis}
            words |= {} if at.side is None else {"side": _point(at.side)}
            for word in ("turn", "turns", "friction"):
                words |= {word: getattr(at, word)} if getattr(at, word) else {}
            return words
        case Eyelet():
            return {"eyelet": _point(at)} | ({"friction": at.friction} if at.friction else {})
        case Drum():
            axis, towards = (axis_letter(v) or v for v in (at.axis, at.towards))
            words = {"drum": _point(at), "radius": at.radius, "axis": axis, "turn": at.turn, "towards": towards}
            return words | ({"turns": at.turns, "thickness": at.thickness} if at.layered else {})
        case _:
            return _point(at)


def _length_words(v: Variable) -> Words:
    words: Words = {"start": v.start} if v.start else {}
    words |= {} if (v.lower, v.upper) == (0.0, math.inf) else {"limits": (v.lower, v.upper)}
    for word, default in (("speed", math.inf), ("effort", math.inf), ("stiffness", 0.0), ("rest", 0.0)):
        words |= {} if getattr(v, word) == default else {word: getattr(v, word)}
    for word in ("damping", "armature"):
        words |= {word: getattr(v, word)} if getattr(v, word) else {}
    return words


# -- the rest --------------------------------------------------------------------------------------------------------


def _spring_words(spring: Spring) -> Words:
    words: Words = {"spring": spring.name, "a": _point(spring.a), "b": _point(spring.b), "stiffness": spring.stiffness}
    return words | {word: getattr(spring, word) for word in ("length", "damping") if getattr(spring, word)}


def _force_words(force: Force) -> Words:
    if isinstance(force, Effort):
        words: Words = {"effort": force.variable}
        words |= {} if force.name == f"{force.variable}_effort" else {"name": force.name}
        return words | ({} if force.gain == 1.0 else {"gain": force.gain})
    words = {"push": force.name, "at": _point(force.at), "direction": force.direction}
    return words | ({"turns": True} if force.turns else {})


def _contact_words(contact: Contact) -> Words:
    words: Words = {"contact": contact.name, "point": _point(contact.point)}
    words |= {} if contact.plane == Point(WORLD) else {"plane": _point(contact.plane)}
    words |= {} if contact.normal == (0.0, 0.0, 1.0) else {"normal": contact.normal}
    return words | ({"friction": contact.friction} if contact.friction else {})
