"""Messages between a robot and its client: the protocol of the socket.

1. The client sends one line of JSON: `{"bunraku": "robot", "version": 3, "token": "…"}`.
2. The robot answers with one line: `{"ok": true, "motors": […], "dt": …, …}`, or `{"ok": false, "why": "…"}`, and closes.
3. From then on each message begins with one byte for its kind. The client sends `T` with the number of its tick as u32 and
   targets, one f64 for each motor, and receives `M` with the tick that the robot plays next as u32 and measurements, one f64 for
   each variable, and six of the soles if the robot feels them; or it sends `A`, the tick of the first row as u32, a number of rows
   as u16, and so many rows of targets, which the robot plays by itself if the client falls silent or is late, and receives `A`; or
   it sends `H`, a heartbeat, and receives `H`. If the robot refuses a message, it answers `R`, the length of a text as u16 and the
   text, and closes the connection. Numbers are little-endian.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from time import monotonic
from typing import Any

from bunraku.errors import BunrakuError

VERSION = 3  # version of this protocol


class RobotMessage:
    """First bytes of messages."""

    TARGETS, MEASUREMENTS, AHEAD, HEARTBEAT, REFUSAL = b"T", b"M", b"A", b"H", b"R"


@dataclass(frozen=True)
class RobotLinkOptions:
    """Timeouts of a robot's server, and how many clients may wait."""

    handshake: float = 1.0
    """A client whose first line takes longer is refused [s]."""
    heartbeat: float = 0.1
    """An idle client sends a heartbeat this often [s]."""
    silence: float = 5.0
    """A client that sends no message for this time is disconnected [s]."""
    takeover: float = 0.5
    """A client that has sent no message for this time is replaced if another one with the token connects [s]."""
    fading: float = 0.9
    """A robot that goes on without its client keeps this share of the last corrections of the targets at each tick."""
    waiting: int = 16
    """Maximum number of clients in their handshake; one more disconnects the oldest."""
    first_line: int = 1000
    """Maximum length of a client's first line [bytes]."""


def read_exactly(end: socket.socket, size: int, seconds: float) -> bytes:
    """Receives `size` bytes from the socket `end`; raises TimeoutError after `seconds` [s], ConnectionError if it is closed."""
    until, got = monotonic() + seconds, b""
    while len(got) < size:
        part = _receive(end, size - len(got), until)
        if not part:
            raise ConnectionError("the other end has closed the connection")
        got += part
    return got


def read_line(end: socket.socket, longest: int, seconds: float, *, begin: bytes = b"{") -> bytes:
    """Receives one line without its line break, byte by byte, so that nothing after it is consumed.

    end: the socket.
    longest: maximum length [bytes].
    seconds: maximum time [s].
    begin: the first byte of every valid line; a line with another first byte is rejected at once.

    Raises TimeoutError, ConnectionError if the socket is closed, ValueError if the line is not valid.
    """
    until, line = monotonic() + seconds, b""
    while not line.endswith(b"\n"):
        part = _receive(end, 1, until)
        if not part:
            raise ConnectionError("the other end has closed the connection")
        line += part
        if not line.startswith(begin) or len(line) > longest:
            raise ValueError("not a line of this protocol")
    return line[:-1]


def _receive(end: socket.socket, size: int, until: float) -> bytes:
    left = until - monotonic()
    if left <= 0.0:
        raise TimeoutError
    end.settimeout(left)
    return end.recv(size)


def json_line(fields: dict[str, Any]) -> bytes:
    """One line of JSON with these `fields`."""
    return json.dumps(fields).encode() + b"\n"


def fields_of(line: bytes) -> dict[str, Any]:
    """The fields of one `line` of JSON; raises ValueError if it is not a JSON object."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("not a JSON object")
    return found


class Refused(BunrakuError):
    """The robot refuses a client or a message; the message says why."""
