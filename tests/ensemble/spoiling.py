"""Ways to spoil a carried motion, or what was promised of it, each with the reason for which it must be refused.

    for name, way in WAYS.items():
        spoilt = way.of(errand, motion)      # (errand, motion), or None if nobody in the team can be spoilt in this way

Nothing here depends on one errand: who walks and who rolls is looked up, and sizes follow from what the errand allows.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bunraku.ensemble.animate import walks
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.team import OBJECT, Agent
from bunraku.figure import Box, Sphere
from bunraku.motion import Motion, Track
from bunraku.planning.ways.steer import Differential
from bunraku.scene import Obstacle, Scene
from tests.ensemble.judge import places_of, surface_points
from tests.ensemble.waiters import altered

Change = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True)
class Spoiling:
    """One way to spoil: by another motion, or by another errand."""

    why: str
    motion: Callable[[Errand, Motion], Motion | None] = lambda errand, motion: motion
    errand: Callable[[Errand, Motion], Errand | None] = lambda errand, motion: errand

    def of(self, errand: Errand, motion: Motion) -> tuple[Errand, Motion] | None:
        """What to ask about; None if it does not apply to this team."""
        own, moved = self.errand(errand, motion), self.motion(errand, motion)
        return None if own is None or moved is None else (own, moved)


# -- changes of values -------------------------------------------------------------------------------------------------


def ramp(size: float) -> Change:
    return lambda q: q + size * np.linspace(0.0, 1.0, len(q)) ** 2


def bump(size: float) -> Change:
    return lambda q: q + size * np.sin(np.pi * np.linspace(0.0, 1.0, len(q))) ** 2


def by(size: float) -> Change:
    return lambda q: q + size


def still(q: np.ndarray) -> np.ndarray:
    return q[0] + 0.0 * q


# -- who ---------------------------------------------------------------------------------------------------------------


def walker(errand: Errand) -> Agent | None:
    return next((agent for agent in errand.team.agents if walks(agent)), None)


def held(variable: str, change: Change, where: Callable[[Motion], object] = lambda m: slice(None)):
    return lambda e, m: altered(m, OBJECT, variable, change, samples=where(m))


def person(variable: str, change: Change, where: Callable[[Motion], object] = lambda m: slice(None)):
    return lambda e, m: None if (who := walker(e)) is None else altered(m, who.name, variable, change, samples=where(m))


def robot(base: int, change: Change, kind: type | None = None):
    """The base's x, y or heading of somebody who rolls, perhaps only of one `kind` of steering."""

    def spoilt(e: Errand, m: Motion) -> Motion | None:
        who = next((a for a in e.team.agents if not walks(a) and (kind is None or issubclass(a.moves, kind))), None)
        return None if who is None else altered(m, who.name, who.base[base], change)

    return spoilt


def wheels(change: Change, *, only_first: bool = False):
    def spoilt(e: Errand, m: Motion) -> Motion | None:
        for who in e.team.agents:
            names = [name for name in who.figure.names if "wheel" in name]
            if names and np.ptp(m.track(who.name).q[:, who.figure.index(names[0])]) > 0.5:
                for name in names[:1] if only_first else names:
                    m = altered(m, who.name, name, change)
                return m
        return None

    return spoilt


def every(which: str, change: Change):
    def spoilt(e: Errand, m: Motion) -> Motion | None:
        if (who := walker(e)) is None:
            return None
        for name in [v for v in who.figure.names if which in v]:
            m = altered(m, who.name, name, change)
        return m

    return spoilt


