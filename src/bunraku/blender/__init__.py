"""The add-on for Blender: what it runs in Blender's Python (`addon`), and what it asks of bunraku's (`requests`)."""

from __future__ import annotations

import zipfile
from os import PathLike
from pathlib import Path

from bunraku.writing import writing


def save_addon(path: str | PathLike[str]) -> None:
    """Writes the add-on to `path`, a ZIP file for *Edit → Preferences → Add-ons → Install from Disk*. Raises FileError."""
    with writing(path) as temporary, zipfile.ZipFile(temporary, "w", zipfile.ZIP_DEFLATED) as archive:
        for file in sorted((Path(__file__).parent / "addon").iterdir()):
            if file.suffix in (".py", ".toml"):
                archive.write(file, f"bunraku_link/{file.name}")
