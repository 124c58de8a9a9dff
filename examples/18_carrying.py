"""
A piano over the desk
=====================

Two robots and a person carry a grand piano through a living room. It does not fit between bookshelf and desk, so they lift it
over the desk. A path is planned for a simplified team of boxes, and timed. Then the person walks and the robots roll along it,
and their arms are computed in closed form. Postures are corrected where something touches, and independent code checks the
motion.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.scenes.living_room import DESK_HEIGHT, PIANO_LEGS
from bunraku.kinematics import pose
from bunraku.render.image import Camera
from bunraku.verbs.carry.plot import still

# %%
# A file that comes with bunraku says who carries what, from where to where. The team has 15 variables, the motion 75
# samples a second.

errand = load_errand("living_room")
done = carry(errand, seed=0)
assert done.outcome.ok, done.outcome.why
print(errand.team.n, "variables;", {stage: round(seconds, 2) for stage, seconds in done.seconds.items()})
print(done.verdict)

# %%
# The independent check measured the distances of all figures, with their full meshes, every 5 mm along the motion.

assert done.verdict.accepted
assert done.verdict.clearance >= errand.margin - 1e-6
assert done.verdict.closure < 1e-6
assert done.verdict.closure_between < 2e-3
assert done.verdict.slide < 0.01

# %%
# While a leg of the piano is over the desk, it is higher than the desk; before and after, the piano is carried low.

piano = done.motion.track("object")
heights = []
for q in piano.q:
    X = pose(piano.figure, q).X("object")
    feet = np.array([X[:3, :3] @ (x, y, -0.36) + X[:3, 3] for x, y in PIANO_LEGS])
    over = (np.abs(feet[:, 0]) < 0.65) & (np.abs(feet[:, 1] - 0.17) < 0.43)
    heights.append(feet[over, 2].min() if over.any() else np.nan)
heights = np.array(heights)
assert np.isfinite(heights).any(), "a leg passes over the desk"
assert np.nanmin(heights) > DESK_HEIGHT + 0.01
raised = piano.q[np.isfinite(heights), 2].max() - piano.q[[0, -1], 2].max()
print(f"raised by {100 * raised:.0f} cm, {100 * (np.nanmin(heights) - DESK_HEIGHT):.1f} cm over the desk")
assert raised > 0.15

# %%
# At the start, over the desk, and at the end.

middle = int(np.nanargmax(np.where(np.isfinite(heights), piano.q[:, 2], np.nan)))
fig, axes = plt.subplots(1, 3, figsize=(13.5, 3.6), layout="constrained")
for axis, k in zip(axes, (0, middle, len(done.motion) - 1), strict=True):
    x, y = piano.q[k, :2]
    around = np.array([[x - 1.9, y - 0.9, 0.0], [x + 1.9, y + 1.4, 1.9]])
    camera = Camera.around(around, azimuth=-1.1, elevation=0.38, aspect=1.35, margin=1.05)
    axis.imshow(still(done.motion, errand.scene, k, camera=camera, size=(810, 600)))
    axis.set_title(f"{done.motion.t[k]:.1f} s", fontsize=10)
    axis.axis("off")
plt.show()
