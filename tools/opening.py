"""Computes the recordings of the opening show: python tools/opening.py [NAME …]

What is kept has a sample every 0.04 s or less often, enough to watch.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import replace

import numpy as np

from bunraku import Motion
from bunraku.motion.track import OPTIONAL_FIELDS
from bunraku.teleop.opening import carrying, climbing, control, planning
from bunraku.teleop.opening.recordings import Recording, keep

MAKERS: dict[str, Callable[[], Recording]] = {
    "wave": lambda: control.imitated("wave"),
    "walk": lambda: control.imitated("walk"),
    "swing_up": control.swung_up,
    "over_the_wall": planning.swung_over_the_wall,
    "living_room": lambda: carrying.carried("living_room", 151),
    "factory": lambda: carrying.carried("factory", 268),
    "up_the_wall": climbing.up_the_wall,
    "to_the_ceiling": climbing.to_the_ceiling,
}
SPACING, DIGITS = 0.04, 6


def small(motion: Motion) -> Motion:
    """Fewer samples and digits, so that the file is small."""
    every = max(int(SPACING / np.diff(motion.t).max() + 1e-9), 1)
    some = np.unique(np.append(np.arange(0, len(motion), every), len(motion) - 1))
    tracks = []
    for track in motion.tracks:
        values = {name: getattr(track, name) for name in ("q", *OPTIONAL_FIELDS)}
        tracks.append(replace(track, **{name: None if x is None else np.round(x[some], DIGITS) for name, x in values.items()}))
    return Motion(np.round(motion.t[some], DIGITS), tuple(tracks), motion.marks)


def main(names: list[str]) -> None:
    for name in names or MAKERS:
        print(name, flush=True)
        made = MAKERS[name]()
        reference = None if made.reference is None else small(made.reference)
        keep(name, replace(made, motion=small(made.motion), reference=reference))


if __name__ == "__main__":
    main(sys.argv[1:])
