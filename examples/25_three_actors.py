"""
Three actors
============

Actors are marionettes with thirteen strings. They bow with trunk and head, and their steps lead where the script says. Strings go
slack in their motions; feedback keeps each near what it should do. All are simulated together, with what they touch: boards carry
their soles, limbs stop at bodies, and a foot that meets the ball kicks it.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bunraku.choreography import load_script, perform
from bunraku.kinematics import frames_along
from bunraku.render.image import image

SCRIPT = """
perform: The company
tempo: 90
figures:
  anna: {figure: actor, at: [-1.6, -0.4]}
  bert: {figure: actor, at: [0, -1]}
  cleo: {figure: actor, at: [1.6, -0.4]}
props:
  ball: {is: football, at: [1.5, -0.1, 0.06]}
script:
  - bert: walk                  # ahead, to between the others
    to: [0, -0.2]
    counts: 13
    name: enters
  - everyone: bow
    after: enters
    counts: 6
    name: welcome
  - bert: hop
    after: welcome
    counts: 6
    name: dance
  - anna: polka
    with: dance
    counts: 10
  - cleo: kick
    with: dance
    counts: 6
    size: 0.6
    mirrored: true
"""

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "show.yaml"
    file.write_text(SCRIPT)
    made = perform(load_script(file), folder=Path(folder))
print(made)

assert made.outcome.ok
*actors, ball = made.motion.tracks
for track in actors:
    assert made.errors[track.name] < 0.05  # rad, over all joints: it follows the script; feet may come down elsewhere
    assert track.tension.min() >= 0.0
bert = made.motion.tracks[1].figure
assert np.allclose([made.motion.tracks[1].q[k, bert.index("torso_ty")] for k in (0, -1)], [-1.08, -0.28], atol=0.02)
bow = np.degrees(-made.motion.tracks[0].q[:, bert.index("torso_rx")].min())
assert bow > 50  # it is seen from the last row

assert np.linalg.norm(ball.q[-1, :2] - ball.q[0, :2]) > 0.3  # it rolls away
assert np.abs(ball.q[:, 2] - ball.q[-1, 2]).max() < 0.05

figures = [track.figure for track in made.motion.tracks]
X = [frames_along(track.figure, track.q) for track in made.motion.tracks]
picture, axes = plt.subplots(2, 2, figsize=(11, 7.4), layout="constrained")
for ax, t in zip(axes.flat, (3.0, 7.7, 11.0, 12.0), strict=True):
    k = int(np.searchsorted(made.motion.t, t))
    ax.imshow(image(figures, [x[k] for x in X], size=(640, 430), scene=made.scene))
    ax.set_title(f"{t:.1f} s", fontsize=9)
    ax.axis("off")
