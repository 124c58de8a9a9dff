"""The websocket's protocol: messages of pages and stage, and which are refused.

The page sends JSON objects {"n": 1, "type": …}, numbered from 1, of which the first is a hello; and acknowledgements of five
bytes, ACK and a u32, for the newest sample that it has drawn. The stage answers with JSON (`messages`), and with samples:

    u8 SAMPLE, u8 0, u16 visit, u32 number, f64 t, f32 q of every figure, f32 tensions of every figure,
    f32 series, u8 for each rope: 1 if it is at its limit; then for each rope that lies on bodies:
    u16 figure, u16 rope, u16 n, n times three f32: the points between its ends

`visit` counts the page's joins: a sample that was under way when the page joined another entry belongs to an earlier visit, and
the page drops it.
"""

from __future__ import annotations

import json
import math
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any, NoReturn

import numpy as np

from bunraku.stage.live import Live, Sample
from bunraku.stage.stage_limits import StageLimits

PROTOCOL_VERSION = 1


class MessageKind(IntEnum):
    """The first byte of a binary message."""

    ACK = 1
    SAMPLE = 2


class CloseCode(IntEnum):
    """Why a connection is closed: an HTTP status plus 4000."""

    MALFORMED = 4400
    TOO_SLOW = 4408
    OUT_OF_ORDER = 4409
    TOO_LARGE = 4413
    FULL = 4423
    TOO_FAST = 4429
    BROKEN = 4500


class Refusal(Exception):
    """Closes the connection with this `code` and `reason`."""

    def __init__(self, code: CloseCode, reason: str) -> None:
        super().__init__(reason)
        # A close frame holds 123 bytes of reason.
        self.code, self.reason = code, reason.encode()[:120].decode(errors="ignore")


@dataclass(frozen=True)
class Ack:
    """The page has drawn this sample."""

    number: int


class Inbox:
    """Checks the messages of one page against `limits`: size, rate, form and order. Refused messages have no effect."""

    def __init__(self, limits: StageLimits = StageLimits()) -> None:
        self._limits = limits
        self._count = 0
        self._greeted = False
        self._tokens, self._then = limits.message_burst, float("-inf")

    def read(self, message: str | bytes, now: float) -> dict[str, Any] | Ack:
        """The `message` that came at time `now` [s], parsed; raises Refusal if it violates the protocol."""
        self._slow_enough(now)
        if len(message) > self._limits.message_bytes:
            raise Refusal(CloseCode.TOO_LARGE, f"a message has at most {self._limits.message_bytes} bytes")
        if isinstance(message, bytes):
            return self._ack(message)
        plain = parse(message)
        n, kind = plain.pop("n", None), plain.get("type")
        if isinstance(n, bool) or not isinstance(n, int) or not isinstance(kind, str):
            raise Refusal(CloseCode.MALFORMED, 'a message has a number "n" and a "type"')
        if n != self._count + 1:
            raise Refusal(CloseCode.OUT_OF_ORDER, f"expected message {self._count + 1}, got {n}")
        if (kind == "hello") == self._greeted:
            raise Refusal(CloseCode.OUT_OF_ORDER, "the first message must be a hello, and only the first")
        if kind == "hello" and plain != {"type": "hello", "version": PROTOCOL_VERSION}:
            raise Refusal(CloseCode.MALFORMED, f"this stage uses version {PROTOCOL_VERSION} of the protocol: reload the page")
        self._count, self._greeted = n, True
        return plain

    def _slow_enough(self, now: float) -> None:
        rate, burst = self._limits.message_rate, self._limits.message_burst
        self._tokens = min(burst, self._tokens + rate * max(now - self._then, 0.0))
        self._then = now
        if self._tokens < 1.0:
            raise Refusal(CloseCode.TOO_FAST, f"more than {rate:g} messages per second")
        self._tokens -= 1.0

    def _ack(self, message: bytes) -> Ack:
        if len(message) != 5 or message[0] != MessageKind.ACK:
            raise Refusal(CloseCode.MALFORMED, "the only binary message is an acknowledgement of 5 bytes")
        if not self._greeted:
            raise Refusal(CloseCode.OUT_OF_ORDER, "the first message is a hello")
        return Ack(struct.unpack_from("<I", message, 1)[0])


def parse(text: str) -> dict[str, Any]:
    """The JSON object in `text`, parsed strictly: finite numbers, no duplicate keys. Raises Refusal if it is anything else."""
    try:
        plain = json.loads(text, parse_constant=_refuse_constant, parse_float=_finite, parse_int=_whole, object_pairs_hook=_unique)
    except (ValueError, RecursionError):
        raise Refusal(CloseCode.MALFORMED, "not JSON") from None
    if not isinstance(plain, dict):
        raise Refusal(CloseCode.MALFORMED, "a message is a JSON object")
    return plain


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(name)


def _finite(text: str) -> float:
    """A number such as 1e999 is too large for a float, which json would make infinite."""
    if not math.isfinite(number := float(text)):
        raise ValueError(text)
    return number


def _whole(text: str) -> int:
    """An integer that a float can hold."""
    _finite(text)
    return int(text)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    out = dict(pairs)
    if len(out) != len(pairs):
        raise ValueError("a duplicate key")
    return out


class Packer:
    """Packs samples of a `live` entry into bytes."""

    def __init__(self, live: Live) -> None:
        self._ropes = [[s.name for s in (*f.strings, *f.wires)] for f in live.figures]
        self._zero = tuple(np.zeros(len(names)) for names in self._ropes)
        self._series = len(live.series)

    def pack(self, sample: Sample, number: int) -> bytes:
        """The bytes of a `sample` with its `number`; the visit is left open (see `addressed`)."""
        tension = sample.tension or self._zero
        series = sample.series or (0.0,) * self._series
        floats = np.concatenate((*sample.q, *tension, series)).astype("<f4")
        limit = np.array([(k, name) in sample.at_limit for k, names in enumerate(self._ropes) for name in names], "u1")
        head = struct.pack("<BBHId", MessageKind.SAMPLE, 0, 0, number & 0xFFFFFFFF, sample.t)
        laid = [
            struct.pack("<HHH", k, rope, len(points)) + points.astype("<f4").tobytes()
            for k, one in enumerate(sample.laid)
            for rope, points in one.items()
        ]
        return b"".join((head, floats.tobytes(), limit.tobytes(), *laid))


def addressed(sample: bytes, visit: int) -> bytes:
    """A packed `sample` for the `visit`-th entry that a page has joined."""
    return sample[:2] + struct.pack("<H", visit & 0xFFFF) + sample[4:]
