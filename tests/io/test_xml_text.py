from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import FigureError, FileError
from bunraku.io import xml_text


def test_elements_know_their_place() -> None:
    root = xml_text.parse('<a>\n  <b x="1 2.5 -3e-1"/>\n  <b/>\n</a>')
    assert root.tag == "a"
    first, second = root.all("b")
    assert first.numbers("x", 3) == (1.0, 2.5, -0.3)
    assert second.numbers("x", 2, (4.0, 5.0)) == (4.0, 5.0)
    error = first.error("wrong", "x", advice="mend it")
    assert (error.line, error.column) == (2, 6)
    assert str(error) == '<input>:2:6: wrong\n  2 |   <b x="1 2.5 -3e-1"/>\n    |      ^\n  advice: mend it'
    assert root.child("c") is None
    with pytest.raises(FileError, match="a second <b>"):
        root.child("b")
    with pytest.raises(FileError, match="<a> has no <c>"):
        root.needed("c")


def test_columns_count_characters() -> None:
    root = xml_text.parse('<é><ü ä="1"/></é>'.encode())
    error = root.children[0].error("here", "ä")
    assert (error.line, error.column) == (1, 7)


@pytest.mark.parametrize(
    ("value", "message"),
    [
        ("1 2", "expected 3 numbers, got 2 words"), ("1 2 x", "'x' is not a number"), ("1 2 nan", "not finite"),
        ("1 2 inf", "not finite"), ("1 2 1e999", "not finite"), ("1 2 1_0", "not a number"), ("1,0 2 3", "not a number"),
        ("1 2 0x10", "not a number"), ("1 2 ٣", "not a number"), ("", "has no n"),
    ],
)  # fmt: skip
def test_numbers_are_read_strictly(value: str, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        xml_text.parse(f'<a n="{value}"/>').numbers("n", 3)
    assert caught.value.line == 1
    assert caught.value.advice


def test_figure_errors_are_given_a_place() -> None:
    element = xml_text.parse("<a>\n<b/></a>").children[0]
    with pytest.raises(FileError, match="body 'x': mass: no") as caught, element.blamed():
        raise FigureError("no", kind="body", name="x", field="mass", advice="yes")
    assert (caught.value.line, caught.value.advice) == (2, "yes")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ("", "no element found"), ("<a", "unclosed token"), ("<a><b></a>", "mismatched tag"), ("hello", "syntax error"),
        ("<a/><b/>", "junk after"), ("<a x='1' x='2'/>", "duplicate attribute"), ("<a>&x;</a>", "undefined entity"),
        ("<a>" * 1000, "nested more than"), ("\ud800<a/>", "an incomplete character"), ("<x/>", "got <x>"),
        (b"\x89PNG\r\n\x1a\n\0\0", "not utf-8 text"), (b"\xff\xfe<\0a\0/", "not utf-16 text"), (b"<a>\xe9</a>", "not utf-8"),
        (b"<?xml version='1.0' encoding='klingon'?><a/>", "unknown encoding 'klingon'"),
        (b"<?xml version='1.0' encoding='rot13'?><a/>", "unknown encoding 'rot13'"),
        ("<!DOCTYPE a [<!ENTITY x 'y'>]><a>&x;</a>", "DOCTYPE"),
        ("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a/>", "DOCTYPE"),
        (" " * (xml_text.XmlLimits.bytes + 1), "too large"), ("<a>" + "<b/>" * 50_001 + "</a>", "more than 50000 elements"),
    ],
)  # fmt: skip
def test_what_is_not_xml(data: str | bytes, message: str) -> None:
    with pytest.raises(FileError, match=message) as caught:
        xml_text.parse(data, root="a")
    assert caught.value.advice
    assert caught.value.line or message in ("too large", "an incomplete character")


def test_entities_that_grow_are_never_met() -> None:
    lines = "".join(f"<!ENTITY x{k} '&x{k - 1};&x{k - 1};'>" for k in range(1, 60))
    with pytest.raises(FileError, match="DOCTYPE"):
        xml_text.parse(f"<!DOCTYPE a [<!ENTITY x0 'ha'>{lines}]><a>&x59;</a>")


def test_encodings() -> None:
    text = '<?xml version="1.0" encoding="{}"?><a name="Ångström"/>'
    for name in ("utf-8", "latin-1", "utf-16"):
        assert xml_text.parse(text.format(name).encode(name)).attributes == {"name": "Ångström"}
    assert xml_text.parse(b"\xef\xbb\xbf<a/>").tag == "a"


def test_files(tmp_path: Path) -> None:
    file = tmp_path / "a.xml"
    file.write_text("<a/>")
    assert xml_text.read(file).tag == "a"
    for bad in (tmp_path, tmp_path / "none.xml", "nul\0.xml"):
        with pytest.raises(FileError, match="cannot be read"):
            xml_text.read(bad)


def outcome(data: str | bytes) -> xml_text.Element | FileError:
    try:
        return xml_text.parse(data)
    except FileError as error:
        return error


@given(st.one_of(st.binary(max_size=200), st.text(max_size=200), st.text("<>/ab=\"'&;!-?[ ]\n", max_size=200)))
def test_anything_is_an_element_or_an_error(data: str | bytes) -> None:
    result = outcome(data)
    assert result.advice if isinstance(result, FileError) else result.tag
