"""
Two robots, one slab
====================

Two mobile manipulators carry a slab through a factory of 95,000 triangles. A path is planned for 12 variables and proven
collision-free, then timed within limits on speed and acceleration; the arms are computed in closed form.
"""

import tempfile
from math import pi

import matplotlib.pyplot as plt
import numpy as np

from bunraku.ensemble.agents import hold, rover
from bunraku.ensemble.animate import animate
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.scenes import factory
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Shape
from bunraku.kinematics import pose
from bunraku.planning.ways.find_way import find
from bunraku.planning.ways.path_timing import timed
from bunraku.render.image import Camera, image

# %%
# Each robot holds one edge of the slab, from below at 45°, so that its wrist is not bent far. The slab may tilt by up to 0.3 rad.

slab = Carried((Shape("world", Box((1.5, 0.8, 0.06)), color=(0.85, 0.72, 0.5), name="slab"),), tilt=0.3, heights=(0.75, 1.3))
left = rover("left", hold("tool", (-0.73, 0.0, -0.02), z=(1, 0, 1), x=(0, 1, 0)))
right = rover("right", hold("tool", (0.73, 0.0, -0.02), z=(-1, 0, 1), x=(0, 1, 0)))
team = Team((left, right), slab)

folder = tempfile.TemporaryDirectory()
scene = factory(folder.name)
space = team.space(scene, ((-5.8, 5.8), (-3.8, 3.8)), margin=0.02)


def standing(x: float, y: float) -> np.ndarray:
    """The slab along y, with a robot at each end."""
    return team.configuration({"left": (x, y - 1.45, pi / 2), "right": (x, y + 1.45, -pi / 2)}, (x, y, 1.0, pi / 2, 0, 0))


# %%
# A path, its timing, and the motion of both robots and the slab.

found = find(space, standing(-4.4, -0.6), standing(4.4, -0.6), seed=3)
timing = timed(found.path, speed=0.7, acceleration=0.8)
animation = animate(team, timing)
motion = animation.motion
verdict = recheck(team, motion, scene)
print(f"{found.path}, found in {found.seconds:.2f} s; the motion takes {timing.duration:.1f} s")
print(f"largest error of the hands: {animation.closure:.1e} m")
print(verdict)

# %%
# Four moments, drawn without the pipes under the roof.

figure_, axes = plt.subplots(2, 2, figsize=(10, 7.2))
camera = Camera(eye=(-2.0, 8.5, 8.0), target=(0.2, -0.5, 0.2), field=0.68)
low = scene.replace(obstacles=tuple(o for o in scene.obstacles if o.name != "high_pipes"))
figures = [track.figure for track in motion.tracks]
for axis, share in zip(axes.flat, (0.0, 0.35, 0.7, 1.0), strict=True):
    k = int(share * (len(motion) - 1))
    frames = [pose(track.figure, track.q[k]).frames for track in motion.tracks]
    axis.imshow(image(figures, frames, scene=low, camera=camera, size=(620, 430)))
    axis.set_title(f"{motion.t[k]:.1f} s")
    axis.axis("off")
figure_.tight_layout()

assert found.path.free, "the path is proven collision-free"
assert space.world.check(found.path.dense(0.005)).clearance.min() > 0.019, "the library coal finds the same, checking every 5 mm"
assert team.reaches(found.path.dense(0.02)).all()
assert animation.closure < 1e-6
assert animation.jump < 0.2
assert verdict.accepted, "with its full shapes, no robot touches the scene, the slab, the other robot or itself"
