"""What a step knows of the contacts of the last one: their impulses, as a first guess, and the speeds at which they met."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import bare


class Memory(NamedTuple):
    """Contacts of the last step, in a table of hashes. All of it is kept between calls."""

    slots: Any
    """(a power of two,) the contact in each place of the table; −1: none."""
    key: Any
    """(capacity, 4) as in Contacts."""
    rows: Any
    """(capacity,) how many rows each has."""
    impulse: Any
    """(capacity, 5) of its rows [N·s]."""
    acts: Any
    """(capacity,) 0 open, 1 sticks, 2 slides."""
    speed: Any
    """(capacity,) with which it should leave [m/s]."""
    number: Any
    """(1,) contacts."""


def fresh_memory(capacity: int) -> Memory:
    """Room for `capacity` contacts, none of them known."""
    size = 1 << int(np.ceil(np.log2(2 * capacity)))
    return Memory(
        np.full(size, -1, np.int64), np.zeros((capacity, 4), np.int64), np.zeros(capacity, np.int64), np.zeros((capacity, 5)),
        np.zeros(capacity, np.int64), np.zeros(capacity), np.zeros(1, np.int64),
    )  # fmt: skip


@bare
def _place(key, k, mask):
    a, b, c, d = key[k, 0], key[k, 1], key[k, 2], key[k, 3]
    x = a * 73856093 ^ b * 19349663 ^ c * 83492791 ^ d * 49979687
    return (x ^ (x >> 15)) & mask


@bare
def recall(m, key, k):
    """The contact of the last step with the same key as contact k, or −1."""
    mask = m.slots.shape[0] - 1
    at = _place(key, k, mask)
    while m.slots[at] >= 0:
        old = m.slots[at]
        if key[k, 0] == m.key[old, 0] and key[k, 1] == m.key[old, 1] and key[k, 2] == m.key[old, 2] and key[k, 3] == m.key[old, 3]:
            return old
        at = (at + 1) & mask
    return -1


@bare
def remember(m, t, lam, alive, slides, speed):
    """Forgets the last step, and keeps the contacts `t` of this one."""
    for s in range(m.slots.shape[0]):
        m.slots[s] = -1
    mask = m.slots.shape[0] - 1
    count = min(t.number[0], m.key.shape[0])
    m.number[0] = count
    for k in range(count):
        first = t.head[k]
        for i in range(4):
            m.key[k, i] = t.key[k, i]
        m.rows[k] = t.head[k + 1] - first
        for i in range(m.rows[k]):
            m.impulse[k, i] = lam[first + i]
        m.acts[k] = 0
        if alive[first]:
            m.acts[k] = 2 if m.rows[k] > 1 and slides[first + 1] else 1
        m.speed[k] = speed[k]
        at = _place(m.key, k, mask)
        while m.slots[at] >= 0:
            at = (at + 1) & mask
        m.slots[at] = k
