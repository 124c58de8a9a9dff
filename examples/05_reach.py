"""
Reaching in balance
===================

Inverse kinematics with priorities: the feet stay, the centre of mass stays above them, the left hand follows a curve, the eyes
follow the hand, and the remaining freedom keeps a relaxed posture. Then the hand is dragged to a point that is out of reach: the
pinned feet stay, the hand gets as near as it can, and the outcome says how far it is off.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library
from bunraku.kinematics import CentreOfMass, Drag, FramePose, Inverse, InverseOptions, LookAt, PointPosition, Posture, pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import Strand

figure = library.mannequin()
here = pose(figure)
feet = ["left_sole", "right_sole"]
standing = {"left_knee_ry": 0.25, "right_knee_ry": 0.25}  # knees a little bent: straight legs are singular

ik = Inverse(
    figure,
    [
        *(FramePose(foot) for foot in feet),  # no target: it stays where it is
        CentreOfMass(axes="xy"),
        PointPosition("left_palm", name="hand", priority=1),
        LookAt("neck", (1.0, 0.0, 1.0), position=(0.08, 0, 0.16), name="eyes", priority=2),
        Posture(standing, weight=0.1, priority=2),
        Posture(figure.start, priority=3),
    ],
    options=InverseOptions(iterations=60, tolerance=1e-6, still=1e-4),
)

# %%
# The hand draws a figure of eight, from the knees to above the head. Each solve starts from the previous solution.

s = np.linspace(0, 2 * np.pi, 100)
stroke = np.array([0.42, 0.2, 1.1]) + np.stack([-0.06 * np.sin(s), 0.2 * np.sin(2 * s), 0.6 * np.sin(s)], 1)
way = np.linspace(here.point("left_palm"), stroke[0], 20, endpoint=False)
aims = [ik.aim(hand=place, eyes=place) for place in np.vstack([way, stroke])]
solutions = ik.solve_many(aims, figure.start)[len(way) :]

for solution, place in zip(solutions, stroke, strict=True):
    there = pose(figure, solution.q)
    assert np.allclose(there.point("left_palm"), place, atol=1e-4), "the hand is at its target"
    assert all(np.allclose(there.X(foot), here.X(foot), atol=1e-5) for foot in feet), "the feet have not moved"
    assert np.allclose(there.com[:2], here.com[:2], atol=1e-5), "the centre of mass has not moved either"

# %%
# Reach for a lamp at a height of three metres: pin the feet, drag the hand.

high = solutions[25].q
lamp = Drag(figure, high, "left_palm", pins=feet).to(high, (0.3, 0.2, 3.0), iterations=200)
print(lamp.outcome)
assert not lamp.outcome.ok
assert all(np.allclose(pose(figure, lamp.q).X(foot), here.X(foot), atol=1e-5) for foot in feet)
assert pose(figure, lamp.q).point("left_palm")[2] > 2.0, "as high as a person reaches"

# %%
# Three moments of the figure of eight, and the reach for the lamp.

shown = {"above the head": high, "crossing": solutions[50].q, "at the knees": solutions[75].q, "toward a lamp at 3 m": lamp.q}
camera = Camera.around([[0.5, 0.7, 0], [-0.4, -0.5, 0], [0.2, 0, 2.3]], azimuth=0.85, elevation=0.12, aspect=0.6, margin=1.02)
panels, axes = plt.subplots(1, 4, figsize=(10, 4.6))
for axis, (title, q) in zip(axes, shown.items(), strict=True):
    path = [Strand(stroke, tension=1.0)] if q is not lamp.q else []
    axis.imshow(image(figure, pose(figure, q).frames, camera=camera, size=(300, 500), strings=path))
    axis.set_title(title, fontsize=11)
    axis.axis("off")
panels.tight_layout()
