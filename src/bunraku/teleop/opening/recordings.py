"""Recordings: what entries of the opening show that take long to compute, computed in advance by tools/opening.py.

So a visitor neither waits for the computation, nor for the compiler. The files of a recording are in the folder `recorded`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.io.tables.npz_file import load_npz, save_npz
from bunraku.io.yaml.scene_file import load_scene, save_scene
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.writing import writing

Array = NDArray[np.float64]
FOLDER_OF_RECORDINGS = Path(__file__).parent / "recorded"


@dataclass(frozen=True, eq=False)
class Recording:
    """What a computation found."""

    motion: Motion
    reference: Motion | None = None
    """What the motion imitates."""
    scene: Scene | None = None
    """What is around, where it is not known without the computation: obstacles without meshes."""
    lines: Mapping[str, Sequence[Array]] = field(default_factory=dict)
    """Lines to draw in the scene, by name: points (n, 3) [m] along each."""


def recorded(name: str) -> Recording:
    """The recording `name`."""
    ghost, scene, lines = _file(name, "_reference.npz"), _file(name, "_scene.yaml"), _file(name, "_lines.npz")
    drawn: dict[str, list[Array]] = {}
    if lines.exists():
        with np.load(lines, allow_pickle=False) as arrays:
            drawn = {key: list(np.split(arrays[key].astype(float), arrays[f"{key}_ends"])) for key in arrays["names"]}
    reference, around = load_npz(ghost) if ghost.exists() else None, load_scene(scene) if scene.exists() else None
    return Recording(load_npz(_file(name, ".npz")), reference, around, drawn)


def keep(name: str, recording: Recording) -> None:
    """Writes a `recording` to the files of `name`."""
    save_npz(recording.motion, _file(name, ".npz"))
    if recording.reference is not None:
        save_npz(recording.reference, _file(name, "_reference.npz"))
    if recording.scene is not None:
        save_scene(recording.scene, _file(name, "_scene.yaml"))
    if recording.lines:
        arrays: dict[str, NDArray[np.float32] | NDArray[np.int64] | NDArray[np.str_]] = {"names": np.array(list(recording.lines))}
        for key, lines in recording.lines.items():
            arrays[key] = np.concatenate(lines).astype(np.float32)
            arrays[f"{key}_ends"] = np.cumsum([len(line) for line in lines])[:-1]
        with writing(_file(name, "_lines.npz")) as temporary, temporary.open("wb") as file:
            np.savez_compressed(file, **arrays)  # type: ignore[arg-type]


def _file(name: str, ending: str) -> Path:
    return FOLDER_OF_RECORDINGS / f"{name}{ending}"
