"""
Sitting down
============

A marionette sits down on a chair. The puppeteer moves the bar back until the puppet hangs above the seat, and lets it down. Nobody
tells the puppet how to sit: thighs and seat touch, legs bend where they must, and the strings hold the trunk upright.
"""

import numpy as np

import bunraku
from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch
from bunraku.figure.together import with_props
from bunraku.kinematics import pose

chair = bunraku.library.chair(seat=0.19, width=0.17, at=(0.0, -0.16, 0.0))
puppet = with_props(bunraku.library.marionette25(), {"chair": chair})
stage = bunraku.Scene("stage")

# %%
# All spindles go back by 18 cm, then all strings get 9 cm longer.


def ramp(t, start, end):
    """From 0 to 1, smoothly."""
    s = np.clip((t - start) / (end - start), 0.0, 1.0)
    return s * s * (3.0 - 2.0 * s)


rest = dict(zip(puppet.names, puppet.start, strict=True))
bar = {name: lambda t, at=rest[name]: at - 0.18 * ramp(t, 0.0, 0.7) for name in puppet.kinematic if name.endswith("_y")}
bar |= {name: lambda t, at=rest[name]: at + 0.09 * ramp(t, 1.5, 2.0) for name in puppet.kinematic if name.endswith("_length")}
motion = bunraku.simulate(puppet, bar, duration=3.0, scene=stage, touch="all")
for mark in motion.marks:
    if "chair" in mark.text:
        print(f"{mark.t:.2f} s  {mark.text}")
bunraku.save(motion, "sitting.png", scene=stage)

# %%
# In the end it sits: its thighs rest on the chair, its trunk is upright, and the strings carry only a part of its weight.

simulation = TouchSimulation(puppet, motion.only.q[-1], scene=stage, touch=as_touch("all"))
simulation.step()
on_chair = {simulation.bodies.names[a] for a, b in simulation.log.bodies if simulation.bodies.names[b] == "chair.chair"}
weight = bunraku.library.marionette25().mass * 9.81
print(f"on the chair: {', '.join(sorted(on_chair))}; the strings carry {motion.only.tension[-1].sum() / weight:.0%} of the weight")
assert {"lhip.thigh", "rhip.thigh"} <= on_chair
assert pose(puppet, motion.only.q[-1]).X("torso")[2, 2] > 0.95, "it sits upright"
