"""Files that went wrong: text with some of it cut, doubled, moved or replaced."""

from __future__ import annotations

import re

from hypothesis import strategies as st

# What a slip of the finger, a broken disk or a clever enemy puts into a file.
JUNK = (
    "", " ", "<", ">", "/>", '"', "'", "&", "&lt;", "]]>", "<!--", "-->", "\0", "\ufeff", "é", "nan", "inf", "-1", "0",
    "1e308", "-1e-308", "99999999999", "1e9", "a b", "1 2", "1 2 3", "1 2 3 4", "world", "../..", "true", "<x/>", "</x>",
)  # fmt: skip


@st.composite
def mutated(draw: st.DrawFn, text: str) -> str:
    """One to four changes: to characters, to whole lines, to the values of attributes."""
    for _ in range(draw(st.integers(1, 4))):
        text = draw(st.sampled_from((_characters, _lines, _value, _name)))(draw, text) or "<"
    return text


def _characters(draw: st.DrawFn, text: str) -> str:
    a = draw(st.integers(0, len(text)))
    b = draw(st.integers(a, min(len(text), a + 40)))
    return text[:a] + draw(st.sampled_from(JUNK)) + text[b:]


def _lines(draw: st.DrawFn, text: str) -> str:
    lines = text.splitlines(keepends=True)
    a, b = draw(st.integers(0, len(lines) - 1)), draw(st.integers(0, len(lines) - 1))
    action = draw(st.sampled_from(("cut", "double", "swap", "end")))
    if action == "cut":
        del lines[a]
    elif action == "double":
        lines.insert(b, lines[a])
    elif action == "swap":
        lines[a], lines[b] = lines[b], lines[a]
    else:
        del lines[a + 1 :]
    return "".join(lines)


def _value(draw: st.DrawFn, text: str) -> str:
    """Another value for an attribute: junk, or the value of another one."""
    values = list(re.finditer(r'"([^"]*)"', text))
    if not values:
        return text
    here, other = draw(st.sampled_from(values)), draw(st.sampled_from(values))
    new = draw(st.sampled_from((*JUNK, other[1])))
    return text[: here.start(1)] + new.replace('"', "") + text[here.end(1) :]


def _name(draw: st.DrawFn, text: str) -> str:
    """Another element or attribute of the same text."""
    names = list(re.finditer(r"[A-Za-z_]+(?=\s|=|/|>)", text))
    if not names:
        return text
    here, other = draw(st.sampled_from(names)), draw(st.sampled_from(names))
    return text[: here.start()] + other[0] + text[here.end() :]
