from __future__ import annotations

import itertools

from bunraku.collision.meshes import load
from bunraku.ensemble.scenes import factory


def test_factory(tmp_path):
    scene = factory(tmp_path)
    surfaces = {obstacle.name: load(obstacle.geometry) for obstacle in scene.obstacles}
    assert {"drums", "low_pipes", "high_pipes", "beams", "balcony", "ventilation"} <= set(surfaces)
    assert sum(len(surface.faces) for surface in surfaces.values()) >= 90_000
    assert all(surface.solid for surface in surfaces.values())


def test_a_door(tmp_path):
    wall = factory(tmp_path, door=0.95).obstacle("wall")
    y = load(wall.geometry).vertices[:, 1]
    gap = sorted({round(float(v), 6) for v in y})
    assert any(abs(b - a - 0.95) < 1e-6 for a, b in itertools.pairwise(gap))
