"""Files that a motion is written to: which kinds there are, and how they are named; bad names are refused before the work."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from pathlib import Path

from bunraku.errors import FileError
from bunraku.io import save
from bunraku.io.yaml.node import Node
from bunraku.motion import Motion
from bunraku.render import plots
from bunraku.scene import Scene
from bunraku.writing import writable

MOTIONS = (".npz", ".csv", ".glb", ".bvh", ".mp4", ".png")
SHOWN = (".mp4", ".png")  # show what is around the figures too; the others hold the motion only


def outputs_of(node: Node | None, folder: Path) -> tuple[Path, ...]:
    """The files that a node names, one or several, of kinds that hold a motion; none where there is no node."""
    out = []
    for one in () if node is None else node.value if isinstance(node.value, tuple) else (node,):
        name = one.scalar("the name of a file")
        if Path(name).suffix.lower() not in MOTIONS:
            raise one.error(f"{name[:60]!r} cannot hold a motion", advice=f"end the name in {', '.join(MOTIONS)}")
        out.append(folder / name)
    return tuple(out)


def require(path: Path | None, suffixes: Collection[str], what: str) -> None:
    """Refuses a file, if one is named, whose suffix is not among these, that cannot be written, or whose writer is missing."""
    if path is None:
        return
    if path.suffix.lower() not in suffixes:
        raise FileError(f"cannot hold {what}", path=str(path), advice=f"end the name in {', '.join(suffixes)}")
    writable(path)
    if path.suffix.lower() == ".mp4":
        from bunraku.render.video import require_ffmpeg

        require_ffmpeg(path)


def require_outputs(motions: Iterable[Path], plot: Path | None = None, *, figures: int = 1) -> None:
    """Refuses files that cannot hold a motion of so many figures, or a plot."""
    for path in motions:
        require(path, MOTIONS, "a motion")
        if figures > 1 and path.suffix.lower() == ".bvh":
            advice = "end the name in .npz, .csv or .glb, which hold all"
            raise FileError(f"BVH holds one figure, not {figures}", path=str(path), advice=advice)
    require(plot, plots.SUFFIXES, "a plot")


def save_motion(motion: Motion, path: Path, scene: Scene | None = None) -> None:
    """Writes a motion, and where it is shown, the scene around it."""
    save(motion, path, **({"scene": scene} if path.suffix.lower() in SHOWN else {}))
