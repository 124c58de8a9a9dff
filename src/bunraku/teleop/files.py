"""Files on the stage: what a dropped one shows, and what a piece can be saved as."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku import io
from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.stage import Entry, Recorded, still
from bunraku.stage.stage import Exporter
from bunraku.teleop.places import at_hand, standing

SAVED_AS = ("npz", "csv", "glb", "bvh", "mp4")


def entries_of(path: Path) -> list[Entry]:
    """The entries of a figure, a scene or a motion in a file."""
    return shown(io.load(path), path.stem)


def shown(thing: Any, title: str) -> list[Entry]:
    match thing:
        case Motion():
            return [Entry(title, thing, "motion")]
        case Scene():
            nobody = Figure("nobody", ())
            return [Entry(title, lambda: still(nobody, scene=thing), "scene")]
        case Figure():
            about = "pull its strings" if thing.strings else "drag its limbs"
            return [
                Entry(title, lambda: standing(thing), "figure"), Entry(f"{title}, live", lambda: at_hand(thing), about),
            ]  # fmt: skip
    raise FileError(f"a {type(thing).__name__} cannot be shown", path=title, advice="drop a figure, a scene or a motion")


def exporters() -> dict[str, Exporter]:
    """By suffix: writes the motion of a piece to a path."""

    def saver(suffix: str) -> Exporter:
        def save(piece: Recorded, path: Path) -> None:
            # A video shows the surroundings too; the other formats hold the motion only.
            io.save(piece.motion, path, **({"scene": piece.scene} if suffix == "mp4" else {}))

        return save

    return {suffix: saver(suffix) for suffix in SAVED_AS}

