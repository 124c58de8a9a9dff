"""How time and memory of a climb grow with the length of its path.

    python -m tests.locomotion.climb.growth 1 2 4 8 16 32      # lengths [m]; prints a table and the exponents

Every climb runs in a process of its own. Time is processor time of `climb`; memory is the peak of the process above that of one
that has only planned 6 cm.
"""

from __future__ import annotations

import json
import math
import resource
import subprocess
import sys

import numpy as np


def path_of(length):
    """About `length` [m] of floor, slopes of 30° up and down, and curves to both sides."""
    from bunraku.locomotion.climb.path_segments import Arc, Slope, Straight

    def turn(side):
        return Arc(0.4, side * math.pi / 8)

    unit = [
        Straight(0.16), Slope(math.pi / 6), Straight(0.24), Slope(-math.pi / 6), Straight(0.12), turn(1), Straight(0.04), turn(-1),
    ]  # fmt: skip
    own = sum(s.length if isinstance(s, Straight) else s.radius * abs(s.angle) for s in unit if isinstance(s, Straight | Arc))
    return unit * max(round(length / own), 1)


def measured(length):
    """Outcome, processor time [s], memory [MB], cycles and samples of one climb in this process."""
    from bunraku.locomotion.climb.climb import climb
    from bunraku.locomotion.climb.path_segments import Straight

    climb([Straight(0.06)])  # compiles and loads everything
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    done = climb(path_of(length))
    after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return {
        "ok": done.outcome.ok, "outcome": str(done.outcome), "seconds": sum(done.seconds.values()), "stages": dict(done.seconds),
        "megabytes": (after - before) / 1024, "way": done.where, "samples": len(done.motion),
        "clearance": float(done.clearance.min()), "joints": float(done.ours.joints.max()), "trunk": float(done.ours.trunk.max()),
    }  # fmt: skip


def exponent(lengths, values):
    """Slope of the line through the logarithms."""
    return float(np.polyfit(np.log(lengths), np.log(values), 1)[0])


def main(words):
    found = []
    for length in map(float, words):
        command = [sys.executable, "-m", __spec__.name, "one", str(length)]
        one = json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, text=True).stdout)
        found.append(one)
        stages = ", ".join(f"{name} {value:.1f}" for name, value in one["stages"].items())
        print(
            f"{one['way']:7.2f} m  {one['seconds']:7.1f} s ({stages})  {one['megabytes']:7.0f} MB  {one['samples']:7d} samples  "
            f"joints {one['joints']:.0f} rad/s², trunk {one['trunk']:.1f} m/s², clearance {1e3 * one['clearance']:.1f} mm  "
            f"{one['outcome'].splitlines()[0]}", flush=True,
        )  # fmt: skip
    if len(found) > 1:
        ways = [one["way"] for one in found]
        print(f"exponents: time {exponent(ways, [one['seconds'] for one in found]):.3f}, ", end="")
        print(f"memory {exponent(ways, [one['megabytes'] for one in found]):.3f}")


if __name__ == "__main__":
    if sys.argv[1:2] == ["one"]:
        print(json.dumps(measured(float(sys.argv[2]))))
    else:
        main(sys.argv[1:])
