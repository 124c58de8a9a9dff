"""The notebooks of examples/notebooks run from top to bottom, and show what they should."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

NOTEBOOKS = sorted((Path(__file__).parents[2] / "examples" / "notebooks").glob("*.ipynb"))
FAST = "animator_puppet_to_blender"


def read(path: Path) -> Any:
    return pytest.importorskip("nbformat", reason="nbclient is not installed").read(path, as_version=4)


@pytest.mark.parametrize(
    "path", [pytest.param(path, id=path.stem, marks=[] if path.stem == FAST else [pytest.mark.slow]) for path in NOTEBOOKS]
)
def test_it_runs(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No cell fails or warns; everything that shows itself has HTML with a picture, for programs without scripts too."""
    client = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("anywidget")
    monkeypatch.setenv("MPLBACKEND", "module://matplotlib_inline.backend_inline")
    notebook = read(path)
    client.NotebookClient(notebook, timeout=None, resources={"metadata": {"path": str(tmp_path)}}).execute()
    outputs = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert [output.text for output in outputs if output.get("name") == "stderr"] == []
    shown = [output.data["text/html"] for output in outputs if "text/html" in output.get("data", {})]
    assert sum("<iframe" in html or "createElement" in html for html in shown) >= 1, "a motion plays"
    assert all("data:image/png" in html for html in shown)
    assert len(shown) + sum("image/png" in output.get("data", {}) for output in outputs) >= 3
    if path.stem == FAST:
        (widget,) = [output for output in outputs if "application/vnd.jupyter.widget-view+json" in output.get("data", {})]
        assert "data:image/png" in widget.data["text/html"]


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_it_is_stored_without_outputs_and_checks_itself(path: Path) -> None:
    notebook = read(path)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in code)
    assert any(re.search(r"^assert ", cell.source, re.MULTILINE) for cell in code)
    assert notebook.cells[0].source.startswith("# ")
    assert notebook.metadata.kernelspec.name == "python3"
    assert sum(len(cell.source.splitlines()) for cell in code) < 100


def test_there_are_four() -> None:
    assert len(NOTEBOOKS) == 4