def middle(m: Motion) -> list[int]:
    return [len(m) // 2]


# -- whole motions -----------------------------------------------------------------------------------------------------


def moved(e: Errand, m: Motion, x: float = 0.0, y: float = 0.0) -> Motion:
    """Everybody elsewhere."""
    bases = {OBJECT: ("object_tx", "object_ty")} | {agent.name: agent.base[:2] for agent in e.team.agents}
    for name, (first, second) in bases.items():
        m = altered(altered(m, name, first, by(x)), name, second, by(y))
    return m


def part(m: Motion, rows: np.ndarray, t: np.ndarray | None = None) -> Motion:
    return Motion(m.t[rows] if t is None else t, tuple(Track(own.figure, own.q[rows], name=own.name) for own in m.tracks))


def without_a_stretch(e: Errand, m: Motion) -> Motion:
    """A sixth of a second is left out where the object is fastest."""
    k = int(np.clip(fastest(m), 10, len(m) - 10))
    rows = np.r_[0 : k - 8, k + 8 : len(m)]
    return part(m, rows, m.t[: len(rows)])


def hurried(e: Errand, m: Motion) -> Motion:
    """Three times as fast for half a second, where the object is fastest."""
    dt, k = np.diff(m.t), fastest(m)
    dt[max(k - 20, 0) : k + 20] /= 3.0
    return m.replace(t=np.append(0.0, np.cumsum(dt)))


def one_late(e: Errand, m: Motion) -> Motion:
    return m.replace(t=m.t + 0.7 * np.diff(m.t).min() * (np.arange(len(m)) == fastest(m)))


def fastest(m: Motion) -> int:
    """The sample at which the object is fastest."""
    speed = np.linalg.norm(np.diff(m.track(OBJECT).q[:, :3], axis=0), axis=1) / np.diff(m.t)
    return int(speed.argmax())


def arms_exchanged(e: Errand, m: Motion) -> Motion | None:
    if (who := walker(e)) is None:
        return None
    arm = ("left_shoulder", "left_elbow", "left_wrist")
    for left in [v for v in who.figure.names if v.startswith(arm)]:
        right = left.replace("left", "right")
        a, b = (m.track(who.name).q[:, who.figure.index(v)].copy() for v in (left, right))
        m = altered(altered(m, who.name, left, lambda q, b=b: b), who.name, right, lambda q, a=a: a)
    return m


def too_high(e: Errand, m: Motion) -> Motion:
    q = m.track(OBJECT).q[:, 2]
    return altered(m, OBJECT, "object_tz", bump(e.team.carried.heights[1] - float(q[len(q) // 2]) + 0.05))


def too_low(e: Errand, m: Motion) -> Motion:
    q = m.track(OBJECT).q[:, 2]
    return altered(m, OBJECT, "object_tz", bump(e.team.carried.heights[0] - float(q[len(q) // 2]) - 0.05))


def tilted(variable: str):
    return lambda e, m: altered(m, OBJECT, variable, lambda q: bump(e.team.carried.tilt + 0.1 + abs(q[len(q) // 2]))(q))


def few_samples(e: Errand, m: Motion) -> Motion | None:
    return None if walker(e) is None else part(m, np.unique(np.append(np.arange(0, len(m), 40), len(m) - 1)))


def into_the_object(e: Errand, m: Motion) -> Motion | None:
    """The person walks 0.45 m nearer to the object's middle."""
    if (who := walker(e)) is None:
        return None
    q = m.track(who.name).q[:, who.figure.indices(who.base[:2])]
    way = m.track(OBJECT).q[:, :2] - q
    way = 0.45 * way / np.linalg.norm(way, axis=1, keepdims=True)
    for k, name in enumerate(who.base[:2]):
        m = altered(m, who.name, name, lambda q, k=k: q + way[:, k] * np.sin(np.pi * np.linspace(0.0, 1.0, len(q))) ** 2)
    return m


# -- other promises ----------------------------------------------------------------------------------------------------


def obstructed(e: Errand, m: Motion) -> Errand:
    """Something small is in the object, half way."""
    x, y, z = m.track(OBJECT).q[len(m) // 2, :3]
    box = Obstacle("intruder", Box((0.1, 0.1, 0.1)), (float(x), float(y), float(z)))
    return replace(e, scene=replace(e.scene, obstacles=(*e.scene.obstacles, box)))


def heavier(e: Errand, m: Motion) -> Errand:
    agents = tuple(replace(agent, bears=20.0) for agent in e.team.agents)
    carried = replace(e.team.carried, mass=20.5 * len(agents))
    return replace(e, team=replace(e.team, agents=agents, carried=carried))


def beside(e: Errand, m: Motion) -> Scene:
    """The scene with a ball nearer than the margin to the object, half way, over its highest point."""
    x, y, z = top(e, m, len(m) // 2)
    ball = Obstacle("ball", Sphere(0.05), (x, y, z + 0.05 + 0.4 * e.margin))
    return replace(e.scene, obstacles=(*e.scene.obstacles, ball))


def top(e: Errand, m: Motion, sample: int) -> tuple[float, float, float]:
    """The highest point of the object at a sample [m]."""
    (R,), (p,) = places_of(e.team.object_figure, m.track(OBJECT).q[[sample]])[OBJECT]
    points = np.vstack([surface_points(shape) for shape in e.team.carried.shapes]) @ R.T + p
    x, y, z = points[points[:, 2].argmax()].tolist()
    return x, y, z


WAYS = {
    "in half of the time": Spoiling("speed", lambda e, m: m.replace(t=0.5 * m.t)),
    "a tenth too fast": Spoiling("speed", lambda e, m: m.replace(t=m.t / 1.1)),
    "hurried": Spoiling("speed", hurried),
    "one sample late": Spoiling("speed", one_late),
    "a stretch left out": Spoiling("speed", without_a_stretch),
    "the object jerks": Spoiling("speed", held("object_tx", by(2e-3), middle)),
    "the object beside the hands": Spoiling("closure", held("object_ty", by(3e-3))),
    "the object turned in the hands": Spoiling("closure", held("object_rz", by(4e-3))),
    "the object sinks out of the hands": Spoiling("closure", held("object_tz", bump(-0.02))),
    "the object too high": Spoiling("object", too_high),
    "the object too low": Spoiling("object", too_low),
    "the object rolled": Spoiling("object", tilted("object_rx")),
    "the object pitched": Spoiling("object", tilted("object_ry")),
    "a robot glides away": Spoiling("closure", robot(0, ramp(0.03))),
    "a robot slips sideways": Spoiling("slip", robot(1, bump(0.2), Differential)),
    "a robot turns": Spoiling("closure", robot(2, ramp(0.5))),
    "wheels that stand still": Spoiling("slip", wheels(still)),
    "wheels that turn backward": Spoiling("slip", wheels(lambda q: -q)),
    "one wheel too fast": Spoiling("slip", wheels(lambda q: 1.2 * q, only_first=True)),
    "a person sinks": Spoiling("footing", person("pelvis_tz", bump(-0.04))),
    "a person floats": Spoiling("footing", person("pelvis_tz", bump(0.08))),
    "a foot that slides": Spoiling("feet", person("left_hip_ry", ramp(0.1))),
    "legs that do not walk": Spoiling("feet", every("hip", still)),
    "a knee beyond its limit": Spoiling("limits", person("left_knee_ry", by(-1.6))),
    "an elbow that opens": Spoiling("closure", person("left_elbow", by(0.05), middle)),
    "arms exchanged": Spoiling("closure", arms_exchanged),
    "a neck that jerks": Spoiling("speed", person("neck_rz", by(0.45), middle)),
    "a person in the object": Spoiling("collision", into_the_object),
    "somewhere else": Spoiling("arrival", lambda e, m: moved(e, m, y=-0.3)),
    "not as far as the goal": Spoiling("arrival", lambda e, m: part(m, np.arange(int(0.8 * len(m))))),
    "from the middle on": Spoiling("arrival", lambda e, m: part(m, np.arange(len(m) // 2, len(m)), m.t[: len(m) - len(m) // 2])),
    "from the goal to the start": Spoiling("arrival", lambda e, m: part(m, np.arange(len(m))[::-1], m.t)),
    "few samples": Spoiling("feet", few_samples),
    "outside of the area": Spoiling("area", lambda e, m: moved(e, m, x=e.area[0][1] - e.area[0][0])),
    "a lower speed was promised": Spoiling("speed", errand=lambda e, m: replace(e, speed=0.5 * e.speed)),
    "a lower acceleration was promised": Spoiling("speed", errand=lambda e, m: replace(e, acceleration=0.5 * e.acceleration)),
    "a larger margin was promised": Spoiling("collision", errand=lambda e, m: replace(e, scene=beside(e, m))),
    "an obstacle in the way": Spoiling("collision", errand=obstructed),
    "another goal was promised": Spoiling(
        "arrival", errand=lambda e, m: replace(e, goal=e.goal + 0.02 * (np.arange(len(e.goal)) == 0))
    ),
    "the object is heavier": Spoiling("load", errand=heavier),
}  # fmt: skip
