"""
A crane and its sheaves
=======================

The rope of a tower crane begins at its trolley, runs down round the sheave of the hook block, up over a sheave of the trolley and
along the jib onto a drum: two falls carry the load, so the winch pulls with half of its weight and winds in twice as much rope as
the load rises. The jib slews while the crate hangs 80 cm below it, and the crate swings.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library, simulate
from bunraku.kinematics import pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import strands

crane = library.crane()
weight = 9.81 * crane.mass


def ramp(t: float, start: float, stop: float) -> float:
    """0 before, 1 after, with no jump in speed."""
    s = np.clip((t - start) / (stop - start), 0.0, 1.0)
    return s * s * (3 - 2 * s)


puppeteer = {"winch": lambda t: -7.0 * ramp(t, 0.0, 2.0), "slew": lambda t: 1.6 * ramp(t, 2.0, 4.0)}
motion = simulate(crane, puppeteer, duration=6.0, dt=0.005)
track, t = motion.tracks[0], motion.t
height = track.column("block")
half = int(np.searchsorted(t, 2.0))
print(f"the block rises by {100 * height[half]:.1f} cm, for {100 * 7.0 * 0.08:.1f} cm of rope on the drum")
assert abs(height[half] - 0.5 * 7.0 * 0.08) < 0.01, "two falls: half of what the drum winds in"
assert abs(motion.tension[:half, 0].mean() / weight - 0.5) < 0.05, "two falls: half of the weight on each"
assert (motion.tension[1:-1] > 0).all(), "the rope never goes slack"

# %%
# The jib's acceleration makes the falls lean, and the crate goes on swinging when the jib stands.

lean = np.degrees(track.column("lean"))
assert 1.0 < np.abs(lean).max() < 30.0

figure, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(1.1, 1))
frames = pose(crane, track.q[half + 200]).frames
camera = Camera.around([[-0.6, -0.4, 0.0], [1.2, 1.2, 1.8]], azimuth=-1.0, elevation=0.2, aspect=1.1, margin=1.0)
panels[0].imshow(image(crane, frames, camera=camera, size=(660, 600), strings=strands(crane, frames, track.q[half + 200])))
panels[0].axis("off")
panels[1].plot(t, 100 * height, label="rise of the block, in the leaning frame [cm]")
panels[1].plot(t, lean, label="lean of the falls [degrees]")
panels[1].plot(t, motion.tension[:, 0], lw=0.8, label="tension of the rope [N]")
panels[1].set(xlabel="[s]")
panels[1].legend(frameon=False)
