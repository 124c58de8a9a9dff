"""
Planning among obstacles
========================

A planner finds how to move the string of a puppet arm so that the arm gets over a wall.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library, settle
from bunraku.figure import Box
from bunraku.planning.strings import Goal, HandLimits, PlanningProblem, recheck, search, smooth
from bunraku.planning.strings.tree_picture import save_tree_picture
from bunraku.scene import Obstacle, Scene

arm = library.arm3d()


def at_rest(x: float, y: float, length: float):
    return settle(arm, arm.configuration(settle(arm), hand_x=x, hand_y=y, hand_length=length))


# %%
# Neither the arm nor its string may touch the wall.

wall = Obstacle("wall", Box((0.04, 0.4, 0.5)), (0.03, 0.4, -0.42), color=(0.75, 0.3, 0.22))
start, end = at_rest(-0.3, 0.35, 1.15), at_rest(0.35, 0.3, 1.15)
problem = PlanningProblem(
    arm,
    start,
    Goal.at_configuration(arm, end, within=0.03, speed=0.3),
    Scene("wall", (wall,), floor=-1.0),
    HandLimits.of(arm, start, speed=0.6, acceleration=6.0),
)
found = search(problem, seed=1, seconds=20)
print(found)

# %%
# `recheck`, which shares no code with the planner, simulates the plan again, also with a smaller time step, and checks for
# collisions at the samples and between them.

report = recheck(found.motion, problem.scene, limits=problem.limits, goal=problem.goal)
print(report)

# %%
# The planner chooses inputs at random. Optimal control, with the plan as its first guess, finds inputs that are hundreds of times
# smoother, and `recheck` accepts them too.

better = smooth(found)
print(better.verdict)
print(f"∫ acceleration² of the hand: {found.roughness:.3g} → {better.roughness:.2g}")

# %%
# Left: the search tree, and the path of the wrist in it. Right: velocities of the kinematic variables, planned and smoothed.

save_tree_picture(found, "tree.png", azimuth=1.35)
sheet = plt.figure(figsize=(12, 6.4), layout="constrained")
tree, speeds = sheet.subplots(1, 2, width_ratios=[1.2, 1])
tree.imshow(plt.imread("tree.png"))
tree.axis("off")
for name, color in zip(arm.kinematic, ("#33557a", "#d1481f", "#4b8b3b"), strict=True):
    for motion, width in ((found.motion, 0.7), (better.motion, 2.2)):
        rate = np.gradient(motion.q[:, arm.index(name)], motion.t)
        speeds.plot(motion.t, rate, color=color, lw=width, alpha=0.9, label=f"{name}, smoothed" if width > 1 else name)
speeds.set(xlabel="time [s]", ylabel="speed of the hand [m/s]")
speeds.legend(frameon=False, fontsize=8, ncols=3, loc="upper center", bbox_to_anchor=(0.5, 1.12))

assert found.motion is not None, "a plan was found"
assert report.accepted, "the recheck accepts it"
assert report.gap < 1e-3, "no string is stretched"
assert better.verdict.accepted
assert better.roughness < 0.01 * found.roughness
