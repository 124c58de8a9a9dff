"""
When to switch
==============

A cart is pushed, coasts, and is braked. At which times must the push end and the brake start, so that it stands at 1 m after 4 s?
Newton's method on the switching times finds 2 − √3 and 2 + √3 seconds in six iterations; gradient descent needs over a hundred.
The second example is a figure instead of a formula: a crane whose load must not swing when it arrives.
"""

from math import sqrt

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library
from bunraku.choreography import TimeLimits, TimesOptions, optimize_times
from bunraku.choreography.figure_mode import at_rest, mode_of
from bunraku.choreography.mode_flow import Field, Flow

push, coast, brake = (Field.linear([[0, 1], [0, 0]], [0, u]) for u in (1.0, 0.0, -1.0))
cart = Flow(
    [push, coast, brake], start=np.zeros(2), end=4.0, goal=np.array([1.0, 0.0]), running=np.zeros((2, 2)), final=np.eye(2), steps=20
)
limits = TimeLimits.ordered(2, 4.0, shortest=0.05)
found = {
    method: optimize_times(cart, times=[1.0, 2.5], limits=limits, method=method, options=TimesOptions(iterations=500))
    for method in ("newton", "gradient")
}
newton, gradient = found["newton"], found["gradient"]

assert np.abs(newton.times - [2 - sqrt(3), 2 + sqrt(3)]).max() < 1e-8
assert newton.iterations <= 8
assert gradient.iterations > 50
print(f"let go at {newton.times[0]:.4f} s, brake at {newton.times[1]:.4f} s: {newton.iterations} iterations")

# %%
# A mode (the dynamics between two switches) may be a figure under constant inputs. A cart with a pendulum is a crane with its
# load. It is pushed four times with ±10 N; four switching times are just enough for the load to hang still 1 m away.

crane = library.cart_pendulum(start=(0.0, 0.0))
PUSHES = (10.0, -10.0, 10.0, -10.0, 0.0)
modes = [mode_of(crane, forces={"x_force": u}) for u in PUSHES]
swing = Flow(modes, at_rest(crane), 2.6, np.array([1.0, 0, 0, 0]), np.zeros((4, 4)), np.diag([10.0, 10, 1, 1]), steps=15)
limits = TimeLimits.ordered(4, 2.6, shortest=0.05)
still = optimize_times(swing, times=[0.5, 1.0, 1.5, 2.0], limits=limits, options=TimesOptions(tolerance=1e-14))
print(f"crane: {still.outcome.kind} after {still.iterations} iterations, switched at {still.times.round(3)} s")
assert np.abs(swing.run(still.times)[-1] - swing.goal).max() < 1e-6

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(14, 4), layout="constrained")
for times, label, color in (([1.0, 2.5], "first guess", "0.6"), (newton.times, "best times", "tab:red")):
    t = np.concatenate([[0.0], np.cumsum(cart.lengths(np.array(times)))])
    left.plot(t, cart.run(np.array(times))[:, 0], color=color, label=label)
    left.vlines(times, 0, 1, color=color, ls=":", lw=1)
left.axhline(1.0, color="0.8", lw=1, zorder=0)
left.set(xlabel="time [s]", ylabel="position of the cart [m]", title="pushed, coasting, braked")
left.legend()
for name, one in found.items():
    middle.semilogy(np.maximum(one.promised, 1e-17), marker="o", ms=3, label=f"{name}: {one.iterations} iterations")
middle.set(xlabel="iteration", ylabel="expected decrease", xlim=(-1, 60), title="Newton's method and the gradient")
middle.legend()
t, x = np.concatenate([[0.0], np.cumsum(swing.lengths(still.times))]), swing.run(still.times)
right.plot(t, x[:, 0], color="tab:red", label="position of the crane [m]")
right.plot(t, x[:, 1], color="tab:blue", label="angle of its load [rad]")
for begin, end, u in zip([0.0, *still.times], [*still.times, 2.6], PUSHES, strict=True):
    right.axvspan(begin, end, color="tab:green" if u > 0 else "tab:orange" if u < 0 else "white", alpha=0.12)
right.set(xlabel="time [s]", title="a crane: +10 N green, −10 N orange")
right.legend()
