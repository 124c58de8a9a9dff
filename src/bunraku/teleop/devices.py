"""Devices: turns the readings of an input device into commands.

A device gives readings: axes in [−1, 1], buttons, hats. A mapping assigns meanings to them; a pilot stores which point is guided.
`PAPER_JOYSTICK` maps the joystick of the paper, `STAGE_STICKS` the sticks and keys of the stage.
"""

from __future__ import annotations

import math
from collections.abc import Mapping as Table
from dataclasses import dataclass, field

from bunraku.errors import UnknownName
from bunraku.locomotion.guide.guide_command import GUIDED_POINTS, Command, GuidedPoint

MEANINGS = ("forward", "left", "up", "roll", "pitch", "yaw", "lift_left", "lift_right", "switch")
"""Possible meanings of an axis, a button or a hat."""


@dataclass(frozen=True)
class Reading:
    """The state of a device at one time."""

    axes: tuple[float, ...] = ()
    buttons: tuple[bool, ...] = ()
    hats: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True)
class Axis:
    """An axis of a device."""

    number: int
    sign: float = 1.0
    """−1 reverses it."""
    throttle: bool = False
    """Whether it rests at one end; its range [−1, 1] is then mapped to [0, 1]."""

    def value(self, reading: Reading) -> float:
        """Its value in a `reading`; 0 if the device has no such axis."""
        if self.number >= len(reading.axes):
            return 0.0
        value = self.sign * reading.axes[self.number]
        return 0.5 * (value + 1.0) if self.throttle else value


@dataclass(frozen=True)
class Buttons:
    """A button with value 1 and, optionally, another with value −1."""

    more: int
    less: int = -1
    """Index of the button with value −1; −1 for none."""

    def value(self, reading: Reading) -> float:
        """Their value in a `reading`: −1, 0 or 1."""

        def down(k: int) -> bool:
            return 0 <= k < len(reading.buttons) and bool(reading.buttons[k])

        return float(down(self.more)) - float(down(self.less))


@dataclass(frozen=True)
class Hat:
    """One direction of a hat (a miniature stick with eight directions)."""

    number: int
    along: int
    """0 for left and right, 1 for up and down."""
    sign: float = 1.0
    """−1 reverses it."""

    def value(self, reading: Reading) -> float:
        """Its value in a `reading`: −1, 0 or 1; 0 if the device has no such hat."""
        return self.sign * reading.hats[self.number][self.along] if self.number < len(reading.hats) else 0.0


Source = Axis | Buttons | Hat
Mapping = Table[str, tuple[Source, ...]]

PAPER_JOYSTICK: Mapping = {  # *guiding* IV: sub stick, momentary switch, main stick, throttles, toggle
    "forward": (Hat(0, 1),), "left": (Hat(0, 0, -1.0),), "up": (Buttons(2, 3),),
    "roll": (Axis(0),), "pitch": (Axis(1, -1.0),), "yaw": (Axis(2, -1.0),),
    "lift_left": (Axis(3, -1.0, throttle=True),), "lift_right": (Axis(4, -1.0, throttle=True),),
    "switch": (Buttons(0, 1),),
}  # fmt: skip
STAGE_STICKS: Mapping = {  # the order of `Guided.sticks`; shoulder buttons switch, triggers lift
    "forward": (Axis(1),), "left": (Axis(0, -1.0),), "up": (Axis(3),), "yaw": (Axis(2, -1.0),), "pitch": (Axis(5),),
    "roll": (Axis(6), Buttons(7, 6)),
    "lift_left": (Buttons(6),), "lift_right": (Buttons(7),), "switch": (Axis(4), Buttons(5, 4)),
}  # fmt: skip


@dataclass
class Pilot:
    """Turns readings into commands. Pressing `switch` selects the next or the previous guided point."""

    mapping: Mapping = field(default_factory=lambda: STAGE_STICKS)
    guided: GuidedPoint = "trunk"
    up_lifts: bool = False
    """Whether `up` lifts the guided foot, for devices without throttles."""
    _pushed: int = 0
    _moved: set[int] = field(default_factory=set)
    """Axes that have reported something else than 0. Systems report 0, the middle, for a throttle that was not moved yet."""

    def __post_init__(self) -> None:
        for meaning in self.mapping:
            if meaning not in MEANINGS:
                raise UnknownName("meaning", meaning, MEANINGS)

    def command(self, reading: Reading) -> Command:
        """The command in a `reading`; if a value is not finite, a command that makes the guide stand still and report it."""
        self._moved |= {number for number, value in enumerate(reading.axes) if value}
        values = {meaning: sum(self._value(source, reading) for source in self.mapping.get(meaning, ())) for meaning in MEANINGS}
        if not all(math.isfinite(value) for value in values.values()):
            return Command(self.guided, (math.nan, 0.0, 0.0))  # the guide stands still and reports it
        self._switch(values["switch"])
        bounded = {meaning: min(max(value, -1.0), 1.0) for meaning, value in values.items()}
        left, right = max(bounded["lift_left"], 0.0), max(bounded["lift_right"], 0.0)
        up = bounded["up"]
        if self.up_lifts and self.guided.endswith("foot"):
            left, right, up = (max(up, left), right, 0.0) if self.guided == "left_foot" else (left, max(up, right), 0.0)
        turn = bounded["roll"], bounded["pitch"], bounded["yaw"]
        return Command(self.guided, (bounded["forward"], bounded["left"], up), turn, (left, right))

    def _value(self, source: Source, reading: Reading) -> float:
        """The value of a source; a throttle that was never moved counts as at rest."""
        asleep = isinstance(source, Axis) and source.throttle and source.number not in self._moved
        return 0.0 if asleep else source.value(reading)

    def _switch(self, value: float) -> None:
        pushed = int(math.copysign(1, value)) if abs(value) > 0.5 else 0
        if pushed and pushed != self._pushed:
            self.guided = GUIDED_POINTS[(GUIDED_POINTS.index(self.guided) + pushed) % len(GUIDED_POINTS)]
        self._pushed = pushed
