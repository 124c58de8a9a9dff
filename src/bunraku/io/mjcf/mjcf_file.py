"""MJCF, MuJoCo's own format: Figure → MJCF, so that simulations can be checked there, and MJCF → Figure."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from bunraku.errors import FigureError, FileError
from bunraku.figure import Figure
from bunraku.io import xml_text
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf.mjcf_codes import MjcfOptions
from bunraku.io.mjcf.mjcf_compile import compiled, gravity
from bunraku.io.mjcf.mjcf_parts import Parts
from bunraku.io.mjcf.mjcf_read import BodyTree
from bunraku.io.mjcf.mjcf_write import Kinematic, to_xml
from bunraku.kinematics.forward import configuration
from bunraku.writing import writing


def load(path: str | os.PathLike[str]) -> Figure:
    """The figure of the MJCF file at `path`, read with the package mujoco.

    It starts where the first keyframe says. What a figure cannot hold is left out and named in one warning. Raises FileError
    if MuJoCo cannot read the file, MissingExtra if mujoco is not installed.
    """
    root = xml_text.read(path, root="mujoco")
    return _figure(root, Path(path), *compiled(root, path))


def parse(text: str | bytes, *, path: str | os.PathLike[str] = "") -> Figure:
    """The figure of MJCF `text`, as if it were in the file `path`; it cannot include other files. Raises as `load` does."""
    root = xml_text.parse(text, path=str(path), root="mujoco")
    return _figure(root, Path(path), *compiled(root, None))


def _figure(root: xml_text.Element, path: Path, spec: Any, model: Any) -> Figure:
    leftovers = Leftovers(root.source.path)
    try:
        with np.errstate(all="ignore"):  # Figure finds numbers that are not finite, and its error says where
            tree = BodyTree(model, leftovers)
            parts = Parts(spec, model, tree, path.parent, leftovers)
        figure = Figure(
            str(spec.modelname).strip() or path.stem or "figure", tuple(tree.frames), tuple(tree.bodies),
            tuple(parts.strings), tuple(parts.wires), tuple(parts.lengths), tuple(parts.springs), tuple(parts.forces),
            tuple(parts.contacts), tuple(parts.closures), tuple(parts.shapes), tuple(tree.groups), parts.allowed,
            gravity(model),
        )  # fmt: skip
    except FigureError as error:
        with _culprit(root, error.name).blamed():
            raise
    for word, count in (("flex", model.nflex), ("plugin", model.nplugin)):
        if count:
            leftovers.add("elements left out", word)
    leftovers.warn(stacklevel=3)
    return figure


def _culprit(root: xml_text.Element, name: str) -> xml_text.Element:
    """The element that a part of the figure comes from: its name is that of the part, or the beginning of it."""
    best, stack = root, [root]
    while stack:
        element = stack.pop()
        own = element.attributes.get("name", "")
        if own and name.startswith(own) and (best is root or len(own) >= len(best.attributes["name"])):
            best = element
        stack.extend(element.children)
    return best


def dumps(
    figure: Figure, *, q: ArrayLike | None = None, kinematic: Kinematic = "joints", meshes: bool = True, path: str = "",
    options: MjcfOptions = MjcfOptions(),
) -> str:  # fmt: skip
    """The MJCF text of a `figure`. What MuJoCo does not have is named in one warning.

    q: the configuration [rad, m]; the figure's start by default
    kinematic: "joints" makes kinematic variables joints (or tendon lengths) that servos hold, with sliders in MuJoCo's
        viewer; "fixed" makes them constants
    meshes: whether shapes that are meshes are written
    path: named in the warning
    options: numbers for what MuJoCo can only approximate
    """
    at = configuration(figure, figure.start if q is None else q)
    leftovers = Leftovers(path or figure.name)
    out = to_xml(figure, at, kinematic, meshes, leftovers, options)
    leftovers.warn(stacklevel=2)
    return out


def save(
    figure: Figure, path: str | os.PathLike[str], *, q: ArrayLike | None = None, kinematic: Kinematic = "joints",
    meshes: bool = True, options: MjcfOptions = MjcfOptions(),
) -> None:  # fmt: skip
    """Writes a `figure` as MJCF to `path`; `q`, `kinematic`, `meshes` and `options` as in `dumps`."""
    if not isinstance(figure, Figure):  # io.save takes anything
        what = f"expected a figure, got a {type(figure).__name__}"  # type: ignore[unreachable]
        raise FileError(what, path=str(path), advice="save the figure of the motion")
    out = dumps(figure, q=q, kinematic=kinematic, meshes=meshes, path=str(path), options=options)
    with writing(path) as temporary:
        temporary.write_text(out, encoding="utf-8")
