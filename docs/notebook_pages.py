"""Pages of the notebooks in examples/notebooks: executed, with what their cells show, players included."""

from __future__ import annotations

import base64
import html
import os
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "examples" / "notebooks").glob("*.ipynb"))
INLINE = "module://matplotlib_inline.backend_inline"  # matplotlib draws into the cells


def write_pages(folder: Path) -> None:
    """Writes a page for each notebook, and their index, into `folder`. A notebook that has not changed is not executed again."""
    folder.mkdir(exist_ok=True)
    for path in NOTEBOOKS:
        page = folder / f"{path.stem}.md"
        if not page.exists() or page.stat().st_mtime < path.stat().st_mtime:
            page.write_text(_page(path, folder), encoding="utf-8")
    names = "\n".join(path.stem for path in NOTEBOOKS)
    about = "Each is a file that you can open in JupyterLab or VS Code; what its cells show was made when this page was built."
    text = f"# Notebooks\n\n{about}\n\n```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"
    index = folder / "index.md"
    if not index.exists() or index.read_text(encoding="utf-8") != text:
        index.write_text(text, encoding="utf-8")


def _page(path: Path, folder: Path) -> str:
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, kernel_name="python3", timeout=None).execute(env=os.environ | {"MPLBACKEND": INLINE})
    parts = []
    for cell in notebook.cells:
        if cell.cell_type == "markdown":
            parts.append(cell.source)
        else:
            parts.append(f"```python\n{cell.source}\n```")
            parts += [_shown(output, folder, f"{path.stem}_{len(parts)}_{k}") for k, output in enumerate(cell.outputs)]
    title, *rest = parts
    link = f"{{download}}`{path.name} <../../examples/notebooks/{path.name}>`"
    return "\n\n".join([title, link, *rest]) + "\n"


def _shown(output: Any, folder: Path, name: str) -> str:
    """An output of a cell, in Markdown."""
    if output.output_type == "stream":
        return _raw(f"<pre>{html.escape(output.text)}</pre>")
    data = output.get("data", {})
    if "text/html" in data:
        return _raw(data["text/html"])
    if "image/png" in data:
        (folder / f"{name}.png").write_bytes(base64.b64decode(data["image/png"]))
        return f"![]({name}.png)"
    return _raw(f"<pre>{html.escape(data.get('text/plain', ''))}</pre>")


def _raw(text: str) -> str:
    return f"````{{raw}} html\n{text}\n````"
