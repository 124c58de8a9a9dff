"""Requests for moves, and two ways to have them answered: at once, or beside the loop while it plays on.

A loop that must never wait plans beside: it asks for the next move early, plays the old one on, and takes the answer when it is
told that it is there. Which tick that is depends on the machine; whoever records it can replay the motion exactly.
"""

from __future__ import annotations

import pickle
from concurrent.futures import Executor, Future
from dataclasses import dataclass, replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.cleanup import TemporaryFolder
from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guided_move import GuidedMove
from bunraku.locomotion.guide.navigation_points import Points
from bunraku.locomotion.guide.performer import Performer

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class PlanRequest:
    """A move that is wanted: after the move `after`, or in place of the rest of it from tick `at` on."""

    command: Command
    points: Points
    """Where it begins, if it comes after a move."""
    before: Array
    """The samples (look_back, n_q) up to where it begins."""
    after: GuidedMove | None = None
    """The move before it; None for the first."""
    at: int | None = None
    """The tick of that move at which it takes over; None: at its end."""
    onward: bool = False
    """Whether steps may follow each other without coming to rest between them."""

    def answered(self, performer: Performer) -> GuidedMove | None:
        """The move that a `performer` plans, with the efforts of its motors; None if none can take over there."""
        if self.after is None or self.at is None:
            stop = None if self.after is None else self.after.stop
            done: GuidedMove | None = performer.next(self.points, self.command, self.before, onward=self.onward, stop=stop)
        else:
            done = performer.redirect(self.after, self.at, self.command, onward=self.onward)
        if done is None:
            return None
        judge, stop = performer.judge, done.stop
        if stop is not None:
            stop = replace(stop, efforts=judge.efforts(stop, done.q[-len(self.before) :]))
        return replace(done, efforts=judge.efforts(done, self.before), stop=stop)


class PlanAtOnce:
    """Answers within the call: the loop waits."""

    ahead = False
    """Whether requests are made ahead of time, because answers take time."""

    def __init__(self, performer: Performer) -> None:
        """Plans with a `performer`."""
        self.performer = performer
        self._request: PlanRequest | None = None

    def ask(self, request: PlanRequest) -> None:
        """Asks for a move; only one `request` at a time."""
        self._request = request

    @property
    def ready(self) -> bool:
        """Whether an answer can be taken without waiting."""
        return self._request is not None

    def take(self) -> GuidedMove | None:
        """The answer to the last request."""
        assert self._request is not None
        request, self._request = self._request, None
        return request.answered(self.performer)


class PlanBeside(PlanAtOnce):
    """Answers while the loop plays on. An answer counts as ready when `tell` is called, so that this moment can be recorded."""

    ahead = True

    def __init__(self, performer: Performer, executor: Executor | None = None) -> None:
        """Plans with a `performer` in the processes of an `executor`; None plans when the answer is taken, for replays."""
        super().__init__(performer)
        self._executor, self._told = executor, False
        self._future: Future[Any] | None = None
        self.count = 0
        """How many requests were made."""
        if executor is not None:
            self._folder = TemporaryFolder()  # processes may be replaced: each reads the performer from there, once
            self._file, guide = Path(self._folder.name) / "performer.pickle", performer.guide
            self._file.write_bytes(pickle.dumps((replace(guide, humanoid=replace(guide.humanoid)), performer.options)))

    def reset(self) -> None:
        """Forgets all requests."""
        self._request, self._future, self._told, self.count = None, None, False, 0

    def ask(self, request: PlanRequest) -> None:
        """Asks for a move; only one `request` at a time."""
        super().ask(request)
        self.count, self._told = self.count + 1, False
        if self._executor is not None:
            self._future = self._executor.submit(_answered, self._file, request)

    @property
    def awaiting(self) -> bool:
        """Whether a request is not answered yet."""
        return self._future is not None and not self._future.done()

    @property
    def arrived(self) -> bool:
        """Whether the answer is here and nobody was told yet."""
        return not self._told and self._future is not None and self._future.done()

    def tell(self, number: int) -> None:
        """From now on the answer to the request `number` (from 1) is ready; if it is not here yet, taking it waits."""
        self._told = self._told or (number == self.count and self._request is not None)

    @property
    def ready(self) -> bool:
        """Whether it was told that an answer is ready."""
        return self._told

    def take(self) -> GuidedMove | None:
        """The answer to the last request. Raises BunrakuError if planning failed."""
        self._told = False
        if self._future is None:
            return super().take()
        self._request, future, self._future = None, self._future, None
        try:
            found: GuidedMove | None = future.result()
        except Exception as problem:
            raise BunrakuError(f"planning failed: {problem}") from problem
        return found


def _answered(file: Path, request: PlanRequest) -> GuidedMove | None:
    return request.answered(_performer(file))


@lru_cache(4)
def _performer(file: Path) -> Performer:
    guide, options = pickle.loads(file.read_bytes())
    return Performer(guide, options)
