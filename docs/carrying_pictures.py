"""Makes the picture of the page on carrying: a person with a slab passes under the factory's balcony.

python docs/carrying_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.render.camera import Camera
from bunraku.render.video import sheet
from bunraku.verbs.carry.plot import still

HERE = Path(__file__).parent


def main() -> None:
    errand = load_errand("factory")
    done = carry(errand, seed=1)
    assert done.motion is not None
    assert done.tuned is not None
    (change,) = done.tuned.changes
    # Only what the person passes: pipes and drums in front would hide it.
    scene = errand.scene.replace(obstacles=tuple(o for o in errand.scene.obstacles if o.name in ("balcony", "ventilation")))
    pictures, times = [], []
    for k in (change.first, (2 * change.first + change.last) // 3, (change.first + 2 * change.last) // 3, change.last):
        x, y = done.motion.track("person").q[k, :2]
        camera = Camera.around(
            np.array([[x - 0.5, y, 0.0], [x + 1.5, y, 1.95]]), azimuth=-1.45, elevation=0.03, aspect=0.95, margin=1.05
        )  # fmt: skip
        pictures.append(still(done.motion, scene, k, camera=camera, size=(570, 600)))
        times.append(done.motion.t[k])
    Image.fromarray(sheet(pictures, 4, times, digits=1)).resize((1600, 425), Image.Resampling.LANCZOS).point(
        lambda level: level & 0xFE
    ).save(HERE / "_static" / "carrying_balcony.png", optimize=True)


def scenes() -> None:
    """The piano over the desk, the beam on the ramp."""
    pictures = []
    for name, share, size in (("living_room", 0.55, (1.9, 1.3)), ("ramp", 0.6, (2.4, 1.7))):
        errand = load_errand(name)
        done = carry(errand, seed=0)
        assert done.motion is not None
        q = done.motion.track("object").q
        k = int(np.argmax(q[:, 2])) if name == "living_room" else int(share * len(q))
        x, y, z = q[k, :3]
        around = np.array([[x - size[0], y - size[1], z - 1.0], [x + size[0], y + size[1], z + 0.6]])
        camera = Camera.around(around, azimuth=-1.1, elevation=0.4, aspect=1.33, margin=1.0)
        pictures.append(still(done.motion, errand.scene, k, camera=camera, size=(800, 600)))
    Image.fromarray(sheet(pictures, 2)).save(HERE / "_static" / "carrying_scenes.png", optimize=True)


def people() -> None:
    """Two people and two robots with a table: before the ramp, on it, and as they turn on the platform."""
    errand = load_errand("ramp_people")
    done = carry(errand, seed=0)
    assert done.motion is not None
    x = done.motion.track("object").q[:, 0]
    pictures, times = [], []
    for place in (-2.2, 1.2, 5.0):
        k = int(np.argmin(np.abs(x - place)))
        px, py, pz = done.motion.track("object").q[k, :3]
        around = np.array([[px - 1.5, py - 1.1, pz - 1.1], [px + 1.5, py + 1.1, pz + 0.7]])
        camera = Camera.around(around, azimuth=-1.15, elevation=0.3, aspect=1.2, margin=1.0)
        pictures.append(still(done.motion, errand.scene, k, camera=camera, size=(600, 500)))
        times.append(done.motion.t[k])
    Image.fromarray(sheet(pictures, 3, times, digits=1)).save(HERE / "_static" / "carrying_people.png", optimize=True)


def robots() -> None:
    """A person and three robots from public descriptions with a table: at the start, at the pillar, and at the goal."""
    errand = load_errand(HERE.parent / "examples" / "three_robots.yaml")
    done = carry(errand, seed=1)
    assert done.motion is not None
    q, pictures = done.motion.track("object").q, []
    for k in (0, len(q) // 2, len(q) - 1):
        x, y, z = q[k, :3]
        around = np.array([[x - 1.7, y - 1.5, z - 1.0], [x + 1.9, y + 1.5, z + 0.6]])
        camera = Camera.around(around, azimuth=-0.9, elevation=0.45, aspect=1.1, margin=1.0)
        pictures.append(still(done.motion, errand.scene, k, camera=camera, size=(660, 600)))
    Image.fromarray(sheet(pictures, 3)).save(HERE / "_static" / "carrying_robots.png", optimize=True)


if __name__ == "__main__":
    main()
    scenes()
    people()
    robots()
