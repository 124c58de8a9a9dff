"""
A marionette waves
==================

A person's wave is retargeted to a marionette with 22 joint variables and 18 variables of spindles and strings. Six strings cannot
make 22 joints follow it exactly; optimal control finds the motion of the strings that comes nearest. No joint torques are used.
The problem has 80 states, 18 inputs and 1,000 time steps.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library, simulate
from bunraku.control import Acceleration, Configuration, Momentum, Speed, gestures, optimize
from bunraku.control.imitate import imitate
from bunraku.kinematics import pose
from bunraku.render.camera import Camera
from bunraku.render.image import image

figure = library.marionette22()
reference = imitate(gestures.wave(), figure)

# %%
# The cost keeps the joints near those of the person, and the puppeteer's hands slow and smooth. The first guess is the reference,
# with strings as long as they would be if the marionette followed it exactly.

weight = dict.fromkeys(figure.dynamic, 10.0) | dict.fromkeys(figure.names[:6], 100.0) | dict.fromkeys(figure.kinematic, 1.0)
cost = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.1)]
best = optimize(figure, cost, duration=10.0, q=reference.q[0], inputs=figure.kinematic, guess=reference)
print(best)
for i in best.history:
    print(f"{i.kind:<13} cost {i.cost:9.5f}  expects {i.decrease:.0e}")
assert best.outcome.kind == "converged"
assert len(best.history) <= 15
assert best.motion.tension.min() > 0, "no string goes slack"

# %%
# For comparison, simulate with the string lengths of the reference, without optimisation.

n = figure.n_dynamic
naive = simulate(figure, reference, duration=10.0, q=reference.q[0])
errors = [np.sqrt(((motion.q[:, 6:n] - reference.q[:, 6:n]) ** 2).mean()) for motion in (best.motion, naive)]
print(f"joints are off by {np.degrees(errors[0]):.1f}°, and by {np.degrees(errors[1]):.1f}° without optimisation")
assert errors[0] < 0.75 * errors[1]

# %%
# Three moments of the marionette; and two angles of the shoulder that waves, desired (dashed) and optimal.

camera = Camera.around([[-0.5, 0, -0.9], [0.6, 0, 0.9]], azimuth=2.2, elevation=0.1, aspect=0.75)
panels, axes = plt.subplots(1, 4, figsize=(11, 3.6), width_ratios=(1, 1, 1, 1.6), layout="constrained")
for axis, t in zip(axes, (0.0, 4.75, 5.25), strict=False):
    here = pose(figure, best.motion.sample(t))
    axis.imshow(image(figure, here.frames, camera=camera, size=(330, 440)))
    axis.set_title(f"{t:g} s")
    axis.axis("off")
for name, color in (("rshoulder_rx", "tab:blue"), ("rshoulder_rz", "tab:orange")):
    axes[3].plot(reference.t, np.degrees(reference.column(name)), color=color, ls="--", lw=1)
    axes[3].plot(best.motion.t, np.degrees(best.motion.column(name)), color=color, label=name)
axes[3].set(xlabel="time [s]", ylabel="angle [°]", title="desired (dashed) and optimum")
axes[3].legend(frameon=False)
