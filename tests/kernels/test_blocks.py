"""Arrays in the frame of a function; operations on rows are tested with what uses them."""

import numpy as np

from bunraku.kernels.blocks import in_frame, lend
from bunraku.kernels.compile import inline, kernel

_numbers, _places, _flags = in_frame(np.float64, 12), in_frame(np.int64, 3), in_frame(np.bool_, 4)


@inline
def _backwards(x):
    """Σ k x[−1 − k] over the marked places, by way of arrays in the frame."""
    numbers, places, flags = lend(_numbers(), 4, (x.shape[0],)), _places(), _flags()
    for k in range(x.shape[0]):
        numbers[k], places[k], flags[k] = x[k], x.shape[0] - 1 - k, k != 1
    total = 0.0
    for k in range(x.shape[0]):
        total += k * numbers[places[k]] if flags[k] else 0.0
    return total


@kernel
def _often(x, n):
    """Each call of the inline takes the same place in the frame: a long loop must not use up the stack."""
    total = 0.0
    for _ in range(n):
        total += _backwards(x)
    return total


def test_arrays_in_the_frame_hold_what_is_written():
    assert _often(np.array([1.0, 10.0, 100.0]), 1) == 2.0
    assert _often(np.array([1.0, 10.0, 100.0]), 1_000) == 2_000.0


def test_a_long_loop_does_not_use_up_the_stack():
    assert _often(np.array([1.0, 10.0, 100.0]), 1_000_000 if hasattr(_often, "overloads") else 1_000) > 0.0
