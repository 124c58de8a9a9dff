"""Prints public functions whose docstring does not name all their parameters; exits with 1 if there are any.

    python tools/undocumented.py [FOLDER OR FILE …]      # the whole package where none is given

Public is what has no leading underscore, in functions and in methods of public classes; kernels (compiled functions) are not.
Parameters of `__init__` may be named in the docstring of the class.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "bunraku"
COMPILED = {"kernel", "unit", "inline", "bare", "woven"}
COMMAND = "verb"  # the decorator of commands, whose options carry their own help
Function = ast.FunctionDef | ast.AsyncFunctionDef


def functions(body: list[ast.stmt], owner: ast.ClassDef | None = None) -> Iterator[tuple[ast.ClassDef | None, Function]]:
    """Public functions and methods with the class that they belong to."""
    for node in body:
        if isinstance(node, ast.ClassDef) and owner is None and not node.name.startswith("_"):
            yield from functions(node.body, node)
        elif isinstance(node, Function) and (not node.name.startswith("_") or node.name == "__init__"):
            called = [name.func if isinstance(name, ast.Call) else name for name in node.decorator_list]
            decorators = {name.id for name in called if isinstance(name, ast.Name)}
            if not decorators & COMPILED and not decorators & {"overload", COMMAND}:
                yield owner, node


def unnamed(owner: ast.ClassDef | None, function: Function) -> list[str]:
    """Parameters that the docstring does not name."""
    text = ast.get_docstring(function) or ""
    if function.name == "__init__" and owner is not None:
        text += ast.get_docstring(owner) or ""
    given = function.args
    every = [*given.posonlyargs, *given.args, *given.kwonlyargs, given.vararg, given.kwarg]
    names = [one.arg for one in every if one is not None and one.arg not in ("self", "cls") and not one.arg.startswith("_")]
    return [name for name in names if not re.search(rf"\b{name}\b", text)]


def missing(path: Path) -> Iterator[tuple[int, str, list[str]]]:
    """Line, name and undocumented parameters of each such function of a file."""
    for owner, function in functions(ast.parse(path.read_text(encoding="utf-8")).body):
        if names := unnamed(owner, function):
            yield function.lineno, f"{owner.name}.{function.name}" if owner else function.name, names


def main() -> int:
    """The report; 1 if anything is missing."""
    places = [Path(place) for place in sys.argv[1:]] or [ROOT]
    count = 0
    for place in places:
        for path in sorted(place.rglob("*.py")) if place.is_dir() else [place]:
            for line, name, names in missing(path):
                count += len(names)
                print(f"{path}:{line}: {name}: {', '.join(names)}")
    print(f"parameters without a word: {count}", file=sys.stderr)
    return int(count > 0)


if __name__ == "__main__":
    sys.exit(main())
