"""Files dropped on the stage: the entries that they become, and the formats that an entry can be saved in."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

from bunraku import io
from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.io.outputs import save_motion
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.render.camera import Camera
from bunraku.scene import Scene
from bunraku.stage import Entry, Recorded, still
from bunraku.stage.stage import Exporter
from bunraku.teleop.viewing_places import at_hand, standing, to_try


def entries_of(path: Path) -> list[Entry]:
    """The entries of the file `path`: a figure, a scene or a motion. Raises FileError if it is broken."""
    return shown(io.load(path), path.stem)


def shown(thing: Any, title: str) -> list[Entry]:
    """The entries of a `thing` (a figure, a scene or a motion) under a `title`; raises FileError for anything else."""
    match thing:
        case Motion():
            return [Entry(title, thing, "motion")]
        case Scene():
            nobody = Figure("nobody", ())
            return [Entry(title, partial(still, nobody, scene=thing), "scene")]
        case Figure():
            return [
                Entry(title, partial(at_hand, thing), to_try(thing)),
                Entry(f"{title}, at rest", partial(standing, thing), "The figure as its file describes it"),
            ]
    raise FileError(
        f"a {type(thing).__name__} cannot be shown on the stage", path=title, advice="drop a figure, a scene or a motion"
    )


def exporters() -> dict[str, Exporter]:
    """Functions that write the motion of an entry to a path, by suffix."""

    def save(piece: Recorded, path: Path, *, progress: Listener | None = None, camera: Camera | None = None) -> None:
        save_motion(piece.motion, path, piece.scene, progress=progress, camera=camera, sound=piece.sound)

    return dict.fromkeys(("npz", "csv", "glb", "bvh", "mp4"), save)
