"""Numbers of a motion by name: columns of the table of a sweep."""

from __future__ import annotations

import numpy as np

from bunraku.motion.motion import Motion


def motion_columns(motion: Motion) -> dict[str, float]:
    """Duration [s], samples, largest tension [N], energy at the end [J], slackenings, impacts and held steps of a `motion`.

    Tensions and energies are over all tracks that have them; without any, they are left out.
    """
    out: dict[str, float] = {"duration": motion.duration, "samples": len(motion)}
    tensions = [track.tension for track in motion.tracks if track.tension is not None and track.tension.size]
    if tensions:
        out |= {"tension_max": max(float(np.abs(one).max()) for one in tensions)}
        out |= {kind: sum(mark.kind == kind for mark in motion.marks) for kind in ("slack", "impact", "held")}
    energies = [track.energy for track in motion.tracks if track.energy is not None]
    if energies:
        out |= {"energy_end": sum(float(one[-1].sum()) for one in energies)}
        out |= {"kinetic_max": max(float(one[:, 0].max()) for one in energies)}
    return out
