"""A joystick in software, and how it drives a pilot."""

from __future__ import annotations

import ctypes

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.guide_command import Command
from bunraku.teleop.devices import Pilot
from bunraku.teleop.joystick import FULL_AXIS, Joystick, sdl


def commanded(stick: Joystick, pilot: Pilot) -> tuple[Command, str]:
    """The command of a `stick` through a `pilot`, and a message; without a stick, a stand, and the message says so."""
    reading = stick.poll()
    if reading is None:
        return Command(pilot.guided), f"{stick.name} is gone: it stands until the stick is plugged in again"
    return pilot.command(reading), ""


class VirtualJoystick:
    """A joystick in software with so many `axes`, `buttons` and `hats`, for tests and for programs that act as one."""

    def __init__(self, *, axes: int = 5, buttons: int = 12, hats: int = 1) -> None:
        self._sdl = sdl()
        self.number = int(self._sdl.SDL_JoystickAttachVirtual(self._sdl.SDL_JOYSTICK_TYPE_UNKNOWN, axes, buttons, hats))
        if self.number < 0:
            raise BunrakuError(f"SDL has no virtual joysticks here: {self._sdl.SDL_GetError().decode()}")
        self._stick = self._sdl.SDL_JoystickOpen(self.number)

    def set(self, *, axes: dict[int, float] | None = None, buttons: dict[int, bool] | None = None, hat: int | None = None) -> None:
        """Sets `axes` to values in [−1, 1] and `buttons` up or down, by number, and the first `hat` (bits of `HatBit`)."""
        own = self._sdl
        for k, value in (axes or {}).items():
            own.SDL_JoystickSetVirtualAxis(self._stick, k, ctypes.c_int16(round(value * FULL_AXIS)))
        for k, down in (buttons or {}).items():
            own.SDL_JoystickSetVirtualButton(self._stick, k, int(down))
        if hat is not None:
            own.SDL_JoystickSetVirtualHat(self._stick, 0, hat)

    def unplug(self) -> None:
        """Takes the joystick away."""
        self._sdl.SDL_JoystickDetachVirtual(self.number)
