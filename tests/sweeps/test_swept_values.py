"""Values on the command line: lists, ranges, random ranges."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import BunrakuError, FileError
from bunraku.sweeps.swept_values import RandomRange, axis_of
from bunraku.sweeps.value_paths import text_of


def texts(values: object) -> list[str]:
    axis = axis_of("dt", values)
    assert isinstance(axis, tuple)
    return [text_of(node) for node in axis]


def test_lists() -> None:
    assert texts("0.5,1, 2") == ["0.5", "1", "2"]
    assert texts("5 ms,10ms") == ["5 ms", "10ms"]
    assert texts("[0, 0, 1],[1, 0, 0]") == ["[0, 0, 1]", "[1, 0, 0]"]
    assert texts("{theta: 1, x: 2}") == ["{theta: 1, x: 2}"]
    assert texts("est,sst") == ["est", "sst"]
    assert texts([1, 0.5, True, None, "3 cm"]) == ["1", "0.5", "true", "~", "3 cm"]
    assert texts(np.linspace(0, 1, 3)) == ["0", "0.5", "1"]
    assert texts(2) == ["2"]


def test_ranges() -> None:
    assert texts("1:5:3") == ["1.0", "3.0", "5.0"]
    assert texts("10cm:30 cm:2") == ["10.0 cm", "30.0 cm"]
    assert texts("5:20ms:4")[1] == "10.0 ms"
    assert [float(x) for x in texts("1e-3:1e-1:3:log")] == pytest.approx([1e-3, 1e-2, 1e-1], rel=1e-12)
    assert texts("-2:-1:2:log") == ["-2.0", "-1.0"]
    assert axis_of("dt", "1:5") == RandomRange(1.0, 5.0)
    assert axis_of("dt", "1cm:5cm:log") == RandomRange(1.0, 5.0, "cm", log=True)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("", "missing"), ("1,,2", "missing"), ("1:b:3", "not a range"), ("1:2:0", "not a range"), ("1:2:3:4", "not a range"),
        ("1cm:2mm:3", "one unit"), ("0:1:3:log", "logarithm"), ("1:2:x", "not a range"), (":", "not a range"),
    ],
)  # fmt: skip
def test_values_that_cannot_be_read(text: str, told: str) -> None:
    with pytest.raises(BunrakuError, match=told) as error:
        axis_of("dt", text)
    assert str(error.value).startswith("dt")


def test_broken_yaml_is_told_with_its_path() -> None:
    with pytest.raises(FileError, match="--over dt"):
        axis_of("dt", "[1, 2")


def test_no_values() -> None:
    with pytest.raises(BunrakuError, match="no values"):
        axis_of("dt", [])


@given(st.floats(-1e6, 1e6), st.floats(-1e6, 1e6), st.integers(2, 20))
def test_a_range_begins_and_ends_where_it_says(low: float, high: float, count: int) -> None:
    found = [float(x) for x in texts(f"{low!r}:{high!r}:{count}")]
    assert (found[0], found[-1], len(found)) == (low, high, count)
    assert np.allclose(np.diff(found), (high - low) / (count - 1), atol=1e-9 * (abs(low) + abs(high)))


@given(st.floats(0, 1), st.booleans())
def test_random_numbers_are_within_the_range(share: float, log: bool) -> None:
    assert 2.0 * (1 - 1e-12) <= RandomRange(2.0, 7.0, log=log).at(share) <= 7.0 * (1 + 1e-12)
