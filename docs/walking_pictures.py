"""Makes the picture of walking on the page on carrying: a stride in eight phases, and its joints beside what was measured.

python docs/walking_pictures.py
"""

from __future__ import annotations

from pathlib import Path

import matplotlib as mpl
import matplotlib.pyplot as plt
import numpy as np

from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.locomotion.walk import Walk, load_cycles, walk
from bunraku.render.image import Camera, image

HERE = Path(__file__).parent
PERSON = library.named("mannequin")
PHASE = np.linspace(0.0, 1.0, 100)


def steady(speed: float) -> tuple[Walk, float, float, float]:
    """A straight walk, and when the left foot touches down, leaves, and touches down again in the middle of it."""
    t = np.linspace(0.0, 12.0, 1200)
    v = speed * np.clip(np.minimum(t, 12.0 - t), 0.0, 1.0)
    x = np.concatenate([[0.0], np.cumsum(0.5 * (v[1:] + v[:-1]) * np.diff(t))])
    walked = walk(PERSON, t, np.stack([x, 0.0 * x, 0.0 * x], 1))
    first, second = [fall for fall in walked.footfalls if fall.foot == "left" and fall.touch > 4.0][:2]
    return walked, first.touch, first.leave, second.touch


def main() -> None:
    mpl.use("Agg")
    figure = plt.figure(figsize=(12, 7.4), layout="constrained")
    above, below = figure.subfigures(2, 1, height_ratios=(1.0, 1.25))
    stride, joints = above.subplots(1, 8), below.subplots(2, 3, sharex=True, sharey="row")
    walked, touch, _, again = steady(1.2)
    for k, moment in enumerate(np.linspace(touch, again, 9)[:8]):
        axis = stride[k]
        q = walked.Q[int(np.searchsorted(walked.t, moment))]
        camera = Camera(eye=(q[0] + 0.7, -3.5, 1.25), target=(q[0], 0.0, 0.86), field=0.54)
        axis.imshow(image([PERSON], [pose(PERSON, q).frames], camera=camera, size=(230, 430)))
        axis.set_title(f"{k / 8:.0%}", fontsize=9)
        axis.axis("off")
    for row, joint in enumerate(("hip", "knee")):
        for column, (name, speed) in enumerate((("slow", 0.4), ("comfortable", 1.2), ("fast", 1.6))):
            axis = joints[row, column]
            walked, *times = steady(speed)
            own = np.interp(np.interp(PHASE, [0.0, 0.6, 1.0], times), walked.t, walked.Q[:, PERSON.index(f"left_{joint}_ry")])
            sign = -1.0 if joint == "hip" else 1.0
            axis.plot(PHASE, sign * np.degrees(own), label="walked")
            axis.plot(PHASE, sign * np.degrees(load_cycles()[name].at(PHASE, f"left_{joint}_ry")), "k:", label="measured")
            axis.set_ylabel(f"{joint} [°]")
            axis.set_xticks([0.0, 0.6, 1.0], ("touches down", "leaves", "again"))
            axis.set_title(f"{speed} m/s" if row == 0 else "", fontsize=9)
    axis.legend(fontsize=8, loc="upper left")
    figure.savefig(HERE / "_static" / "walking.png", dpi=90)


if __name__ == "__main__":
    main()
