"""
When to switch
==============

A cart is pushed, coasts, and is braked. When must it be let go, and when braked, to stand still at 1 m after 4 s? Newton's
method on the switching times finds 2 − √3 and 2 + √3 seconds in six iterations; the gradient alone needs over a hundred.
"""

from math import sqrt

import matplotlib.pyplot as plt
import numpy as np

from bunraku.choreography import Limits, optimize_times
from bunraku.choreography.flow import Field, Flow

push, coast, brake = (Field.linear([[0, 1], [0, 0]], [0, u]) for u in (1.0, 0.0, -1.0))
cart = Flow(
    [push, coast, brake], start=np.zeros(2), end=4.0, goal=np.array([1.0, 0.0]), running=np.zeros((2, 2)), final=np.eye(2), steps=20
)
limits = Limits.ordered(2, 4.0, shortest=0.05)
found = {
    method: optimize_times(cart, times=[1.0, 2.5], limits=limits, method=method, most=500) for method in ("newton", "gradient")
}
newton, gradient = found["newton"], found["gradient"]

assert np.abs(newton.times - [2 - sqrt(3), 2 + sqrt(3)]).max() < 1e-8
assert newton.iterations <= 8
assert gradient.iterations > 50
print(f"let go at {newton.times[0]:.4f} s, brake at {newton.times[1]:.4f} s: {newton.iterations} iterations")

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for times, label, color in (([1.0, 2.5], "first guess", "0.6"), (newton.times, "best times", "tab:red")):
    t = np.concatenate([[0.0], np.cumsum(cart.lengths(np.array(times)))])
    left.plot(t, cart.run(np.array(times))[:, 0], color=color, label=label)
    left.vlines(times, 0, 1, color=color, ls=":", lw=1)
left.axhline(1.0, color="0.8", lw=1, zorder=0)
left.set(xlabel="time [s]", ylabel="way of the cart [m]")
left.legend()
for name, one in found.items():
    right.semilogy(np.maximum(one.promised, 1e-17), marker="o", ms=3, label=f"{name}: {one.iterations} iterations")
right.set(xlabel="iteration", ylabel="decrease that is hoped for", xlim=(-1, 60))
right.legend()
