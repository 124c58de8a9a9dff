"""
A rope round a beam
===================

A crate hangs on a rope that goes once and a half round a beam, and somebody holds its end. The rope rubs on the beam: where it
slips, the tensions of its two sides differ by the factor exp(μφ), here about 3.5. So he needs 42 N to lower a crate of 147 N, and
511 N to hoist it. In between the rope sticks: it holds the crate, whatever he pulls with.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku.dynamics import Simulation
from bunraku.figure.build import body, box, cylinder, figure, fixed, pulley, sphere, string, tx, tz
from bunraku.kinematics import pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import strands

MASS, RADIUS, FRICTION, TURNS = 15.0, 0.12, 0.15, 1
REACH, DROP = 1.2, 0.6  # of the hand, from the beam [m]


def bend(reach: np.ndarray | float) -> np.ndarray:
    """How far the rope bends on the beam [rad]: from straight up, over the top, to the hand."""
    return 2 * np.pi * TURNS + np.pi / 2 + np.arctan2(DROP, reach) + np.arcsin(RADIUS / np.hypot(reach, DROP))


beam = pulley(("world", (0, 0, 2)), RADIUS, "y", turn=1, turns=TURNS, friction=FRICTION)
length = 1.0 + RADIUS * float(bend(REACH)) + np.sqrt(REACH**2 + DROP**2 - RADIUS**2) + 1e-9
rig = figure(
    "rig",
    fixed("beam", cylinder(0.95 * RADIUS, 1.0, color=(0.55, 0.38, 0.22)), at=(0, 0, 2), rpy=(np.pi / 2, 0, 0)),
    tz("crate", box((0.3, 0.3, 0.3), at=(0, 0, -0.15), color=(0.75, 0.55, 0.3)), body(MASS), at=(-RADIUS, 0, 1.0)),
    tx("hand", sphere(0.05, color=(0.2, 0.4, 0.7)), at=(REACH, 0, 2 - DROP), kinematic=True),
    strings=[string("rope", "crate", "hand", length, through=[beam])],
)

# %%
# He walks away, stands, comes back, and stands.

dt = 0.005
t = dt * np.arange(1, 1601)
speed = 0.25 * np.select([t < 2, t < 4, t < 6], [1.0, 0.0, -1.0], 0.0)
walked = np.convolve(np.cumsum(speed) * dt, np.ones(40) / 40, mode="full")[: len(t)]
steps = Simulation(rig, dt=dt).run(walked[:, None])
hand, friction = steps.impulse.T / dt
crate, slips = hand + friction, steps.states[:, 1] == 2

weight = 9.81 * MASS
factor = np.exp(FRICTION * bend(REACH + steps.q[:, 1]))
ratio = np.maximum(hand / crate, crate / hand)
print(f"hoisting takes {hand[300]:.0f} N, lowering {hand[1100]:.0f} N; the crate weighs {weight:.0f} N")
off = ratio[1:][slips[1:]] / factor[:-1][slips[1:]] - 1  # impulses act where a step begins
assert np.abs(off).max() < 1e-9, "where it slips, the tensions differ by exp(μφ)"
assert np.abs(crate[700:790] / weight - 1).max() < 1e-6, "where it sticks, the crate hangs still"

plot, panels = plt.subplots(1, 2, figsize=(11, 5), layout="constrained", width_ratios=(1, 1.3))
frames = pose(rig, steps.q[350]).frames
camera = Camera.around([[-0.4, -0.5, 0.9], [1.8, 0.5, 2.2]], azimuth=-1.1, elevation=0.15, aspect=1.0, margin=1.1)
panels[0].imshow(image(rig, frames, camera=camera, size=(600, 600), strings=strands(rig, frames, steps.q[350], [hand[350]])))
panels[0].axis("off")
panels[1].fill_between(t, weight / factor, weight * factor, color="0.85", label="here the rope sticks")
panels[1].plot(t, hand, label="tension at the hand [N]")
panels[1].plot(t, crate, lw=0.8, label="tension at the crate [N]")
panels[1].plot(t, 1000 * steps.q[:, 0], "--", lw=0.8, label="rise of the crate [mm]")
panels[1].set(xlabel="[s]")
panels[1].legend(frameon=False)
