"""Sphinx settings."""

from __future__ import annotations

import importlib
import pkgutil
import re
import sys
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from latex2mathml.converter import convert
from sphinx.application import Sphinx

import bunraku

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
import notebook_pages  # noqa: E402
import public_names  # noqa: E402
import scraper  # noqa: E402

project = "bunraku"
author = "the bunraku authors"
copyright = "the bunraku authors, Apache License 2.0"
version = release = bunraku.__version__

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.viewcode",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "gallery/**/*.ipynb", "gallery/**/*.py", "sg_execution_times.rst"]
default_role = "code"  # single backticks in docstrings
suppress_warnings = ["config.cache"]

html_theme = "furo"
html_title = "bunraku"
html_static_path = ["_static"]
html_css_files = ["pages.css"]
html_math_renderer = "mathml"

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

autodoc_default_options = {"members": True, "member-order": "bysource"}
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
autoclass_content = "class"
python_use_unqualified_type_names = True

sphinx_gallery_conf = {
    "image_scrapers": (scraper.Pictures(), "matplotlib"),
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"/\d\d_.*\.py",
    "ignore_pattern": r"^(?!\d\d_)",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "thumbnail_size": (640, 320),
    "min_reported_time": 1e9,
    "show_signature": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
}


# -- reference: one page for each package --------------------------------------------------------------------

MORE = {  # modules of a package that are documented besides the names that the package exports
    "figure": ("build", "library", "actuated", "together"),
    "kinematics": ("inverse.solver", "inverse.tasks", "inverse.solution", "inverse.options", "inverse.drag", "balance", "retarget"),
    "dynamics": ("continuous_model", "continuous_events", "servo"),
    "render": ("image", "video", "plots"),
    "io": (
        "outputs",
        "gltf.glb",
        "bvh.bvh_reader",
        "gltf.gltf_reader",
        "usd.usd_writer",
        "usd.usd_reader",
        "markers.marker_reader",
        "markers.marker_skeleton",
        "tables.npz_file",
        "tables.csv_file",
        "urdf.urdf_reader",
        "sdf.sdf_reader",
        "robots",
        "logs.mcap_file",
        "logs.rrd_file",
        "ros2.joint_topics",
        "mjcf.mjcf_file",
    ),
    "verbs": ("order", "loading", "execute"),
}
AGAIN = {"torch": "StepMap"}  # names of a package that are documented with another one
UNSAID = {"build"}  # modules whose members need no docstring
INNER = {  # members of those modules that are not public
    "plots": "Line, lines",
    "build": "Attached, Item, FrameNode, PointLike, StringSpec, at_point, variable, with_lengths",
}


def packages() -> list[str]:
    """All packages, from the lowest layer up."""
    settings = tomllib.loads((HERE.parent / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    existing = {found.name for found in pkgutil.iter_modules(bunraku.__path__)}
    return [name for layer in reversed(layers) for name in re.findall(r"\w+", layer) if name in existing - {"cli"}]


def page(package: str) -> list[str]:
    """The public names of a package; if it has no `__all__`, those of each of its modules."""
    module = importlib.import_module(f"bunraku.{package}")
    lines = [package, "=" * len(package), "", f".. automodule:: {module.__name__}"]
    lines += [f"   :exclude-members: {AGAIN[package]}"] if package in AGAIN else []
    inside = {found.name for found in pkgutil.iter_modules(getattr(module, "__path__", ())) if not found.name.startswith("_")}
    for name in MORE.get(package, () if hasattr(module, "__all__") else sorted(inside)):
        if "." in name or name in inside:
            lines += ["", name, "-" * len(name), "", f".. automodule:: {module.__name__}.{name}"]
            lines += ["   :undoc-members:"] if name in UNSAID else []
            lines += [f"   :exclude-members: {INNER[name]}"] if name in INNER else []
    return lines


def write_reference(*_: object) -> None:
    """Writes the pages that have changed, before Sphinx looks for them."""
    pages = {"bunraku": public_names.page()} | {package: page(package) for package in packages()}
    pages["index"] = ["Reference", "=========", "", ".. toctree::", "", *(f"   {name}" for name in pages)]
    folder = HERE / "reference"
    folder.mkdir(exist_ok=True)
    for old in folder.glob("*.rst"):
        if old.stem not in pages:
            old.unlink()
    for name, lines in pages.items():
        file, text = folder / f"{name}.rst", "\n".join(lines) + "\n"
        if not file.exists() or file.read_text(encoding="utf-8") != text:
            file.write_text(text, encoding="utf-8")


def plain_words(*arguments: Any) -> None:
    """In docstrings |x| is the size of x, not something to substitute, and `x`² needs no space."""
    lines: list[str] = arguments[-1]
    for k, line in enumerate(lines):
        if not line.startswith("    "):
            line = re.sub(r"(`[^`]*`)|\|", lambda found: found[1] or r"\|", line)
            lines[k] = re.sub(r"(`[^`]*`)(?=[²³ᵀ\w])", r"\1\\ ", line)


def literal_blocks(*arguments: Any) -> None:
    """In docstrings, what stands indented by itself is code or a formula, shown as it is."""
    lines: list[str] = arguments[-1]
    out: list[str] = []
    for line in lines:
        outer = next((before for before in reversed(out) if before.strip()), "")
        depth = len(line) - len(line.lstrip())
        if line.strip() and out and not out[-1].strip() and depth >= len(outer) - len(outer.lstrip()) + 4:
            out += ["::", ""]
        out.append(line)
    lines[:] = out


PARAMETER = re.compile(r"^(\*{0,2}\w+(?:, \*{0,2}\w+)*): (.*)$")


def parameter_lists(*arguments: Any) -> None:
    """In docstrings, lines `name: meaning [unit]`, each with indented lines that go on, become a list."""
    lines: list[str] = arguments[-1]
    out: list[str] = []
    listed = False
    for line in lines:
        found = PARAMETER.match(line)
        if found and out:
            out += [] if listed else [""]
            names = ", ".join(f"`{name}`" for name in found[1].split(", "))
            out.append(f"* {names}: {found[2]}")
            listed = True
        elif listed and line.startswith("    "):
            out.append(f"  {line.strip()}")
        else:
            out += [""] if listed and line.strip() else []
            out.append(line)
            listed = False
    lines[:] = out


def formula(writer: Any, node: Any) -> None:
    """As MathML, which browsers draw by themselves, without the network."""
    shown = "block" if isinstance(node, nodes.math_block) else "inline"
    writer.body.append(convert(node.astext(), display=shown))
    raise nodes.SkipNode


def setup(app: Sphinx) -> None:
    """Called by Sphinx."""
    app.add_html_math_renderer("mathml", (formula, None), (formula, None))
    app.connect("autodoc-process-docstring", parameter_lists)
    app.connect("autodoc-process-docstring", literal_blocks)
    app.connect("autodoc-process-docstring", plain_words)
    app.connect("config-inited", write_reference)
    app.connect("config-inited", lambda *_: notebook_pages.write_pages(HERE / "notebooks"))
