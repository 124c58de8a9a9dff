"""Random numbers inside kernels: xorshift, with its state in an array, so that a search can be interrupted and resumed."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.kernels.compile import inline


def dice(seed: int, *, stream: int = 0) -> NDArray[np.uint64]:
    """The initial state for a `seed`; states of one seed with different values of `stream` are independent."""
    whole(seed)
    return np.array(np.random.SeedSequence((seed, stream)).generate_state(1, np.uint64) | np.uint64(1))


def whole(seed: int) -> int:
    """The seed; raises BunrakuError if it is not a whole number of zero or more."""
    if seed < 0 or seed != int(seed):
        raise BunrakuError(f"a seed of {seed} is not possible\n  advice: give a whole number, zero or more")
    return int(seed)


@inline
def uniform(state):
    """A random number from 0 (included) to 1 (excluded)."""
    x = state[0]
    x ^= x >> np.uint64(12)
    x ^= x << np.uint64(25)
    x ^= x >> np.uint64(27)
    state[0] = x
    return float((x * np.uint64(2685821657736338717)) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@inline
def below(state, n):
    """A random whole number from 0 to n − 1."""
    return min(int(uniform(state) * n), n - 1)


@inline
def normal(state):
    """A normally distributed random number with mean 0 and standard deviation 1."""
    return math.sqrt(-2.0 * math.log(1.0 - uniform(state))) * math.cos(2.0 * math.pi * uniform(state))
