"""The house as a stranger finds it: documented, with one meaning for each name, and laid out as its plan says."""

from __future__ import annotations

import re
import subprocess
import sys
import tomllib
from pathlib import Path

import bunraku
from bunraku.verbs.loading import VERBS

ROOT = Path(__file__).parents[1]


def tool(name: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, ROOT / "tools" / name], capture_output=True, text=True, check=False)


def test_every_parameter_of_a_public_function_is_documented() -> None:
    done = tool("undocumented.py")
    assert done.returncode == 0, done.stdout


def test_no_name_stands_for_two_things() -> None:
    done = tool("names.py")
    assert done.returncode == 0, done.stdout


def test_the_page_of_layers_lists_every_room() -> None:
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    floors = [re.findall(r"\w+", floor) for floor in settings["tool"]["importlinter"]["contracts"][0]["layers"]]
    rows = re.findall(r"^\| \d+ \| (.*?) \|", (ROOT / "docs" / "layers.md").read_text(encoding="utf-8"), re.MULTILINE)
    listed = [re.findall(r"`(\w+)`", row) for row in rows]
    stand = {path.stem for path in (ROOT / "src" / "bunraku").iterdir() if path.suffix == ".py" or (path / "__init__.py").exists()}
    wanted = [[room for room in floor if room in stand] for floor in floors]
    assert [sorted(row) for row in listed] == [sorted(floor) for floor in wanted if floor]


def test_the_architecture_names_files_that_exist() -> None:
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    named = set(re.findall(r"`([\w/.-]+\.(?:py|ts))`", page))
    assert len(named) > 30
    missing = {name for name in named if not any((ROOT / base / name).is_file() for base in ("", "src", "src/bunraku"))}
    assert not missing


def test_the_reference_lists_every_public_name() -> None:
    """docs/conf.py makes a page of the names that bunraku exports."""
    sys.path.insert(0, str(ROOT / "docs"))
    try:
        from public_names import page
    finally:
        sys.path.pop(0)
    text = "\n".join(page())
    for name in (*VERBS, *bunraku.__all__):
        assert re.search(rf"\b{name}\b", text), name


def test_every_format_that_is_read_counts_as_data() -> None:
    """Where dropped files are confined, and where a sweep looks for files that an order names."""
    from bunraku.io import LOADERS
    from bunraku.stage.confinement import DATA_SUFFIXES
    from bunraku.sweeps.order_document import _FILE_SUFFIXES

    assert set(LOADERS) <= set(DATA_SUFFIXES)
    assert set(LOADERS) <= set(_FILE_SUFFIXES)
