from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BunrakuError, FigureError, FileError, MissingExtra, did_you_mean
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity


def value(text: str) -> Node:
    found = yaml_reader.parse(f"word: {text}\n").get("word")
    assert found is not None
    return found


# -- places ----------------------------------------------------------------------------------------------------------


def test_every_value_knows_where_it_is():
    root = yaml_reader.parse("a: 1\nb:\n  - {c: [x, 'y z']}\n  - |\n    text\n")
    assert root.keys["b"].line == 2
    entry, block = root.need("b", "the file").items("entries")
    assert (entry.line, entry.column, block.line, block.column) == (3, 5, 4, 5)
    c = entry.need("c", "the entry")
    assert [(n.line, n.column, n.value, n.plain) for n in c.items("things")] == [(3, 10, "x", True), (3, 13, "y z", False)]
    assert block.value == "text\n"


@pytest.mark.parametrize("newline", ["\n", "\r\n", "\r"])
def test_lines_are_counted_by_any_line_break(newline):
    root = yaml_reader.parse(newline.join(["a: 1", "", "# note", "b: two", "c: [1, x]", ""]))
    with pytest.raises(FileError) as caught:
        root.need("c", "it").numbers()
    assert (caught.value.line, caught.value.column) == (5, 8)
    assert "5 | c: [1, x]" in str(caught.value)


def test_a_byte_order_mark_is_no_part_of_the_text():
    root = yaml_reader.parse("\ufefffigure: é".encode())
    assert (root.line, root.column) == (1, 1)
    assert root.need("figure", "it").name("it") == "é"


def test_an_alias_stands_for_its_anchor():
    root = yaml_reader.parse("a: &here [0, 0, 1]\nb: *here\n")
    assert root.need("b", "it").vector() == (0, 0, 1)
    assert root.need("b", "it").line == 1


def test_a_long_line_is_shown_round_the_caret():
    with pytest.raises(FileError) as caught:
        yaml_reader.parse("a: [" + "1, " * 200 + "oops, " + "1, " * 200 + "1]\n").need("a", "it").numbers()
    assert caught.value.column == 605
    _, source, caret, _ = str(caught.value).splitlines()
    assert source[caret.index("^") :].startswith("oops")
    assert len(source) < 180


# -- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "number"),
    [("1", 1.0), ("-1", -1.0), ("+.5", 0.5), ("1.", 1.0), ("1e-3", 1e-3), ("1.5E+2", 150.0), ("0", 0.0), ("007", 7.0)],
)
def test_numbers_as_yaml_writes_them(text, number):
    assert value(text).number() == number


@pytest.mark.parametrize(
    ("text", "quantity", "number"),
    [
        ("30 mm", Quantity.LENGTH, 0.03),
        ("2.5cm", Quantity.LENGTH, 0.025),
        ("1 m", Quantity.LENGTH, 1.0),
        ("90 deg", Quantity.ANGLE, math.pi / 2),
        ("-180°", Quantity.ANGLE, -math.pi),
        ("1 rad", Quantity.ANGLE, 1.0),
        ("250 g", Quantity.MASS, 0.25),
        ("360 deg/s", Quantity.TURNING_SPEED, 2 * math.pi),
        ("360 °/s", Quantity.TURNING_SPEED, 2 * math.pi),
        ("2 m/s²", Quantity.ACCELERATION, 2.0),
        ("2 m/s^2", Quantity.ACCELERATION, 2.0),
        ("3 N·m/rad", Quantity.TURNING_STIFFNESS, 3.0),
        ("0.1 Nm", Quantity.TORQUE, 0.1),
    ],
)
def test_numbers_may_have_units(text, quantity, number):
    assert value(text).number(quantity) == pytest.approx(number, rel=1e-15)


@pytest.mark.parametrize(
    ("text", "quantity", "message", "advice"),
    [
        ("0.3 m", Quantity.NUMBER, "plain number", "write 0.3 without a unit"),
        ("0.3 m", Quantity.ANGLE, "expected an angle, got a length (m)", "deg"),
        ("3 deg", Quantity.LENGTH, "expected a length, got an angle (deg)", "cm or mm"),
        ("3 furlongs", Quantity.LENGTH, "unknown unit 'furlongs'", "cm or mm"),
        ("0,3", Quantity.NUMBER, "'0,3'", "0.3"),
        ("true", Quantity.NUMBER, "'true'", "number"),
        ("'3'", Quantity.NUMBER, "'3'", "quotes"),
        (".nan", Quantity.NUMBER, "not a number", "number"),
        (".inf", Quantity.NUMBER, "not a finite", "number"),
        ("1e400", Quantity.NUMBER, "too large", "1e+12"),
        ("0x10", Quantity.NUMBER, "unknown unit", "write 0"),
        ("1_000", Quantity.NUMBER, "'1_000'", "0.25"),
        ("[1]", Quantity.NUMBER, "a list", "number"),
        ("", Quantity.NUMBER, "nothing", "number"),
    ],
)
def test_what_is_not_a_number(text, quantity, message, advice):
    with pytest.raises(FileError) as caught:
        value(text).number(quantity)
    assert message in caught.value.message
    assert advice in caught.value.advice
    assert caught.value.line == 1


def test_no_limit_is_infinite_where_that_makes_sense():
    assert value(".inf").number(infinite=True) == math.inf
    assert value("-inf").number(infinite=True) == -math.inf
    with pytest.raises(FileError):
        value(".nan").number(infinite=True)


# -- words -----------------------------------------------------------------------------------------------------------


