"""
A first marionette
==================

A marionette with a head and two arms hangs on four strings. It is written as nested calls; a puppeteer lifts its arms in turn.
"""

from math import pi, sin

import matplotlib.pyplot as plt

from bunraku import settle, simulate
from bunraku.figure.build import ball, capsule, figure, fixed, free, rx, sphere, spindle, string
from bunraku.kinematics import pose
from bunraku.render.image import image
from bunraku.render.strands import strands

BLUE, SKIN = (0.2, 0.35, 0.6), (0.9, 0.75, 0.6)


def arm(side: str, x: float):
    hand = fixed(f"{side}_hand", sphere(0.025, color=SKIN, mass=0.02), at=(0, 0, -0.12))
    elbow = rx(f"{side}_elbow", capsule(0.016, to=(0, 0, -0.11), mass=0.05, color=SKIN), hand, at=(0, 0, -0.13), limits=(0, 2.4))
    return ball(f"{side}_shoulder", capsule(0.018, to=(0, 0, -0.12), mass=0.06, color=BLUE), elbow, at=(x, 0, 0.18))


puppet = figure(
    "first",
    free(
        "body",
        capsule(0.045, to=(0, 0, 0.18), mass=0.4, color=BLUE),
        sphere(0.055, at=(0, 0, 0.28), mass=0.2, color=SKIN),
        arm("left", -0.075),
        arm("right", 0.075),
        start=(0, 0, 0.6, 0, 0, 0),
    ),
    spindle("head_left", at=(-0.05, 0, 1.6)),
    spindle("head_right", at=(0.05, 0, 1.6)),
    spindle("left", at=(-0.12, 0.1, 1.6)),
    spindle("right", at=(0.12, 0.1, 1.6)),
    strings=[
        string("head_left", ("body", (-0.05, 0, 0.28)), "head_left_spindle"),
        string("head_right", ("body", (0.05, 0, 0.28)), "head_right_spindle"),
        string("left", "left_hand", "left_spindle"),
        string("right", "right_hand", "right_spindle"),
    ],
    damping=0.002,
)

# %%
# `settle` finds how it hangs at rest. Then each arm's string is shortened by up to 12 cm, one after the other.

rest = settle(puppet)
length = {name: rest[puppet.index(f"{name}_length")] for name in ("left", "right")}
motion = simulate(
    puppet,
    {
        "left_length": lambda t: length["left"] - 0.12 * sin(pi * min(t, 2)) ** 2,
        "right_length": lambda t: length["right"] - 0.12 * sin(pi * max(t - 1, 0)) ** 2,
    },
    duration=2.0,
    dt=0.005,
    q=rest,
)

# %%
# Four moments. The colour of a string shows its tension.

figure_, axes = plt.subplots(1, 4, figsize=(10, 4))
for axis, t in zip(axes, (0.0, 0.5, 1.0, 1.5), strict=True):
    k = int(t / 0.005)
    frames = pose(puppet, motion.q[k]).frames
    axis.imshow(image(puppet, frames, size=(300, 420), strings=strands(puppet, frames, motion.q[k], motion.tension[k])))
    axis.set_title(f"{t:.1f} s")
    axis.axis("off")
figure_.tight_layout()

left = [pose(puppet, q).point("left_hand")[2] for q in motion.q]
assert max(left) > left[0] + 0.05, "the left hand went up"
assert motion.tension.min() >= 0.0, "strings never push"
