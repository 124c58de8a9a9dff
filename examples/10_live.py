"""
Following live
==============

Model predictive control: 100 times per second, one iteration of the optimiser improves a plan for the next half second, and the
strings are pulled accordingly. The marionette follows a person's wave, and recovers when it is bumped.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library
from bunraku.control import Acceleration, Configuration, Momentum, Speed, gestures
from bunraku.control.control_system import System
from bunraku.control.imitate import imitate
from bunraku.control.receding_horizon import drive, follow

figure = library.marionette22()
reference = imitate(gestures.wave(4.0), figure)
n, Q = figure.n_dynamic, reference.q
weight = dict.fromkeys(figure.dynamic, 10.0) | dict.fromkeys(figure.names[:6], 100.0) | dict.fromkeys(figure.kinematic, 1.0)
cost = [Configuration(weight, reference), Momentum(0.01), Speed(0.1), Acceleration(0.01)]


def bump(k, x):
    """A sideways impulse of 4 N·s at 1.5 s."""
    x[figure.n_q] += 4.0 * (k == 150)
    return x


# %%
# One run with the receding horizon ("live"), and one in which the strings follow the reference without feedback ("blind").

live = follow(figure, cost, duration=4.0, horizon=0.5, q=Q[0], inputs=figure.kinematic, guess=reference, disturb=bump)
system = System.of(figure, dt=0.01, inputs=figure.kinematic)
hands = np.pad(Q[1:, n:], ((0, 0), (0, len(figure.forces))))
blind = drive(system, system.state(Q[0]), len(hands), lambda x, k: hands[k], bump)

runs = {"live": live.run, "blind": blind}
error = {name: np.degrees(np.sqrt(((run.x[:, 6:n] - Q[:, 6:n]) ** 2).mean(1))) for name, run in runs.items()}
print(f"{live.real_time:.1f}× real time on one core, {1e3 * np.median(live.seconds[:, 1]):.1f} ms per control period")
print("rms error of the joints: " + ", ".join(f"{np.sqrt((e**2).mean()):.1f}° {name}" for name, e in error.items()))
assert (error["live"] ** 2).mean() < 0.25 * (error["blind"] ** 2).mean()
assert np.abs(live.run.x[-1, 0] - Q[-1, 0]) < 0.05, "it is back where it was before the bump"

# %%
# Error of the joints, sideways motion of the torso, and sideways motion of one spindle.

panels, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.2), layout="constrained")
t = reference.t
for name, color in (("blind", "tab:red"), ("live", "tab:blue")):
    left.plot(t, error[name], color=color, label=name)
    run = runs[name]
    middle.plot(t, 100 * (run.x[:, 0] - Q[:, 0]), color=color)
    right.plot(t[1:], 100 * (run.u[:, 0] - Q[0, n]), color=color)
for axis, title in ((left, "rms error of the joints [°]"), (middle, "torso, sideways [cm]"), (right, "a spindle, sideways [cm]")):
    axis.set(title=title, xlabel="time [s]")
    axis.axvline(1.5, color="grey", lw=0.8, ls=":")
left.legend(frameon=False)
