"""Films and contact sheets of a motion, without a browser."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.figure import Figure
from bunraku.kinematics import frames_along
from bunraku.motion import Motion
from bunraku.motion.still import as_motion
from bunraku.progress import Listener, Progress
from bunraku.render.camera import Camera, vector
from bunraku.render.film_writer import FilmWriter, ffmpeg_program
from bunraku.render.image import Strand, image, outline, strands
from bunraku.render.png import png, with_time
from bunraku.render.sight import clear_view
from bunraku.scene import Scene
from bunraku.sound.soundtrack import Soundtrack
from bunraku.writing import writing

Array = NDArray[np.float64]
Pixels = NDArray[np.uint8]


def save_mp4(
    thing: Motion | Figure, path: str | PathLike[str], *, fps: float = 30.0, size: tuple[int, int] = (960, 720),
    camera: Camera | None = None, scene: Scene | None = None, follow: bool | None = None, progress: Listener | None = None,
    sound: Soundtrack | None = None,
) -> None:  # fmt: skip
    """Writes a film that plays in real time. Ctrl-C ends it early, keeps what is done, and is raised again.

    thing: a motion, or a figure at its start
    path: an MP4 file
    fps: pictures a second
    size: width and height [pixels]
    camera: by default one that sees the whole motion, or follows it where it goes far
    scene: obstacles and floor; by default a floor only
    follow: whether the default camera follows
    progress: is told of every picture; by default a bar is drawn if standard error is a terminal
    sound: its sound track, from the first picture on, cut off or silent where it has another length; None for a silent film

    Raises FileError if ffmpeg is missing or the file cannot be written.
    """
    require_ffmpeg(path)
    motion = as_motion(thing, path)
    width, height = (max(2, int(n) // 2 * 2) for n in size)  # the codec takes even sizes only
    shots = _Shots(motion.resample(1.0 / fps), (width, height), camera, scene, follow)
    stopped: KeyboardInterrupt | None = None
    taken = 0
    with writing(path) as temporary:
        film = FilmWriter(temporary, (width, height), fps, None if sound is None else sound.lasting(len(shots) / fps + 1.0))
        try:
            with suppress(BrokenPipeError):  # ffmpeg has stopped; `close` raises the reason
                for pixels in _with_progress(shots, len(shots), f"film {path}") if progress is None else shots:
                    film.add(pixels)
                    taken += 1
                    if progress is not None:
                        progress(Progress("film", taken / len(shots), f"picture {taken} of {len(shots)}"))
        except KeyboardInterrupt as interrupt:
            stopped = interrupt
            if not taken:
                film.abandon()
                raise
        except BaseException:
            film.abandon()
            raise
        film.close()
    if stopped:
        raise stopped


def require_ffmpeg(path: str | PathLike[str]) -> None:
    """Raises FileError, naming `path`, if the program ffmpeg is missing."""
    if ffmpeg_program() is None:
        advice = "install ffmpeg, or pip install 'bunraku[film]'; .glb and .png do not need it"
        raise FileError("films need the program ffmpeg, which was not found", path=str(path), advice=advice)


def save_png(
    thing: Motion | Figure, path: str | PathLike[str], *, samples: int = 12, columns: int | None = None,
    size: tuple[int, int] = (320, 320), camera: Camera | None = None, scene: Scene | None = None,
    follow: bool | None = None,
) -> None:  # fmt: skip
    """Writes a contact sheet: pictures of a motion in a grid, with their times. Of a figure, one picture.

    thing: the motion or the figure
    path: a PNG file
    samples: how many pictures
    columns: of the grid; by default so that the whole is about 3:2
    size: width and height of one picture [pixels]
    camera, scene, follow: as in `save_mp4`

    Raises FileError if the file cannot be written.
    """
    if isinstance(thing, Figure):
        save_pixels(image(thing, size=(2 * size[0], 2 * size[1]), scene=scene, camera=camera), path)
        return
    motion = as_motion(thing, path)
    if samples < 1:
        raise FileError(f"cannot draw {samples} samples", path=str(path), advice="ask for one or more")
    count = samples if len(motion) > 1 else 1
    few = motion.resample(times=np.linspace(motion.t[0], motion.t[-1], count))
    shots = _Shots(few, size, camera, scene, follow)
    across = columns or _columns(count, size)
    save_pixels(sheet(list(shots), across, few.t), path)


def sheet(pictures: Sequence[Pixels], columns: int, times: Sequence[float] | Array = (), digits: int = 2) -> Pixels:
    """The `pictures`, which have the same size, in a grid of so many `columns`.

    times: of each picture [s], written in its corner with so many `digits` after the point
    """
    height, width = pictures[0].shape[:2]
    rows = math.ceil(len(pictures) / columns)
    gap = max(2, width // 160)
    out = np.full((rows * (height + gap) - gap, columns * (width + gap) - gap, 3), 255, np.uint8)
    for k, picture in enumerate(pictures):
        y, x = k // columns * (height + gap), k % columns * (width + gap)
        out[y : y + height, x : x + width] = with_time(picture, float(times[k]), digits) if len(times) else picture
    return out


def _columns(count: int, size: tuple[int, int]) -> int:
    """Columns that make the whole about 3:2."""
    return max(1, min(count, round(math.sqrt(1.5 * count * size[1] / size[0]))))


def save_pixels(pixels: Pixels, path: str | PathLike[str]) -> None:
    """Writes a picture (`pixels`, (height, width, 3)) to a PNG file at `path`."""
    with writing(path) as temporary:
        temporary.write_bytes(png(pixels))


class _Shots:
    """A picture for each sample, made on demand."""

    def __init__(
        self, motion: Motion, size: tuple[int, int], camera: Camera | None, scene: Scene | None, follow: bool | None
    ) -> None:
        self.motion, self.size = motion, size
        self.frames = [frames_along(track.figure, track.q) for track in motion.tracks]
        self.chosen = np.unique(np.linspace(0, len(motion) - 1, min(len(motion), 60)).astype(int))
        self.clouds = [self._outline(int(k)) for k in self.chosen]
        self.scene = scene or Scene("floor", floor=self._floor())
        self.cameras = [camera] * len(motion) if camera else self._cameras(size[0] / size[1], follow)

    def __len__(self) -> int:
        return len(self.motion)

    def __iter__(self) -> Iterator[Pixels]:
        figures = [track.figure for track in self.motion.tracks]
        for k, camera in enumerate(self.cameras):
            stands = [X[k] for X in self.frames]
            ropes = [strand for n, X in enumerate(stands) for strand in self._strands(n, k, X)]
            yield image(figures, stands, scene=self.scene, camera=camera, size=self.size, strings=ropes)

    def _strands(self, n: int, k: int, X: Array) -> tuple[Strand, ...]:
        track = self.motion.tracks[n]
        return strands(track.figure, X, track.q[k], None if track.tension is None else track.tension[k])

    def _cameras(self, aspect: float, follow: bool | None) -> list[Camera]:
        """One camera that sees the whole motion; or, to follow a motion that goes far, one for each sample."""
        chosen, clouds = self.chosen, self.clouds
        low, high = np.array([cloud.min(0) for cloud in clouds]), np.array([cloud.max(0) for cloud in clouds])
        middles = (low + high) / 2
        if follow is None:
            follow = bool(np.max(np.ptp(middles[:, :2], axis=0)) > 1.5 * np.max(high - low))
        if not follow:
            return [clear_view(np.concatenate(clouds), middles, self.scene, aspect=aspect)] * len(self)
        middles[:, 2] = middles[:, 2].mean()
        near = np.concatenate([c - m for c, m in zip(clouds, middles, strict=True)])
        camera = clear_view(near, middles, self.scene, aspect=aspect, follow=True)
        path = np.stack([np.interp(np.arange(len(self)), chosen, middles[:, axis]) for axis in range(3)], 1)
        return [replace(camera, eye=vector(p + camera.eye), target=vector(p + camera.target)) for p in path]

    def _floor(self) -> float:
        """Height of the floor: zero, or the lowest point of a motion that goes well below zero."""
        heights = np.concatenate([cloud[:, 2] for cloud in self.clouds])
        lowest, tall = float(heights.min(initial=0.0)), float(np.ptp(heights)) if heights.size else 0.0
        return lowest if lowest < -0.1 * tall else 0.0

    def _outline(self, k: int) -> Array:
        return np.concatenate([outline(t.figure, X[k]) for t, X in zip(self.motion.tracks, self.frames, strict=True)])


def _with_progress(items: Any, total: int, text: str) -> Iterator[Any]:
    """Draws a bar if standard error is a terminal."""
    from rich.console import Console
    from rich.progress import track

    console = Console(stderr=True)
    yield from track(items, text, total, console=console, disable=not console.is_terminal)
