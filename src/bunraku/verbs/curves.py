"""Curves over time in a file: a number, a sine, or points joined by a smooth curve."""

from __future__ import annotations

import bisect
import math
from collections.abc import Callable, Mapping

from scipy.interpolate import CubicHermiteSpline, PchipInterpolator

from bunraku.errors import did_you_mean
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity

Curve = Callable[[float], float]
SINE = ("amplitude", "frequency", "phase", "offset")


def curves(node: Node | None, known: Mapping[str, Quantity], rest: Mapping[str, float], what: str) -> dict[str, Curve]:
    """The curves in a mapping of names.

    node: the mapping; None gives no curves.
    known: the quantity of every allowed name.
    rest: the value of each variable at rest, to which `by` is relative.
    what: what the names are, for messages.
    """
    if node is None:
        return {}
    if not isinstance(node.value, dict):
        raise node.unwanted(f"a mapping of a {what} to its curve", advice=f"write name: curve; {did_you_mean('', known)}")
    out = {}
    for name, key in node.keys.items():
        if name not in known:
            raise key.error(f"no {what} is called {name[:40]!r}", advice=did_you_mean(name, known))
        out[name] = curve(node.value[name], known[name], rest[name])
    return out


def curve(node: Node, quantity: Quantity, rest: float) -> Curve:
    """The curve in a `node`, for a variable of this `quantity` whose value at rest is `rest`."""
    if isinstance(node.value, str):
        constant = node.number(quantity)
        return lambda t: constant
    if isinstance(node.value, tuple):
        return _through(node, quantity, 0.0)
    kind, head = node.head(("amplitude", "by"), "a curve")
    if kind == "by":
        node.words(("by",), "a curve")
        return _through(head, quantity, rest)
    return _sine(node, quantity, rest)


def _sine(node: Node, quantity: Quantity, rest: float) -> Curve:
    """offset + amplitude · sin(2π · frequency · t + phase); offset is by default the value at rest."""
    node.words(SINE, "a sine")
    amplitude = node.need("amplitude", "the sine").number(quantity)
    rate = 2.0 * math.pi * node.need("frequency", "the sine").number(Quantity.FREQUENCY)
    words = node.given(phase=lambda n: n.number(Quantity.ANGLE), offset=lambda n: n.number(quantity))
    phase, offset = words.get("phase", 0.0), words.get("offset", rest)
    return lambda t: offset + amplitude * math.sin(rate * t + phase)


def _through(node: Node, quantity: Quantity, origin: float) -> Curve:
    """A smooth curve through points [time, value] without overshoot, constant before the first and after the last."""
    points = node.items("points [time, value]")
    if len(points) < 2:
        raise node.error(f"{len(points)} points do not make a curve", advice="give two or more, or a number alone")
    times, values = [], []
    for point in points:
        time, value = point.items("numbers (time and value)", 2)
        times.append(time.number(Quantity.TIME))
        values.append(origin + value.number(quantity))
        if len(times) > 1 and times[-1] - times[-2] < 1e-9:
            raise time.error(f"{times[-1]:g} s comes after {times[-2]:g} s", advice="list the points in the order of time")
    slopes = PchipInterpolator(times, values).derivative()(times)
    slopes[[0, -1]] = 0.0  # the curve starts and ends at rest
    cubics = CubicHermiteSpline(times, values, slopes).c.T.tolist()

    def way(t: float) -> float:  # without scipy, which takes twenty times as long per sample
        k = min(max(bisect.bisect_right(times, t) - 1, 0), len(cubics) - 1)
        s, (a, b, c, d) = min(max(t, times[0]), times[-1]) - times[k], cubics[k]
        return float(((a * s + b) * s + c) * s + d)

    return way
