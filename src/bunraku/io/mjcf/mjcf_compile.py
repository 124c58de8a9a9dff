"""MJCF text → MuJoCo's compiled model, in which defaults, includes, angles and densities are resolved."""

from __future__ import annotations

import math
import os
import re
import warnings
from pathlib import Path
from typing import Any

from bunraku.errors import FileError, MissingExtra
from bunraku.figure.frame import Vector
from bunraku.io import xml_text
from bunraku.io.xml_text import Element


def compiled(root: Element, path: str | os.PathLike[str] | None) -> tuple[Any, Any]:
    """(MjSpec, MjModel) of the file at `path`, or of the text of `root` where that is None.

    Raises FileError if MuJoCo refuses it, MissingExtra if mujoco is not installed.
    """
    try:
        import mujoco
    except ImportError:
        raise MissingExtra("mujoco", "mujoco", "reading MJCF") from None
    flat = _check(root, None if path is None else Path(path).parent)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # MuJoCo warns of models that it would simulate badly
            if path is None:
                spec = mujoco.MjSpec.from_string(root.source.data.decode())
            else:
                spec = mujoco.MjSpec.from_file(os.fspath(path), include=flat)
                _find_meshes(spec, Path(path).parent)
            _keep_only_mechanics(spec)
            return spec, spec.compile()
    except Exception as error:  # noqa: BLE001 - its parser raises many kinds for a file that is wrong
        raise _translated(root, str(error)) from None


def gravity(model: Any) -> Vector:
    """The gravity of a compiled `model` [m/s²]."""
    from mujoco import mjtDisableBit

    if model.opt.disableflags & mjtDisableBit.mjDSBL_GRAVITY:
        return (0.0, 0.0, 0.0)
    x, y, z = model.opt.gravity.tolist()
    return (x, y, z)


def _check(root: Element, folder: Path | None) -> dict[str, bytes]:
    """Raises FileError for what makes MuJoCo hang, in this file and in those that it includes.

    Returns included files that were copied or dropped without their folders, and so lie beside the model, by what it calls them.
    """
    stack, included, flat = [(root, 1.0)], {""}, dict[str, bytes]()
    while stack:
        element, copies = stack.pop()
        for name, value in element.attributes.items():
            if re.search(r"(?i)(^|\s)[+-]?nan\b", value):  # MuJoCo would write a log file, and hang at the second one
                raise element.error(f"{name}: not a number", name, advice="write a finite number")
        if element.tag in ("replicate", "composite", "flexcomp") and "count" in element.attributes:
            copies *= math.prod(_size(word) for word in element.word("count").split())
            if not copies <= 1000:
                raise element.error(f"too many copies: {copies:.0f}", "count", advice="use at most 1000")
        if element.tag == "include":
            file = element.word("file")
            if folder is None:
                raise element.error("text cannot include a file", advice="load the file instead")
            beside = folder / Path(file.replace("\\", "/")).name
            found = next((place for place in (folder / file, beside) if _is_file(place)), None)
            if file not in included and found is not None:
                included.add(file)
                stack.append((xml_text.read(found), copies))
                if found != folder / file:
                    flat[file] = found.read_bytes()
        stack.extend((child, copies) for child in element.children)
    return flat


def _size(word: str) -> float:
    try:
        return max(abs(float(word)), 1.0)
    except ValueError:
        return 1.0  # MuJoCo reports that it is not a number


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):
        return False


def mesh_path(spec: Any, mesh: Any, folder: Path) -> Path | None:
    """The file of a `mesh` of `spec`, whose file is in `folder`; None if it does not exist.

    Files that were copied or dropped without their folders lie beside the model, so it is looked for there by its name, too.
    """
    name = str(mesh.file).replace("\\", "/")
    folders = (folder / str(mesh.compiler.meshdir), folder / str(spec.compiler.meshdir), folder)
    places = [*(place / name for place in folders), folder / Path(name).name]
    return next((place for place in places if name and _is_file(place)), None)


def _find_meshes(spec: Any, folder: Path) -> None:
    """Gives the meshes that are beside the model the names by which MuJoCo finds them."""
    bare, spec.strippath = spec.strippath, False  # else it would strip the names that are given here
    for mesh in spec.meshes:
        mesh.file = Path(str(mesh.file)).name if bare else mesh.file
        found = mesh_path(spec, mesh, folder)
        if found is not None and found.parent == folder:
            mesh.file = str(found.absolute())


def _keep_only_mechanics(spec: Any) -> None:
    """Removes textures, sensors and reserved memory, which take time and do not belong to a figure."""
    for material in spec.materials:
        material.textures = [""] * len(material.textures)
    for kind in ("textures", "skins", "sensors"):
        for element in list(getattr(spec, kind)):
            spec.delete(element)
    spec.memory = -1
    spec.nuserdata = 0
    spec.compiler.fusestatic = False


def _translated(root: Element, message: str) -> FileError:
    """MuJoCo's error message as one line, which points at the line of the file that it names."""
    found = re.search(r"(?i)line (?:number=)?(\d+)", message)
    lines = [line.strip() for line in message.splitlines() if line.strip()]
    said = re.sub(r"^(XML )?Error: ", "", "; ".join(lines))[:400] or "MuJoCo cannot read it"
    advice = "see MuJoCo's XML reference"
    if found and 0 < int(found[1]) <= root.source.data.count(b"\n") + 1:
        return root.source.error_in_line(said, int(found[1]), advice=advice)
    return root.error(said, advice=advice)
