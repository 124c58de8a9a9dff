"""
A walk
======

A person follows a curve up a few stairs and down a ramp. The path of the pelvis over the floor is given and followed exactly;
footsteps, legs, trunk and arms are computed from data of human walking, and standing soles do not slide.
"""

import itertools

import matplotlib.pyplot as plt
import numpy as np

from bunraku.figure import Box, library
from bunraku.kinematics import pose
from bunraku.locomotion.walk import load_cycles, walk
from bunraku.render.image import Camera, image
from bunraku.scene import Obstacle, Scene

RISE, TREAD, STAIRS, SLOPE = 0.15, 0.32, 4, 0.12


def heights(points: np.ndarray) -> np.ndarray:
    """The ground: stairs up along x, then a ramp down."""
    x = points[:, 0]
    stairs = RISE * np.clip(np.floor((x - 1.5) / TREAD) + 1.0, 0.0, STAIRS)
    return stairs - SLOPE * np.clip(x - 4.2, 0.0, 2.0)


# %%
# The path of the pelvis (x, y, heading): 8 m along a gentle curve in 16 s, from rest to rest.

person = library.named("mannequin")
t = np.linspace(0.0, 16.0, 640)
speed = np.clip(np.minimum(t, 16.0 - t) - 0.5, 0.0, 1.0)
s = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))])
s *= 8.0 / s[-1]
base = np.stack([s, 0.25 * np.sin(0.9 * s), np.arctan(0.225 * np.cos(0.9 * s))], 1)

walked = walk(person, t, base, heights=heights)
print(f"{len(walked.footfalls)} footfalls; standing soles slide {1e3 * walked.slide:.1g} mm")
print(f"largest change of a joint from sample to sample: {walked.jump:.2f} rad")

# %%
# Boxes that show the ground, and the walk at ten moments.

STONE, WOOD = (0.72, 0.68, 0.6), (0.62, 0.52, 0.4)


def block(name: str, x0: float, x1: float, height: float) -> Obstacle:
    return Obstacle(name, Box((x1 - x0, 1.6, height)), ((x0 + x1) / 2, 0.0, height / 2), color=STONE)


top, high, low, tilt = 1.5 + TREAD * STAIRS, RISE * STAIRS, RISE * STAIRS - 2.0 * SLOPE, np.arctan(SLOPE)
blocks = [block(f"stair {k}", 1.5 + TREAD * k, 1.5 + TREAD * (k + 1), RISE * (k + 1)) for k in range(STAIRS)]
blocks += [block("landing", top, 4.2, high), block("end", 6.2, 9.0, low)]
turn = (np.cos(tilt / 2), 0.0, np.sin(tilt / 2), 0.0)
middle = (5.2 - 0.04 * np.sin(tilt), 0.0, high - SLOPE - 0.04 * np.cos(tilt))
ramp = Obstacle("ramp", Box((2.0 / np.cos(tilt), 1.6, 0.08)), middle, turn, color=WOOD)
scene = Scene("stairs and a ramp", (*blocks, ramp))

figure_, (above, below) = plt.subplots(2, 1, figsize=(12, 7), height_ratios=(1.5, 1))
moments = np.searchsorted(s, np.linspace(0.05, 7.95, 10))
frames = [pose(person, walked.Q[k]).frames for k in moments]
camera = Camera(eye=(4.0, -9.5, 2.3), target=(4.0, 0.0, 0.95), field=0.36)
above.imshow(image([person] * len(frames), frames, scene=scene, camera=camera, size=(1200, 400)))
above.axis("off")

# %%
# Below: the angle of the left knee over time, and, stride by stride, what was measured in people who walk slowly on level ground.

below.plot(t, np.degrees(walked.Q[:, person.index("left_knee_ry")]))
lefts = [fall for fall in walked.footfalls if fall.foot == "left"]
for fall, after in itertools.pairwise(lefts[1:]):
    phase = np.linspace(0.0, 1.0, 40)
    times = np.interp(phase, [0.0, 0.6, 1.0], [fall.touch, fall.leave, after.touch])
    below.plot(times, np.degrees(load_cycles()["slow"].at(phase, "left_knee_ry")), "k:", lw=1)
    below.axvspan(fall.touch, fall.leave, color="0.93")
below.set(xlabel="time [s]", ylabel="left knee [°]", title="grey: the left foot stands; dotted: measured on level ground")
figure_.tight_layout()

assert np.array_equal(walked.Q[:, person.indices(("pelvis_tx", "pelvis_ty", "pelvis_rz"))], base), (
    "the pelvis follows the path exactly"
)
assert walked.slide < 1e-3, "soles stay where they were set down"
places = np.array([fall.place for fall in walked.footfalls])
assert np.allclose(places[:, 2], heights(places[:, :2]), atol=0.01), "feet are on the ground"
