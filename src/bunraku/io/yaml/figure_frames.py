"""Frames in a figure file, with the variables that move them and the bodies and shapes fixed in them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from bunraku.errors import did_you_mean
from bunraku.figure import WORLD, Joint, Variable, build
from bunraku.figure.build import Attached, Item
from bunraku.figure.frame import AXES, JOINT_MOTIONS
from bunraku.io.yaml.figure_names import Names
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.shape_words import POSE_WORDS, SHAPE_FLAGS, pose, shape

VARIABLE_WORDS = ("kinematic", "start", "limits", "speed", "effort", "stiffness", "rest", "damping", "armature")
FRAME_WORDS: dict[str, tuple[str, ...]] = {
    "fixed": POSE_WORDS,
    **dict.fromkeys(("rx", "ry", "rz", "tx", "ty", "tz"), (*POSE_WORDS, "variable", *VARIABLE_WORDS)),
    "rotate": ("axis", *POSE_WORDS, "variable", *VARIABLE_WORDS),
    "translate": ("axis", *POSE_WORDS, "variable", *VARIABLE_WORDS),
    "screw": ("axis", "pitch", *POSE_WORDS, "variable", *VARIABLE_WORDS),
    "ball": (*POSE_WORDS, *VARIABLE_WORDS),
    "free": (*POSE_WORDS, *VARIABLE_WORDS),
    "spindle": ("at", "moves", *(word for word in VARIABLE_WORDS if word != "start")),
}
"""The kinds of frames, and the words that each may have."""


def section(node: Node, word: str) -> Sequence[Node]:
    """The entries of the list that a `word` of `node` gives; none where the word is missing."""
    found = node.get(word)
    return () if found is None else found.items(word)


# -- frames ----------------------------------------------------------------------------------------------------------


def frame(node: Node, names: Names, folder: Path, *, top: bool = False) -> Item:
    """The frame that `node` describes, with everything nested in it.

    names: the names of the file, to which those of this frame are added
    folder: where paths of meshes start
    top: whether the frame is not nested in another, so that it may name its parent
    """
    kind, head = node.head(FRAME_WORDS, "a frame")
    node.words((kind, *FRAME_WORDS[kind], "bodies", "shapes", "frames", "parent"), "a frame")
    if not top and "parent" in node.keys:
        advice = "remove it: its parent is the frame that it is nested in"
        raise node.keys["parent"].error("a nested frame already has its parent", advice=advice)
    name = head.name("a frame")
    parent = WORLD if node.get("parent") is None else _parent(node, name, names)
    with node.blamed({"motion": "axis"}):
        made = _moving(kind, name, node)
    for part in made.frames:
        names.take("frame", part.name, node)
        if part.variable is not None:
            names.take("variable", part.variable.name, node, "variable")
    items: list[Item] = [body(n) for n in section(node, "bodies")]
    items += [shape(n, folder, words=("mass", *SHAPE_FLAGS)) for n in section(node, "shapes")]
    items += [frame(n, names, folder) for n in section(node, "frames")]
    return build.under(parent, build.FrameNode(made.frames, tuple(items), made.kind))


def _moving(kind: str, name: str, node: Node) -> build.FrameNode:
    """The frames of one entry, without what is nested in them."""
    words = pose(node)
    match kind:
        case "fixed":
            return build.fixed(name, **words)
        case "ball":
            return build.ball(name, **words, **_several(node, kind))
        case "free":
            return build.free(name, **words, **_several(node, kind))
        case "spindle":
            return build.spindle(name, **words, **variable(node, turns=False), **node.given(moves=_axes))
    turns = kind[0] == "r" or kind == "screw"
    words |= variable(node, turns=turns) | node.given(variable=Node.name)
    axis = kind[1] if len(kind) == 2 else axis_word(node.need("axis", "the frame"))
    if kind == "screw":
        return build.screw(axis, node.need("pitch", "the screw").length(), name, **words)
    return build.rotate(axis, name, **words) if turns else build.translate(axis, name, **words)


def axis_word(node: Node) -> str | tuple[float, float, float]:
    """The axis in `node`: a letter, or three numbers."""
    return node.choice(AXES, "axis") if isinstance(node.value, str) else node.vector()


def _axes(node: Node) -> str:
    text = node.scalar("some of the letters xyz")
    if len(set(text)) != len(text) or not set(text) <= set("xyz"):
        raise node.error(f"expected some of the letters xyz, got {text[:40]!r}", advice="write some of x, y and z, such as xy")
    return text


def _parent(node: Node, name: str, names: Names) -> str:
    at = node.need("parent", "the frame")
    wanted = at.name("a frame")
    if wanted == WORLD or ("frame", wanted) in names.places:
        return wanted
    parents = _parents(names.root)
    chain = [name]
    while (above := parents.get(chain[-1])) is not None and above not in chain:
        chain.append(above)
    if above is not None:
        ring = " → ".join([*chain, above] if len(chain) < 8 else [*chain[:7], "…", above])
        raise at.error(f"a cycle: {ring}", advice="frames form a tree: one of these must have the parent world")
    if wanted in parents:
        raise at.error(f"the parent {wanted!r} is listed after its child", advice="list parents before their children")
    raise at.error(f"no frame is called {wanted!r}", advice=did_you_mean(wanted, names.of("frame")))


def _parents(root: Node) -> dict[str, str]:
    """The parent of every frame in the whole file; for messages."""
    out: dict[str, str] = {}
    stack = [(node, WORLD) for node in section(root, "frames")]
    while stack:
        node, parent = stack.pop()
        kind = next((kind for kind in FRAME_WORDS if node.get(kind) is not None), None)
        if kind is None:
            continue
        name = f"{node.place_of(kind).value}{'_spindle' if kind == 'spindle' else ''}"
        given, inner = node.get("parent"), node.place_of("frames")
        out[name] = parent if given is None else str(given.value)
        stack += [(n, name) for n in inner.value] if isinstance(inner.value, tuple) else []
    return out


# -- variables -------------------------------------------------------------------------------------------------------


def quantities(turns: bool) -> dict[str, Quantity]:
    """What the words of a variable measure; `turns` says whether it is an angle."""
    if turns:
        position, speed, effort = Quantity.ANGLE, Quantity.TURNING_SPEED, Quantity.TORQUE
        stiffness, damping, armature = Quantity.TURNING_STIFFNESS, Quantity.TURNING_DAMPING, Quantity.INERTIA
    else:
        position, speed, effort = Quantity.LENGTH, Quantity.SPEED, Quantity.FORCE
        stiffness, damping, armature = Quantity.STIFFNESS, Quantity.DAMPING, Quantity.MASS
    return {
        "start": position, "limits": position, "rest": position, "speed": speed, "effort": effort,
        "stiffness": stiffness, "damping": damping, "armature": armature,
    }  # fmt: skip


def variable(node: Node, *, turns: bool) -> dict[str, Any]:
    """The fields of one variable that `node` gives; `turns` says whether it is an angle."""
    words = {
        word: value(word, found, quantity) for word, quantity in quantities(turns).items() if (found := node.get(word)) is not None
    }
    return words | node.given(kinematic=Node.flag)


def value(word: str, node: Node, quantity: Quantity) -> Any:
    """What a `word` of a variable says in `node`: a number that measures `quantity`, or for limits a pair; .inf means no limit."""
    if word == "limits":
        lower, upper = (n.number(quantity, infinite=True) for n in node.items("limits (lower and upper)", 2))
        return (lower, upper)
    return node.number(quantity, infinite=word in ("speed", "effort"))


def _several(node: Node, kind: str) -> dict[str, Any]:
    """The words of a joint of several variables: one value for all, or a list with one for each."""
    letters = JOINT_MOTIONS[kind]
    measured = [quantities(letter[0] == "r") for letter in letters]
    words: dict[str, Any] = {}
    for word in VARIABLE_WORDS:
        if (found := node.get(word)) is None:
            continue
        if word == "start" or _is_list(found, word):
            items = found.items(f"values ({' '.join(letters)})", len(letters))
            words[word] = [_one(word, n, by) for n, by in zip(items, measured, strict=True)]
        else:
            words[word] = _one(word, found, measured[0] if kind == "ball" else {})
    return words


def _is_list(node: Node, word: str) -> bool:
    """Whether there is one value for each variable; limits are a list already."""
    items = node.value
    return isinstance(items, tuple) and (word != "limits" or any(isinstance(n.value, tuple) for n in items))


def _one(word: str, node: Node, measured: dict[str, Quantity]) -> Any:
    return node.flag() if word == "kinematic" else value(word, node, measured.get(word, Quantity.NUMBER))


def length(node: Node, names: Names) -> Variable:
    """The variable in `node` that winds strings and moves no frame; its name is added to `names`."""
    node.words(("length", *(word for word in VARIABLE_WORDS if word != "kinematic")), "a length")
    name = node.need("length", "the entry").name("a variable")
    words = variable(node, turns=False)
    lower, upper = words.pop("limits", (0.0, float("inf")))
    with node.blamed():
        made = Variable(name, "length", kinematic=True, lower=lower, upper=upper, **words)
    names.take("variable", name, node)
    return made


def joint(node: Node, names: Names) -> Joint:
    """The ball or free joint in `node`, whose frames are listed one by one; its name is added to `names`."""
    kind, head = node.head(JOINT_MOTIONS, "a joint")
    node.words((kind, "frames"), "a joint")
    listed = node.need("frames", "the joint").items("frames", len(JOINT_MOTIONS[kind]))
    frames = tuple(names.known("frame", n) for n in listed)
    return Joint(names.take("joint", head.name("a joint"), node), kind, frames)  # type: ignore[arg-type]


# -- what is fixed in a frame ----------------------------------------------------------------------------------------


def elsewhere(node: Node, names: Names, read: Callable[[Node], Attached]) -> Item:
    """A body or shape listed apart from its frame, or fixed in the world: `read` makes it from `node`, `names` knows the frames."""
    where = node.get("frame")
    return build.under(WORLD if where is None else names.known("frame", where), read(node))


def body(node: Node, *words: str) -> Attached:
    """The body that `node` describes; `words` are allowed besides its own, and read by the caller."""
    node.words(("mass", "com", "inertia", "name", *words), "a body")
    own = node.given(com=Node.lengths, inertia=_inertia, name=Node.name)
    with node.blamed():
        return build.body(node.need("mass", "the body").number(Quantity.MASS), **own)


def _inertia(node: Node) -> tuple[float, ...]:
    values = node.numbers(quantity=Quantity.INERTIA)
    if len(values) not in (3, 6):
        advice = "give xx yy zz, or xx yy zz xy xz yz, in kg·m²"
        raise node.error(f"expected 3 or 6 numbers, got {len(values)}", advice=advice)
    return values
