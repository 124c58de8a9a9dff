"""Files that are wrong, each in its own way: one error, at the right place, with a caret and advice, at once."""

from __future__ import annotations

import random
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from bunraku.errors import FileError
from bunraku.figure import Figure, library
from bunraku.io.yaml.figure_file import figure_yaml, load_figure, parse_figure
from bunraku.io.yaml.scene_file import parse_scene

HERE = Path(__file__).parent
ARM = (HERE / "arm.yaml").read_text()
EXPECTED = {
    name: (int(line), int(column), phrase)
    for name, line, column, phrase in (
        re.fullmatch(r"(\w+):(\d+):(\d+): (.+)", row).groups()  # type: ignore[union-attr]
        for row in (HERE / "broken" / "expected.txt").read_text(encoding="utf-8").splitlines()
    )
}


def check_shown(error: FileError) -> None:
    """The message has the file and place, the line with a caret under the column, and advice."""
    first, source, caret, *rest = str(error).splitlines()
    assert first == f"{error.path or '<input>'}:{error.line}:{error.column}: {error.message}"
    number, bar = f"  {error.line} | ", f"  {' ' * len(str(error.line))} | "
    assert source.startswith(number)
    assert caret.startswith(bar)
    assert caret[len(bar) :].strip() == "^"
    if error.column <= 121:  # longer lines are shown in part
        assert caret.index("^") - len(bar) == error.column - 1
    assert rest == [f"  advice: {error.advice}"]
    assert error.advice


def test_the_file_that_the_broken_ones_are_made_of_is_whole():
    assert parse_figure(ARM).n_q == 7


def test_there_are_many_and_each_is_in_the_table():
    assert {path.stem for path in (HERE / "broken").glob("*.yaml")} == set(EXPECTED)
    assert len(EXPECTED) >= 60


@pytest.mark.parametrize("name", EXPECTED)
def test_broken_file(name):
    path = HERE / "broken" / f"{name}.yaml"
    line, column, phrase = EXPECTED[name]
    with pytest.raises(FileError) as caught:
        load_figure(path)
    error = caught.value
    assert (error.path, error.line, error.column) == (str(path), line, column)
    assert phrase in error.message
    check_shown(error)
    assert error.__cause__ is None
    assert error.__suppress_context__ or error.__context__ is None  # no traceback of a library is shown


# -- too much of something -------------------------------------------------------------------------------------------


def _nested(depth: int) -> str:
    frames = "".join(f"{'  ' * k}frames:\n{'  ' * k}- fixed: f{k}\n" for k in range(depth))
    return "figure: deep\n" + frames


FRAMES = "".join(f"  - {{rx: f{k}, at: [0, 0, 1]}}\n" for k in range(20_000))
HUGE = {
    "bytes": "figure: huge\n" + "# nothing\n" * 500_000,
    "frames": "figure: huge\nframes:\n" + FRAMES,
    "frames in the limit": "figure: huge\nframes:\n" + FRAMES[:200_000],
    "numbers": "figure: huge\nframes: [" + "0, " * 80_000 + "0]\n",
    "words": "{" + "".join(f"a{k}: 0, " for k in range(30_000)) + "}",
    "one word": "figure: " + "a" * 250_000,
    "one word over lines": "figure: a" + "\n  b" * 60_000,
    "blank lines": "figure: a\n" + "\n" * 250_000 + "frames: b",
    "comments": "figure: a\n" + "#\n" * 120_000 + "frames: b",
    "blanks": "figure: a\nframes:" + " " * 250_000 + "b",
    "a quoted word": 'figure: "' + "\\x41" * 60_000 + '"',
    "a block": "figure: |\n" + "  a\n" * 60_000,
    "an open quote": 'figure: "' + "a \n" * 80_000,
    "anchors": "figure: a\nframes: [" + "".join(f"&a{k} 0, " for k in range(20_000)) + "]",
    "documents": "--- a\n" * 40_000,
    "brackets": "[" * 200_000,
    "braces": "{" * 200_000,
    "dashes": "- " * 120_000,
    "questions": "? " * 120_000,
    "colons": "a: " * 80_000,
    "brackets over lines": "[\n" * 120_000,
    "nested frames": _nested(300),
    "unknown names": "figure: a\nframes:\n"
    + "".join(f"  - {{fixed: {'ab' * 40}{k}}}\n" for k in range(1_500))
    + "strings:\n  - {string: s, hook: " + "ba" * 40 + ", spindle: world}\n",
    "a late child": "figure: a\nframes:\n  - {fixed: first, parent: f1999}\n"
    + "".join(f"  - {{fixed: f{k}, parent: f{k + 1}}}\n" for k in range(1_900)),
}  # fmt: skip


