"""
Swinging up
===========

A cart with a pendulum that hangs. It is asked to bring the pendulum up and down again along a curve that no motion of the cart
can follow (*trep*, Fig. 4a). Newton's method finds the nearest that the cart can do, in a second for 1,000 steps, and with it the
feedback that keeps the pendulum there.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library
from bunraku.control import Configuration, Forces, Momentum, optimize
from bunraku.control.tracking import track

figure = library.cart_pendulum(start=(0.0, 0.0))


def wish(degrees):
    """Up between 3 s and 7 s, and back."""
    return {"theta": lambda t: np.radians(degrees) / 2 * (1 - np.cos(np.pi / 2 * (t - 3))) if 3 <= t <= 7 else 0.0}


def cost(degrees):
    return [Configuration({"x": 1.0, "theta": 100.0}, wish(degrees)), Momentum(0.01), Forces(0.001)]


# %%
# First toward 130°, then from there toward the inverted pendulum.

halfway = optimize(figure, cost(130), duration=10)
best = optimize(figure, cost(180), duration=10, guess=halfway)
print(halfway, best, sep="\n")
assert best.outcome.kind == "converged"
theta = np.degrees(best.motion.column("theta"))
assert theta.max() > 175, "upside down"
assert abs(theta[-1]) < 5, "and back"

# %%
# The last steps are Newton's: the expected decrease falls quadratically.

tail = np.array([i.decrease for i in best.history])
print("expected decrease:", " ".join(f"{x:.0e}" for x in tail))
assert all(i.kind == "newton" for i in best.history[-3:])
assert tail[-1] < 1e-9 * tail[-2] ** 0.5

# %%
# Pushed at the top, the optimum's inputs alone let it fall. Its gains do not.


def push(k, x):
    x[3] += 0.3 * (k == 450)  # 0.3 N·m·s at the bob
    return x


pushed = track(best, disturb=push)
print(pushed)
assert pushed.recovered > 0.9

# %%
# The swing in pictures of the pendulum, its angle, and the convergence.

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
angle.plot(t, [np.degrees(wish(180)["theta"](s)) for s in t], color="grey", ls="--", label="wish")
angle.plot(t, theta, color="tab:blue", label="optimum")
angle.plot(t, np.degrees(pushed.motion.column("theta")), color="tab:green", lw=1, label="pushed")
angle.plot(t, np.degrees(pushed.without.column("theta")), color="tab:red", lw=1, label="pushed, no feedback")
angle.set(xlabel="time [s]", ylabel="θ [°]", ylim=(-60, 400))
angle.legend(frameon=False, fontsize=8, loc="upper left")
falls.semilogy(np.arange(1, len(tail) + 1), tail, "o-", color="tab:purple")
falls.set(xlabel="iteration", title="expected decrease")
