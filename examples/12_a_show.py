"""
A show from a script
====================

A script says which marionette does what on which count (beat). It is rehearsed by optimal control and played with feedback. The
marionette still follows it when it is pushed and a little heavier than the model.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bunraku.choreography import load_script, perform
from bunraku.choreography.part import recovery
from bunraku.kinematics import frames_along
from bunraku.render.image import image
from bunraku.render.strands import strands

SCRIPT = """
perform: Yes, and off we go
tempo: 100
figures: {anna: marionette22}
script:
  - anna: nod
    name: yes
  - anna: walk
    to: [0.5, 0]
    after: "yes"
    counts: 6
"""

with tempfile.TemporaryDirectory() as folder:
    file = Path(folder) / "show.yaml"
    file.write_text(SCRIPT)
    made = perform(load_script(file), folder=Path(folder))

anna, asked = made.motion.tracks[0], made.reference.tracks[0]
found = recovery(made.parts["anna"], every=1.5)
print(f"{made.motion.duration:.1f} s; least tension {anna.tension.min():.1f} N")
print(f"error when pushed: {found.held:.3f} with feedback, {found.open:.3f} without")

n = anna.figure.n_dynamic
assert np.sqrt(np.mean((anna.q - asked.q)[:, :n] ** 2)) < 0.05  # it follows the script
assert anna.tension.min() >= 0.0
assert found.held < found.open  # feedback helps

times = np.array([0.0, 0.6, 1.9, 3.0, 3.8, 4.6, 5.6])
picture = plt.figure(figsize=(11, 6.5), layout="constrained")
above, below = picture.subfigures(2, 1, height_ratios=(1.6, 1))
X = frames_along(anna.figure, anna.q)
for axes, t in zip(above.subplots(1, len(times)), times, strict=True):
    k = int(np.searchsorted(made.motion.t, t))
    axes.imshow(image(anna.figure, X[k], size=(240, 520), strings=strands(anna.figure, X[k], anna.q[k], anna.tension[k])))
    axes.set_title(f"{t:.1f} s", fontsize=9)
    axes.axis("off")
axes = below.subplots()
for string, tension in zip(anna.figure.strings, anna.tension.T, strict=True):
    axes.plot(made.motion.t, tension, label=string.name.replace("_", " "))
for mark in made.motion.marks:
    axes.axvline(mark.t, color="0.7", ls=":")
    axes.annotate(mark.text, (mark.t, 1.0), (3, -10), xycoords=("data", "axes fraction"), textcoords="offset points", fontsize=8)
axes.set(xlabel="time [s]", ylabel="tension [N]")
below.legend(ncols=6, fontsize=8, loc="outside lower center")
