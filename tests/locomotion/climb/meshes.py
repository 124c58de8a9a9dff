"""Meshes to climb, made from seeds: for each, the triangles, where a climb starts, and where it should end [m].

python -m tests.locomotion.climb.meshes              # climbs and judges all, one after the other
python -m tests.locomotion.climb.meshes rubble 7     # one of them, made from this seed
"""

from __future__ import annotations

import math
import sys
import tempfile
import time
from pathlib import Path

import numpy as np


def at(x, y, z, turn=None):
    """A pose at (x, y, z), after turning by an angle about an axis."""
    import trimesh

    X = trimesh.transformations.translation_matrix((x, y, z))
    return X if turn is None else X @ trimesh.transformations.rotation_matrix(*turn)


def slab(x, y, middle=(0.0, 0.0)):
    """A floor of 20 cm, its upper side at z = 0, of small triangles: pictures leave out those that reach behind the camera."""
    import trimesh

    return trimesh.creation.box((x, y, 0.2), transform=at(*middle, -0.1)).subdivide().subdivide().subdivide()


def boulder(rng):
    """A boulder of about 70 cm on a floor, from the floor to its top."""
    import trimesh

    ball = trimesh.creation.icosphere(4, 1.0)
    n = ball.vertices / np.linalg.norm(ball.vertices, axis=1)[:, None]
    bumps = sum(np.sin(n @ rng.normal(0, 2.5, 3) + rng.uniform(0, 2 * np.pi)) for _ in range(12)) / math.sqrt(12)
    ball.vertices = 0.35 * n * (1 + 0.12 * bumps)[:, None] + [0, 0, 0.21]
    side = rng.uniform(0, 2 * np.pi)
    return [slab(1.7, 1.7), ball], (0.6 * math.cos(side), 0.6 * math.sin(side), 0.0), (0.0, 0.0, 0.6)


def pillar(rng):
    """A round pillar on a floor, half way around it and up."""
    import trimesh

    radius, side = rng.uniform(0.12, 0.2), rng.uniform(0.5, 2.0)
    tube = trimesh.creation.cylinder(radius, 1.1, sections=64, transform=at(0.0, 0.0, 0.5))
    goal = (radius * math.cos(side), radius * math.sin(side), 0.45)
    return [slab(1.4, 1.4), tube], (radius + 0.25, 0.0, 0.0), goal


def pipe(rng):
    """Inside a lying pipe, from its bottom along a helix to its side or its ceiling."""
    import trimesh

    radius, up = rng.uniform(0.2, 0.3), rng.uniform(1.2, 2.8)
    tube = trimesh.creation.annulus(radius, radius + 0.05, 1.6, sections=96, transform=at(0, 0, 0, (math.pi / 2, (0, 1, 0))))
    return [tube], (-0.3, 0.0, -radius), (0.35, radius * math.sin(up), -radius * math.cos(up))


def roof(rng):
    """A gabled roof, over its ridge at an angle."""
    import trimesh

    pitch, way = math.radians(rng.uniform(20, 40)), math.radians(rng.uniform(25, 50))
    half = 0.5
    rise = half * math.tan(pitch)
    outline = np.array([[-half, 0.0], [half, 0.0], [half, 0.3], [0.0, 0.3 + rise], [-half, 0.3]])
    corners = [(x, y, z) for x in (-0.8, 0.8) for y, z in outline]
    fan = [(0, k + 1, k) for k in range(1, 4)] + [(5, 5 + k, 6 + k) for k in range(1, 4)]
    sides = [(k, (k + 1) % 5, 5 + k) for k in range(5)] + [((k + 1) % 5, 5 + (k + 1) % 5, 5 + k) for k in range(5)]
    house = trimesh.Trimesh(corners, fan + sides, process=False)
    house.fix_normals()
    y = 0.25
    x = y / math.tan(math.pi / 2 - way)
    z = 0.3 + rise * (1 - y / half)
    return [house], (-x, -y, z), (x, y, z)


def rubble(rng):
    """Blocks of 8 to 20 cm that stick out of a floor by up to 4 cm, at all angles."""
    import trimesh

    blocks = []
    for x in np.arange(-0.35, 0.36, 0.14):
        for y in np.arange(-0.28, 0.29, 0.14):
            size = rng.uniform(0.08, 0.2, 3)
            turn = rng.uniform(0, 0.35), rng.normal(size=3)
            block = trimesh.creation.box(size, transform=at(x + rng.uniform(-0.03, 0.03), y + rng.uniform(-0.03, 0.03), 0, turn))
            block.apply_translation((0, 0, rng.uniform(0.0, 0.04) - block.vertices[:, 2].max()))
            blocks.append(block)
    parts = [slab(1.6, 1.0), *blocks]
    return parts, on_top(parts, -0.45, 0.0), on_top(parts, 0.4, 0.05)


