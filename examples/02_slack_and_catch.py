"""
Slack, then a catch
===================

The arm of *marionettes* (Johnson and Murphey), Fig. 2: two limbs in a plane, and one string from the wrist to a spindle that
winds it. The string is let out faster than the arm can fall, so it goes slack. The arm falls freely until the string catches it.
A string pulls and never pushes, and at the end of every time step its ends are no farther apart than its length.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library, simulate
from bunraku.kinematics import pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import strands

arm = library.arm2d(height=0.3)
rest = arm.start[arm.index("hand_length")]


def ramp(t: float, start: float, stop: float) -> float:
    """0 before `start`, 1 after `stop`, smooth in between."""
    s = np.clip((t - start) / (stop - start), 0.0, 1.0)
    return s * s * (3 - 2 * s)


def hand_length(t: float) -> float:
    """22 cm let out within an eighth of a second, and slowly wound in again."""
    return rest + 0.22 * (ramp(t, 0.2, 0.325) - ramp(t, 1.2, 2.4))


motion = simulate(arm, {"hand_length": hand_length}, duration=2.4, dt=0.002)
track, t = motion.tracks[0], motion.t
slack, catch = (next(mark.t for mark in motion.marks if mark.kind == kind) for kind in ("slack", "impact"))
print(f"slack at {slack:.3f} s, caught at {catch:.3f} s with {motion.tension.max():.0f} N")

# %%
# While the string is slack, the arm is a double pendulum and conserves its energy. The catch is an inelastic impact.

total, kinetic = track.energy.sum(1), track.energy[:, 0]
free = (t > slack + 0.01) & (t < catch - 0.01)
before, after = int(np.flatnonzero(free)[-1]), int(np.searchsorted(t, catch + 0.01))

assert motion.tension.min() >= 0.0, "a string never pushes"
assert track.gap.max() < 1e-10, "its ends are never farther apart than its length"
assert np.abs(motion.tension * track.gap).max() < 1e-9, "it pulls only when it is taut"
assert not motion.tension[free].any(), "a slack string has no tension"
assert np.ptp(total[free]) < 1e-3 * kinetic[before], "in free fall the energy is constant"
assert total[after] < total[before] - 0.1 * kinetic[before], "the catch dissipates energy"

# %%
# Five moments; below, the tension, and the distance from hook to spindle with the length of the string.

moments = {"hanging": 0.1, "let out": slack + 0.02, "falling": 0.5 * (slack + catch), "caught": catch + 0.01, "wound in": 2.3}
camera = Camera.around([[-0.1, 0, -0.74], [0.62, 0, 0.36]], azimuth=-1.35, elevation=0.12, aspect=0.62, margin=1.0)
panels = plt.figure(figsize=(10, 7.6), layout="constrained")
upper, lower = panels.subfigures(2, 1, height_ratios=(1.15, 1.0))
for axis, (title, moment) in zip(upper.subplots(1, 5), moments.items(), strict=True):
    k = int(np.searchsorted(t, moment))
    frames = pose(arm, motion.q[k]).frames
    ropes = strands(arm, frames, motion.q[k], motion.tension[k])
    axis.imshow(image(arm, frames, camera=camera, size=(290, 468), strings=ropes))
    axis.set_title(f"{title}, {moment:.2f} s", fontsize=11)
    axis.axis("off")

pull, span = lower.subplots(2, 1, sharex=True)
pull.plot(t, motion.tension[:, 0], color="tab:red", lw=1.2)
pull.set(ylabel="tension [N]", yscale="symlog", ylim=(0, 3 * motion.tension.max()))
span.plot(t, 100 * (track.gap[:, 0] + motion.column("hand_length")), color="tab:blue", lw=1.2, label="hook to spindle")
span.plot(t, 100 * motion.column("hand_length"), "k--", lw=1, label="string")
span.set(ylabel="[cm]", xlabel="[s]", xlim=(0, 2.4))
span.legend(loc="upper right", frameon=False)
for axis in (pull, span):
    axis.axvspan(slack, catch, color="0.92")
    for moment in moments.values():
        axis.axvline(moment, color="0.8", lw=0.6)
    axis.spines[["top", "right"]].set_visible(False)
