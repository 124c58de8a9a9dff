"""How the gallery finds the pictures that an example writes."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

from sphinx_gallery.scrapers import figure_rst


class Pictures:
    """Puts the PNG files that an example writes, into its folder or `out` there, below the block that wrote them."""

    def __repr__(self) -> str:  # Sphinx compares settings by their text
        return "Pictures"

    def __call__(self, block: object, names: dict[str, Any], settings: dict[str, Any]) -> str:
        folder = Path(names["src_file"]).parent
        written = sorted([*folder.glob("*.png"), *folder.glob("out/*.png")], key=lambda file: file.stat().st_mtime)
        shown = [str(shutil.move(file, next(names["image_path_iterator"]))) for file in written]
        return str(figure_rst(shown, settings["src_dir"]))
