"""
Swinging up
===========

A pendulum hangs from a cart. The cart should swing it up and down again along a curve that it cannot follow exactly (*trep*,
Johnson and Murphey, Fig. 4a). Newton's method finds the motion nearest to that curve, in about a second for 1,000 time steps, and
feedback gains that stabilise it.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library
from bunraku.control import Configuration, Forces, Momentum, optimize
from bunraku.control.tracking import track

figure = library.cart_pendulum(start=(0.0, 0.0))


def desired(degrees):
    """The desired angle: up and down again between 3 s and 7 s."""
    return {"theta": lambda t: np.radians(degrees) / 2 * (1 - np.cos(np.pi / 2 * (t - 3))) if 3 <= t <= 7 else 0.0}


def cost(degrees):
    return [Configuration({"x": 1.0, "theta": 100.0}, desired(degrees)), Momentum(0.01), Forces(0.001)]


# %%
# First optimise for a curve up to 130°, then use the result as the first guess for the inverted pendulum.

halfway = optimize(figure, cost(130), duration=10)
best = optimize(figure, cost(180), duration=10, guess=halfway)
print(halfway, best, sep="\n")
assert best.outcome.kind == "converged"
theta = np.degrees(best.motion.column("theta"))
assert theta.max() > 175, "upside down"
assert abs(theta[-1]) < 5, "and back"

# %%
# The last iterations are Newton steps: the expected decrease of the cost converges quadratically.

tail = np.array([i.decrease for i in best.history])
print("expected decrease:", " ".join(f"{x:.0e}" for x in tail))
assert all(i.kind == "newton" for i in best.history[-3:])
assert tail[-1] < 1e-9 * tail[-2] ** 0.5

# %%
# Push the pendulum at the top: with the optimal inputs alone it falls; with feedback it does not.


def push(k, x):
    x[3] += 0.3 * (k == 450)  # 0.3 N·m·s at the bob
    return x


pushed = track(best, disturb=push)
print(pushed)
assert pushed.recovered > 0.9

# %%
# The pendulum at several moments, its angle over time, and the convergence.

panels, (strobe, angle, falls) = plt.subplots(1, 3, figsize=(11, 3.4), width_ratios=(1.3, 1.2, 1), layout="constrained")
x, q = best.motion.column("x"), best.motion.column("theta")
for k in range(260, 521, 13):
    shade = plt.cm.viridis((k - 260) / 260)
    tip = x[k] + np.sin(q[k]), -np.cos(q[k])
    strobe.plot([x[k], tip[0]], [0, tip[1]], color=shade, lw=1.2)
    strobe.plot(*tip, "o", color=shade, ms=7)
    strobe.plot(x[k], 0, "s", color=shade, ms=6)
strobe.axhline(0, color="grey", lw=0.6, zorder=0)
strobe.set(title="from 2.6 s to 5.2 s", aspect="equal", xlabel="x [m]")
t = best.motion.t
angle.plot(t, [np.degrees(desired(180)["theta"](s)) for s in t], color="grey", ls="--", label="desired")
angle.plot(t, theta, color="tab:blue", label="optimum")
angle.plot(t, np.degrees(pushed.motion.column("theta")), color="tab:green", lw=1, label="pushed")
angle.plot(t, np.degrees(pushed.without.column("theta")), color="tab:red", lw=1, label="pushed, no feedback")
angle.set(xlabel="time [s]", ylabel="θ [°]", ylim=(-60, 400))
angle.legend(frameon=False, fontsize=8, loc="upper left")
falls.semilogy(np.arange(1, len(tail) + 1), tail, "o-", color="tab:purple")
falls.set(xlabel="iteration", title="expected decrease")
