"""The opening show: everything that bunraku can do today, one entry each."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from bunraku.dynamics import simulate
from bunraku.figure import Figure, library
from bunraku.figure.library import named
from bunraku.io.triangles import triangles
from bunraku.kinematics import pose
from bunraku.scene import Scene
from bunraku.spatial import se3
from bunraku.stage import Entry, Live, Posing, Recorded, still
from bunraku.teleop.simulated import Simulated, placed

STAGE = Scene("stage")
AIR = Scene("air", floor=None)
FACE_Y, FROM_SIDE = (0.0, 1.0), (0.0, -1.0)


def opening_show() -> list[Entry]:
    """Entries for the stage. Nothing is computed before somebody looks."""
    return [*_strings(), *_live(), *_physics(), *_figures()]


# -- recorded ----------------------------------------------------------------------------------------------------


def _strings() -> list[Entry]:
    group = "Strings"
    return [
        Entry("A marionette greets", _greets, "Seven strings, simulated: watch them slacken and catch", group, FACE_Y),
        Entry("It walks on the spot", _walks, "Knees and hands in turn", group, FACE_Y),
        Entry("Slack, then a jerk", _jerk, "A string paid out faster than the arm falls", group, FROM_SIDE),
    ]


def ramp(t: float, start: float, stop: float) -> float:
    """0 before, 1 after, with no jump in speed."""
    s = min(max((t - start) / (stop - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def lifted(phase: float, size: float) -> Callable[[float], float]:
    """Up and down in the first half of every 1.6 s, once it has warmed up."""
    return lambda t: -size * ramp(t, 0.0, 2.0) * max(math.sin(2 * math.pi * (t / 1.6 + phase)), 0.0) ** 2


def wound(figure: Figure, string: str, curve: Callable[[float], float]) -> dict[str, Callable[[float], float]]:
    """A puppeteer who winds one string by `curve` [m] from where it starts."""
    name = next(s.variable for s in figure.strings if s.name == string)
    assert name is not None
    rest = float(figure.start[figure.index(name)])
    return {name: lambda t: rest + curve(t)}


def _greets() -> Recorded:
    """A wave with the right hand, a bow, a hop with both knees."""
    f = named("marionette25")

    def wave(t: float) -> float:
        up = ramp(t, 0.5, 1.6) - ramp(t, 4.6, 5.6)
        return -up * (0.24 + 0.04 * math.sin(8.0 * t))

    def bow(t: float) -> float:
        return 0.13 * (ramp(t, 5.8, 6.8) - ramp(t, 7.6, 8.8))

    def hop(t: float) -> float:
        return -0.12 * (ramp(t, 9.2, 9.6) - ramp(t, 9.9, 10.4))

    plan = {"right_arm": wave, "head": bow, "left_leg": hop, "right_leg": hop}
    hands: dict[str, Callable[[float], float]] = {}
    for name, curve in plan.items():
        hands |= wound(f, name, curve)
    return Recorded(simulate(f, hands, duration=12.0), STAGE)


def _walks() -> Recorded:
    f = named("marionette25")
    hands: dict[str, Callable[[float], float]] = {}
    for name, phase in (("left_leg", 0.0), ("right_arm", 0.0), ("right_leg", 0.5), ("left_arm", 0.5)):
        size = 0.14 if "leg" in name else 0.2
        hands |= wound(f, name, lifted(phase, size))
    return Recorded(simulate(f, hands, duration=10.0), STAGE)


def _jerk() -> Recorded:
    f = named("arm2d")
    string = f.strings[0]
    hands = wound(f, string.name, lambda t: 0.25 * (ramp(t % 4.0, 0.5, 0.75) - ramp(t % 4.0, 2.2, 3.6)))
    return Recorded(simulate(f, hands, duration=8.0, dt=0.005), ground(f))


def _physics() -> list[Entry]:
    group = "Physics"
    return [
        Entry("Double pendulum", lambda: _swing(named("double_pendulum"), 2.2), "Chaos, at constant energy", group, FROM_SIDE),
        Entry("A chain of ten", lambda: _swing(named("chain10"), 0.35), "Energy stays, however long", group, FROM_SIDE),
        Entry("Cart and pendulum", lambda: _swing(named("cart_pendulum"), 1.0), "The cart follows the bob", group, FROM_SIDE),
    ]


def _swing(f: Figure, angle: float) -> Recorded:
    q = np.array(f.start) + angle * np.array([v.motion == "rotate" and not v.kinematic for v in f.variables])
    return Recorded(simulate(f, duration=20.0, dt=0.01, q=q), AIR)


# -- live --------------------------------------------------------------------------------------------------------


def _live() -> list[Entry]:
    group = "Your hands"
    return [
        Entry("Pull the strings", _puppet, "Drag spindles and hooks, wind with the wheel", group, FACE_Y),
        Entry("An arm on one string", lambda: at_hand(named("arm3d")), "The smallest marionette", group, FACE_Y),
        Entry("A hand on five strings", lambda: at_hand(named("hand")), "Every finger is a marionette", group),
        Entry("A troupe", _troupe, "Five at once; sticks move them all", group, FACE_Y),
        Entry("Pose a mannequin", lambda: at_hand(named("mannequin")), "Drag a hand, a foot, the head", group),
        Entry("Pose a humanoid", lambda: at_hand(named("humanoid")), "Joints stop at their limits", group),
    ]


def _puppet() -> Live:
    return at_hand(named("marionette25"))


def _troupe() -> Simulated:
    places = ((-0.5 * k, 0.25 * (k % 2), 0.0) for k in range(-2, 3))
    figures = [placed(named("marionette25"), at, name=f"puppet {k + 1}") for k, at in enumerate(places)]
    return Simulated(*figures, dt=0.01)


def _figures() -> list[Entry]:
    def entry(name: str) -> Entry:
        front = FACE_Y if "marionette" in name else FROM_SIDE if "pendulum" in name or name in ("chain", "arm2d") else None
        return Entry(name.replace("_", " ").capitalize(), lambda: at_hand(named(name)), library.about(name), "Library", front)

    return [entry(name) for name in library.NAMES]


def at_hand(figure: Figure) -> Live:
    """A figure to play with: simulated where it has strings, posed by its limbs where it has none."""
    scene = ground(figure)
    return Simulated(figure, scene=scene) if figure.strings else Posing(figure, scene)


def standing(figure: Figure) -> Recorded:
    """A figure at its start, on the floor that it stands on."""
    return still(figure, scene=ground(figure))


def ground(figure: Figure) -> Scene:
    """A floor at z = 0, or as much lower as the figure reaches down."""
    now = pose(figure)
    lowest = 0.0
    for shape in figure.shapes:
        X_WS = now.X(shape.frame) @ se3.pose(shape.position, shape.rotation)
        lowest = min(lowest, float(se3.transform(X_WS, triangles(shape.geometry).vertices)[:, 2].min()))
    return Scene("stage", floor=lowest if lowest < -1e-3 else 0.0)
