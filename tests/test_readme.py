"""What the README and the pages of the documentation show is executed, page by page, in the order of reading.

A page's ```python blocks share one namespace; `$ bunraku …` lines of its ```console blocks run in the same
folder. ```yaml blocks are files that must load. What is shown in a ```sh block is not run.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.choreography import score
from bunraku.cli import app
from bunraku.io.yaml import figure_file, figure_frames, scene_file, shape_words
from bunraku.verbs.climb.file import ClimbOrder
from bunraku.verbs.guide.file import GuideOrder
from bunraku.verbs.simulate.file import SimulateOrder
from tests.slow_cases import cases

ROOT = Path(__file__).parents[1]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
FENCE = re.compile(r"^```(python|console|yaml)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


class Block(NamedTuple):
    language: str
    text: str
    line: int


def blocks(page: Path) -> list[Block]:
    source = page.read_text(encoding="utf-8")
    return [Block(m[1], m[2], source.count("\n", 0, m.start(2))) for m in FENCE.finditer(source)]


def run_python(block: Block, page: Path, names: dict[str, Any]) -> None:
    padded = "\n" * block.line + block.text  # a traceback then names the line of the page
    exec(compile(padded, str(page), "exec"), names)


def run_console(block: Block) -> None:
    for line in block.text.splitlines():
        if line.startswith("$ bunraku "):
            done = CliRunner().invoke(app, shlex.split(line)[2:])
            assert done.exit_code == 0, f"{line}\n{done.output}"


def test_readme_shows_python() -> None:
    """Else nothing of it would be executed."""
    shown = [block for block in blocks(ROOT / "README.md") if block.language == "python"]
    assert any("bunraku.simulate(" in block.text for block in shown)
    assert len(shown[0].text.splitlines()) <= 16


def run_yaml(block: Block) -> None:
    kind, name = block.text.partition("\n")[0].partition("#")[0].split(": ")
    file = Path(f"{name.strip()}_{kind}.yaml")
    file.write_text(block.text, encoding="utf-8")
    if not (plain := Path(f"{name.strip()}.yaml")).exists():
        plain.write_text(block.text, encoding="utf-8")
    order = bunraku.load(file)
    if kind == "perform":
        score(order.script)


@pytest.mark.parametrize("page", cases(filter(blocks, PAGES), slow=("carrying.md", "climbing.md"), name=lambda page: page.name))
def test_page_does_what_it_says(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {"__name__": page.stem}
    for block in blocks(page):
        if block.language == "python":
            run_python(block, page, names)
        elif block.language == "yaml":
            run_yaml(block)
        else:
            run_console(block)


def test_every_word_of_a_file_is_documented() -> None:
    listed = set(re.findall(r"`(\w+)`", (ROOT / "docs" / "files.md").read_text(encoding="utf-8")))
    frames, shapes = figure_frames.FRAME_WORDS, shape_words.GEOMETRY_WORDS
    words = {*figure_file.FIGURE_WORDS, *frames, *(word for more in frames.values() for word in more)}
    words |= {*shapes, *(word for more in shapes.values() for word in more), "color", "name", *shape_words.SHAPE_FLAGS}
    words |= {*scene_file.SCENE_WORDS, "plane", "heightfield", *SimulateOrder.words}
    words |= {*ClimbOrder.words, *ClimbOrder.segment_words, *GuideOrder.words}
    assert words - listed == set()
