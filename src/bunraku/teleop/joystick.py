"""A joystick on the desktop, through SDL. It is read while no window has the focus, and no window is opened."""

from __future__ import annotations

import ctypes
import os
import warnings
from types import TracebackType
from typing import Any, Self

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.locomotion.guide.guide_command import Command
from bunraku.teleop.devices import Pilot, Reading

FULL = 32767.0
UP, RIGHT, DOWN, LEFT = 1, 2, 4, 8  # bits of a hat


def sdl() -> Any:
    """SDL's joysticks, started: without video, and with events for programs in the background."""
    os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # it tells where SDL itself comes from
            import sdl2
    except ImportError:
        raise MissingExtra("pysdl2", "joystick", "a joystick on the desktop") from None
    if sdl2.SDL_InitSubSystem(sdl2.SDL_INIT_JOYSTICK) != 0:
        raise BunrakuError(f"SDL does not start: {sdl2.SDL_GetError().decode()}")
    return sdl2


def plugged_in() -> tuple[str, ...]:
    """The names of all joysticks, in the order of their numbers."""
    own = sdl()
    own.SDL_JoystickUpdate()
    return tuple((own.SDL_JoystickNameForIndex(k) or b"joystick").decode() for k in range(own.SDL_NumJoysticks()))


class Joystick:
    """One of those that are plugged in: `with Joystick() as stick: stick.poll()`."""

    def __init__(self, number: int = 0) -> None:
        names = plugged_in()
        self._sdl = sdl()
        self._stick = self._sdl.SDL_JoystickOpen(number) if 0 <= number < len(names) else None
        if not self._stick:
            there = ", ".join(f"{k} is {name}" for k, name in enumerate(names)) or "none is plugged in"
            raise BunrakuError(f"there is no joystick {number}: {there}\n  advice: plug it in, or drive from the browser")
        self.name = (self._sdl.SDL_JoystickName(self._stick) or b"joystick").decode()

    def poll(self) -> Reading | None:
        """The newest reading; None when the joystick is gone."""
        own, stick = self._sdl, self._stick
        own.SDL_JoystickUpdate()
        if not own.SDL_JoystickGetAttached(stick):
            return None
        axes = (max(own.SDL_JoystickGetAxis(stick, k) / FULL, -1.0) for k in range(own.SDL_JoystickNumAxes(stick)))
        buttons = (bool(own.SDL_JoystickGetButton(stick, k)) for k in range(own.SDL_JoystickNumButtons(stick)))
        hats = (own.SDL_JoystickGetHat(stick, k) for k in range(own.SDL_JoystickNumHats(stick)))
        return Reading(tuple(axes), tuple(buttons), tuple(_hat(bits) for bits in hats))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._sdl.SDL_JoystickClose(self._stick)


def _hat(bits: int) -> tuple[int, int]:
    return int(bool(bits & RIGHT)) - int(bool(bits & LEFT)), int(bool(bits & UP)) - int(bool(bits & DOWN))


def commanded(stick: Joystick, pilot: Pilot) -> tuple[Command, str]:
    """The command of this moment; a stick that is gone means: stand, and the message says so."""
    reading = stick.poll()
    if reading is None:
        return Command(pilot.guided), f"{stick.name} is gone: it stands until the stick is plugged in again"
    return pilot.command(reading), ""


class VirtualJoystick:
    """A joystick that is not there, for tests and for programs that drive like one."""

    def __init__(self, *, axes: int = 5, buttons: int = 12, hats: int = 1) -> None:
        self._sdl = sdl()
        self.number = int(self._sdl.SDL_JoystickAttachVirtual(self._sdl.SDL_JOYSTICK_TYPE_UNKNOWN, axes, buttons, hats))
        if self.number < 0:
            raise BunrakuError(f"SDL has no virtual joysticks here: {self._sdl.SDL_GetError().decode()}")
        self._stick = self._sdl.SDL_JoystickOpen(self.number)

    def set(self, *, axes: dict[int, float] | None = None, buttons: dict[int, bool] | None = None, hat: int | None = None) -> None:
        """Moves axes, pushes buttons, turns the first hat (bits of UP, RIGHT, DOWN, LEFT)."""
        own = self._sdl
        for k, value in (axes or {}).items():
            own.SDL_JoystickSetVirtualAxis(self._stick, k, ctypes.c_int16(round(value * FULL)))
        for k, down in (buttons or {}).items():
            own.SDL_JoystickSetVirtualButton(self._stick, k, int(down))
        if hat is not None:
            own.SDL_JoystickSetVirtualHat(self._stick, 0, hat)

    def unplug(self) -> None:
        self._sdl.SDL_JoystickDetachVirtual(self.number)
