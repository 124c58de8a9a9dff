"""Processes to compile kernels in."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import closing

import pytest

from tests.kernels.fresh import Forks


@pytest.fixture(scope="session")
def forks() -> Iterator[Forks]:
    if not hasattr(os, "fork"):
        pytest.skip("processes cannot be forked here")
    with closing(Forks()) as started:
        yield started
