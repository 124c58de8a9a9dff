"""
A marionette waves
==================

A human's wave, retargeted to a marionette of 22 + 18 variables: a wish, since six strings move 22 joints. The optimiser finds
the motion of the strings that comes nearest; torques are not used. 80 states, 18 inputs, 1,000 steps.
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
# Joints near those of the human, hands that neither hurry nor jerk. The strings set out from where they would have to be if
# the limbs were on rods.

weight = dict.fromkeys(figure.dynamic, 10.0) | dict.fromkeys(figure.names[:6], 100.0) | dict.fromkeys(figure.kinematic, 1.0)
cost = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.1)]
best = optimize(figure, cost, duration=10.0, q=reference.q[0], inputs=figure.kinematic, guess=reference)
print(best)
for i in best.history:
    print(f"{i.kind:<13} cost {i.cost:9.5f}  expects {i.decrease:.0e}")
assert best.outcome.kind == "converged"
assert len(best.history) <= 15
assert best.motion.tension.min() > 0, "no string hangs through"

# %%
# Against the same strings pulled along the reference, without thought.

n = figure.n_dynamic
naive = simulate(figure, reference, duration=10.0, q=reference.q[0])
errors = [np.sqrt(((motion.q[:, 6:n] - reference.q[:, 6:n]) ** 2).mean()) for motion in (best.motion, naive)]
print(f"joints are off by {np.degrees(errors[0]):.1f}°, and by {np.degrees(errors[1]):.1f}° if strings just follow")
assert errors[0] < 0.75 * errors[1]

# %%
# Three moments, the human's wish beside the marionette; and the elbow that waves.

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
axes[3].set(xlabel="time [s]", ylabel="angle [°]", title="wish (dashed) and optimum")
axes[3].legend(frameon=False)
