"""Adapts a person's motion to a puppet: imitated, low-pass filtered, scaled, in place, from rest to rest."""

from __future__ import annotations

from bunraku.choreography.motion_library import SAMPLE_RATE
from bunraku.choreography.puppet import Puppet
from bunraku.control.imitate import imitate
from bunraku.motion import Motion
from bunraku.spatial.rest_to_rest import eased


def played_by(puppet: Puppet, motion: Motion, *, exaggerate: float = 0.6, simplify: float = 1.5, ease: float = 0.8) -> Motion:
    """A person's `motion` for a `puppet`. In its first sample the person should stand roughly as the puppet hangs.

    exaggerate: factor on the deviation from the first sample.
    simplify: frequencies above this are filtered out [Hz].
    ease: duration of the transition from the puppet's rest into the motion, and back [s].

    The puppet stays in place; the script decides where it goes. Raises BunrakuError if the person cannot be imitated.
    """
    wanted = imitate(
        motion, puppet.figure, exaggerate=exaggerate, simplify=simplify, dt=1.0 / SAMPLE_RATE, start=puppet.rest, lead=ease,
        trail=ease,
    )  # fmt: skip
    q = wanted.q.copy()
    i, j = puppet.root[:2]
    away = q[:, [i, j]] - q[0, [i, j]]
    for pair in ((i, j), *puppet.spindles.tolist()):
        q[:, pair] -= away
    q += eased((wanted.t - wanted.t[-1] + ease) / ease)[:, None] * (q[0] - q[-1])
    return Motion.of(puppet.figure, wanted.t, q)
