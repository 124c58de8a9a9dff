"""YAML files: their first word says what they are."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.figure_file import figure_of, save_figure
from bunraku.io.yaml.scene_file import save_scene, scene_of
from bunraku.scene import Scene

READERS = {"figure": figure_of, "scene": scene_of}


def load_yaml(path: str | os.PathLike[str]) -> Any:
    """The figure or the scene in a file."""
    root = yaml_reader.read(path)
    kind, _ = root.head(READERS, "the file")
    return READERS[kind](root, Path(path).parent)


def save_yaml(thing: Any, path: str | os.PathLike[str]) -> None:
    if isinstance(thing, Figure):
        save_figure(thing, path)
    elif isinstance(thing, Scene):
        save_scene(thing, path)
    else:
        advice = "YAML files hold figures and scenes; give another suffix"
        raise FileError(f"a {type(thing).__name__} cannot be written into this file", path=str(path), advice=advice)
