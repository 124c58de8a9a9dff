"""Every example runs by itself, in a folder of its own, says nothing that it should not, and makes a picture."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import matplotlib.pyplot as plt
import pytest

from tests.slow_cases import cases

EXAMPLES = sorted((Path(__file__).parents[1] / "examples").glob("[0-9][0-9]_*.py"))


# What they assert, tests of papers, carrying, choreography and sweeps do too, mostly of the same motions.
SLOW = (
    "06_clearance", "07_gecko", "09_marionette_waves", "10_live", "13_planning_among_obstacles", "14_two_robots_one_slab",
    "18_carrying", "21_string_lengths", "23_sitting_down", "24_learning", "25_three_actors",
)  # fmt: skip


@pytest.mark.parametrize("example", cases(EXAMPLES, slow=SLOW, name=lambda example: example.stem))
def test_example_shows_what_it_asserts(example: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    plt.close("all")
    try:
        runpy.run_path(str(example), run_name="__main__")
        pictures = [*plt.get_fignums(), *(path for path in tmp_path.iterdir() if path.suffix in (".png", ".svg", ".gif"))]
        assert pictures, "an example makes a picture"
    finally:
        plt.close("all")


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_example_has_the_form_of_the_gallery(example: Path) -> None:
    source = example.read_text(encoding="utf-8")
    title, line, empty = source.splitlines()[1:4]
    assert source.startswith('"""\n')
    assert set(line) == {"="}
    assert len(line) == len(title)
    assert not empty
    assert len(source.splitlines()) < 100
    assert "\nassert " in source or "    assert " in source


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.stem)
def test_what_an_example_imports_exists(example: Path) -> None:
    """Of slow ones, too."""
    lines = [line for line in ast.parse(example.read_text(encoding="utf-8")).body if isinstance(line, ast.Import | ast.ImportFrom)]
    assert lines
    exec(compile(ast.Module(lines, []), str(example), "exec"), {})


def test_numbers_are_taken_once() -> None:
    numbers = [example.name[:2] for example in EXAMPLES]
    assert len(set(numbers)) == len(numbers) > 0
