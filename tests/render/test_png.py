"""PNG files: another program reads the same picture, and its time."""

from __future__ import annotations

import io

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from bunraku.render.png import png, with_time


@settings(max_examples=30, deadline=None)
@given(height=st.integers(1, 40), width=st.integers(1, 40), seed=st.integers(0, 2**32 - 1))
def test_another_program_reads_the_same_picture(height: int, width: int, seed: int) -> None:
    pixels = np.random.default_rng(seed).integers(0, 256, (height, width, 3), np.uint8)
    with Image.open(io.BytesIO(png(pixels))) as picture:
        assert picture.mode == "RGB"
        assert np.array_equal(np.asarray(picture), pixels)


def test_a_time_is_written_in_its_corner_and_the_picture_is_left_alone() -> None:
    white = np.full((240, 320, 3), 255, np.uint8)
    seen = {text: with_time(white, text) for text in (0.12, 3.45, 6.78, 9.01)}
    assert (white == 255).all()
    for one in seen.values():
        inked = np.argwhere(one[..., 0] < 128)
        assert len(inked) > 40
        assert inked.max(0)[0] < 24
        assert inked.max(0)[1] < 80
    assert len({one.tobytes() for one in seen.values()}) == len(seen)


def test_a_picture_too_small_for_it_is_no_error() -> None:
    assert with_time(np.zeros((4, 5, 3), np.uint8), 1.0).shape == (4, 5, 3)
