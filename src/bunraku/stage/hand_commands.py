"""Commands of a visitor to a live figure."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass, fields
from typing import Any, Literal, get_args

from bunraku.errors import BunrakuError

Vector = tuple[float, float, float]
Part = Literal["spindle", "hook", "body", "pin"]


class BadCommand(BunrakuError):
    """An invalid command; it has no effect."""


@dataclass(frozen=True)
class Pull:
    """Drag a string's spindle or hook, or a point of a body's frame, to a point of the world.

    `name` is the string's (spindle, hook) or the frame's (body, pin); `at` is the point in the body's frame. A pin holds the point
    where it is until it is released, without a hand.
    """

    figure: int
    part: Part
    name: str
    to: Vector
    at: Vector = (0.0, 0.0, 0.0)

    @property
    def what(self) -> tuple[int, str, str]:
        """What is pulled: figure, part, name."""
        return (self.figure, self.part, self.name)


@dataclass(frozen=True)
class Release:
    """Release a pulled part."""

    figure: int
    part: Part
    name: str

    @property
    def what(self) -> tuple[int, str, str]:
        """What is pulled: figure, part, name."""
        return (self.figure, self.part, self.name)


@dataclass(frozen=True)
class Winch:
    """Wind a string in (by < 0) or out (by > 0) [m]."""

    figure: int
    string: str
    by: float


@dataclass(frozen=True)
class Sticks:
    """The positions of the sticks, each in [−1, 1], in the order of `Live.sticks`; and which buttons are pressed."""

    axes: tuple[float, ...]
    buttons: tuple[bool, ...] = ()


@dataclass(frozen=True)
class Device:
    """The state of an input device of the stage's own machine, such as a joystick; no axes mean that it is unplugged."""

    axes: tuple[float, ...]
    buttons: tuple[bool, ...] = ()
    hats: tuple[tuple[int, int], ...] = ()
    """For each hat: right and up, each −1, 0 or 1."""


@dataclass(frozen=True)
class Planned:
    """A plan that was made beside the loop is ready, and may act from the next step on: the `number` of its request, from 1.

    Number 0: from the next step on, plans are made beside the loop. Both are logged, so that a replay takes the same plans at the
    same steps.
    """

    number: int


@dataclass(frozen=True)
class Untangle:
    """Bring puppets back into order, where they are: limbs, spindles and strings as at the start."""


@dataclass(frozen=True)
class Reset:
    """Back to the start."""


Command = Pull | Release | Winch | Sticks | Device | Planned | Untangle | Reset
_COMMANDS: dict[str, type[Command]] = {c.__name__.lower(): c for c in get_args(Command)}


def to_plain(command: Command) -> dict[str, Any]:
    """A `command` as JSON: {"type": "pull", "figure": 0, …}."""
    return {"type": type(command).__name__.lower(), **asdict(command)}


def from_plain(message: dict[str, Any]) -> Command:
    """The command in a JSON object (`message`); raises BadCommand if it is malformed."""
    kind = _COMMANDS.get(str(message.get("type")))
    if kind is None:
        raise BadCommand(f"no command is called {str(message.get('type'))[:40]!r}; there are: {', '.join(_COMMANDS)}")
    known = {f.name for f in fields(kind)}
    if unknown := set(message) - known - {"type"}:
        raise BadCommand(f"{message['type']} does not take {min(unknown)[:40]!r}; it takes: {', '.join(sorted(known))}")
    try:
        return kind(**{key: _READERS[key](message[key]) for key in known & set(message)})
    except TypeError:
        missing = sorted(known - set(message) - {"at", "buttons", "hats"})
        raise BadCommand(f"{message['type']} needs {', '.join(missing)}") from None


def _number(value: Any, limit: float = 1e4) -> float:
    # `not … <=` refuses NaN as well
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= limit:
        raise BadCommand(f"expected a number within ±{limit:g}")
    return float(value)


def _vector(value: Any) -> Vector:
    if not isinstance(value, list) or len(value) != 3:
        raise BadCommand("a point is three numbers")
    x, y, z = (_number(v) for v in value)
    return (x, y, z)


def _index(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 10_000:
        raise BadCommand("figures are counted from 0")
    return value


def _count(value: Any) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value < 2**53:
        raise BadCommand("plans are counted from 0")
    return value


def _name(value: Any) -> str:
    if not isinstance(value, str) or not 0 < len(value) <= 200:
        raise BadCommand("a name is a text of 1 to 200 characters")
    return value


def _part(value: Any) -> Part:
    if value not in get_args(Part):
        raise BadCommand(f"part is one of {', '.join(get_args(Part))}")
    return value  # type: ignore[no-any-return]


def _some(value: Any, what: str) -> Iterable[Any]:
    if not isinstance(value, list) or len(value) > 32:
        raise BadCommand(f"{what} is a list of at most 32")
    return value


def _axes(value: Any) -> tuple[float, ...]:
    return tuple(_number(v, 1.0) for v in _some(value, "axes"))


def _buttons(value: Any) -> tuple[bool, ...]:
    buttons = tuple(_some(value, "buttons"))
    if not all(isinstance(b, bool) for b in buttons):
        raise BadCommand("a button is true or false")
    return buttons


def _hats(value: Any) -> tuple[tuple[int, int], ...]:
    hats = tuple(_some(value, "hats"))
    if not all(isinstance(hat, list) and len(hat) == 2 and all(type(x) is int and abs(x) <= 1 for x in hat) for hat in hats):
        raise BadCommand("a hat is two of -1, 0 and 1")
    return tuple((x, y) for x, y in hats)


_READERS: dict[str, Callable[[Any], Any]] = {
    "figure": _index, "part": _part, "name": _name, "to": _vector, "at": _vector, "string": _name, "by": _number,
    "axes": _axes, "buttons": _buttons, "hats": _hats, "number": _count,
}  # fmt: skip
