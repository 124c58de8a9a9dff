"""Explains why a file is not YAML, in plainer words than ruamel's."""

from __future__ import annotations

import re

from ruamel.yaml.error import MarkedYAMLError

from bunraku.errors import FileError
from bunraku.io.yaml.source import Source

CHECK_PUNCTUATION = "check brackets, quotes and indentation before this place"

# A pattern of ruamel's message, what we say instead, and the advice.
_EXPLAINED = (
    (r"found character '\\t'", "a tab", "indent with spaces"),
    (r"mapping values are not allowed", "a ':' is not allowed here", "check the indentation, and quote text that holds a ':'"),
    (r"could not find expected ':'", "a word without ':'", "write word: value"),
    (r"expected ',' or '([\]}])'", "a ',' or '{}' is missing", "separate entries by commas and close the bracket"),
    (r"unexpected end of stream|unexpected document sep", "a quote that is never closed", "close it in the same line"),
    (r"unknown escape character", "an unknown escape in quotes", "write \\\\ for a backslash, or use single quotes"),
    (r"expected escape sequence", "half an escape in quotes", "write \\\\ for a backslash, or use single quotes"),
    (r"block (sequence|mapping) entries|mapping keys are not", "an entry is not allowed here", "begin a new line"),
    (r"undefined tag handle|tag", "tags (!…) are not allowed", "remove it, or put text that holds a '!' in quotes"),
    (r"nested too deep", "nested too deep", "write it flatter"),
    (r"cannot start any token", "a character that cannot begin a value", "put text that holds it in quotes"),
    (r"<document start>", "unexpected text after the end of the document", "indent it, or remove it"),
    (r"expected the node content", "a value is missing here", "write one, or remove the word"),
    (r"alphabetic or numeric", "a name is missing here", "put text that begins with &, * or % in quotes"),
    (r"chomping|indentation indicator", "'|' and '>' begin blocks of text", "put text that begins with them in quotes"),
    (r"directive|version", "directives (%…) are not allowed", "remove the line"),
)  # fmt: skip


def explained(source: Source, error: MarkedYAMLError) -> FileError:
    """The `error` that ruamel raised for the text of `source`, in plainer words, with advice."""
    problem = " ".join(str(error.problem or error.context or "not YAML").split())
    mark, start = error.problem_mark or error.context_mark, error.context_mark
    if mark is None:
        return source.error(problem, 1, 1, advice=CHECK_PUNCTUATION)
    message, advice = next(
        ((say.format(*found.groups()), do) for pattern, say, do in _EXPLAINED if (found := re.search(pattern, problem))),
        (problem, CHECK_PUNCTUATION),
    )
    in_flow = start is not None and "flow" in str(error.context)
    if "expected <block end>" in problem:
        if _is_first(source, mark.line, mark.column):
            message, advice = "wrong indentation", "entries of one list or mapping begin in the same column"
        else:
            message, advice = "unexpected text after the value", "put text that holds quotes or brackets in quotes"
    elif in_flow and start.line != mark.line:
        message, mark = "a bracket that is never closed", start
        advice = f"a ',' or a closing bracket is missing before line {error.problem_mark.line + 1}"
    elif start is not None and ("quote that" in message or "without" in message):
        mark = start
    return source.error(message, mark.line + 1, mark.column + 1, advice=advice)


def _is_first(source: Source, line: int, column: int) -> bool:
    """Whether only dashes and blanks come before this place in its line."""
    return line >= len(source.lines) or not source.lines[line][:column].strip(" -")
