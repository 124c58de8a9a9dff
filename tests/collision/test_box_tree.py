"""Trees of boxes: whether a box is near a segment, against scipy's minimum."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize_scalar

from bunraku.collision.box_tree import may_be_nearer
from bunraku.kernels.compile import kernel

numbers = st.floats(-3.0, 3.0)
points = st.tuples(numbers, numbers, numbers)


@kernel
def asked(boxes, a, way, square):  # type: ignore[no-untyped-def]
    return may_be_nearer(boxes, 0, (a[0], a[1], a[2]), (way[0], way[1], way[2]), square)


@given(low=points, size=points, a=points, way=points, share=st.floats(0.0, 2.0))
def test_a_box_is_left_out_only_if_it_is_too_far(low, size, a, way, share):  # type: ignore[no-untyped-def]
    box = np.concatenate([low, np.add(low, np.abs(size))])

    def square(t: float) -> float:
        x = np.add(a, np.multiply(t, way))
        return float(np.sum((x - np.clip(x, box[:3], box[3:])) ** 2))

    ends = min(square(0.0), square(1.0))
    least = min(ends, minimize_scalar(square, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12}).fun)
    bound = share * (least + 0.1)
    near = asked(box[None], np.array(a), np.array(way), bound)
    if least < bound * (1.0 - 1e-9):
        assert near
    elif least > bound * (1.0 + 1e-6) + 1e-12:
        assert not near
