"""Sphinx settings."""

from __future__ import annotations

import importlib
import pkgutil
import re
import tomllib
from pathlib import Path
from typing import Any

from sphinx.application import Sphinx

import bunraku

HERE = Path(__file__).parent

project = "bunraku"
author = "the bunraku authors"
copyright = "the bunraku authors, Apache License 2.0"
version = release = bunraku.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.mathjax",
    "sphinx.ext.napoleon",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "sg_execution_times.rst"]
default_role = "code"  # single backticks in docstrings
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "bunraku"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autoclass_content = "class"
python_use_unqualified_type_names = True
napoleon_numpy_docstring = True

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_.*\.py",
    "ignore_pattern": r"^(?!\d\d_)",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "min_reported_time": 1e9,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}


# -- reference: one page for each room of the house that stands ----------------------------------------------


def rooms() -> list[str]:
    """The rooms that stand, from the ground floor up."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    floors = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    stand = {found.name for found in pkgutil.iter_modules(bunraku.__path__)}
    return [room for floor in reversed(floors) for room in re.findall(r"\w+", floor) if room in stand]


def page(room: str) -> list[str]:
    """The public names of a room; where it does not say which they are, those of each module in it."""
    module = importlib.import_module(f"bunraku.{room}")
    lines = [room, "=" * len(room), "", f".. automodule:: {module.__name__}"]
    if not hasattr(module, "__all__") and hasattr(module, "__path__"):
        for name in sorted(found.name for found in pkgutil.iter_modules(module.__path__)):
            if not name.startswith("_"):
                lines += ["", name, "-" * len(name), "", f".. automodule:: {module.__name__}.{name}"]
    return lines


def write_reference(*_: object) -> None:
    """Writes the pages that have changed, before Sphinx looks for them."""
    pages = {room: page(room) for room in rooms()}
    pages["index"] = ["Reference", "=========", "", ".. toctree::", "", *(f"   {room}" for room in pages)]
    folder = HERE / "reference"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, lines in pages.items():
        file, text = folder / f"{name}.rst", "\n".join(lines) + "\n"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def escape_bars(*arguments: Any) -> None:
    """In docstrings |x| is the size of x, not something to substitute."""
    lines: list[str] = arguments[-1]
    lines[:] = [re.sub(r"(`[^`]*`)|\|", lambda found: found[1] or r"\|", line) for line in lines]


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.connect("autodoc-process-docstring", escape_bars)
    app.connect("config-inited", write_reference)
