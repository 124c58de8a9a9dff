"""
A hand on tendons
=================

The hand of *trep* (Johnson and Murphey), Fig. 5, holds a ball with five fingers. One tendon, which runs through eyelets, bends
each finger, and springs extend it. Is the system locally controllable in this grasp? The exact derivatives of a time step answer
this. They also give inputs that move the ball down by 3 mm; a full simulation shows how accurate these are.
"""

from itertools import combinations

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library, settle
from bunraku.dynamics import Simulation, controllability, linearize_at_rest
from bunraku.kinematics import pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import strands

hand = library.hand()
n, dt = hand.n_dynamic, 0.01
firm = {name: hand.start[hand.index(name)] - 0.008 for name in hand.kinematic}  # every tendon 8 mm shorter, so that none is slack
rest = settle(hand, hand.configuration(**firm))
step = linearize_at_rest(hand, rest, dt=dt)
report = controllability(step.A, step.B)
print(report)
assert report.controllable
assert report.needed == 10, "five degrees of freedom at fixed tendon lengths: ten states"

# %%
# A single tendon would be enough for controllability. But how large are the inputs? Take the matrix from all inputs within 0.4 s
# to the final state: one over its smallest singular value is the size of the inputs that cancel the worst disturbance of size
# one.


def reached(B: np.ndarray, steps: int = 40) -> np.ndarray:
    """Matrix from the inputs of all steps to the final state: [A^(N−1) B, …, A B, B]."""
    blocks = [B]
    for _ in range(steps - 1):
        blocks.append(step.A @ blocks[-1])
    return np.concatenate(blocks[::-1], 1)


persists = np.linalg.svd(np.linalg.matrix_power(step.A, 10))[0][:, : report.needed]


def effort(tendons: tuple[int, ...]) -> float:
    return 1.0 / float(np.linalg.svd(persists.T @ reached(step.B[:, tendons]), compute_uv=False)[-1])


efforts = [min(effort(some) for some in combinations(range(5), k)) for k in range(1, 6)]
assert efforts == sorted(efforts, reverse=True), "the more tendons, the smaller the inputs"

# %%
# The smoothest inputs (least squares of second differences) that move the ball 3 mm down, where it rests.

ball = [hand.index(f"ball_t{axis}") for axis in "xyz"]
settled = np.linalg.lstsq(np.eye(len(step.A)) - step.A, step.B, rcond=1e-10)[0]  # final state under constant inputs
goal = settled @ np.linalg.lstsq(settled[ball], np.array([0, 0, -0.003]), rcond=None)[0]
U, s, V = np.linalg.svd(reached(step.B), full_matrices=False)
V, wanted = V[s > 1e-10 * s[0]], (U.T @ goal / s)[s > 1e-10 * s[0]]
bends = np.kron(np.eye(40) - 2 * np.eye(40, k=-1) + np.eye(40, k=-2), np.eye(5))
system = np.block([[bends.T @ bends, V.T], [V, np.zeros((len(V), len(V)))]])
pulls = np.linalg.solve(system, np.concatenate([np.zeros(200), wanted]))[:200].reshape(40, 5)

simulation = Simulation(hand, rest, dt=dt)
steps = simulation.run(rest[n:] + pulls)
planned, x = [np.zeros(3)], np.zeros(len(step.A))
for pull in pulls:
    x = step.A @ x + step.B @ pull
    planned.append(x[ball])
moved = np.vstack([rest[ball], steps.q[:, ball]]) - rest[ball]
print(f"ball: planned {1e3 * planned[-1][2]:.2f} mm, simulated {1e3 * moved[-1, 2]:.2f} mm")
assert np.allclose(planned[-1], [0, 0, -0.003], atol=1e-9)
assert np.allclose(moved[-1], [0, 0, -0.003], atol=4e-4), "the error is of second order"
assert (steps.states[:, :5] == 1).all(), "no tendon went slack"

# %%
# The grasp with its tendons; the size of the inputs over the number of tendons; the planned and the simulated motion of the ball.

panels = plt.figure(figsize=(10, 5.6), layout="constrained")
left, right = panels.subfigures(1, 2, width_ratios=(1, 1.15))
picture = left.subplots()
frames = pose(hand, rest).frames
camera = Camera.around([[0.0, -0.06, -0.02], [0.08, 0.06, 0.3]], azimuth=-0.5, elevation=0.15, aspect=0.8, margin=1.05)
ropes = strands(hand, frames, rest, simulation.tension)
picture.imshow(image(hand, frames, camera=camera, size=(480, 600), strings=ropes))
picture.axis("off")
bars, way = right.subplots(2, 1)
bars.bar(range(1, 6), np.array(efforts) / efforts[-1], color="tab:brown", width=0.6)
bars.set(yscale="log", ylabel="input for the worst case\n(relative to five tendons)", xlabel="number of tendons that are pulled")
for axis, name, colour in zip(range(3), "xyz", ("tab:red", "tab:green", "tab:blue"), strict=True):
    way.plot(dt * np.arange(41), 1e3 * moved[:, axis], color=colour, label=f"ball {name}")
    way.plot(dt * np.arange(41), 1e3 * np.array(planned)[:, axis], "--", color=colour, lw=1)
way.set(xlabel="time [s]", ylabel="displacement [mm],\nplanned dashed")
way.legend(frameon=False)
