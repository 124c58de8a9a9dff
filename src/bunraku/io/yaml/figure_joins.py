"""What joins frames in a figure file: strings, springs, forces, contacts, closures."""

from __future__ import annotations

from typing import Any

from bunraku.figure import Branch, Closure, Contact, Force, Point, Spring, build
from bunraku.figure.build import StringSpec
from bunraku.figure.build.places import axis_of
from bunraku.io.yaml.figure_frames import axis_word, quantities, value
from bunraku.io.yaml.figure_names import WORD_OF_FIELD, Names
from bunraku.io.yaml.node import Node, is_text
from bunraku.io.yaml.quantity import Quantity


def string(node: Node, names: Names, kind: str) -> StringSpec:
    """The string or wire (`kind`) that `node` describes; `names` knows the frames and takes its name."""
    known = ("hook", "spindle", "length", "through", "variable", "ratio", "start", "limits", "speed", "stiffness", "damping")
    node.words((kind, *known), f"a {kind}")
    name = names.take("string", node.need(kind, f"the {kind}").name(f"a {kind}"), node)
    names.places[kind, name] = node
    words = names.points(node, f"the {kind}", "hook") | {"spindle": _held(node.need("spindle", f"the {kind}"), names)}
    words |= node.given(through=lambda n: [_along(p, names) for p in n.items("points and pulleys")])
    words |= _winding(node, names)
    words |= node.given(stiffness=lambda n: n.number(Quantity.FORCE), damping=lambda n: n.number(Quantity.STRING_DAMPING))
    with node.blamed(WORD_OF_FIELD):
        spec = (build.string if kind == "string" else build.wire)(name, **words)
    if spec.own is not None:
        names.take("variable", spec.own.name, node, "length")
    return spec


def _along(node: Node, names: Names) -> Point | Branch:
    """A point, eyelet, pulley or branch on the way of a string."""
    if not isinstance(node.value, dict):
        return names.point(node)
    kind, head = node.head(("pulley", "eyelet", "branch"), "a point or pulley")
    with node.blamed({"divisor": "branch"}):
        if kind == "branch":
            node.words(("branch",), "a branch")
            return build.branch(head.number())
        if kind == "eyelet":
            node.words(("eyelet", "friction"), "an eyelet")
            return build.eyelet(names.point(head), **node.given(friction=Node.number))
        node.words(("pulley", "radius", "axis", "side", "turn", "turns", "friction"), "a pulley")
        words = node.given(
            axis=axis_word, side=names.point, turn=lambda n: n.whole(-1, 1), turns=lambda n: n.whole(0, 1000), friction=Node.number
        )
        return build.pulley(names.point(head), node.need("radius", "the pulley").length(), **words)


def _held(node: Node, names: Names) -> Point:
    """The spindle of a string: a point or a drum."""
    if not isinstance(node.value, dict):
        whole = f"{node.value}_spindle"
        if ("frame", node.value) not in names.places and ("frame", whole) in names.places:
            raise node.error(f"no frame is called {node.value!r}", advice=f"did you mean {whole}?")
        return names.point(node)
    node.words(("drum", "radius", "axis", "turn", "towards", "turns", "thickness"), "a drum")
    words = node.given(
        turn=lambda n: n.whole(-1, 1), towards=lambda n: axis_of(axis_word(n)), turns=Node.number, thickness=Node.length
    )
    radius, along = node.need("radius", "the drum").length(), axis_word(node.need("axis", "the drum"))
    with node.blamed():
        return build.drum(names.point(node.need("drum", "the spindle")), radius, along, **words)


def _winding(node: Node, names: Names) -> dict[str, Any]:
    """How long a string is: constant, wound by a variable of the figure, or by a variable of its own."""
    advice = "write length: metres, or length: variable (with ratio), or neither, with start, limits and speed"
    length, by = node.get("length"), node.get("variable")
    words: dict[str, Any] = {}
    if length is not None and _is_number(length):
        words["length"] = length.length()
        allowed = ["ratio"] if by is not None else []
    elif length is not None:
        if by is not None:
            raise node.keys["variable"].error("the string is wound by two variables", advice=advice)
        named_here = node.get("start") is not None
        words["length"] = length.name("a variable") if named_here else names.known("variable", length)
        allowed = ["start", "limits", "speed"] if named_here else ["ratio"]
    else:
        allowed = ["ratio"] if by is not None else ["start", "limits", "speed"]
    if by is not None:
        words["variable"] = names.known("variable", by)
    for word in ("start", "limits", "speed", "ratio"):
        if (found := node.get(word)) is not None:
            if word not in allowed:
                raise node.keys[word].error(f"{word!r} has no meaning here", advice=advice)
            words[word] = found.number() if word == "ratio" else value(word, found, quantities(False)[word])
    return words


def _is_number(node: Node) -> bool:
    text = node.value
    return not isinstance(text, str) or (node.plain and (text[:1] in "+-.0123456789" or not is_text(text)))


def spring(node: Node, names: Names) -> Spring:
    """The spring that `node` describes; `names` knows the frames and takes its name."""
    node.words(("spring", "a", "b", "stiffness", "length", "damping"), "a spring")
    name = names.take("spring", node.need("spring", "the spring").name("a spring"), node)
    words = names.points(node, "the spring", "a", "b") | node.given(
        length=Node.length, damping=lambda n: n.number(Quantity.DAMPING)
    )
    with node.blamed():
        return build.spring(name, stiffness=node.need("stiffness", "the spring").number(Quantity.STIFFNESS), **words)


def force(node: Node, names: Names) -> Force:
    """The force that `node` describes: an effort along a variable, or a push at a point. `names` takes its name."""
    kind, head = node.head(("effort", "push"), "a force")
    if kind == "effort":
        node.words(("effort", "name", "gain"), "an effort")
        made = build.effort(names.known("variable", head), **node.given(name=Node.name, gain=Node.number))
        names.take("force", made.name, node, "name")
        return made
    node.words(("push", "at", "direction", "turns"), "a push")
    name = names.take("force", head.name("a force"), node)
    at, direction = node.need("at", "the push"), node.need("direction", "the push").vector()
    with node.blamed():
        return build.push(name, names.point(at), direction, **node.given(turns=Node.flag))


def contact(node: Node, names: Names) -> Contact:
    """The contact that `node` describes; `names` knows the frames and takes its name."""
    node.words(("contact", "point", "plane", "normal", "friction"), "a contact")
    name = names.take("contact", node.need("contact", "the contact").name("a contact"), node)
    words = node.given(plane=names.point, normal=Node.vector, friction=Node.number)
    with node.blamed():
        return build.contact(name, names.point(node.need("point", "the contact")), **words)


def closure(node: Node, names: Names) -> Closure:
    """The closure that `node` describes; `names` knows the frames and takes its name."""
    node.words(("closure", "a", "b", "kind"), "a closure")
    name = names.take("closure", node.need("closure", "the closure").name("a closure"), node)
    kind = node.given(kind=lambda n: n.choice(("point", "hinge", "weld", "plane"), "kind"))
    return build.closure(name, **names.points(node, "the closure", "a", "b"), **kind)


def pair(node: Node, names: Names) -> tuple[str, str]:
    """Two frames whose shapes may touch, by name, as `node` lists them; `names` knows the frames."""
    a, b = (names.known("frame", n) for n in node.items("frames", 2))
    return (a, b)
