"""Devices: whatever an operator holds, turned into commands.

A device gives readings: axes in [−1, 1], buttons, hats. A mapping says which of them mean what; a pilot remembers which point is
guided. The paper's joystick is `PAPER`; the sticks and keys of the stage are `STAGE`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as Table
from dataclasses import dataclass, field

from bunraku.errors import UnknownName
from bunraku.locomotion.guide.guide_command import GUIDED_POINTS, Command, GuidedPoint

MEANINGS = ("forward", "left", "up", "roll", "pitch", "yaw", "lift_left", "lift_right", "switch")


@dataclass(frozen=True)
class Reading:
    """What a device says at one moment."""

    axes: tuple[float, ...] = ()
    buttons: tuple[bool, ...] = ()
    hats: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Axis:
    """An axis, turned around where the sign is −1. A throttle rests at one end: `throttle` makes [−1, 1] of it [0, 1]."""

    number: int
    sign: float = 1.0
    throttle: bool = False

    def value(self, reading: Reading) -> float:
        if self.number >= len(reading.axes):
            return 0.0
        value = self.sign * reading.axes[self.number]
        return 0.5 * (value + 1.0) if self.throttle else value


@dataclass(frozen=True)
class Buttons:
    """One button for more, one for less (−1: none)."""

    more: int
    less: int = -1

    def value(self, reading: Reading) -> float:
        def down(k: int) -> bool:
            return 0 <= k < len(reading.buttons) and bool(reading.buttons[k])

        return float(down(self.more)) - float(down(self.less))


@dataclass(frozen=True)
class Hat:
    """A hat, or a miniature stick: 0 is to the side, 1 is up."""

    number: int
    along: int
    sign: float = 1.0

    def value(self, reading: Reading) -> float:
        return self.sign * reading.hats[self.number][self.along] if self.number < len(reading.hats) else 0.0


Source = Axis | Buttons | Hat
Mapping = Table[str, tuple[Source, ...]]

PAPER: Mapping = {  # *guiding* IV: sub stick, momentary switch, main stick, throttles, toggle
    "forward": (Hat(0, 1),), "left": (Hat(0, 0, -1.0),), "up": (Buttons(2, 3),),
    "roll": (Axis(0),), "pitch": (Axis(1, -1.0),), "yaw": (Axis(2, -1.0),),
    "lift_left": (Axis(3, -1.0, throttle=True),), "lift_right": (Axis(4, -1.0, throttle=True),),
    "switch": (Buttons(0, 1),),
}  # fmt: skip
STAGE: Mapping = {  # the order of `Guided.sticks`; shoulder buttons switch, triggers lift
    "forward": (Axis(1),), "left": (Axis(0, -1.0),), "up": (Axis(3),), "yaw": (Axis(2, -1.0),), "pitch": (Axis(5),),
    "roll": (Axis(6), Buttons(7, 6)),
    "lift_left": (Buttons(6),), "lift_right": (Buttons(7),), "switch": (Axis(4), Buttons(5, 4)),
}  # fmt: skip


@dataclass
class Pilot:
    """Readings to commands. A push of `switch` goes to the next or the last of the guided points."""

    mapping: Mapping = field(default_factory=lambda: STAGE)
    guided: GuidedPoint = "trunk"
    up_lifts: bool = False
    """Whether `up` lifts the guided foot, for devices without throttles."""
    _pushed: int = 0

    def __post_init__(self) -> None:
        for meaning in self.mapping:
            if meaning not in MEANINGS:
                raise UnknownName("meaning", meaning, MEANINGS)

    def command(self, reading: Reading) -> Command:
        """What the operator wants; a stand where the device says what cannot be."""
        values = {meaning: sum(source.value(reading) for source in self.mapping.get(meaning, ())) for meaning in MEANINGS}
        if not all(math.isfinite(value) for value in values.values()):
            return Command(self.guided, (math.nan, 0.0, 0.0))  # the guide stands, and says why
        self._switch(values["switch"])
        bounded = {meaning: min(max(value, -1.0), 1.0) for meaning, value in values.items()}
        left, right = max(bounded["lift_left"], 0.0), max(bounded["lift_right"], 0.0)
        up = bounded["up"]
        if self.up_lifts and self.guided.endswith("foot"):
            left, right, up = (max(up, left), right, 0.0) if self.guided == "left_foot" else (left, max(up, right), 0.0)
        turn = bounded["roll"], bounded["pitch"], bounded["yaw"]
        return Command(self.guided, (bounded["forward"], bounded["left"], up), turn, (left, right))

    def _switch(self, value: float) -> None:
        pushed = int(math.copysign(1, value)) if abs(value) > 0.5 else 0
        if pushed and pushed != self._pushed:
            self.guided = GUIDED_POINTS[(GUIDED_POINTS.index(self.guided) + pushed) % len(GUIDED_POINTS)]
        self._pushed = pushed
