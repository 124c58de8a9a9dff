"""Files: `load` reads and `save` writes all formats that bunraku knows, by the suffix of the name.

A format is one line in `LOADERS` (function of a path) or `SAVERS` (function of a thing and a path); its module is
imported when the first such file is read or written.
"""

from __future__ import annotations

import importlib
import os
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from bunraku.errors import FileError

__all__ = ["LOADERS", "RECORDINGS", "SAVERS", "load", "save"]

LOADERS = {
    ".bvh": "bunraku.io.bvh.bvh_reader:load_bvh",
    ".c3d": "bunraku.io.markers.marker_reader:load_c3d",
    ".csv": "bunraku.io.tables.csv_file:load_csv",
    ".glb": "bunraku.io.gltf.gltf_reader:load_gltf",
    ".gltf": "bunraku.io.gltf.gltf_reader:load_gltf",
    ".mcap": "bunraku.io.logs.mcap_file:load_mcap",
    ".mjcf": "bunraku.io.mjcf.mjcf_file:load",
    ".npz": "bunraku.io.tables.npz_file:load_npz",
    ".sdf": "bunraku.io.sdf.sdf_reader:load_sdf",
    ".trc": "bunraku.io.markers.marker_reader:load_trc",
    ".urdf": "bunraku.io.urdf.urdf_reader:load",
    ".usd": "bunraku.io.usd.usd_reader:load_usd",
    ".usda": "bunraku.io.usd.usd_reader:load_usd",
    ".usdc": "bunraku.io.usd.usd_reader:load_usd",
    ".xml": "bunraku.io.mjcf.mjcf_file:load",
    ".yaml": "bunraku.io.yaml.documents:load_yaml",
    ".yml": "bunraku.io.yaml.documents:load_yaml",
}

SAVERS = {
    ".bvh": "bunraku.io.bvh.bvh_reader:save_bvh",
    ".csv": "bunraku.io.tables.csv_file:save_csv",
    ".glb": "bunraku.io.gltf.glb:save_glb",
    ".mcap": "bunraku.io.logs.mcap_file:save_mcap",
    ".mjcf": "bunraku.io.mjcf.mjcf_file:save",
    ".mp4": "bunraku.render.video:save_mp4",
    ".npz": "bunraku.io.tables.npz_file:save_npz",
    ".png": "bunraku.render.video:save_png",
    ".rrd": "bunraku.io.logs.rrd_file:save_rrd",
    ".usd": "bunraku.io.usd.usd_writer:save_usd",
    ".usda": "bunraku.io.usd.usd_writer:save_usd",
    ".usdc": "bunraku.io.usd.usd_writer:save_usd",
    ".xml": "bunraku.io.mjcf.mjcf_file:save",
    ".yaml": "bunraku.io.yaml.documents:save_yaml",
    ".yml": "bunraku.io.yaml.documents:save_yaml",
}

RECORDINGS = (".bvh", ".c3d", ".glb", ".gltf", ".trc", ".usd", ".usda", ".usdc")
"""Suffixes of files with motions of other skeletons, which can be imitated and retargeted."""


def load(path: str | os.PathLike[str], **options: Any) -> Any:
    """The figure, scene or motion in the file at `path`, or the robot `robot:NAME`.

    options: those of its loader. Raises FileError.
    """
    if str(path).startswith("robot:"):
        return importlib.import_module("bunraku.io.robots").load_robot(str(path), **options)
    return _function(LOADERS, path, "read")(path, **options)


def save(thing: Any, path: str | os.PathLike[str], **options: Any) -> None:
    """Writes a figure, scene or motion (`thing`) to `path`; the suffix chooses the format, `options` are those of its saver.

    Raises FileError if the format cannot hold it or the file cannot be written.
    """
    _function(SAVERS, path, "written")(thing, path, **options)


def _function(table: dict[str, str], path: str | os.PathLike[str], done: str) -> Callable[..., Any]:
    suffix = Path(path).suffix.lower()
    if suffix not in table:
        what = f"files ending in {suffix!r} cannot be {done}" if suffix else "the name has no suffix"
        convert = "open it in Blender (File, Import) and export it as glTF (.glb), or as BVH"
        advice = convert if suffix in (".fbx", ".blend") else f"there are: {_listed(table)}"
        raise FileError(what, path=str(path), advice=advice)
    module, _, function = table[suffix].partition(":")
    found: Callable[..., Any] = getattr(importlib.import_module(module), function)
    return found


def _listed(suffixes: Iterable[str]) -> str:
    return ", ".join(sorted(suffixes))
