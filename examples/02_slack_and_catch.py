"""
Slack, then a catch
===================

The arm of *marionettes*, Fig. 2: two links in a plane, one string from the wrist to a spindle that moves along a rail and winds.
Paid out faster than the arm can fall, the string goes slack; the arm falls free and lands in it with a jerk. A string pulls and
never pushes, and at the end of every step it is no longer than it may be.
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
    """0 before, 1 after, with no jump in speed."""
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
# Between the two nothing acts but weight: the arm is a double pendulum, and keeps its energy. The catch is an inelastic impact.

total, kinetic = track.energy.sum(1), track.energy[:, 0]
free = (t > slack + 0.01) & (t < catch - 0.01)
before, after = int(np.flatnonzero(free)[-1]), int(np.searchsorted(t, catch + 0.01))

assert motion.tension.min() >= 0.0, "a string never pushes"
assert track.gap.max() < 1e-10, "and is never longer than it may be"
assert np.abs(motion.tension * track.gap).max() < 1e-9, "it pulls only where it is taut"
assert not motion.tension[free].any(), "slack is slack"
assert np.ptp(total[free]) < 1e-3 * kinetic[before], "falling free, it keeps its energy"
assert total[after] < total[before] - 0.1 * kinetic[before], "and the catch takes a part of it away"

# %%
# Five moments, and the curves that belong to them.

moments = {"held": 0.1, "let go": slack + 0.02, "falling": 0.5 * (slack + catch), "caught": catch + 0.01, "wound in": 2.3}
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