def test_unknown_words_are_named_with_those_that_come_close():
    root = yaml_reader.parse("lenght: 3\n", "arm.yaml")
    with pytest.raises(FileError) as caught:
        root.words(("length", "name"), "a string")
    assert str(caught.value) == (
        "arm.yaml:1:1: unknown word 'lenght' in a string\n  1 | lenght: 3\n    | ^\n  advice: did you mean length?"
    )


def test_given_reads_only_what_is_there():
    assert yaml_reader.parse("a: 1\nb: [1, 2, 3]").given(a=Node.number, b=Node.vector, c=Node.flag) == {"a": 1.0, "b": (1, 2, 3)}


def test_a_contradiction_is_blamed_on_the_word_that_says_it():
    root = yaml_reader.parse("name: arm\nmass: -1\n")
    with pytest.raises(FileError, match=r":2:7: negative") as caught, root.blamed():
        raise FigureError("negative", field="mass", advice="give a positive one")
    assert caught.value.advice == "give a positive one"


def test_any_other_error_is_told_where_it_was_said():
    with pytest.raises(FileError, match="does not reach") as caught, value("{length: 1}").blamed():
        raise BunrakuError("the string does not reach\n  advice: lengthen it")
    assert caught.value.advice == "lengthen it"
    assert caught.value.line == 1
    with pytest.raises(MissingExtra), value("1").blamed():
        raise MissingExtra("coal", "collision", "touching")


@pytest.mark.parametrize(("text", "message"), [("0", "0 is not more"), ("-2 ms", "-2 ms is not"), ("3 m", "expected a time")])
def test_more_than_zero(text, message):
    assert value("2 min").positive(Quantity.TIME) == 120.0
    with pytest.raises(FileError, match=message):
        value(text).positive(Quantity.TIME)


@pytest.mark.parametrize("text", ["1", "101", "2.5", "1e11"])
def test_whole_numbers(text):
    assert value("100").whole(2, 100) == 100
    with pytest.raises(FileError, match="expected a whole number from 2 to 100"):
        value(text).whole(2, 100)


def test_choices_and_flags():
    assert value("weld").choice(("weld", "hinge"), "kind") == "weld"
    assert value("true").flag() is True
    assert value("False").flag() is False
    with pytest.raises(FileError, match="did you mean weld"):
        value("wield").choice(("weld", "hinge"), "kind")
    with pytest.raises(FileError, match="true or false"):
        value("on").flag()


@pytest.mark.parametrize("text", ["left arm", "'12'", "#1".join("''"), "x-1", "élan", "2nd", "null_1"])
def test_names(text):
    assert value(text).name("it") == text.strip("'")


@pytest.mark.parametrize("text", ["12", "-0.5", "true", "~", "", "' x'", '"a\\nb"', "[a]", "{a: b}", "x" * 200, ".inf"])
def test_what_is_not_a_name(text):
    with pytest.raises(FileError):
        value(text).name("it")


def test_did_you_mean_lists_what_there_is():
    assert did_you_mean("elbo", ["elbow", "wrist"]) == "did you mean elbow?"
    assert did_you_mean("zzz", ["elbow", "wrist"]) == "there are: elbow, wrist"
    assert did_you_mean("zzz", []) == "there are none"


# -- files -----------------------------------------------------------------------------------------------------------


def test_a_missing_file_is_named_with_its_neighbours(tmp_path):
    (tmp_path / "marionette.yaml").write_text("figure: m")
    with pytest.raises(FileError, match=r"did you mean marionette\.yaml"):
        yaml_reader.read(tmp_path / "marionete.yaml")
    with pytest.raises(FileError, match="cannot be read"):
        yaml_reader.read(tmp_path)
    with pytest.raises(FileError, match="cannot be read"):
        yaml_reader.read(tmp_path / "nowhere" / "a.yaml")
    with pytest.raises(FileError, match="cannot be read"):
        yaml_reader.read("a\0b.yaml")


# -- writing ---------------------------------------------------------------------------------------------------------


def plain(node: Node) -> object:
    """The tree as it was written, its scalars as text."""
    if isinstance(node.value, dict):
        return {word: plain(inner) for word, inner in node.value.items()}
    if isinstance(node.value, tuple):
        return [plain(inner) for inner in node.value]
    return node.value


TEXTS = st.text(st.characters(codec="utf-8", exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20)
TREES = st.recursive(
    TEXTS, lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=4)), max_leaves=20
)


@given(st.dictionaries(TEXTS, TREES, min_size=1, max_size=4))
def test_what_is_written_is_read_again(tree):
    assert plain(yaml_reader.parse(yaml_reader.dump(tree))) == tree


@given(st.floats(-1e12, 1e12))
def test_floats_are_written_to_the_last_bit(number):
    assert value(yaml_reader.scalar(number)).number() == number


def test_what_is_short_and_flat_is_written_in_one_line():
    tree = {"figure": "arm", "gravity": (0.0, 0.0, -9.81), "frames": [{"rx": "elbow", "limits": [0.0, math.inf]}]}
    assert yaml_reader.dump(tree) == "figure: arm\ngravity: [0, 0, -9.81]\nframes:\n  - {rx: elbow, limits: [0, .inf]}\n"


def test_what_could_not_be_read_again_is_not_written():
    with pytest.raises(BunrakuError, match="too large"):
        yaml_reader.dump({"numbers": [0.0] * 20_000})
    with pytest.raises(BunrakuError, match="too large"):
        yaml_reader.dump({"text": "x" * 300_000})
