"""
A hand on tendons
=================

The hand of *trep*, Fig. 5: five fingers, each bent by one tendon through eyelets and stretched by springs, hold a ball. Is it
locally controllable at this grasp? Exact derivatives of the step answer that; then they plan how to pull so that the ball goes
down by 3 mm, and the full simulation shows how good the plan is.
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
firm = {name: hand.start[hand.index(name)] - 0.008 for name in hand.kinematic}  # every tendon 8 mm in: none hangs through
rest = settle(hand, hand.configuration(**firm))
step = linearize_at_rest(hand, rest, dt=dt)
report = controllability(step.A, step.B)
print(report)
assert report.controllable
assert report.needed == 10, "fingers that hold one ball, on tendons of given length, can move in five ways"

# %%
# So it would be with any one tendon alone. But how much must be pulled? What inputs do within 0.4 s has singular values; one over
# the smallest is the pull that undoes the worst disturbance.


def reached(B: np.ndarray, steps: int = 40) -> np.ndarray:
    """What inputs in each of the steps have done at the end: [A^(N−1) B, …, A B, B]."""
    blocks = [B]
    for _ in range(steps - 1):
        blocks.append(step.A @ blocks[-1])
    return np.concatenate(blocks[::-1], 1)


persists = np.linalg.svd(np.linalg.matrix_power(step.A, 10))[0][:, : report.needed]


def effort(tendons: tuple[int, ...]) -> float:
    return 1.0 / float(np.linalg.svd(persists.T @ reached(step.B[:, tendons]), compute_uv=False)[-1])


efforts = [min(effort(some) for some in combinations(range(5), k)) for k in range(1, 6)]
assert efforts == sorted(efforts, reverse=True), "the more tendons, the less each must do"

# %%
# The ball 3 mm down and at rest, with inputs as smooth as they can be: least squares of their second differences.

ball = [hand.index(f"ball_t{axis}") for axis in "xyz"]
settled = np.linalg.lstsq(np.eye(len(step.A)) - step.A, step.B, rcond=1e-10)[0]  # where constant inputs lead in the end
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
assert np.allclose(moved[-1], [0, 0, -0.003], atol=4e-4), "what is exact to first order is off by second"
assert (steps.states[:, :5] == 1).all(), "no tendon went slack"

# %%
# The grasp with its tendons, what it takes to control it, and the plan beside what happens.

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
bars.set(yscale="log", ylabel="pull for the worst\n(five tendons = 1)", xlabel="tendons that are pulled")
for axis, name, colour in zip(range(3), "xyz", ("tab:red", "tab:green", "tab:blue"), strict=True):
    way.plot(dt * np.arange(41), 1e3 * moved[:, axis], color=colour, label=f"ball {name}")
    way.plot(dt * np.arange(41), 1e3 * np.array(planned)[:, axis], "--", color=colour, lw=1)
way.set(xlabel="[s]", ylabel="[mm], planned dashed")
way.legend(frameon=False)
