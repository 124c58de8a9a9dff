"""
Two sidesteps
=============

Fig. 8 of *A Handy Humanoid Robot Navigation* (Sugihara and Kobayashi): the right foot steps 30 mm to the right, twice, in 0.5 s
each. With the least-squares plan of the paper, the zero-moment point (ZMP) leaves the support polygon in the second step, so the
paper makes this step longer. bunraku solves a small quadratic program instead, and 0.5 s are enough.
"""

import matplotlib.pyplot as plt

from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.guide_pictures import draw_segments
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.segment import SegmentPlanner


def sidesteps(planner):
    guide = Guide(small_humanoid(), planner=planner)
    points, segments = guide.start(), []
    stick = 0.03 / (0.6 * guide.humanoid.limits.forward)  # how far to push the stick for 30 mm
    for _ in range(2):
        move = guide.next(points, Command("right_foot", move=(0, -stick, 0)))
        segments.append(move.segment)
        points = move.end
    return segments


plans = {
    "least squares, T = 0.5 s": sidesteps(SegmentPlanner.of_paper(longest=0.5, margin=-1.0)),
    "lengthened, as in the paper": sidesteps(SegmentPlanner.of_paper()),
    "quadratic program": sidesteps(SegmentPlanner()),
}

# %%
# Black dots: the ZMP is outside the support polygon.

figure, axes = plt.subplots(1, 3, figsize=(11, 3.6), sharey=True, layout="constrained")
for axis, (title, segments) in zip(axes, plans.items(), strict=True):
    draw_segments(axis, segments)
    axis.set_title(f"{title}\n{' + '.join(f'{s.duration:.1f} s' for s in segments)}", fontsize=10)
axes[0].set_ylabel("to the left [mm]")
axes[0].legend(fontsize=8, loc="lower left", frameon=False)

free, longer, program = plans.values()
assert free[0].margin.min() > 0 > free[1].margin.min(), "the ZMP leaves the polygon in the second step"
assert [s.duration for s in longer] == [0.5, 1.0], "as in the paper"
assert all(s.duration == 0.5 and s.margin.min() > 0.007 for s in program)
