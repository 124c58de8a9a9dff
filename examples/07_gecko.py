"""
A gecko climbs to the ceiling
=============================

A gecko robot climbs over an obstacle, up a wall, through a turn on the wall, and over its edge onto a ledge; on another path it
climbs to the ceiling. Footsteps and swings are computed from the path. Then the whole motion is optimised at once, while standing
feet stay exactly where they are and the body keeps clear of the surface.
"""

from math import pi

import matplotlib.pyplot as plt
import numpy as np

from bunraku.kinematics import pose
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight
from bunraku.render.camera import Camera
from bunraku.render.image import image

ledge = climb([
    Straight(0.1), Step(0.015), Straight(0.12), Step(-0.015), Straight(0.24), Slope(pi / 2), Straight(0.24), Arc(0.2, pi / 6),
    Straight(0.2), Slope(-pi / 2), Straight(0.2),
])  # fmt: skip
ceiling = climb([Straight(0.1), Slope(pi / 2), Straight(0.3), Slope(pi / 2), Straight(0.3)], light=True)
for done in (ledge, ceiling):
    print(done, end="\n\n")
    assert done.outcome.ok
    assert done.clearance.min() >= 0.005, "only feet and lower legs come near the surface"

# %%
# The gecko at several moments; its joint accelerations compared with those of the gait in the paper that the method extends (see
# "Climbing" in the documentation); and the adhesion that each foot needs, in units of the weight.


def moments(done, times, camera):
    figure, motion = done.motion.figure, done.motion
    frames = [pose(figure, motion.sample(t)).frames for t in times]
    return image([figure] * len(frames), frames, scene=done.scene, camera=camera, size=(760, 640))


sheet = plt.figure(figsize=(11, 8.6), layout="constrained")
grid = sheet.subplots(2, 2, height_ratios=[1.5, 1])
end = ledge.motion.duration
camera = Camera((-0.55, -1.5, 1.1), (0.27, 0.02, 0.26), field=0.56)
grid[0, 0].imshow(moments(ledge, (0.02 * end, 0.33 * end, 0.62 * end, 0.98 * end), camera))
grid[0, 0].set_title("over an obstacle, up the wall, onto the ledge")
end = ceiling.motion.duration
camera = Camera((-0.75, -1.25, 0.12), (-0.06, 0.0, 0.22), field=0.52)
grid[0, 1].imshow(moments(ceiling, (0.0, 0.46 * end, end), camera))
grid[0, 1].set_title("from the floor to the ceiling")
for axis in grid[0]:
    axis.axis("off")

for name, found, color in (("the paper's gait", ledge.paper, "#c8553d"), ("this motion", ledge.ours, "#3b6ea5")):
    most = found.joints.max(1)
    t = found.dt * np.arange(1, len(most) + 1)
    grid[1, 0].semilogy(t, most, color=color, linewidth=0.8, label=f"{name}: at most {most.max():.0f}")
grid[1, 0].set(ylim=(3, 3000), xlabel="time [s]", title="largest joint acceleration [rad/s²]")
grid[1, 0].legend(frameon=False, fontsize=8, loc="upper right")
grid[1, 1].plot(ceiling.motion.t, ceiling.adhesion.adhesion, color="#4f8a5b", linewidth=0.9)
grid[1, 1].set(xlabel="time [s]", title="adhesion that each foot needs [weights]")
for mark in ceiling.motion.marks:
    grid[1, 1].axvline(mark.t, color="#999999", linestyle=":", linewidth=0.8)

for name, what, ours, papers, _ in ledge.ours.against(ledge.paper):
    if name == "joints":
        assert ours < (0.2 if what == "peak" else 0.6) * papers
assert ceiling.adhesion.adhesion.max() < 0.5
