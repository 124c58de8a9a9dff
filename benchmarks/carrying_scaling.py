"""How the processor time of carrying grows with the number of agents, of triangles in the scene, and of samples of the motion.

    python -m benchmarks.carrying_scaling docs/_static/carrying_scaling.png

prints a table and draws it. Two to eight robots carry a disc past a pillar; two robots carry one past a boulder of 1e3 to 1e5
triangles (`--most 1000000` for more); a motion of two robots is made with 1e2 to 1e4 samples. Each time is the median of several
seeds; what the first seed takes longer than the others, to read the scene and to prepare it, is told apart.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from bunraku.ensemble.agents import hold, rover
from bunraku.ensemble.animate import AnimateOptions
from bunraku.ensemble.carry import Carry, CarryOptions, carry
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.team import Carried, Team
from bunraku.figure import Box, Cylinder, Mesh, Shape
from bunraku.scene import Obstacle, Scene

GROUPS = {"planning": ("roadmap", "query", "timing"), "motion": ("locomotion", "manipulation", "tuning"), "recheck": ("recheck",)}


@dataclass(frozen=True)
class Point:
    """One measurement: medians over seeds."""

    what: str
    size: int
    arrived: str
    once: float
    """Processor time to build the scene and the free space [s]."""
    seconds: dict[str, float]
    """Processor time of each group of stages [s]."""


def team(count: int) -> tuple[Team, dict[str, np.ndarray]]:
    """So many robots around a disc, and where they stand if it is at the origin."""
    radius = max(0.5, 0.95 * count / (2.0 * np.pi))
    agents, places = [], {}
    for k in range(count):
        turn = 2.0 * np.pi * (k + 0.5) / count
        c, s = float(np.cos(turn)), float(np.sin(turn))
        name = f"robot_{k + 1}"
        agents.append(rover(name, hold("tool", (radius * c, radius * s, 0.02), z=(-c, -s, 0.0), x=(0.0, 0.0, 1.0))))
        places[name] = np.array([(radius + 0.78) * c, (radius + 0.78) * s, turn + np.pi])
    disc = Shape("world", Cylinder(radius, 0.05), name="disc")
    return Team(tuple(agents), Carried((disc,), tilt=0.1, heights=(0.7, 1.3))), places


def errand(count: int, scene: Scene, way: float = 4.0) -> Errand:
    """They carry it `way` [m] along x."""
    own, places = team(count)
    ends = []
    for x in (-0.5 * way, 0.5 * way):
        bases = {name: place + np.array([x, 0.0, 0.0]) for name, place in places.items()}
        ends.append(own.configuration(bases, (x, 0.0, 1.0, 0.0, 0.0, 0.0)))
    start, goal = ends
    return Errand(own, scene, ((-8.0, 8.0), (-8.0, 8.0)), start, goal, speed=0.6, acceleration=0.8, budget=60.0)


def pillar(y: float) -> Scene:
    """A pillar that is a little in the way of robots as far as `y` [m] from it."""
    return Scene("hall", (Obstacle("pillar", Box((0.3, 0.3, 2.0)), (0.0, y, 1.0)),))


def boulder(folder: Path, triangles: int) -> Scene:
    """A rough ball of about so many triangles, beside the way."""
    import trimesh

    rows = max(int(np.sqrt(triangles / 2)), 8)
    made = trimesh.creation.uv_sphere(radius=0.7, count=[rows, rows])
    rng = np.random.default_rng(0)
    vertices = np.asarray(made.vertices) * (1.0 + 0.002 * rng.normal(size=(len(made.vertices), 1)))
    file = folder / f"boulder_{triangles}.ply"
    trimesh.Trimesh(vertices, made.faces, process=False).export(file)
    return Scene("quarry", (Obstacle("boulder", Mesh(str(file)), (0.0, -1.75, 0.6)),))


def measured(what: str, size: int, own: Errand, seeds: int, options: CarryOptions = CarryOptions(), once: float = 0.0) -> Point:
    """The errand with several seeds, after one that loads what is loaded once."""
    begun = time.process_time()
    carry(own, seed=99, options=options)
    first = time.process_time() - begun
    done: list[Carry] = [carry(own, seed=seed, options=options) for seed in range(seeds)]
    seconds = {
        name: float(np.median([sum(one.seconds[stage] for stage in stages) for one in done])) for name, stages in GROUPS.items()
    }
    once += max(first - sum(seconds.values()), 0.0)
    return Point(what, size, f"{sum(one.outcome.ok for one in done)}/{seeds}", once, seconds)


def points(seeds: int, most: int) -> Iterator[Point]:
    """All measurements, one after another; of scenes with `most` triangles or fewer."""
    carry(errand(2, pillar(1.6)), seed=0)  # compiles kernels
    for count in (2, 3, 4, 6, 8):
        own, places = team(count)
        del own
        yield measured("agents", count, errand(count, pillar(max(place[1] for place in places.values()) + 0.4)), seeds)
    plain = errand(2, pillar(1.6))
    lasts = carry(plain, seed=0).motion
    assert lasts is not None
    for samples in (100, 300, 1_000, 3_000, 10_000):
        options = CarryOptions(animate=replace(AnimateOptions(), rate=samples / lasts.duration))
        yield measured("samples", samples, plain, seeds, options)
    with tempfile.TemporaryDirectory() as folder:
        for triangles in [count for count in (1_000, 10_000, 100_000, 1_000_000) if count <= most]:
            begun = time.process_time()
            own_errand = errand(2, boulder(Path(folder), triangles))
            yield measured("triangles", triangles, own_errand, seeds, once=time.process_time() - begun)


def drawn(found: list[Point], file: Path) -> None:
    """A plot for each kind of growth."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12.0, 3.6), layout="constrained")
    for axes, what in zip(figure.subplots(1, 3), ("agents", "triangles", "samples"), strict=True):
        own = [point for point in found if point.what == what]
        for name in GROUPS:
            axes.loglog([p.size for p in own], [max(p.seconds[name], 1e-3) for p in own], "o-", label=name)
        if what == "triangles":
            axes.loglog([p.size for p in own], [p.once for p in own], "s:", color="0.6", label="once for a scene")
            axes.legend()
        axes.set_xlabel(f"{what} of the {'scene' if what == 'triangles' else 'motion' if what == 'samples' else 'team'}")
        axes.grid(visible=True, which="major", alpha=0.3)
        if what == "agents":
            axes.set_xticks([p.size for p in own], [str(p.size) for p in own], minor=False)
            axes.minorticks_off()
            axes.set_ylabel("processor time [s]")
    figure.savefig(file, dpi=110)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("picture", type=Path, nargs="?")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--most", type=int, default=100_000, help="triangles; a million take a minute more")
    given = parser.parse_args()
    every = []
    print(f"{'what':<12}{'size':>9}{'arrived':>9}{'once':>9}" + "".join(f"{name:>11}" for name in GROUPS))
    for point in points(given.seeds, given.most):
        every.append(point)
        times = "".join(f"{point.seconds[name]:>9.2f} s" for name in GROUPS)
        print(f"{point.what:<12}{point.size:>9}{point.arrived:>9}{point.once:>7.1f} s{times}", flush=True)
        if given.picture is not None:
            drawn(every, given.picture)
