"""
A ball and a tower
==================

Bodies that touch. A ball is thrown, bounces, rolls into a tower of crates and knocks it over; a drum stands in the way. Crates rub,
fall and come to rest. Nothing is ever inside anything else, and there are no springs in the contacts that would have to be tuned.
"""

import numpy as np

import bunraku
from bunraku.dynamics.touch.touch_simulation import TouchSimulation, as_touch
from bunraku.figure.together import together

ball = bunraku.library.football(radius=0.08, mass=1.2, at=(-0.9, 0.02, 0.35))
crates = {f"crate{k}": bunraku.library.crate(at=(0.012 * (k % 2), 0.0, 0.05 + 0.1 * k)) for k in range(4)}
drum = bunraku.library.drum(radius=0.08, height=0.16, at=(0.45, 0.05, 0.08))
props = together("props", {"ball": ball, **crates, "drum": drum})
floor = bunraku.Scene("floor")

# %%
# How surfaces meet is said once for all, and again for some pairs: here the ball bounces, and the floor resists its rolling.

touch = as_touch({"friction": 0.5, "own": [["ball", "floor", {"restitution": 0.6, "rolling": 0.002}]]})
throw = np.zeros(props.n_q)
throw[props.index("ball.football_tx")] = 2.6
motion = bunraku.simulate(props, duration=1.6, dt=0.005, v=throw, scene=floor, touch=touch)
for mark in motion.marks[:6]:
    print(f"{mark.t:.2f} s  {mark.text}")
bunraku.save(motion, "tower.png", scene=floor)

# %%
# The log of a simulation has every contact, with its impulse and depth.

simulation = TouchSimulation(props, v=throw, scene=floor, touch=touch, dt=0.005)
simulation.run(np.zeros((320, 0)))
print(f"{len(simulation.log.gap)} contacts; the deepest is {1e6 * max(simulation.log.gap.max(), 0.0):.2g} µm")
assert simulation.log.gap.max() < 1e-6, "nothing is inside anything else"
top = motion.only.q[-1, props.index("crate3.crate_tz")]
assert top < 0.3, "the tower has fallen"
