"""Messages between a robot and its client: what both ends of the socket agree on.

1. The client sends one line of JSON: `{"bunraku": "robot", "version": 1, "token": "…"}`.
2. The robot answers with one line: `{"ok": true, "motors": […], "dt": …, …}`, or `{"ok": false, "why": "…"}`, and closes.
3. From then on each message begins with one byte that says its kind. The client sends `T` with targets, one f64 for each motor,
   and receives `M` with measurements, one f64 for each variable; or it sends `H`, a heartbeat, and receives `H`. Where the robot
   refuses a message it answers `R`, the length of a text as u16 and the text, and closes. Numbers are little-endian.
"""

from __future__ import annotations

import json
import socket
from dataclasses import dataclass
from time import monotonic
from typing import Any

from bunraku.errors import BunrakuError

VERSION = 1  # of this protocol
TARGETS, MEASUREMENTS, HEARTBEAT, REFUSAL = b"T", b"M", b"H", b"R"  # kinds of messages


@dataclass(frozen=True)
class RobotLinkOptions:
    """How long a robot waits for its clients, and how many may wait."""

    handshake: float = 1.0
    """A client that has not sent its first line by then is refused [s]."""
    heartbeat: float = 0.1
    """A client that has nothing to say sends a heartbeat this often [s]."""
    silence: float = 5.0
    """A client that has sent no message for so long is refused [s]."""
    takeover: float = 0.5
    """A client that has sent no message for so long is replaced when another one with the token asks [s]."""
    waiting: int = 16
    """So many clients may be in their handshake at once; one more ends the oldest."""
    first_line: int = 1000
    """Longest first line of a client [bytes]."""


def read_exactly(end: socket.socket, size: int, seconds: float) -> bytes:
    """Receives `size` bytes from the socket `end`; raises TimeoutError after `seconds` [s], ConnectionError if nobody is there."""
    until, got = monotonic() + seconds, b""
    while len(got) < size:
        part = _receive(end, size - len(got), until)
        if not part:
            raise ConnectionError("the other end has closed the connection")
        got += part
    return got


def read_line(end: socket.socket, longest: int, seconds: float, *, begin: bytes = b"{") -> bytes:
    """Receives one line without its line break, byte by byte, so that nothing behind it is consumed.

    end: the socket.
    longest: bytes that a line may have.
    seconds: how long it may take [s].
    begin: the first byte of every line that makes sense; others are not waited for.

    Raises TimeoutError, ConnectionError if the other end has gone, ValueError if this is no such line.
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
    """The fields of one `line` of JSON; raises ValueError where it is none."""
    try:
        found = json.loads(line)
    except (ValueError, RecursionError):
        raise ValueError("not JSON") from None
    if not isinstance(found, dict):
        raise ValueError("not an object of JSON")
    return found


class Refused(BunrakuError):
    """The robot refuses a client or a message; the text says why."""
