"""MJCF text → MuJoCo's compiled model, in which defaults, includes, angles and densities are resolved."""

from __future__ import annotations

import os
import re
from typing import Any

from bunraku.errors import FileError, MissingExtra
from bunraku.io.xml import Element

# Elements that stand for many others: more than this is a slip of the finger.
MOST_COPIES = 1000
_LINE = re.compile(r"line (?:number=)?(\d+)", re.IGNORECASE)


def compiled(root: Element, path: str | os.PathLike[str] | None) -> tuple[Any, Any]:
    """(MjSpec, MjModel) of a file, or of the text of `root` where there is no file."""
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "mujoco", "reading MJCF") from None
    _refuse_crowds(root)
    try:
        if path is None:
            spec = mujoco.MjSpec.from_string(root.source.data.decode())
        else:
            spec = mujoco.MjSpec.from_file(os.fspath(path))
        _keep_only_mechanics(spec)
        return spec, spec.compile()
    except Exception as error:  # noqa: BLE001 - its parser raises many kinds for a file that is wrong
        raise _translated(root, str(error)) from None


def _refuse_crowds(root: Element) -> None:
    stack = [(root, 1.0)]
    while stack:
        element, copies = stack.pop()
        if element.tag in ("replicate", "composite", "flexcomp") and "count" in element.attributes:
            for word in element.word("count").split():
                copies *= abs(float(word)) if re.fullmatch(r"[+-]?\d{1,9}(\.\d*)?", word) else 1.0
            if copies > MOST_COPIES:
                raise element.error(f"{copies:.0f} copies", "count", advice=f"at most {MOST_COPIES}")
        stack.extend((child, copies) for child in element.children)


def _keep_only_mechanics(spec: Any) -> None:
    """Pictures, sensors and reserved memory cost time, or files, and say nothing about a figure."""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for kind in ("textures", "skins", "sensors"):
        for element in list(getattr(spec, kind)):
            spec.delete(element)
    spec.memory = -1
    spec.nuserdata = 0
    spec.compiler.fusestatic = False


def _translated(root: Element, message: str) -> FileError:
    """MuJoCo's complaint in one line, at the line that it names."""
    found = _LINE.search(message)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    said = re.sub(r"^(XML )?Error: ", "", "; ".join(lines))[:400] or "MuJoCo cannot read it"
    advice = "see MuJoCo's XML reference"
    if found and 0 < int(found[1]) <= root.source.data.count(b"\n") + 1:
        return root.source.error_in_line(said, int(found[1]), advice=advice)
    return root.error(said, advice=advice)


