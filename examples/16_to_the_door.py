"""
Down the steps, to the door
===========================

The scenario of Fig. 9–12 of *A Handy Humanoid Robot Navigation* (Sugihara and Kobayashi). A joystick guides one point of a
humanoid at a time: the feet down two steps, the trunk across the room, the left hand to the handle of a door. All other joints
follow, and the zero-moment point (ZMP), computed from all bodies, stays inside the support polygon.
"""

import matplotlib.pyplot as plt
import numpy as np

from bunraku.kinematics import pose
from bunraku.kinematics.balance import margin
from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.guide_pictures import loci
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.scenario import PAPER_ROOM, operator
from bunraku.locomotion.guide.session import Session
from bunraku.render.camera import Camera
from bunraku.render.image import image

performer = Performer(Guide(small_humanoid(), PAPER_ROOM.scene))
session = Session(performer, performer.guide.start(x=PAPER_ROOM.start))
motion = session.run(operator(session))

# %%
# Six moments; below, paths from above: centre of mass and feet (solid), hands (dashed), and subgoals (+).

moments = [int(share * (len(motion) - 1)) for share in (0, 0.3, 0.48, 0.62, 0.8, 1)]
camera = Camera(eye=(1.0, -2.1, 0.75), target=(0.6, 0.05, 0.27), field=0.42)
sheet = plt.figure(figsize=(11, 7.5), layout="constrained")
top, bottom = sheet.subfigures(2, 1, height_ratios=(1.9, 1))
for axis, k in zip(top.subplots(2, 3).flat, moments, strict=True):
    frames = pose(motion.figure, motion.q[k]).frames
    axis.imshow(image(motion.figure, frames, scene=PAPER_ROOM.scene, size=(560, 330), camera=camera))
    axis.set_title(f"{motion.t[k]:.1f} s", fontsize=9)
    axis.axis("off")
loci(bottom.subplots(), session.performances, scene=PAPER_ROOM.scene)

hand = pose(motion.figure, motion.q[-1]).point("left_hand")
assert np.linalg.norm(hand - PAPER_ROOM.handle) < 0.01, "the hand is at the handle"
assert session.points.feet[:, 2].max() == 0.0, "both feet are down on the floor"
for done in session.performances:
    for phase, first, last in zip(done.move.segment.phases, (0, *done.move.segment.ends), done.move.segment.ends, strict=False):
        assert (margin(phase.region.corners, done.zmp[first + 1 : last]) > 0).all(), "the ZMP stays inside"
