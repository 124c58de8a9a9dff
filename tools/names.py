"""Prints names that are used twice with different meanings: files, public classes, module constants. Exits with 1 if there are any.

    python tools/names.py            # what is there twice, and how many module constants there are
    python tools/names.py --list     # every module constant with its value and place

The files of a verb's folder (file.py, run.py, plot.py) have the same names on purpose.
"""

from __future__ import annotations

import ast
import re
import sys
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1] / "src" / "bunraku"
VERB_FILES = {"file", "run", "plot"}  # the pattern of verbs/<verb>/
MAX_CONSTANTS = 250
CONSTANT = re.compile(r"_?[A-Z][A-Z0-9_]*$")


def modules() -> Iterator[tuple[str, ast.Module]]:
    """Every module of the package with its syntax tree."""
    for path in sorted(ROOT.rglob("*.py")):
        yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def constants(tree: ast.Module) -> Iterator[tuple[str, str, int]]:
    """Module constants: name, value as written, line."""
    for node in tree.body:
        if isinstance(node, ast.Assign):
            targets, value = node.targets, node.value
        elif isinstance(node, ast.AnnAssign) and node.value is not None:
            targets, value = [node.target], node.value
        else:
            continue
        for target in targets:
            pairs = [(target, value)]
            if isinstance(target, ast.Tuple):
                values = value.elts if isinstance(value, ast.Tuple) else [value] * len(target.elts)
                pairs = list(zip(target.elts, values, strict=True))
            for name, own in pairs:
                if isinstance(name, ast.Name) and CONSTANT.match(name.id):
                    yield name.id, ast.unparse(own), node.lineno


def repeated(places: dict[str, list[tuple[str, str]]]) -> dict[str, list[tuple[str, str]]]:
    """Names that stand for different things: (place, meaning) of each."""
    return {name: found for name, found in sorted(places.items()) if len({meaning for _, meaning in found}) > 1}


def survey() -> tuple[dict[str, dict[str, list[tuple[str, str]]]], list[tuple[str, str, str, int]]]:
    """What is there twice, by kind; and all module constants."""
    files, classes, values = defaultdict(list), defaultdict(list), defaultdict(list)
    every = []
    for place, tree in modules():
        stem = Path(place).stem
        if stem != "__init__" and not (place.startswith("verbs/") and stem in VERB_FILES):
            files[stem].append((place, place))
        for node in tree.body:
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                classes[node.name].append((place, place))
        for name, value, line in constants(tree):
            every.append((place, name, value, line))
            values[name].append((f"{place}:{line}", value))
    kinds = {"file names": repeated(files), "public class names": repeated(classes), "constants": repeated(values)}
    return kinds, every


def main() -> int:
    """The report; 1 if anything is to be done."""
    kinds, every = survey()
    if "--list" in sys.argv:
        for place, name, value, line in every:
            print(f"{place}:{line}: {name} = {value[:80]}")
    for kind, found in kinds.items():
        print(f"{kind} used twice with different meanings: {len(found)}")
        for name, places in found.items():
            print(f"  {name}: " + ", ".join(f"{place}" + (f" = {what[:30]}" if what != place else "") for place, what in places))
    print(f"module constants: {len(every)} (at most {MAX_CONSTANTS})")
    return int(any(kinds.values()) or len(every) > MAX_CONSTANTS)


if __name__ == "__main__":
    sys.exit(main())
