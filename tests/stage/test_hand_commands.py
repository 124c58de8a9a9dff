from __future__ import annotations

import json
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.stage.hand_commands import (
    _COMMANDS,
    BadCommand,
    Command,
    Pull,
    Release,
    Reset,
    Sticks,
    Winch,
    from_plain,
    to_plain,
)  # fmt: skip

numbers = st.floats(-1e4, 1e4)
points = st.tuples(numbers, numbers, numbers)
names = st.text(min_size=1, max_size=200)
parts = st.sampled_from(["spindle", "hook", "body"])
indices = st.integers(0, 9999)
commands: st.SearchStrategy[Command] = st.one_of(
    st.builds(Pull, indices, parts, names, points, points),
    st.builds(Release, indices, parts, names),
    st.builds(Winch, indices, names, numbers),
    st.builds(Sticks, st.lists(st.floats(-1, 1), max_size=32).map(tuple), st.lists(st.booleans(), max_size=32).map(tuple)),
    st.just(Reset()),
)


@given(commands)
def test_a_command_survives_json(command: Command) -> None:
    assert from_plain(json.loads(json.dumps(to_plain(command)))) == command


@given(
    st.dictionaries(
        st.sampled_from(["type", "figure", "part", "name", "to", "at", "string", "by", "axes", "buttons", "x"]),
        st.one_of(
            st.none(), st.booleans(), st.integers(), st.floats(), st.text(max_size=5), st.sampled_from(sorted(_COMMANDS)),
            st.lists(st.floats(), max_size=4), st.dictionaries(st.text(max_size=2), st.integers(), max_size=2),
        ),
    )
)  # fmt: skip
def test_anything_else_is_a_bad_command(message: dict[str, Any]) -> None:
    try:
        command = from_plain(message)
    except BadCommand:
        return
    assert type(command) is _COMMANDS[message["type"]]
    for value in to_plain(command).values():
        for number in value if isinstance(value, tuple) else (value,):
            assert not isinstance(number, float) or math.isfinite(number)


@pytest.mark.parametrize(
    ("message", "says"),
    [
        ({"type": "fly"}, "no command is called 'fly'"),
        ({"type": "winch", "figure": 0, "string": "a"}, "winch needs by"),
        ({"type": "winch", "figure": 0, "string": "a", "by": math.nan}, "expected a number"),
        ({"type": "winch", "figure": 0, "string": "a", "by": True}, "expected a number"),
        ({"type": "winch", "figure": -1, "string": "a", "by": 0.1}, "counted from 0"),
        ({"type": "winch", "figure": 0, "string": "a", "by": 0.1, "now": 1}, "winch does not take 'now'; it takes: "),
        ({"type": "pull", "figure": 0, "part": "nose", "name": "a", "to": [0, 0, 0]}, "part is one of"),
        ({"type": "pull", "figure": 0, "part": "hook", "name": "a", "to": [0, 0]}, "three numbers"),
        ({"type": "sticks", "axes": [1.5]}, "within ±1"),
        ({"type": "sticks", "axes": [0] * 33}, "at most 32"),
    ],
)
def test_the_message_says_what_is_wrong(message: dict[str, Any], says: str) -> None:
    with pytest.raises(BadCommand, match=says):
        from_plain(message)
