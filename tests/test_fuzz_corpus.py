"""What fuzzing has found stays mended: every target takes every file of the small corpus in tests/fuzz, and all its seeds."""

from __future__ import annotations

import pytest

from bunraku.io import LOADERS
from fuzz.targets import TARGETS, seeds


@pytest.mark.parametrize("name", TARGETS)
def test_seeds_and_finds_are_answered(name: str) -> None:
    if name == "mjcf":
        pytest.importorskip("mujoco")
    for seed in seeds(name):
        TARGETS[name](seed)  # a BunrakuError is an answer; anything else fails here
        TARGETS[name](seed[: len(seed) // 2])


def test_every_loader_is_fuzzed() -> None:
    same = {".yml": "yaml", ".xml": "mjcf", ".glb": "gltf", ".usd": "usda", ".usdc": "usda"}
    assert {same.get(suffix, suffix[1:]) for suffix in LOADERS} <= set(TARGETS)
