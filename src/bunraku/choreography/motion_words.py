"""The `motions:` of a show file, which extend the library: recorded motions, and motions of people in BVH files."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from bunraku.choreography.people import played_by
from bunraku.choreography.puppet import Puppet
from bunraku.choreography.repertoire import MotionPiece, Repertoire
from bunraku.choreography.script import Role
from bunraku.errors import BunrakuError, parts
from bunraku.io import RECORDINGS, load
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.shape_words import file_named
from bunraku.motion import Motion


def between(node: Node, low: float, high: float, what: str, quantity: Quantity = Quantity.NUMBER) -> float:
    """The number at `node`, in SI units.

    low, high: the allowed range.
    what: words that follow the number in a message.
    quantity: the physical quantity, which determines the accepted units.

    Raises FileError for any other number.
    """
    value = node.number(quantity)
    if not low <= value <= high:
        raise node.error(f"{value:g} {what}", advice=f"give a value between {low:g} and {high:g}")
    return value


def with_motions(node: Node | None, folder: Path, roles: tuple[Role, ...]) -> tuple[Role, ...]:
    """The `roles`, each with the motions that the show adds to its repertoire.

    node: the value of `motions:`; None if the file has none.
    folder: file names in the document are relative to it.

    Raises FileError, which points at the first mistake.
    """
    if node is None:
        return roles
    if not isinstance(node.value, dict):
        raise node.unwanted("a mapping of motions", advice="write name: {file: take.npz}")
    added: dict[str, dict[str, MotionPiece]] = {role.figure.name: {} for role in roles}
    for name, at in node.value.items():
        for piece in _pieces(name, at, folder, roles):
            added[piece.motion.figure.name][name] = piece
    return tuple(
        replace(role, repertoire=Repertoire(role.repertoire.puppet, {**role.repertoire.pieces, **added[role.figure.name]}))
        for role in roles
    )


def _pieces(name: str, node: Node, folder: Path, roles: tuple[Role, ...]) -> Iterator[MotionPiece]:
    """A motion of the show: of one figure, or a person's motion adapted to every figure that plays."""
    persons = ("from", "to", "exaggerate", "simplify")
    words = (
        node.words(("file", "parts", "loop", "travels", *persons), "a motion") if isinstance(node.value, dict) else {"file": node}
    )
    file = node.need("file", f"{name!r}") if isinstance(node.value, dict) else node
    path = file_named(file, folder, (".npz", ".csv", ".yaml", *RECORDINGS), "a motion file")
    motion = load(path)
    if not isinstance(motion, Motion) or len(motion.tracks) != 1:
        raise file.error("the file holds no motion of one figure", advice="record one with bunraku simulate or on the stage")
    puppets = {role.figure.name: role.repertoire.puppet for role in roles}
    if path.suffix.lower() in RECORDINGS and motion.figure.name not in puppets:
        for puppet in puppets.values():
            yield _piece(name, words, _by_puppet(motion, puppet, words, file), puppet)
        return
    for word in persons:
        if word in words:
            raise node.keys[word].error(f"{word!r} is only for motions of people", advice="give a recording, or remove the word")
    if motion.figure.name not in puppets:
        raise file.error(
            f"it is a motion of {motion.figure.name}, which does not play", advice=f"add a {motion.figure.name} to 'figures'"
        )
    puppet = puppets[motion.figure.name]
    yield _piece(name, words, _from_rest(motion, puppet, file), puppet)


def _piece(name: str, words: Mapping[str, Node], motion: Motion, puppet: Puppet) -> MotionPiece:
    parts = tuple(puppet.parts)
    if "parts" in words:
        parts = tuple(item.choice(puppet.parts, "part") for item in words["parts"].items("parts"))
    loop = None
    if "loop" in words:
        begin, end = words["loop"].numbers(2, Quantity.TIME)
        if not 0.0 < begin < end < motion.duration:
            raise words["loop"].error(
                f"the loop goes from {begin:g} s to {end:g} s, but the motion lasts {motion.duration:g} s",
                advice="write [begin, end] in seconds, both inside the motion",
            )
        loop = (begin, end)
    return MotionPiece(name, motion, parts, loop, words["travels"].flag() if "travels" in words else False)


def _by_puppet(motion: Motion, puppet: Puppet, words: Mapping[str, Node], file: Node) -> Motion:
    """What a person does between two times, imitated by the puppet."""
    begin = words["from"].number(Quantity.TIME) if "from" in words else 0.0
    end = words["to"].number(Quantity.TIME) if "to" in words else motion.duration
    if not 0.0 <= begin < end - 1.0 or end > motion.duration + 1e-9:
        raise words.get("from", words.get("to", file)).error(
            f"from {begin:g} s to {end:g} s of a motion of {motion.duration:.4g} s",
            advice="choose at least one second inside the motion",
        )
    options = {
        "exaggerate": between(words["exaggerate"], 0.1, 3.0, "times as large") if "exaggerate" in words else 0.6,
        "simplify": between(words["simplify"], 0.2, 10.0, "Hz to keep", Quantity.FREQUENCY) if "simplify" in words else 1.5,
    }
    try:
        return played_by(puppet, motion.slice(motion.t[0] + begin, motion.t[0] + end), **options)
    except BunrakuError as error:
        message, advice = parts(error)
        raise file.error(message, advice=advice or "try another capture") from None


def _from_rest(motion: Motion, puppet: Puppet, node: Node) -> Motion:
    off = abs(motion.q[-1] - motion.q[0]).max()
    if off > 0.05:
        raise node.error(
            f"it does not end where it begins: a variable differs by {off:.2g}",
            advice="trim or extend it so that both ends are the same rest",
        )
    return motion
