"""MJCF, MuJoCo's own format: Figure → MJCF for anyone who wants to check us there, and MJCF → Figure."""

from __future__ import annotations

import os

from numpy.typing import ArrayLike

from bunraku.figure import Figure
from bunraku.io.atomic import writing
from bunraku.io.leftovers import Leftovers
from bunraku.io.mjcf_write import Kinematic, to_xml
from bunraku.kinematics.forward import configuration


def dumps(
    figure: Figure, *, q: ArrayLike | None = None, kinematic: Kinematic = "joints", meshes: bool = True, path: str = ""
) -> str:
    """The MJCF text of a figure at q, or at its start (`path` is only named in warnings).

    With `kinematic="joints"`, kinematic variables are joints and string lengths that servos hold, and that MuJoCo's
    viewer has sliders for; with "fixed" they are constants. What MuJoCo does not have is named in one warning.
    """
    at = configuration(figure, figure.start if q is None else q)
    leftovers = Leftovers(path or figure.name)
    out = to_xml(figure, at, kinematic, meshes, leftovers)
    leftovers.warn(stacklevel=2)
    return out


def save(
    figure: Figure, path: str | os.PathLike[str], *, q: ArrayLike | None = None, kinematic: Kinematic = "joints",
    meshes: bool = True,
) -> None:  # fmt: skip
    """Writes a figure as MJCF; see `dumps`."""
    out = dumps(figure, q=q, kinematic=kinematic, meshes=meshes, path=str(path))
    with writing(path) as temporary:
        temporary.write_text(out, encoding="utf-8")
