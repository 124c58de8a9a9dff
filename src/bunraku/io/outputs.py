"""Output files of motions: their suffixes, and checks of their names before the work begins."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path
from typing import Any

from bunraku.errors import FileError
from bunraku.io import save
from bunraku.io.yaml.node import Node
from bunraku.motion import Motion
from bunraku.progress import Listener
from bunraku.render import plots
from bunraku.render.camera import Camera
from bunraku.scene import Scene
from bunraku.sound.soundtrack import Soundtrack
from bunraku.writing import writable

MOTION_SUFFIXES = (".npz", ".csv", ".glb", ".bvh", ".mp4", ".png", ".mcap", ".rrd", ".usd", ".usda", ".usdc")


def outputs_of(node: Node | None, folder: Path) -> tuple[Path, ...]:
    """The files for motions that `node` names, one or several, with paths from `folder`; none where there is no node."""
    out = []
    for one in () if node is None else node.value if isinstance(node.value, tuple) else (node,):
        name = one.scalar("the name of a file")
        if Path(name).suffix.lower() not in MOTION_SUFFIXES:
            raise one.error(f"{name[:60]!r} cannot hold a motion", advice=f"end the name in {', '.join(MOTION_SUFFIXES)}")
        out.append(folder / name)
    return tuple(out)


def require(path: Path | None, suffixes: Collection[str], what: str) -> None:
    """Raises FileError if `path` has none of the `suffixes` or cannot be written, or if ffmpeg or matplotlib is missing for it.

    `what` is the content, for messages. None as `path` is accepted.
    """
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise FileError(f"cannot hold {what}", path=str(path), advice=f"end the name in {', '.join(suffixes)}")
    writable(path)
    if path.suffix.lower() == ".mp4":
        from bunraku.render.video import require_ffmpeg

        require_ffmpeg(path)
    if suffixes is plots.PLOT_SUFFIXES:
        plots.require_matplotlib()


def require_outputs(motions: Iterable[Path], plot: Path | None = None, *, figures: int = 1) -> None:
    """Raises FileError if one of the files `motions` cannot hold a motion of so many `figures`, or `plot` cannot hold a plot."""
    for path in motions:
        require(path, MOTION_SUFFIXES, "a motion")
        if figures > 1 and path.suffix.lower() == ".bvh":
            advice = "end the name in .npz, .csv or .glb, which hold all"
            raise FileError(f"a BVH file holds one figure, not {figures}", path=str(path), advice=advice)
    require(plot, plots.PLOT_SUFFIXES, "a plot")


def save_motion(
    motion: Motion, path: Path, scene: Scene | None = None, *, progress: Listener | None = None, camera: Camera | None = None,
    sound: Soundtrack | None = None,
) -> None:  # fmt: skip
    """Writes a `motion` to `path`; pictures, films and logs show the `scene` around it too.

    A film tells `progress`, is taken by the `camera`, by default by one that sees the motion, and has the `sound` as its track.
    """
    kind = path.suffix.lower()
    options: dict[str, Any] = {"scene": scene} if kind in (".mp4", ".png", ".mcap", ".rrd") else {}
    if kind == ".mp4":
        options |= {"progress": progress, "size": (1280, 720), "camera": camera, "sound": sound}
    save(motion, path, **options)
