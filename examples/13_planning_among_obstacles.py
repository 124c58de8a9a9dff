"""
Planning among obstacles
========================

A puppet arm on one string gets from one side of a wall to the other: nobody says how.
"""

import matplotlib.pyplot as plt

from bunraku import library, settle
from bunraku.figure import Box
from bunraku.planning import Goal, Limits, Problem, plan, recheck
from bunraku.planning.picture import save_tree_picture
from bunraku.scene import Obstacle, Scene

arm = library.arm3d()


def at_rest(x: float, y: float, length: float):
    return settle(arm, arm.configuration(settle(arm), hand_x=x, hand_y=y, hand_length=length))


# %%
# The wall is as high as the shoulder is deep, and the string must not pass through it either.

wall = Obstacle("wall", Box((0.04, 0.4, 0.5)), (0.03, 0.4, -0.42), color=(0.75, 0.3, 0.22))
start, end = at_rest(-0.3, 0.35, 1.15), at_rest(0.35, 0.3, 1.15)
problem = Problem(
    arm,
    start,
    Goal.at_configuration(arm, end, within=0.03, speed=0.3),
    Scene("wall", (wall,), floor=-1.0),
    Limits.of(arm, start, speed=0.6, acceleration=6.0),
)
found = plan(problem, seed=1, seconds=20)
print(found)

# %%
# The rechecker simulates the plan again, with a finer step too, and checks every way between samples.

report = recheck(found.motion, problem.scene, limits=problem.limits, goal=problem.goal)
print(report)

# %%
# The tree that was searched, and the way of the wrist in it.

save_tree_picture(found, "tree.png", azimuth=1.35)
plt.figure(figsize=(9, 7.6))
plt.imshow(plt.imread("tree.png"))
plt.axis("off")
plt.tight_layout(pad=0)

assert found.solved, "there is a way over the wall"
assert report.accepted, "and it holds"
assert report.gap < 1e-3, "strings are never longer than they are wound"
