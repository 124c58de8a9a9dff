"""
How long should the strings be?
===============================

A marionette imitates a person who waves. The same puppet is hung from a bar at several heights, so its strings are longer or
shorter, and for each height optimal control finds the best motion of the strings. A sweep runs them on all cores, stores every
result, and makes a table and a plot.
"""

import csv
import math
from pathlib import Path

import bunraku
from bunraku.control import gestures

# %%
# The order for one height: imitate a wave as closely as possible, with slow and smooth hands.

bunraku.save(gestures.wave(8.0), "wave.npz")
puppet = bunraku.library.marionette22()
weight = dict.fromkeys(puppet.dynamic, 10) | dict.fromkeys(puppet.names[:6], 100) | dict.fromkeys(puppet.kinematic, 1)
order = {
    "optimize": "marionette22",
    "dt": "20 ms",
    "imitate": {"motion": "wave.npz", "simplify": "2 Hz"},
    "inputs": list(puppet.kinematic),
    "cost": [{"configuration": weight}, {"momentum": 0.01}, {"speed": 0.1}, {"acceleration": 0.1}],
    "tolerance": 1e-6,
}

# %%
# The sweep sets the height of all spindles, the third number of their positions. The starting lengths of the strings are removed
# (``~``), so each string is as long as the distance that it has to span. Hips are at a height of 0, hands at about 0.25 m.

found = bunraku.sweep(
    order, over={"figure.strings.*.start": "~", "figure.frames.*.at.2": "1.4:3.4:5"}, store="results",
    progress=lambda word: print(word.text),
)  # fmt: skip
print(found)
assert found.outcome.ok
assert all(found.table["ok"])

# %%
# The table has a line for each height; the column ``error`` is the root mean square deviation of all joints from the person's.

found.save("table.csv")
rows = list(csv.DictReader(Path("table.csv").read_text(encoding="utf-8").splitlines()))
for row in rows:
    print(f"bar at {float(row['figure.frames.*.at.2']):.1f} m: off by {math.degrees(float(row['error'])):.2f}°")
found.plot("string_lengths.png", x="figure.frames.*.at.2", y="error")

# %%
# Called again, the sweep finds all results in its store.

again = bunraku.sweep(order, over={"figure.strings.*.start": "~", "figure.frames.*.at.2": "1.4:3.4:5"}, store="results")
assert again.found == len(again) == 5
assert again.table == found.table
