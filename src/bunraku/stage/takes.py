"""Takes: recordings of live entries, as motions that can be edited, with undo and redo, and kept on a shelf."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Protocol

import numpy as np

from bunraku.errors import MotionError
from bunraku.motion import Layer, Motion, Track, layered
from bunraku.stage.entry import Recorded, Series
from bunraku.stage.history import History
from bunraku.stage.live import Live, Sample


def recorded(live: Live, samples: Sequence[Sample]) -> Recorded:
    """The `samples` of a `live` entry as a motion that starts at t = 0; raises MotionError if there are fewer than two."""
    if len(samples) < 2:
        raise MotionError("the take is empty", advice="record for a longer time")
    names: dict[str, int] = {}
    tracks = []
    for k, figure in enumerate(live.figures):
        names[figure.name] = names.get(figure.name, 0) + 1
        copy = names[figure.name]
        tension = np.array([s.tension[k] for s in samples]) if samples[0].tension else None
        tracks.append(
            Track(
                figure, np.array([s.q[k] for s in samples]), tension=tension,
                name=figure.name if copy == 1 else f"{figure.name} {copy}",
                laid=tuple(s.laid[k] if s.laid else {} for s in samples),
            )
        )  # fmt: skip
    t = np.array([s.t for s in samples])
    values = np.array([s.series for s in samples])
    series = tuple(Series(name, unit, values[:, k]) for k, (name, unit) in enumerate(live.series))
    return Recorded(Motion(t - t[0], tuple(tracks)), live.scene, series=series)


def trimmed(piece: Recorded, start: float, stop: float) -> Recorded:
    """The part of a `piece` between the times `start` and `stop` [s]; it starts at t = 0. Raises MotionError if nothing is left."""
    motion = piece.motion
    rows = (motion.t >= start - 1e-9) & (motion.t <= stop + 1e-9)
    if rows.sum() < 2:
        raise MotionError(f"nothing is left between {start:g} s and {stop:g} s", advice=f"the take lasts {motion.duration:.3g} s")

    def cut(track: Track) -> Track:
        fields = {f: getattr(track, f)[rows] for f in ("q", "v", "tension", "contact") if getattr(track, f) is not None}
        laid = None if track.laid is None else tuple(track.laid[k] for k in np.flatnonzero(rows))
        return replace(track, laid=laid, **fields)

    zero = float(motion.t[rows][0])
    marks = tuple(replace(m, t=m.t - zero) for m in motion.marks if start <= m.t <= stop)
    return replace(
        piece, motion=Motion(motion.t[rows] - zero, tuple(cut(track) for track in motion.tracks), marks),
        series=tuple(replace(s, values=s.values[rows]) for s in piece.series),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class Version:
    """One state of a take: a recording, and layers of keys on top of it, the lowest first."""

    recording: Recorded
    layers: tuple[Layer, ...] = ()

    @cached_property
    def seen(self) -> Recorded:
        """The recording with its layers: what is shown and exported."""
        motion = layered(self.recording.motion, self.layers)
        if motion is self.recording.motion:
            return self.recording
        return replace(self.recording, motion=motion, series=())  # recorded energies are not those of the edited motion


class Shelf(Protocol):
    """Where takes are kept, by title, so that they outlive the stage. Each method raises BunrakuError if that fails."""

    def titles(self) -> list[str]:
        """The titles of all takes, oldest first."""

    def load(self, title: str) -> Version:
        """The take with this `title`."""

    def keep(self, title: str, version: Version) -> None:
        """Writes a `version`, in place of the take with the same `title` if there is one."""

    def rename(self, title: str, new: str) -> None:
        """Changes a `title` to a `new` one."""

    def remove(self, title: str) -> None:
        """Deletes the take with this `title`."""


class Take(History[Version]):
    """A take with its edit history. Of one that lies on a shelf, the oldest version is a function that loads it."""

    @property
    def piece(self) -> Recorded:
        """What the current version shows."""
        return self.version.seen
