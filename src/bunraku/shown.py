"""Shown: what figures, poses, motions and results have in common, so that a notebook shows them."""

from __future__ import annotations

import importlib
from typing import Any


class Shown:
    """Base of what shows itself in a notebook: a player or a picture, and a table.

    How things are shown is defined in `bunraku.notebook`, in a layer above the things; it is imported when one is first shown.
    """

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        """The formats in which a notebook can show this: HTML, and plain text. `include` and `exclude` are ignored."""
        bundle: dict[str, str] = importlib.import_module("bunraku.notebook.display").bundle(self)
        return bundle

    def _repr_html_(self) -> str:
        """This in HTML, for programs that know no other format."""
        return self._repr_mimebundle_()["text/html"]
