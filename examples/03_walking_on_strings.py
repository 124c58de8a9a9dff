"""
Walking on strings
==================

The marionette of the library with 25 dynamic variables and seven strings walks across a floor. The puppeteer lifts a knee and
swings it forward, lowers the leg until its string is slack and the foot stands, moves the body forward over the foot, and turns
the shoulders against the hips. Each hand swings with the opposite knee. Only strings, gravity and friction move the figure.
"""

from collections.abc import Callable
from math import cos, pi, sin

import matplotlib.pyplot as plt
import numpy as np

from bunraku import library, simulate
from bunraku.figure.build import contact
from bunraku.kinematics import pose
from bunraku.render.camera import Camera
from bunraku.render.image import image
from bunraku.render.strands import strands
from bunraku.scene import Scene

FLOOR, START, PERIOD, STRIDE = 0.032, 0.4, 1.5, 0.14

shoe = {"heel": (0, -0.012, -0.012), "toe": (0, 0.045, -0.012)}
puppet = library.marionette25(damping=4e-3).replace(
    contacts=tuple(
        contact(f"{foot}_{end}", (foot, at), ("world", (0, 0, FLOOR)), friction=0.6)
        for foot in ("lfoot", "rfoot")
        for end, at in shoe.items()
    )
)

# %%
# The puppeteer: the position of each spindle along y, and the length of each string, over time.


def stroke(t: float, phase: float) -> tuple[float, float]:
    """How far a limb is forward (−1 to 1) and up (0 to 1): it swings in the first half of a period and stands in the second."""
    s = ((t - START) / PERIOD + phase) % 1.0
    ahead, high = (-cos(2 * pi * s), sin(2 * pi * s) ** 2) if s < 0.5 else (cos(2 * pi * (s - 0.5)), 0.0)
    warm = min(max(t - START, 0.0) / 0.5, 1.0)
    return warm * ahead, high if t > START else 0.0


def course(t: float) -> float:
    """Distance that all spindles have moved along y [m], with a gentle start."""
    s = max(t - START, 0.0)
    return STRIDE / PERIOD * (s - 0.25 * (1 - np.exp(-s / 0.25)))


rest = dict(zip(puppet.names, puppet.start.tolist(), strict=True))
hands: dict[str, Callable[[float], float]] = {"head_y": lambda t: rest["head_y"] + course(t)}
for side, other, phase in (("left", "right", 0.0), ("right", "left", 0.5)):
    leg, arm, shoulder = f"{side}_leg", f"{other}_arm", f"{side}_shoulder"

    def twist(t: float, phase: float = phase) -> float:
        return 0.04 * sin(2 * pi * ((t - START) / PERIOD + phase)) * min(max(t - START, 0.0) / 0.5, 1.0)

    hands |= {
        f"{leg}_y": lambda t, y=rest[f"{leg}_y"], p=phase: y + course(t) + 0.5 * STRIDE * stroke(t, p)[0],
        f"{leg}_length": lambda t, l=rest[f"{leg}_length"], p=phase: l + 0.045 - 0.09 * stroke(t, p)[1],
        f"{arm}_y": lambda t, y=rest[f"{arm}_y"], p=phase: y + course(t) + 0.05 * stroke(t, p)[0],
        f"{arm}_length": lambda t, l=rest[f"{arm}_length"], p=phase: l - 0.05 * stroke(t, p)[1],
        f"{shoulder}_y": lambda t, y=rest[f"{shoulder}_y"], twist=twist: y + course(t) - twist(t),
    }

motion = simulate(puppet, hands, duration=5.0, dt=0.005)

# %%
# Check that it walks: the feet alternate, and a standing foot does not move along.

poses = [pose(puppet, q) for q in motion.q]
feet = np.array([[here.point(foot) for foot in ("lfoot", "rfoot")] for here in poses])
load = motion.contact.reshape(len(motion), 2, 2).sum(2)
stands, moved = load[1:] > 0.3, np.abs(np.diff(feet[:, :, 1], axis=0))
steps = [int((np.diff((feet[:, k, 2] > FLOOR + 0.035).astype(int)) > 0).sum()) for k in (0, 1)]
print(f"{motion.column('torso_ty')[-1]:.2f} m in {sum(steps)} steps; {sum(m.kind == 'impact' for m in motion.marks)} catches")
assert motion.column("torso_ty")[-1] > 0.35, "it moved forward"
assert min(steps) >= 3, "with both feet"
assert moved[stands].mean() < 0.5 * moved[~stands].mean(), "a standing foot moves less than a swinging one"
assert np.abs(motion.column("torso_rx")).max() < 0.35, "upright"
assert motion.tension.min() >= 0.0

# %%
# One and a quarter periods in ten pictures; the camera moves with the figure.

ground = Scene("ground", floor=FLOOR)
panels, axes = plt.subplots(2, 5, figsize=(10, 7.2))
for axis, t in zip(axes.flat, np.linspace(1.9, 1.9 + 1.25 * PERIOD, 10), strict=True):
    k = round(t / 0.005)
    y, frames = motion.column("torso_ty")[k], poses[k].frames
    camera = Camera.around([[0, y - 0.18, -0.03], [0, y + 0.22, 0.74]], azimuth=0.3, elevation=0.1, aspect=0.56, margin=1.0)
    ropes = strands(puppet, frames, motion.q[k], motion.tension[k])
    axis.imshow(image(puppet, frames, scene=ground, camera=camera, size=(280, 500), strings=ropes))
    axis.set_title(f"{t:.2f} s", fontsize=10)
    axis.axis("off")
panels.tight_layout()
