"""Simulated figures whose strings go slack and taut again, run over sheaves, and wrap knuckles."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

from bunraku.figure import Figure
from bunraku.figure.library import named
from bunraku.motion import Motion
from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FACE_Y, FROM_SIDE, STAGE, ground


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Strings",
        [
            Entry(
                "A marionette greets",
                _greets,
                "It waves, bows and hops, and its seven strings go slack and catch. Hover one for its tension",
                front=FACE_Y,
            ),
            Entry(
                "It walks on the spot",
                _walks,
                "Only four strings are wound, knees and hands in turn. Turn on Trails",
                front=FACE_Y,
            ),
            Entry(
                "Slack, then a jerk",
                _jerk,
                "The string is let out faster than the arm falls, then catches it: a spike in the tension. Step with . and ,",
                front=FROM_SIDE,
            ),
            Entry(
                "A crane and its sheaves",
                _crane,
                "Its rope runs over two sheaves onto a drum, and the crate swings as it slews. Look from the Top",
                front=FROM_SIDE,
            ),
            Entry(
                "A finger on two tendons",
                _finger,
                "Tendons wrap its knuckles: one bends it, one stretches it. Zoom in and watch them leave the bone",
                front=FROM_SIDE,
            ),
        ],
    )


def _ramp(t: float, start: float, stop: float) -> float:
    """A smooth ramp: 0 before `start`, 1 after `stop`."""
    s = min(max((t - start) / (stop - start), 0.0), 1.0)
    return s * s * (3.0 - 2.0 * s)


def _lifted(phase: float, size: float) -> Callable[[float], float]:
    """Up and down in the first half of every 1.6 s, with an amplitude that grows over the first two seconds."""
    return lambda t: -size * _ramp(t, 0.0, 2.0) * max(math.sin(2 * math.pi * (t / 1.6 + phase)), 0.0) ** 2


def _wound(figure: Figure, string: str, curve: Callable[[float], float]) -> dict[str, Callable[[float], float]]:
    """A puppeteer who winds one string by `curve` [m], relative to its start."""
    name = next(s.variable for s in figure.strings if s.name == string)
    assert name is not None
    rest = float(figure.start[figure.index(name)])
    return {name: lambda t: rest + curve(t)}


def _pulled(figure: Figure, plan: Mapping[str, Callable[[float], float]], duration: float, **options: Any) -> Motion:
    """Simulates a figure whose strings are wound by the curves in `plan`."""
    from bunraku.dynamics import simulate

    hands: dict[str, Callable[[float], float]] = {}
    for string, curve in plan.items():
        hands |= _wound(figure, string, curve)
    return simulate(figure, hands, duration=duration, **options)


def _greets() -> Recorded:
    """A wave with the right hand, a bow, a hop with both knees."""
    f = named("marionette25")

    def wave(t: float) -> float:
        up = _ramp(t, 0.5, 1.6) - _ramp(t, 4.6, 5.6)
        return -up * (0.24 + 0.04 * math.sin(8.0 * t))

    def bow(t: float) -> float:
        return 0.13 * (_ramp(t, 5.8, 6.8) - _ramp(t, 7.6, 8.8))

    def hop(t: float) -> float:
        return -0.12 * (_ramp(t, 9.2, 9.6) - _ramp(t, 9.9, 10.4))

    plan = {"right_arm": wave, "head": bow, "left_leg": hop, "right_leg": hop}
    return Recorded(_pulled(f, plan, 12.0), STAGE)


def _walks() -> Recorded:
    plan = {
        "left_leg": _lifted(0.0, 0.14), "right_leg": _lifted(0.5, 0.14),
        "left_arm": _lifted(0.5, 0.2), "right_arm": _lifted(0.0, 0.2),
    }  # fmt: skip
    return Recorded(_pulled(named("marionette25"), plan, 10.0), STAGE)


def _jerk() -> Recorded:
    f = named("arm2d")

    def paid_out(t: float) -> float:
        return 0.25 * (_ramp(t % 4.0, 0.5, 0.75) - _ramp(t % 4.0, 2.2, 3.6))

    return Recorded(_pulled(f, {f.strings[0].name: paid_out}, 8.0, dt=0.005), ground(f))


def _crane() -> Recorded:
    """It hoists the crate, slews and drives the trolley in while the crate swings, and lets it down on the other side."""
    from bunraku.dynamics import simulate

    f = named("crane")
    puppeteer: dict[str, Callable[[float], float]] = {
        "winch": lambda t: 9.0 * (_ramp(t, 7.5, 10.0) - _ramp(t, 0.5, 3.0)),
        "slew": lambda t: -1.2 * (_ramp(t, 3.0, 5.5) - _ramp(t, 10.5, 13.0)),
        "trolley": lambda t: 0.9 - 0.35 * (_ramp(t, 4.5, 7.0) - _ramp(t, 11.0, 13.5)),
    }
    return Recorded(simulate(f, puppeteer, duration=14.0, dt=0.005), ground(f))


def _finger() -> Recorded:
    """It beckons: each tendon is wound to the length that it has where the joints should be, and a millimetre."""
    from bunraku.dynamics import simulate
    from bunraku.kinematics.ways import lengths_along

    f, dt, duration = named("finger"), 0.005, 10.0
    times = [dt * k for k in range(1, round(duration / dt) + 1)]
    bent = [0.5 * (1.0 - math.cos(2.0 * math.pi * t / 2.5 + 1.51)) for t in times]  # begins about where the figure does
    poses = [f.configuration(knuckle=1.3 * x - 0.3, middle=1.3 * x - 0.1, tip=x - 0.1) for x in bent]
    lengths = lengths_along(f, poses) + 1e-3
    hands = {s.variable: k for k, s in enumerate(f.strings)}
    rows = [[row[hands[name]] for name in f.kinematic] for row in lengths]
    return Recorded(simulate(f, rows, duration=duration, dt=dt), ground(f))
