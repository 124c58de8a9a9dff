"""Show files: a script as a puppeteer writes it.

show: The meeting
tempo: 90                              # counts a minute
stage: [5 m, 3 m]                      # its size along x and y; this is what it has where it is not said
places: {door: [-1.5, 0], table: [1, 0]}
figures:
  anna: {figure: marionette22, at: door, facing: 20 deg}
  bert: {figure: marionette22, at: table}
motions:
  tango: {file: take.npz, parts: [left_leg, right_leg], loop: [1.0, 2.2]}     # one's own, beside the library's
  teapot: {file: person.bvh, from: 2, to: 6, exaggerate: 0.6, simplify: 1.5}    # a person's: seconds, factor, Hz
script:
  - anna: walk                         # a cue follows the one before it of the same figure
    to: [-0.6, 0]
    counts: 8
    name: enters
  - bert: wave
    with: enters                       # begins when that begins; `after` when that ends; `wait` counts later
    wait: 2
    until: greets                      # goes on until that begins
  - anna: bow
    name: greets
    give: 1                            # may come a count earlier or later, as it fits
  - everyone: bow
    at: 24                             # on this count exactly
    size: 1.2                          # exaggerated
    mirrored: true                     # left for right
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.motion_words import between, with_motions
from bunraku.choreography.repertoire import Repertoire
from bunraku.choreography.script import Cue, Role, Script, Start
from bunraku.errors import BunrakuError, did_you_mean, parts
from bunraku.figure import Figure
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity

WORDS = ("show", "tempo", "stage", "places", "figures", "motions", "script")
ROLE = ("figure", "at", "facing")
CUE = ("name", "counts", "at", "after", "with", "wait", "until", "give", "to", "facing", "size", "mirrored")
EVERYONE = "everyone"
Places = Mapping[str, tuple[float, float]]


def load_script(path: str | os.PathLike[str]) -> Script:
    """The script in a show file, with every word of it understood; whether it can be played is for `score` to say."""
    return script_of(yaml_reader.read(path), Path(path).parent)


def script_of(root: Node, folder: Path) -> Script:
    root.words(WORDS, "a show")
    title = root.need("show", "the file").name("the show")
    tempo = between(root.need("tempo", "the show"), 20.0, 300.0, "counts a minute")
    size = _size(root.get("stage"))
    places = _places(root.get("places"), size)
    roles = _roles(root.need("figures", "the show"), folder, places, size)
    roles = with_motions(root.get("motions"), folder, roles)
    return Script(title, tempo, size, roles, _cues(root.need("script", "the show"), roles, places, size))


# -- who and where -----------------------------------------------------------------------------------------------------


def _size(node: Node | None) -> tuple[float, float]:
    if node is None:
        return 5.0, 3.0
    width, depth = node.numbers(2, Quantity.LENGTH)
    if not (0.0 < width <= 100.0 and 0.0 < depth <= 100.0):
        raise node.error(
            f"a stage of {width:g} m by {depth:g} m", advice="give its width along x and its depth along y, at most 100 m"
        )
    return width, depth


def _place(node: Node, places: Places, size: tuple[float, float]) -> tuple[float, float]:
    if isinstance(node.value, str):
        name = node.scalar("a place")
        if name not in places:
            raise node.error(
                f"no place is called {name[:40]!r}", advice=did_you_mean(name, places) if places else "write [x, y] in metres"
            )
        return places[name]
    x, y = node.numbers(2, Quantity.LENGTH)
    if abs(x) > 0.5 * size[0] or abs(y) > 0.5 * size[1]:
        raise node.error(
            f"({x:g} m, {y:g} m) is off the stage",
            advice=f"x within ±{0.5 * size[0]:g} m and y within ±{0.5 * size[1]:g} m, or give the stage a larger size",
        )
    return x, y


def _places(node: Node | None, size: tuple[float, float]) -> Places:
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        raise node.unwanted("a mapping of places", advice="write name: [x, y]")
    return {name: _place(at, {}, size) for name, at in node.value.items()}


def _roles(node: Node, folder: Path, places: Places, size: tuple[float, float]) -> tuple[Role, ...]:
    if not isinstance(node.value, dict) or not node.value:
        raise node.unwanted("a mapping of who plays", advice="write anna: marionette22")
    roles, known = [], dict[str, Repertoire]()
    for name, at in node.value.items():
        if name in (*CUE, EVERYONE):
            raise node.keys[name].error(f"{name!r} is a word of scripts", advice="call the figure something else")
        words = at.words(ROLE, "a figure of the show") if isinstance(at.value, dict) else {}
        which = at.need("figure", f"{name!r}") if isinstance(at.value, dict) else at
        called = which.scalar("the name of a figure or of a file")
        if called not in known:
            known[called] = _repertoire(figure_named(which, folder), which)
        place = _place(words["at"], places, size) if "at" in words else (0.0, 0.0)
        facing = words["facing"].number(Quantity.ANGLE) if "facing" in words else 0.0
        roles.append(Role(name, known[called].puppet.figure, known[called], place, facing, node.keys[name]))
    return tuple(roles)


def _repertoire(figure: Figure, node: Node) -> Repertoire:
    try:
        return repertoire_of(figure)
    except BunrakuError as error:
        message, advice = parts(error)
        raise node.error(message, advice=advice or "try marionette22") from None


# -- cues --------------------------------------------------------------------------------------------------------------


def _cues(node: Node, roles: tuple[Role, ...], places: Places, size: tuple[float, float]) -> tuple[Cue, ...]:
    entries = node.items("cues")
    if not entries:
        raise node.error("a script without a cue", advice="- anna: wave")
    by_name = {role.name: role for role in roles}
    names: dict[str, Node] = {}
    for entry in entries:
        entry.head((*by_name, EVERYONE), "a cue")
        entry.words((*by_name, EVERYONE, *CUE), "a cue")
        if (named := entry.get("name")) is not None:
            name = named.name("the cue")
            if name in names:
                raise named.error(
                    f"a second cue called {name!r}", advice=f"the first is on line {names[name].line}: rename one of them"
                )
            names[name] = named
    cues: list[Cue] = []
    for number, entry in enumerate(entries, 1):
        who, what = entry.head((*by_name, EVERYONE), "a cue")
        for role in roles if who == EVERYONE else (by_name[who],):
            cues.append(_cue(entry, what, role, who == EVERYONE, number, cues, names, places, size))
    return tuple(cues)


def _cue(
    entry: Node, what: Node, role: Role, shared: bool, number: int, before: list[Cue], names: Mapping[str, Node], places: Places,
    size: tuple[float, float],
) -> Cue:  # fmt: skip
    motion = what.scalar("the name of a motion")
    if motion not in (known := role.repertoire.pieces):
        own = f"{role.figure.name} has none in the library: record some and list them under 'motions', or take marionette22"
        raise what.error(f"{role.name} knows no motion {motion[:40]!r}", advice=did_you_mean(motion, known) if known else own)
    piece = role.repertoire[motion]
    words = entry.given(
        to=lambda n: _place(n, places, size), facing=lambda n: n.number(Quantity.ANGLE), mirrored=lambda n: n.flag(),
        size=lambda n: between(n, 0.1, 2.0, "times its size"), give=lambda n: between(n, 0.0, 64.0, "counts to give"),
        counts=lambda n: between(n, 0.25, 1024.0, "counts"),
    )  # fmt: skip
    if "to" in words and not piece.travels:
        going = [name for name, other in role.repertoire.pieces.items() if other.travels]
        raise entry.place_of("to").error(f"nobody gets anywhere by {motion!r}", advice=f"use one of: {', '.join(going)}")
    until = entry.get("until")
    if until is not None:
        if "counts" in words:
            raise until.error("it lasts some counts, or until another cue begins, not both", advice="remove one of the words")
        words["until"] = _known(until, names)
    if motion == "turn" and "facing" not in words:
        raise what.error("a turn to where?", advice="add facing: 90 deg")
    called = entry.get("name")
    name = called.name("the cue") if called is not None else f"cue {number}"
    if shared:
        name = f"{name} ({role.name})"
    return Cue(name, role.name, motion, _start(entry, role, before, names), **words, where=entry)


def _known(node: Node, names: Mapping[str, Node]) -> str:
    name = node.scalar("the name of a cue")
    if name not in names:
        raise node.error(
            f"no cue is called {name[:40]!r}", advice=did_you_mean(name, names) if names else f"give that cue a name: {name[:40]}"
        )
    return name


def _start(entry: Node, role: Role, before: list[Cue], names: Mapping[str, Node]) -> Start:
    given = [word for word in entry.keys if word in ("at", "after", "with")]
    if len(given) > 1:
        raise entry.keys[given[1]].error(f"{given[0]!r} and {given[1]!r} both say when it begins", advice="keep one of them")
    wait = entry.get("wait")
    counts = 0.0 if wait is None else between(wait, -64.0, 1024.0, "counts to wait")
    if not given:
        last = [cue for cue in before if cue.role == role.name]
        return Start(last[-1].name, True, counts) if last else Start(counts=counts)
    node = entry.place_of(given[0])
    if given[0] == "at":
        if wait is not None:
            raise wait.error("'at' says the count", advice=f"at: {node.number() + counts:g}")
        return Start(counts=between(node, 0.0, 1e5, "counts into the show"))
    return Start(_known(node, names), given[0] == "after", counts)
