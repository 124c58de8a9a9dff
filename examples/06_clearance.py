"""
Keeping clear
=============

A mobile manipulator draws a straight line along a wall, while a bollard stands in the way of its base. The first motion ignores
the bollard, and a collision check reports the hit. The second has a minimum clearance as a limit of the inverse kinematics, so
the base drives around the bollard. The check also proves that this motion is collision-free *between* its samples.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import Motion, Scene, library
from bunraku.collision import World
from bunraku.figure import Box, Cylinder
from bunraku.kinematics import Clearance, FramePose, Inverse, InverseOptions, Posture, pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import Strand
from bunraku.scene import Obstacle

figure = library.mobile_manipulator()
scene = Scene(
    "corridor",
    (
        Obstacle("wall", Box((0.1, 3.6, 1.6)), (1.35, 0, 0.8), color=(0.85, 0.82, 0.76)),
        Obstacle("bollard", Cylinder(0.09, 0.8), (0.28, 0, 0.4), color=(0.95, 0.6, 0.1)),
    ),
)
world = World(figure, scene, allowed=[("base_turn", "floor")])  # the base touches the floor

# %%
# The tool points at the wall, 2 cm away, and slides from one side to the other in four seconds.

X = np.eye(4)
X[:3, :3] = [[0, 0, 1], [0, 1, 0], [-1, 0, 0]]  # its z axis points along x
line = np.stack([np.full(121, 1.12), np.linspace(-1.2, 1.2, 121), np.full(121, 0.95)], 1)
targets = [np.block([[X[:3, :3], place[:, None]], [X[3:]]]) for place in line]


def followed(limits=()) -> Motion:
    options = InverseOptions(iterations=60, tolerance=1e-5, still=1e-3)
    tasks = [FramePose("tool"), Posture(figure.start)]
    ik = Inverse(figure, tasks, limits=limits, reluctance={"base_turn": 3.0}, options=options)
    q, samples = figure.configuration(base_x=0.2, base_y=-1.2), []
    for target in targets:
        q = ik.solve(q, ik.aim(tool=target)).q
        samples.append(q)
        assert np.allclose(pose(figure, q).X("tool"), target, atol=1e-3), "the tool is on the line"
    return Motion.of(figure, np.linspace(0, 4, len(samples)), samples)


def near(q):
    found = world.clearances(q, within=0.3)
    return found.value, found.gradient


MARGIN = 0.03
careless, careful = followed(), followed([Clearance(near, margin=MARGIN, count=40)])

# %%
# Check both motions.

hit, free = world.check(careless), world.check(careful, between=True)
print(hit, free, sep="\n\n")
assert not hit.free
assert {"bollard"} <= {hit.hits[0].a, hit.hits[0].b}
assert free.free, "no collision at the samples or between them"
assert free.least > 0.8 * MARGIN

# %%
# Both motions at the moment at which the careless one is deepest in the bollard, and the clearance over time.

k = hit.hits[0].deepest
camera = Camera.around([[-0.5, -0.7, 0], [1.2, 0.7, 0], [1.2, 0, 1.4], [-0.4, 0, 1.3]], azimuth=2.5, elevation=0.5, aspect=0.92)
panels, (left, right, below) = plt.subplots(1, 3, figsize=(11, 3.8), width_ratios=(1, 1, 1.1), layout="constrained")
for axis, motion, title in ((left, careless, "careless"), (right, careful, "careful")):
    drawn = [Strand(line[: k + 1], tension=1.0)]
    axis.imshow(image(figure, pose(figure, motion.q[k]).frames, scene=scene, camera=camera, size=(440, 480), strings=drawn))
    axis.set_title(title)
    axis.axis("off")
below.plot(careless.t, 100 * hit.clearance, color="tab:red", label="careless")
below.plot(careful.t, 100 * free.clearance, color="tab:blue", label="careful")
below.axhspan(-35, 0, color="tab:red", alpha=0.08)
below.axhline(100 * MARGIN, color="grey", lw=0.8, ls="--")
below.set(xlabel="time [s]", ylabel="clearance [cm]", xlim=(0, 4), ylim=(-35, 12))
below.legend(frameon=False, loc="lower left")
