"""A joystick connected to this machine, read through SDL: without opening a window, and without keyboard focus."""

from __future__ import annotations

import os
import warnings
from enum import IntFlag
from types import TracebackType
from typing import Any, Self

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.teleop.devices import Reading

FULL_AXIS = 32767.0  # SDL's value for an axis at its end


class HatBit(IntFlag):
    """Directions of a hat, as bits of SDL."""

    UP = 1
    RIGHT = 2
    DOWN = 4
    LEFT = 8


def sdl() -> Any:
    """The SDL library with its joystick subsystem started: without video, and with events while in the background.

    Raises MissingExtra if PySDL2 is not installed, BunrakuError if SDL does not start.
    """
    os.environ.setdefault("SDL_JOYSTICK_ALLOW_BACKGROUND_EVENTS", "1")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # PySDL2 warns about which SDL library it found
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
    """An open joystick: `with Joystick() as stick: stick.poll()`."""

    def __init__(self, number: int = 0) -> None:
        """The joystick with this `number`, in the order of `plugged_in`; raises BunrakuError if there is none."""
        names = plugged_in()
        self._sdl = sdl()
        self._stick = self._sdl.SDL_JoystickOpen(number) if 0 <= number < len(names) else None
        if not self._stick:
            there = ", ".join(f"{k} is {name}" for k, name in enumerate(names)) or "none is plugged in"
            raise BunrakuError(f"there is no joystick {number}: {there}\n  advice: plug it in, or drive from the browser")
        self.name = (self._sdl.SDL_JoystickName(self._stick) or b"joystick").decode()

    def poll(self) -> Reading | None:
        """The newest reading; None if the joystick was unplugged."""
        own, stick = self._sdl, self._stick
        own.SDL_JoystickUpdate()
        if not own.SDL_JoystickGetAttached(stick):
            return None
        axes = (max(own.SDL_JoystickGetAxis(stick, k) / FULL_AXIS, -1.0) for k in range(own.SDL_JoystickNumAxes(stick)))
        buttons = (bool(own.SDL_JoystickGetButton(stick, k)) for k in range(own.SDL_JoystickNumButtons(stick)))
        hats = (own.SDL_JoystickGetHat(stick, k) for k in range(own.SDL_JoystickNumHats(stick)))
        return Reading(tuple(axes), tuple(buttons), tuple(_hat(bits) for bits in hats))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._sdl.SDL_JoystickClose(self._stick)


def _hat(bits: int) -> tuple[int, int]:
    found = HatBit(bits & 15)
    return int(HatBit.RIGHT in found) - int(HatBit.LEFT in found), int(HatBit.UP in found) - int(HatBit.DOWN in found)
