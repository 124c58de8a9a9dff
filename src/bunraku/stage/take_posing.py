"""A limb of a paused take, dragged by hand: inverse kinematics from the pose that the page shows."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.stage.entry import Recorded
from bunraku.stage.hand_commands import BadCommand, Pull, from_plain
from bunraku.stage.messages import PoseAnswerJson
from bunraku.stage.posing import Posing
from bunraku.stage.wire import CloseCode, Refusal

Array = NDArray[np.float64]


class TakePosing:
    """Poses figures of takes. Feet on the floor stay there, and joints keep their limits.

    iterations: steps toward the hand in each answer; the next answer goes on from there
    speed: maximum speed of the hand [m/s]
    """

    def __init__(self, *, iterations: int = 5, speed: float = 60.0) -> None:
        self.iterations, self.speed = iterations, speed
        self._posing: Posing | None = None
        self._lock = threading.Lock()

    def posed(self, piece: Recorded, wish: Mapping[str, Any]) -> PoseAnswerJson:
        """The answer to the `wish` of a page, PoseWishJson, for a `piece`. Raises Refusal if it is malformed."""
        match wish:
            case {"track": int(track), "q": list(values), "frame": str(frame), "at": list(at), "to": list(to), **rest} if not rest:
                pull = _pull(frame, at, to)
                if 0 <= track < len(piece.motion.tracks):
                    figure = piece.motion.tracks[track].figure
                    q = _configuration(values, figure.n_q)
                    with self._lock:
                        if self._posing is None or self._posing.figure is not figure:
                            self._posing = Posing(figure, piece.scene, speed=self.speed)
                        return {"q": [float(x) for x in self._follow(self._posing, q, pull)]}
        raise Refusal(CloseCode.MALFORMED, "a pose is track, q, frame, at, to")

    def _follow(self, posing: Posing, q: Array, pull: Pull) -> Array:
        posing.start = q
        posing.reset()
        posing.apply(pull)
        for _ in range(self.iterations):
            q = posing.step().q[0]
        return q


def _pull(frame: str, at: list[Any], to: list[Any]) -> Pull:
    try:
        pull = from_plain({"type": "pull", "figure": 0, "part": "body", "name": frame, "to": to, "at": at})
    except BadCommand as problem:
        raise Refusal(CloseCode.MALFORMED, str(problem)) from None
    assert isinstance(pull, Pull)
    return pull


def _configuration(values: list[Any], n_q: int) -> Array:
    fits = len(values) == n_q and all(isinstance(x, int | float) and not isinstance(x, bool) for x in values)
    q = np.array(values, float) if fits else np.empty(0)
    if not fits or not np.isfinite(q).all() or np.abs(q).max(initial=0.0) > 1e6:
        raise Refusal(CloseCode.MALFORMED, f"q has {n_q} finite numbers")
    return q
