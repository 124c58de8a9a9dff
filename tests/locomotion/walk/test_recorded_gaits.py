"""Walks beside those of eighteen people, all measured by `gait_judge`.

`recorded_gaits.npz` holds what it measured in 35 clips of the CMU motion-capture database (mocap.cs.cmu.edu): straight, even walks.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.figure import library
from bunraku.locomotion.walk import walk
from tests.locomotion.walk.gait_judge import Gait, gait


@pytest.fixture(scope="module")
def people() -> dict[str, np.ndarray]:
    with np.load(Path(__file__).parent / "recorded_gaits.npz") as arrays:
        return dict(arrays)


def walked(speed: float, folder: Path) -> Gait:
    """The gait of a straight walk of ten strides or so, from the BVH file of its motion."""
    end = 2.0 + 10.0 / speed
    t = np.arange(0.0, end, 1.0 / 75.0)
    v = speed * np.clip(np.minimum(t, end - t), 0.0, 1.0)
    x = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(t))])
    motion = walk(library.named("mannequin"), t, np.stack([x, 0.0 * x, 0.0 * x], 1)).motion
    bunraku.save(motion, folder / "walk.bvh")
    return gait(folder / "walk.bvh")


@pytest.mark.parametrize("speed", [0.7, 0.9, 1.1, 1.3, 1.5])
def test_hips_cadence_and_clearance_are_those_of_people(speed: float, people: dict[str, np.ndarray], tmp_path: Path) -> None:
    ours = walked(speed, tmp_path)
    assert ours.speed == pytest.approx(speed, rel=0.01)
    assert ours.strides >= 8
    alike = np.argsort(np.abs(people["speed"] - speed))[:12]
    assert np.sqrt(np.mean((ours.hip - people["hip"][alike].mean(axis=0)) ** 2)) < 8.0
    for name in ("cadence", "clearance"):
        found = people[name][alike]
        assert found.min() <= getattr(ours, name) <= found.max(), name
