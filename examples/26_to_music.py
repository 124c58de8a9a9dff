"""
A dance to music
================

A show may name a recording. Its beats are found, and become the counts of the script, so that every cue begins on a beat. Here the
recording is a tune that is made from sines and noise.
"""

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from bunraku.choreography import load_script, perform
from bunraku.kinematics import frames_along
from bunraku.render.image import image
from bunraku.sound.soundtrack import Soundtrack

RATE, TEMPO, LEAD = 22050, 104.0, 0.7  # samples a second, beats a minute, silence before the first beat [s]


def tune(beats: int) -> np.ndarray:
    """A drum on each beat, a hi-hat between beats, and a melody in fifths."""
    rng, count = np.random.default_rng(4), 60.0 / TEMPO
    out = np.zeros(int((LEAD + beats * count) * RATE))
    t = np.arange(int(0.9 * count * RATE)) / RATE
    drum = np.sin(2 * np.pi * (50 * t + 5 * (1 - np.exp(-t / 0.03)))) * np.exp(-t / 0.1)
    hat = 0.2 * rng.normal(size=len(t)) * np.exp(-t / 0.02)
    for k in range(beats):
        pitch = 220.0 * 2.0 ** ([0, 7, 4, 9, 5, 7, 2, 0][k % 8] / 12.0)
        note = 0.3 * sum(np.sin(2 * np.pi * n * pitch * t) / n for n in (1, 1.5, 2)) * np.exp(-t / 0.4) * np.minimum(t / 0.01, 1.0)
        for sound, at in ((drum + note, k), (hat, k + 0.5)):
            first = int((LEAD + at * count) * RATE)
            out[first : first + len(t)] += sound[: len(out) - first]
    return out


SCRIPT = """
perform: A dance to music
music: tune.wav                 # without a tempo: counts are the beats of the recording
figures:
  anna: {figure: actor, at: [-1.3, 0]}
  bert: {figure: actor, at: [1.3, 0]}
script:
  - anna: cheer
    at: 2
    counts: 8
  - bert: kick
    at: 4
    counts: 7
  - everyone: polka
    at: 12
    counts: 11
  - everyone: bow
    at: 24
    counts: 6
"""

x = tune(34)
with tempfile.TemporaryDirectory() as folder:
    (Path(folder) / "tune.wav").write_bytes(Soundtrack((9000 * x).astype(np.int16)[:, None], RATE).wav())
    (Path(folder) / "show.yaml").write_text(SCRIPT)
    made = perform(load_script(Path(folder) / "show.yaml"), folder=Path(folder))
    # bunraku.save(made.motion, "dance.mp4", scene=made.scene, sound=made.sound) makes a film with its sound.
print(made)

assert made.outcome.ok
assert abs(made.script.tempo - TEMPO) < 0.05
begin = made.script.music.begin  # where the show begins in the recording
beats = LEAD + 60.0 / TEMPO * np.arange(34)
assert all(np.abs(begin + mark.t - beats).min() < 0.02 for mark in made.motion.marks)  # every cue is on a beat
assert abs(made.sound.duration - made.motion.duration) < 1e-3

picture = plt.figure(figsize=(11, 6.2), layout="constrained")
above, below = picture.subfigures(2, 1, height_ratios=(1.2, 1))
figures, X = [track.figure for track in made.motion.tracks], [frames_along(track.figure, track.q) for track in made.motion.tracks]
for axes, t in zip(above.subplots(1, 4), (3.2, 4.6, 10.0, 15.4), strict=True):
    k = int(np.searchsorted(made.motion.t, t))
    axes.imshow(image(figures, [one[k] for one in X], size=(420, 420), scene=made.scene))
    axes.set_title(f"{t:.1f} s", fontsize=9)
    axes.axis("off")
axes = below.subplots()
loud = made.sound.loudness(100.0) / made.sound.loudness(1.0).max()
axes.fill_between(np.arange(len(loud)) / 100.0, -0.5 * loud, 0.5 * loud, color="0.75")
for timed in made.score.cues:
    first, last = (made.script.count * float(when[0]) for when in (timed.begin, timed.end))
    row, color = (0.85, "C0") if timed.role.name == "anna" else (0.6, "C1")
    axes.broken_barh([(first, last - first)], (row, 0.2), color=color, alpha=0.7)
    axes.text(first + 0.05, row + 0.1, f"{timed.role.name}: {timed.piece.name}", va="center", fontsize=8)
axes.vlines(made.script.count * np.arange(made.score.counts + 1), -0.6, 0.55, color="C3", lw=0.6)
axes.set(xlabel="time [s]; a red line is a count", xlim=(0, made.motion.duration), yticks=[], ylim=(-0.6, 1.1))
