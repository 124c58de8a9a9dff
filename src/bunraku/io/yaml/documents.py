"""YAML files of figures and scenes: the first word says which of them a file holds."""

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


def load_yaml(path: str | os.PathLike[str]) -> Figure | Scene:
    """The figure or the scene in the file at `path`; raises FileError if it holds neither."""
    root = yaml_reader.read(path)
    kind, _ = root.head(("figure", "scene"), "the file")
    return (figure_of if kind == "figure" else scene_of)(root, Path(path).parent)


def save_yaml(thing: Any, path: str | os.PathLike[str]) -> None:
    """Writes a figure or a scene (`thing`) to `path`; raises FileError for anything else."""
    if isinstance(thing, Figure):
        save_figure(thing, path)
    elif isinstance(thing, Scene):
        save_scene(thing, path)
    else:
        advice = "YAML files hold figures and scenes; use another suffix"
        raise FileError(f"cannot write a {type(thing).__name__} into a YAML file", path=str(path), advice=advice)
