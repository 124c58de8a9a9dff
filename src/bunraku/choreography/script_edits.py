"""Edits of a script: a cue is moved, stretched, added or removed, and every other letter of the file stays as it was.

Only numbers and lines change, at the places that the reader noted, so comments and layout survive. Each edit returns the new text;
whether it can be played is checked when it is read and scored again.
"""

from __future__ import annotations

from collections.abc import Iterator

from bunraku.choreography.script import Cue, Script
from bunraku.errors import FileError, UnknownName
from bunraku.io.yaml.node import Node


def moved(script: Script, cue: str, by: float) -> str:
    """The text in which a `cue` of the `script` begins `by` counts later; cues that refer to it move along.

    Raises UnknownName if there is no such cue, FileError if the file is written in a way that this cannot edit.
    """
    found = _cue(script, cue)
    word = "at" if found.where.get("at") is not None else "wait"
    return _with_number(found.where, _head(found), word, found.start.counts + by)


def stretched(script: Script, cue: str, counts: float) -> str:
    """The text in which a `cue` of the `script` lasts so many `counts`. Raises UnknownName and FileError as `moved` does."""
    found = _cue(script, cue)
    if (until := found.where.get("until")) is not None:
        raise until.error(f"this cue ends when {found.until!r} begins", advice="move that one, or write counts instead of until")
    return _with_number(found.where, _head(found), "counts", counts)


def removed(script: Script, cue: str) -> str:
    """The text without a `cue` of the `script`; of everyone's cue, all go. Raises UnknownName and FileError as `moved` does."""
    entry = _cue(script, cue).where
    if (name := entry.get("name")) is not None:
        for other in script.cues:
            for word in ("after", "with", "until"):
                if other.where is not entry and (place := other.where.get(word)) is not None and place.value == name.value:
                    raise place.error(f"this cue waits for {name.value!r}", advice="let it begin or end by something else first")
    if len({id(c.where) for c in script.cues}) == 1:
        raise entry.error("this is the only cue of the show", advice="add another one first")
    _dash(entry)
    lines = entry.source.text.splitlines(keepends=True)
    del lines[entry.line - 1 : _last_line(entry)]
    return "".join(lines)


def added(script: Script, role: str, motion: str, begin: float) -> str:
    """The text with one more cue at the end of the `script`: `role` plays a `motion` at count `begin`. Raises FileError."""
    last = max((cue.where for cue in script.cues), key=lambda entry: entry.line)
    indent = _dash(last)
    lines = last.source.text.splitlines(keepends=True)
    end = _last_line(last)
    return _inserted(lines, end, f"{indent}- {role}: {motion}", f"{indent}  at: {_number(begin)}")


# -- places in the text ------------------------------------------------------------------------------------------------


def _cue(script: Script, name: str) -> Cue:
    found = next((cue for cue in script.cues if cue.name == name), None)
    if found is None:
        raise UnknownName("cue", name, tuple(cue.name for cue in script.cues))
    return found


def _head(cue: Cue) -> Node:
    """The name of its motion."""
    head = cue.where.get(cue.role) or cue.where.get("everyone")
    assert head is not None
    return head


def _with_number(entry: Node, head: Node, word: str, value: float) -> str:
    """The text in which a `word` of an `entry` has this `value`; a new word goes behind the `head`."""
    lines = entry.source.text.splitlines(keepends=True)
    old = entry.get(word)
    place = head if old is None else old
    line, at = lines[place.line - 1], place.column - 1
    if not place.plain or not isinstance(place.value, str) or not line.startswith(place.value, at):
        raise place.error("this is written in a way that cannot be edited here", advice="edit the file by hand")
    behind = at + len(place.value)
    if old is not None:
        lines[place.line - 1] = line[:at] + _number(value) + line[behind:]
    elif _is_flow(entry, lines):
        lines[place.line - 1] = f"{line[:behind]}, {word}: {_number(value)}{line[behind:]}"
    else:
        return _inserted(lines, place.line, f"{' ' * (entry.column - 1)}{word}: {_number(value)}")
    return "".join(lines)


def _inserted(lines: list[str], after: int, *new: str) -> str:
    """The text of `lines` with `new` ones `after` so many, with the same line breaks."""
    end = lines[0][len(lines[0].rstrip("\r\n")) :]
    if not lines[after - 1].endswith(("\n", "\r")):
        lines[after - 1] += end
    lines[after:after] = [line + end for line in new]
    return "".join(lines)


def _is_flow(entry: Node, lines: list[str]) -> bool:
    return lines[entry.line - 1].startswith("{", entry.column - 1)


def _dash(entry: Node) -> str:
    """What stands before the dash of an `entry`; raises FileError if something else than white space does."""
    before = entry.source.text.splitlines()[entry.line - 1][: entry.column - 1]
    if before.strip() != "-" or (indent := before[: before.index("-")]).strip():
        raise _unplain(entry)
    return indent


def _unplain(entry: Node) -> FileError:
    return entry.error("this cue does not have lines of its own", advice="edit the file by hand")


def _last_line(entry: Node) -> int:
    """The last line of an `entry`, counted from 1."""
    lines = entry.source.text.splitlines()
    last = max(node.line for node in _nodes(entry))
    if not _is_flow(entry, lines):
        return last
    while "}" not in lines[last - 1]:  # its last words stand before
        last += 1
    return last


def _nodes(node: Node) -> Iterator[Node]:
    yield node
    yield from node.keys.values()
    children = node.value.values() if isinstance(node.value, dict) else node.value if isinstance(node.value, tuple) else ()
    for child in children:
        yield from _nodes(child)


def _number(value: float) -> str:
    return f"{round(value, 3) + 0.0:g}"