@pytest.mark.parametrize("case", HUGE)
def test_too_much_of_something(case):
    with pytest.raises(FileError) as caught:
        parse_figure(HUGE[case].encode(), "huge.yaml")
    check_shown(caught.value)


def test_a_file_of_nearly_any_size_is_refused_without_reading_it(tmp_path):
    path = tmp_path / "huge.yaml"
    with path.open("wb") as file:
        file.truncate(2_000_000_000)  # sparse: takes no space
    with pytest.raises(FileError, match="larger than"):
        load_figure(path)


def test_the_largest_figures_that_are_read():
    rows = "".join(f"  - {{rx: f{k}, parent: {f'f{k - 1}' if k else 'world'}, at: [0, 0, 1]}}\n" for k in range(1_000))
    assert parse_figure("figure: long\nframes:\n" + rows).n_q == 1_000


# -- fuzz ------------------------------------------------------------------------------------------------------------

SCENE = (HERE / "workshop.yaml").read_text()
TOKENS = re.compile(r"\s+|[\[\]{},:]|[^\s\[\]{},:]+")


def _survives(data: str | bytes) -> None:
    try:
        assert isinstance(parse_figure(data, "fuzz.yaml"), Figure)
    except FileError as error:
        check_shown(error)


@given(st.one_of(st.binary(max_size=2_000), st.text(max_size=2_000)))
@example("figure: a\nframes: [{rx: b, start: 1e12}, {ball: c, limits: [[0, 1], 2, 3]}]")
def test_random_bytes_and_text(data):
    _survives(data)


PIECES = """
figure frames bodies shapes strings rx ball free spindle fixed sphere capsule box mass at limits start to hook length
variable world a b 0 1 -1 0.5 1e-3 .inf .nan true null ~ 30 deg - : , [ ] { } & * ! | > ' " # % @ ` --- ... &a *a !!x
"""
WORDS = st.sampled_from([*PIECES.split(), "\n", "\n  ", "\n    ", "\n  - ", "\t", ": ", "- ", "&a ", "%YAML 1.1\n---"])


@given(st.lists(WORDS, max_size=80).map(" ".join))
def test_random_words_in_random_order(text):
    _survives(text)
    _survives("figure: a\nframes:\n  - " + text)


@cache
def _whole(name: str) -> str:
    return ARM if name == "arm" else figure_yaml(library.named(name))


@settings(max_examples=80)
@given(st.sampled_from(["arm", *library.names()]), st.integers(0, 2**32), st.integers(1, 5))
def test_mutated_files(name, seed, times):
    chance = random.Random(seed)
    data: str | bytes = _whole(name)
    for _ in range(times):
        data = chance.choice([_flip, _drop_line, _double_line, _swap_tokens, _swap_lines, _cut])(data, chance)
    _survives(data)


def _text(data: str | bytes) -> str:
    return data if isinstance(data, str) else data.decode(errors="replace")


def _flip(data: str | bytes, chance: random.Random) -> bytes:
    out = bytearray(data.encode(errors="replace") if isinstance(data, str) else data)
    for _ in range(chance.randint(1, 4)):
        if out:
            out[chance.randrange(len(out))] ^= 1 << chance.randrange(8)
    return bytes(out)


def _drop_line(data: str | bytes, chance: random.Random) -> str:
    lines = _text(data).split("\n")
    del lines[chance.randrange(len(lines))]
    return "\n".join(lines)


def _double_line(data: str | bytes, chance: random.Random) -> str:
    lines = _text(data).split("\n")
    k = chance.randrange(len(lines))
    lines.insert(chance.choice([k, chance.randrange(len(lines))]), lines[k])
    return "\n".join(lines)


def _swap_lines(data: str | bytes, chance: random.Random) -> str:
    lines = _text(data).split("\n")
    a, b = chance.randrange(len(lines)), chance.randrange(len(lines))
    lines[a], lines[b] = lines[b], lines[a]
    return "\n".join(lines)


def _swap_tokens(data: str | bytes, chance: random.Random) -> str:
    tokens = TOKENS.findall(_text(data)) or [""]
    a, b = chance.randrange(len(tokens)), chance.randrange(len(tokens))
    tokens[a], tokens[b] = tokens[b], tokens[a]
    return "".join(tokens)


def _cut(data: str | bytes, chance: random.Random) -> str:
    text = _text(data)
    return text[: chance.randrange(len(text) + 1)]


@settings(max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 5))
def test_mutated_scenes(seed, times):
    chance = random.Random(seed)
    data: str | bytes = SCENE
    for _ in range(times):
        data = chance.choice([_flip, _drop_line, _double_line, _swap_tokens, _swap_lines, _cut])(data, chance)
    try:
        parse_scene(data, HERE / "fuzz.yaml")
    except FileError as error:
        if error.line is not None:
            check_shown(error)
