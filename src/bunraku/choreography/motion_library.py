"""The motions that come with bunraku, by figure; tools/motions.py makes them.

A file holds, for each piece, samples of all variables from rest to rest at 25 Hz, and its other fields in JSON.
"""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.choreography.puppet import Puppet
from bunraku.choreography.repertoire import MotionPiece, Repertoire
from bunraku.figure import Figure
from bunraku.motion import Motion
from bunraku.writing import writing

Array = NDArray[np.float64]
MOTION_FOLDER = Path(__file__).parent / "motions"
SAMPLE_RATE = 25.0  # samples per second of a piece of the library


def save_pieces(path: str | os.PathLike[str], pieces: Mapping[str, MotionPiece]) -> None:
    """Writes `pieces` of one figure, by name, to the file `path`."""
    kept = ("parts", "loop", "travels", "text", "turns", "loose")
    words = {name: {word: getattr(piece, word) for word in kept} for name, piece in pieces.items()}
    arrays: dict[str, Any] = {f"piece {name}": piece.motion.q.astype(np.float32) for name, piece in pieces.items()}
    arrays |= {f"way {name}": piece.way for name, piece in pieces.items() if piece.way is not None}
    arrays["words"] = np.frombuffer(json.dumps(words).encode(), np.uint8)
    arrays["rest"] = next(iter(pieces.values())).motion.q[0]
    with writing(path) as temporary, Path(temporary).open("wb") as file:
        np.savez_compressed(file, **arrays)


@functools.cache
def _file(name: str) -> tuple[Array, dict[str, Any], dict[str, Array], dict[str, Array]] | None:
    path = MOTION_FOLDER / f"{name}.npz"
    if not path.is_file():
        return None
    with np.load(path) as found:
        words = json.loads(found["words"].tobytes())
        ways = {key: found[f"way {key}"].astype(float) for key in words if f"way {key}" in found}
        return found["rest"].astype(float), words, {key: found[f"piece {key}"].astype(float) for key in words}, ways


def repertoire_of(figure: Figure) -> Repertoire:
    """The motions of the library for this `figure`; an empty repertoire if it has none.

    Raises BunrakuError if the figure is not a marionette.
    """
    found = _file(figure.name)
    if found is None or len(found[0]) != figure.n_q:
        return Repertoire(Puppet.hanging(figure), {})
    rest, words, samples, ways = found
    pieces = {}
    for name, q in samples.items():
        own = words[name]
        motion = Motion.of(figure, np.arange(len(q)) / SAMPLE_RATE, q)
        loop = tuple(own["loop"]) if own["loop"] else None
        pieces[name] = MotionPiece(name, motion, **own | {"parts": tuple(own["parts"]), "loop": loop}, way=ways.get(name))
    return Repertoire(Puppet(figure, rest), pieces)
