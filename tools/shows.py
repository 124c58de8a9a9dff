"""Performs the shows that ship with bunraku: python tools/shows.py [NAME …]

What is kept has a sample every 0.04 s, enough to watch; `bunraku perform` makes the whole of it.
"""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np

from bunraku import Motion, save
from bunraku.choreography import load_script, perform
from bunraku.io.shipped import FOLDER_OF_ORDERS, found

EVERY = 2  # samples
DIGITS = 5


def small(motion: Motion) -> Motion:
    """Fewer samples and digits, so that the file is small."""
    tracks = [
        replace(
            track, q=np.round(track.q[::EVERY], DIGITS), v=None, energy=None, gap=None, tension=np.round(track.tension[::EVERY], 2)
        )
        for track in motion.tracks
        if track.tension is not None
    ]
    return Motion(np.round(motion.t[::EVERY], 6), tuple(tracks), motion.marks)


def main(names: list[str]) -> None:
    for name in names or ["the_meeting"]:
        made = perform(
            load_script(found(name)), progress=lambda word: print(f"\r{word.stage} {word.done:4.0%}", end="", flush=True)
        )
        print(f"\r{name}\n{made}")
        assert made.motion is not None
        save(small(made.motion), FOLDER_OF_ORDERS / f"{name}.npz")


if __name__ == "__main__":
    main(sys.argv[1:])
