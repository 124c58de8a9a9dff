"""Contact sheets of the motions of a puppet, without their names: python tools/contact_sheets.py FIGURE FOLDER SEED

Each sheet has ten moments of one motion, seen from the front (above) and from its right side (below). FOLDER gets
sheet_01.png …, names.txt (the names in alphabetical order), and beside it
FOLDER_key.txt, which says which sheet shows which motion.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku import library
from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.repertoire import Repertoire
from bunraku.figure import Figure
from bunraku.kinematics import frames_along
from bunraku.render.camera import Camera
from bunraku.render.image import image, outline
from bunraku.render.png import png

Array = NDArray[np.float64]
MOMENTS, SIZE = 10, (230, 330)


def played(known: Repertoire, name: str) -> Array:
    """The samples of a motion where its steps lead: a walk goes ahead, a turn goes round."""
    piece = known[name]
    way = np.zeros(len(piece.motion)) if piece.way is None else piece.way
    none = np.zeros_like(way)
    turns = name == "turn"
    return known.puppet.placed(piece.motion.q, none, none if turns else way - way[-1] / 2, way if turns else none)


def sheet(figure: Figure, q: Array) -> Array:
    """The picture of a motion."""
    some = np.linspace(0, len(q) - 1, MOMENTS + 2).round().astype(int)[1:-1]
    X = frames_along(figure, np.ascontiguousarray(q[some]))
    body = np.concatenate([outline(figure, x) for x in X])
    body = body[body[:, 2] < 2.2]  # without the spindles
    low, high = np.minimum(body.min(0), (-0.4, -0.4, 0.0)), np.maximum(body.max(0), (0.4, 0.4, 1.75))
    box = np.array([(x, y, z) for x in (low[0], high[0]) for y in (low[1], high[1]) for z in (low[2], high[2])])
    rows = []
    for azimuth in (np.pi / 2, 0.0):
        camera = Camera.around(box, azimuth=azimuth, elevation=0.06, aspect=SIZE[0] / SIZE[1], margin=1.0)
        rows.append(np.concatenate([image(figure, x, size=SIZE, camera=camera) for x in X], 1))
    return np.concatenate(rows, 0)


def main(name: str, folder: str, seed: str) -> None:
    known = repertoire_of(library.named(name))
    out = Path(folder)
    out.mkdir(parents=True, exist_ok=True)
    order = np.random.default_rng(int(seed)).permutation(sorted(known.pieces))
    (out / "names.txt").write_text("\n".join(sorted(known.pieces)) + "\n")
    out.with_name(out.name + "_key.txt").write_text("".join(f"{k + 1:02d} {motion}\n" for k, motion in enumerate(order)))
    for k, motion in enumerate(order):
        (out / f"sheet_{k + 1:02d}.png").write_bytes(png(sheet(known.puppet.figure, played(known, motion))))


if __name__ == "__main__":
    main(*sys.argv[1:])
