"""Writes stage-web/src/messages.ts from the Python side: the classes of bunraku.stage.messages, the commands, the limits.

    python tools/message_types.py           # writes the file
    python tools/message_types.py --check   # exits with 1 if the file is not what this would write

After it, build the page again: cd stage-web && npm run build.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Iterator
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints, is_typeddict

from bunraku.stage import hand_commands, messages
from bunraku.stage.hand_commands import Pull, Release, Reset, Sticks, Untangle, Winch
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.wire import PROTOCOL_VERSION, MessageKind
from bunraku.writing import writing

FILE = Path(__file__).parents[1] / "stage-web" / "src" / "messages.ts"
LINE = 120  # biome's lineWidth
COMMANDS = (Reset, Untangle, Pull, Release, Winch, Sticks)  # those that the page sends; a Device speaks to the stage's own machine


def written() -> str:
    """The text of messages.ts."""
    blocks = [
        "/** What stage and page say to each other. Written by tools/message_types.py: do not edit. */\n",
        "export type Vec3 = [number, number, number]\n/** w, x, y, z */\nexport type Quat = [number, number, number, number]\n",
        f"export type Part = {typed(hand_commands.Part)}\n",
    ]
    blocks += [interface(kind) for kind in vars(messages).values() if is_typeddict(kind) and kind.__name__ != "ContentJson"]
    blocks += [command(kind) for kind in COMMANDS]
    blocks += [
        union("Geometry", named(messages.GeometryJson)),
        union("StageMessage", named(messages.StageMessageJson)),
        union("PageMessage", [*named(messages.PageRequestJson), *(f"{kind.__name__}Command" for kind in COMMANDS)]),
        union("TakeEdit", named(messages.TakeEditJson)),
        union("BookEdit", named(messages.BookEditJson)),
        f"export const VERSION = {PROTOCOL_VERSION}\nexport const ACK = {MessageKind.ACK:d}\n"
        f"export const MAX_UPLOAD_BYTES = {StageLimits().upload_bytes}\n",
    ]
    return "\n".join(blocks)


def interface(kind: Any) -> str:
    """The interface of a TypedDict, with its docstring."""
    hints = get_type_hints(kind, include_extras=True)
    return _interface(kind.__name__.removesuffix("Json"), kind.__doc__, [_member(name, hint) for name, hint in hints.items()])


def command(kind: Any) -> str:
    """The interface of a command: its type is the lower-case name, fields with a default are optional."""
    hints = get_type_hints(kind)
    members = [f"type: '{kind.__name__.lower()}'"]
    for field in fields(kind):
        optional = field.default is not MISSING
        members.append(f"{field.name}{'?' if optional else ''}: {typed(hints[field.name])}")
    return _interface(f"{kind.__name__}Command", kind.__doc__, members)


def _interface(name: str, doc: str | None, members: list[str]) -> str:
    first = (doc or "").strip().partition("\n")[0]
    return "\n".join([f"/** {first} */", f"export interface {name} {{", *(f"  {member}" for member in members), "}"]) + "\n"


def _member(name: str, hint: Any) -> str:
    if get_origin(hint) is NotRequired:
        return f"{name}?: {typed(get_args(hint)[0])}"
    return f"{name}: {typed(hint)}"


def typed(hint: Any) -> str:
    """The TypeScript type of an annotation."""
    if is_typeddict(hint):
        return str(hint.__name__.removesuffix("Json"))
    if hint == messages.GeometryJson:
        return "Geometry"
    if hint == hand_commands.Part and get_origin(hint) is Literal:
        return " | ".join(f"'{word}'" for word in get_args(hint))
    match get_origin(hint), get_args(hint):
        case (None, _):
            return {str: "string", int: "number", float: "number", bool: "boolean", type(None): "null"}[hint]
        case (origin, words) if origin is Literal:
            return " | ".join(f"'{word}'" for word in words)
        case (origin, parts) if origin in (Union, types.UnionType):
            return " | ".join(typed(part) for part in parts)
        case (origin, (item,)) if origin is list:
            return _array(item)
        case (origin, (item, rest)) if origin is tuple and rest is Ellipsis:
            return _array(item)
        case (origin, (_, value)) if origin is dict:
            return f"Record<string, {typed(value)}>"
        case (origin, parts) if origin is tuple:
            names = {messages.Vec3: "Vec3", messages.Quat: "Quat"}
            return names.get(hint) or f"[{', '.join(typed(part) for part in parts)}]"
    raise TypeError(f"no TypeScript for {hint}")


def _array(item: Any) -> str:
    inner = typed(item)
    return f"({inner})[]" if "|" in inner else f"{inner}[]"


def named(hint: Any) -> Iterator[str]:
    """The names of the members of a union."""
    return (typed(part) for part in get_args(hint))


def union(name: str, parts: Any) -> str:
    """A union type, in one line where it fits."""
    listed = list(parts)
    short = f"export type {name} = {' | '.join(listed)}"
    return (short if len(short) <= LINE else "\n".join([f"export type {name} =", *(f"  | {part}" for part in listed)])) + "\n"


def main() -> int:
    """Writes or checks the file."""
    text = written()
    if "--check" in sys.argv:
        return int(FILE.read_text(encoding="utf-8") != text)
    with writing(FILE) as temporary:
        temporary.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
