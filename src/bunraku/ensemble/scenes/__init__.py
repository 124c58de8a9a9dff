"""Scenes for carrying, made of meshes that are written to a folder.

scene = factory(folder, door=0.95)
scene = named("factory", door=0.95)     # made once, and kept in the user's cache folder
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from bunraku.ensemble.scenes.factory import factory
from bunraku.ensemble.scenes.living_room import living_room, piano
from bunraku.ensemble.scenes.ramp import ramp
from bunraku.errors import UnknownName
from bunraku.figure.shape import Shape
from bunraku.io.yaml.scene_file import load_scene, save_scene
from bunraku.kernels.folders import cache_root
from bunraku.scene import Scene

SCENES: dict[str, Callable[..., Scene]] = {"factory": factory, "living_room": living_room, "ramp": ramp}
OBJECTS: dict[str, Callable[..., tuple[Shape, ...]]] = {"piano": piano}
__all__ = ["OBJECTS", "SCENES", "factory", "living_room", "named", "object_named", "piano", "ramp"]


def named(name: str, **words: Any) -> Scene:
    """The scene called `name`, made with the keyword arguments `words`. Its meshes are made once and cached.

    Raises UnknownName if there is no such scene, TypeError if it does not accept an argument.
    """
    if name not in SCENES:
        raise UnknownName("scene", name, tuple(SCENES))
    folder = _folder(name, words)
    file = folder / "scene.yaml"
    if not file.is_file():  # this file is written last
        save_scene(SCENES[name](folder, **words), file)
    return load_scene(file)


def object_named(name: str) -> tuple[Shape, ...]:
    """The shapes of the object called `name`; raises UnknownName if there is none."""
    if name not in OBJECTS:
        raise UnknownName("object", name, tuple(OBJECTS))
    return OBJECTS[name](_folder(name, {}))


def _folder(name: str, words: dict[str, Any]) -> Path:
    source = b"".join(path.read_bytes() for path in sorted(Path(__file__).parent.glob("*.py")))
    about = hashlib.sha256(source + json.dumps(words, sort_keys=True).encode()).hexdigest()[:16]
    folder = cache_root() / "scenes" / f"{name}-{about}"
    folder.mkdir(parents=True, exist_ok=True)
    return folder
