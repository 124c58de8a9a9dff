"""Show files: a script as a puppeteer writes it.

perform: The meeting
tempo: 90                              # counts per minute
music: {file: song.wav, from: 2 s}     # count 0 is there; without `tempo`, counts are the beats that are found in the recording
stage: [5 m, 3 m]                      # its size along x and y; this is the default
places: {door: [-1.5, 0], table: [1, 0]}
figures:
  anna: {figure: marionette22, at: door, facing: 20 deg}
  bert: {figure: marionette22, at: table}
props: {ball: {is: football, at: [1.3, 0.4, 0.05]}}      # free bodies that the figures meet
motions:
  tango: {file: take.npz, parts: [left_leg, right_leg], loop: [1 s, 2.2 s]}     # added to those of the library
  teapot: {file: person.bvh, from: 2 s, to: 6 s, exaggerate: 0.6, simplify: 1.5 Hz}    # a person's motion
script:
  - anna: walk                         # without another word, a cue follows the previous one of the same figure
    to: [-0.6, 0]
    counts: 8
    name: enters
  - bert: wave
    with: enters                       # begins when `enters` begins; `after: enters` when it ends
    wait: 2                            # and two counts later
    until: greets                      # ends when `greets` begins
  - anna: bow
    name: greets
    give: 1                            # may come up to one count earlier or later; the best time is computed
  - everyone: bow
    at: 24                             # begins on this count
    size: 1.2                          # 1.2 times as large
    mirrored: true                     # left and right exchanged
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.motion_words import between, with_motions
from bunraku.choreography.music_words import tempo_and_music
from bunraku.choreography.repertoire import Repertoire
from bunraku.choreography.script import Cue, Role, Script, Start
from bunraku.errors import BunrakuError, did_you_mean, parts
from bunraku.figure import Figure
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.prop_words import props_of
from bunraku.io.yaml.quantity import Quantity

SHOW_WORDS = ("perform", "tempo", "music", "stage", "places", "figures", "props", "motions", "script", "seed", "output")
CUE_WORDS = ("name", "counts", "at", "after", "with", "wait", "until", "give", "to", "facing", "size", "mirrored")
EVERYONE = "everyone"  # instead of a figure's name: the cue is for all figures
Places = Mapping[str, tuple[float, float]]


def load_script(path: str | os.PathLike[str]) -> Script:
    """The script in the show file `path`. Whether it can be played is checked by `score`.

    Raises FileError, with line and advice, if the file is broken.
    """
    return script_of(yaml_reader.read(path), Path(path).parent)


def script_of(root: Node, folder: Path) -> Script:
    """The script in the document `root`; file names in it are relative to `folder`. Raises FileError."""
    if (old := root.get("show")) is not None and root.get("perform") is None:
        raise root.keys["show"].error("a show file begins with 'perform'", advice=f"write perform: {old.value}")
    root.words(SHOW_WORDS, "a show")
    title = root.need("perform", "the file").name("the show")
    tempo, music = tempo_and_music(root, folder)
    size = _size(root.get("stage"))
    places = _places(root.get("places"), size)
    roles = _roles(root.need("figures", "the show"), folder, places, size)
    roles = with_motions(root.get("motions"), folder, roles)
    cues = _cues(root.need("script", "the show"), roles, places, size)
    return Script(title, tempo, size, roles, cues, _props(root, folder, roles), music)


# -- who and where -----------------------------------------------------------------------------------------------------


def _size(node: Node | None) -> tuple[float, float]:
    if node is None:
        return 5.0, 3.0
    width, depth = node.numbers(2, Quantity.LENGTH)
    if not (0.0 < width <= 100.0 and 0.0 < depth <= 100.0):
        raise node.error(
            f"a stage of {width:g} m by {depth:g} m", advice="give a width along x and a depth along y, positive and at most 100 m"
        )
    return width, depth


def _place(node: Node, places: Places, size: tuple[float, float]) -> tuple[float, float]:
    if isinstance(node.value, str):
        name = node.scalar("a place")
        if name not in places and name[:1] in "+-.0123456789":
            advice = f"write the name of a place, or [x, y] in metres; for an angle, write facing: {name[:40]}"
            raise node.error(f"expected a place, got {name[:40]!r}", advice=advice)
        if name not in places:
            raise node.error(
                f"no place is called {name[:40]!r}", advice=did_you_mean(name, places) if places else "write [x, y] in metres"
            )
        return places[name]
    x, y = node.numbers(2, Quantity.LENGTH)
    if abs(x) > 0.5 * size[0] or abs(y) > 0.5 * size[1]:
        raise node.error(
            f"({x:g} m, {y:g} m) is off the stage",
            advice=f"keep x within ±{0.5 * size[0]:g} m and y within ±{0.5 * size[1]:g} m, or make the stage larger",
        )
    return x, y


def _places(node: Node | None, size: tuple[float, float]) -> Places:
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        raise node.unwanted("a mapping of places", advice="write name: [x, y]")
    return {name: _place(at, {}, size) for name, at in node.value.items()}


def _props(root: Node, folder: Path, roles: tuple[Role, ...]) -> Mapping[str, Figure]:
    props = props_of(root, folder)
    taken = next((role.name for role in roles if role.name in props), None)
    if taken is not None:
        raise root.need("props", "the show").keys[taken].error(f"a figure is also called {taken!r}", advice="rename the prop")
    return props


def _roles(node: Node, folder: Path, places: Places, size: tuple[float, float]) -> tuple[Role, ...]:
    if not isinstance(node.value, dict) or not node.value:
        raise node.unwanted("a mapping of who plays", advice="write anna: marionette22")
    roles, known = [], dict[str, Repertoire]()
    for name, at in node.value.items():
        if name in (*CUE_WORDS, EVERYONE):
            raise node.keys[name].error(f"{name!r} is a keyword of scripts", advice="give the figure another name")
        words = at.words(("figure", "at", "facing"), "a figure of the show") if isinstance(at.value, dict) else {}
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
        raise node.error("the script has no cue", advice="write - anna: wave")
    by_name = {role.name: role for role in roles}
    names: dict[str, Node] = {}
    for entry in entries:
        entry.head((*by_name, EVERYONE), "a cue")
        entry.words((*by_name, EVERYONE, *CUE_WORDS), "a cue")
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
        own = f"the library has none for {role.figure.name}: record some and list them under 'motions', or use marionette22"
        raise what.error(f"{role.name} knows no motion {motion[:40]!r}", advice=did_you_mean(motion, known) if known else own)
    piece = role.repertoire[motion]
    words = entry.given(
        to=lambda n: _place(n, places, size), facing=lambda n: n.number(Quantity.ANGLE), mirrored=lambda n: n.flag(),
        size=lambda n: between(n, 0.1, 2.0, "times its size"), give=lambda n: between(n, 0.0, 64.0, "counts to give"),
        counts=lambda n: between(n, 0.25, 1024.0, "counts"),
    )  # fmt: skip
    if motion == "turn" and "facing" not in words:
        raise what.error("a turn needs 'facing', the angle to turn to", advice="add facing: 90 deg")
    if "to" in words and not piece.travels:
        going = [name for name, other in role.repertoire.pieces.items() if other.travels]
        raise entry.place_of("to").error(f"{motion!r} does not travel", advice=f"remove 'to', or use one of: {', '.join(going)}")
    until = entry.get("until")
    if until is not None:
        if "counts" in words:
            raise until.error("'counts' and 'until' both say when the cue ends", advice="keep one of them")
        words["until"] = _known(until, names)
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
            raise wait.error(
                "'wait' cannot stand beside 'at', which says the count", advice=f"write at: {node.number() + counts:g}"
            )
        return Start(counts=between(node, 0.0, 1e5, "counts into the show"))
    return Start(_known(node, names), given[0] == "after", counts)