def on_top(parts, x, y):
    """The highest place over (x, y)."""
    a, b, c = np.moveaxis(np.concatenate([part.triangles for part in parts]), 1, 0)
    area = (b[:, 0] - a[:, 0]) * (c[:, 1] - a[:, 1]) - (b[:, 1] - a[:, 1]) * (c[:, 0] - a[:, 0])
    a, b, c, area = (v[np.abs(area) > 1e-12] for v in (a, b, c, area))
    u = ((x - a[:, 0]) * (c[:, 1] - a[:, 1]) - (y - a[:, 1]) * (c[:, 0] - a[:, 0])) / area
    v = ((b[:, 0] - a[:, 0]) * (y - a[:, 1]) - (b[:, 1] - a[:, 1]) * (x - a[:, 0])) / area
    hit = (u >= 0) & (v >= 0) & (u + v <= 1)
    return x, y, float((a + u[:, None] * (b - a) + v[:, None] * (c - a))[hit, 2].max())


def slot(rng):
    """A goal between two walls that are too close together."""
    import trimesh

    walls = [trimesh.creation.box((0.6, 0.3, 0.8), transform=at(0.5, y, 0.3)) for y in (-0.185, 0.185)]
    return [slab(1.6, 1.0), *walls], (-0.25, 0.0, 0.0), (0.5, 0.0, 0.0)


def buried(rng):
    """A goal on a floor, under a block that stands on it."""
    import trimesh

    return [slab(1.6, 1.0), trimesh.creation.box((0.2, 0.2, 0.3), transform=at(0.4, 0.0, 0.05))], (-0.3, 0.0, 0.0), (0.4, 0.0, 0.0)


def islands(rng):
    """Two floors with a gap of 40 cm between them."""
    return [slab(0.8, 0.8, (-0.6, 0.0)), slab(0.8, 0.8, (0.6, 0.0))], (-0.5, 0.0, 0.0), (0.6, 0.0, 0.0)


def pole(rng, radius=0.02):
    """A pole of 4 cm on a floor, up to its middle."""
    import trimesh

    stick = trimesh.creation.cylinder(radius, 1.2, sections=32, transform=at(0.4, 0.0, 0.5))
    return [slab(1.4, 1.0), stick], (0.1, 0.0, 0.0), (0.4 - radius, 0.0, 0.6)


def rod(rng):
    """A rod of 1 cm on a floor, up to its middle."""
    return pole(rng, 0.005)


CLIMBED = {"boulder": boulder, "pillar": pillar, "pipe": pipe, "roof": roof, "rubble": rubble}
IMPOSSIBLE = {"slot": slot, "islands": islands, "buried": buried, "pole": pole, "rod": rod}


def surface_path(name, folder, seed=1):
    """The path over a mesh of this name, which is written into a folder."""
    import trimesh

    from bunraku.figure.shape import Mesh
    from bunraku.locomotion.climb.surface_course import SurfacePath

    parts, start, goal = (CLIMBED | IMPOSSIBLE)[name](np.random.default_rng(seed))
    mesh = trimesh.util.concatenate(parts)
    assert mesh.is_watertight
    assert mesh.is_winding_consistent
    assert mesh.volume > 0
    file = Path(folder) / f"{name}{seed}.obj"
    mesh.export(file)
    return SurfacePath(Mesh(str(file)), start, goal)


def main(words):
    import bunraku
    from bunraku.locomotion.climb.climb import climb
    from tests.locomotion.climb.judge import judge, row_of, told
    from tests.locomotion.climb.paths import paper_of

    names, seed = words[:1] or [*CLIMBED, *IMPOSSIBLE], int(words[1]) if len(words) > 1 else 1
    folder, rows = words[2] if len(words) > 2 else tempfile.mkdtemp(), []
    for name in names:
        start = time.process_time()
        done = climb(surface_path(name, folder, seed))
        seconds = time.process_time() - start
        bunraku.save(done.motion, f"{folder}/{name}{seed}.png", scene=done.scene)
        if not done.outcome.ok:
            print(f"== {name} {seed}: {done.outcome}\n   {seconds:.1f} s, {done.where:.3f} m", flush=True)
            continue
        verdict = judge(done, paper=paper_of(done), parts=1)
        told(f"{name} {seed}", done, verdict, seconds)
        gap = max(map(float, done.course.gaps), default=0.0)
        print(f"   {done.course.length:.2f} m, largest gap under a sole {1e3 * gap:.2f} mm", flush=True)
        rows.append(row_of(f"{name} {seed}", done, verdict))
    print("\n".join(rows))


if __name__ == "__main__":
    main(sys.argv[1:])
