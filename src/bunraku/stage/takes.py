"""Takes: recordings of live entries, as motions that can be trimmed, with undo and redo, and kept on a shelf."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

import numpy as np

from bunraku.errors import MotionError
from bunraku.motion import Motion, Track
from bunraku.stage.entry import Recorded, Series
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
        return replace(track, **fields)

    zero = float(motion.t[rows][0])
    marks = tuple(replace(m, t=m.t - zero) for m in motion.marks if start <= m.t <= stop)
    return replace(
        piece, motion=Motion(motion.t[rows] - zero, tuple(cut(track) for track in motion.tracks), marks),
        series=tuple(replace(s, values=s.values[rows]) for s in piece.series),
    )  # fmt: skip


class Shelf(Protocol):
    """Where takes are kept, by title, so that they outlive the stage. Each method raises BunrakuError if that fails."""

    def titles(self) -> list[str]:
        """The titles of all takes, oldest first."""

    def load(self, title: str) -> Recorded:
        """The take with this `title`."""

    def keep(self, title: str, piece: Recorded) -> None:
        """Writes a `piece`, in place of the take with the same `title` if there is one."""

    def rename(self, title: str, new: str) -> None:
        """Changes a `title` to a `new` one."""

    def remove(self, title: str) -> None:
        """Deletes the take with this `title`."""


class Take:
    """A recorded `piece` with its edit history; one that lies on a shelf may be a function that loads it."""

    def __init__(self, piece: Recorded | Callable[[], Recorded]) -> None:
        self._first = piece
        self._edits: list[Recorded] = []
        self._at = 0

    @property
    def piece(self) -> Recorded:
        """The current version."""
        if self._at > 0:
            return self._edits[self._at - 1]
        if callable(self._first):
            self._first = self._first()
        return self._first

    @property
    def can_undo(self) -> bool:
        """Whether there is an older version."""
        return self._at > 0

    @property
    def can_redo(self) -> bool:
        """Whether there is a newer version."""
        return self._at < len(self._edits)

    def trim(self, start: float, stop: float) -> None:
        """Keeps the part between `start` and `stop` [s]."""
        self._edits[self._at :] = [trimmed(self.piece, start, stop)]
        self._at += 1

    def undo(self) -> None:
        """Goes back one version."""
        self._at = max(self._at - 1, 0)

    def redo(self) -> None:
        """Goes forward one version."""
        self._at = min(self._at + 1, len(self._edits))
