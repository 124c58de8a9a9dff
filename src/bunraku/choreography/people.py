"""What a person does, as a piece that a puppet can play: imitated, simplified, exaggerated, on the spot, from rest to rest."""

from __future__ import annotations

from bunraku.choreography.puppet import Puppet
from bunraku.control.imitate import imitate
from bunraku.motion import Motion
from bunraku.spatial.rest_to_rest import eased

RATE = 25.0  # samples a second, as the library's
EASE = 0.8  # [s] from rest, and back to it


def played_by(puppet: Puppet, motion: Motion, *, exaggerate: float = 0.6, simplify: float = 1.5) -> Motion:
    """A person's motion for a puppet: what it does away from its first sample, in which the person should stand as the puppet
    hangs, times `exaggerate`, without what is faster than `simplify` [Hz]. Where the person went is left to the script.
    """
    wanted = imitate(
        motion, puppet.figure, exaggerate=exaggerate, simplify=simplify, dt=1.0 / RATE, start=puppet.rest, lead=EASE,
        trail=EASE,
    )  # fmt: skip
    q = wanted.q.copy()
    i, j = puppet.root[:2]
    away = q[:, [i, j]] - q[0, [i, j]]
    for pair in ((i, j), *puppet.spindles.tolist()):
        q[:, pair] -= away
    q += eased((wanted.t - wanted.t[-1] + EASE) / EASE)[:, None] * (q[0] - q[-1])
    return Motion.of(puppet.figure, wanted.t, q)
