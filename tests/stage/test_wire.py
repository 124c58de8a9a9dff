from __future__ import annotations

import json
import struct
from typing import Any

import numpy as np
import pytest

from bunraku.stage import wire
from bunraku.stage.stage_limits import StageLimits
from bunraku.stage.wire import Ack, Inbox, Packer, Refusal
from tests.stage.toys import Swinging

HELLO = json.dumps({"n": 1, "type": "hello", "version": wire.PROTOCOL_VERSION})


def refused(inbox: Inbox, message: str | bytes, now: float = 0.0) -> int:
    with pytest.raises(Refusal) as caught:
        inbox.read(message, now)
    assert caught.value.reason
    assert len(caught.value.reason.encode()) <= 123
    return caught.value.code


def greeted() -> Inbox:
    inbox = Inbox()
    inbox.read(HELLO, 0.0)
    return inbox


def test_messages_in_order_are_read() -> None:
    inbox = greeted()
    assert inbox.read('{"n": 2, "type": "ask"}', 0.0) == {"type": "ask"}
    assert inbox.read(struct.pack("<BI", wire.MessageKind.ACK, 7), 0.0) == Ack(7)
    assert inbox.read('{"n": 3, "type": "leave"}', 0.0) == {"type": "leave"}


@pytest.mark.parametrize(
    "message",
    [
        "", "{", "[]", "null", "7", '{"n": 2}', '{"type": "ask"}', '{"n": true, "type": "ask"}', '{"n": 2, "type": 3}',
        '{"n": 2, "n": 2, "type": "ask"}', '{"n": 2, "type": "winch", "by": NaN}', '{"n": 2, "type": "winch", "by": 1e999}',
        "[" * 4000, b"", b"\x01", b"\x02\0\0\0\0", b"\x01\0\0\0\0\0",
    ],
)  # fmt: skip
def test_malformed(message: str | bytes) -> None:
    assert refused(greeted(), message) == wire.CloseCode.MALFORMED


@pytest.mark.parametrize(
    "message",
    [
        '{"n": 1, "type": "ask"}', '{"n": 3, "type": "ask"}', '{"n": -2, "type": "ask"}', HELLO,
        json.dumps({"n": 2, "type": "hello", "version": wire.PROTOCOL_VERSION}),
    ],
)  # fmt: skip
def test_out_of_order(message: str) -> None:
    assert refused(greeted(), message) == wire.CloseCode.OUT_OF_ORDER


def test_nothing_goes_before_the_hello() -> None:
    assert refused(Inbox(), '{"n": 1, "type": "ask"}') == wire.CloseCode.OUT_OF_ORDER
    assert refused(Inbox(), struct.pack("<BI", wire.MessageKind.ACK, 7)) == wire.CloseCode.OUT_OF_ORDER


def test_another_version_is_told_to_reload() -> None:
    with pytest.raises(Refusal, match="reload"):
        Inbox().read('{"n": 1, "type": "hello", "version": 99}', 0.0)


def test_too_large() -> None:
    assert refused(greeted(), "x" * (StageLimits.message_bytes + 1)) == wire.CloseCode.TOO_LARGE
    assert refused(greeted(), b"x" * (StageLimits.message_bytes + 1)) == wire.CloseCode.TOO_LARGE


def test_too_fast() -> None:
    inbox = greeted()
    ack = struct.pack("<BI", wire.MessageKind.ACK, 1)
    for _ in range(int(StageLimits.message_burst) - 1):
        inbox.read(ack, 0.0)
    assert refused(inbox, ack) == wire.CloseCode.TOO_FAST
    inbox.read(ack, 1.0 / StageLimits.message_rate + 1e-6)  # time heals


def test_the_steady_rate_of_a_page_is_never_too_fast() -> None:
    inbox, n = greeted(), 1
    for frame in range(2000):
        now = frame / 60.0
        inbox.read(struct.pack("<BI", wire.MessageKind.ACK, frame), now)
        n += 1
        inbox.read(json.dumps({"n": n, "type": "ask"}), now)


def test_a_sample_is_packed_as_documented() -> None:
    live = Swinging()
    sample = live.step()
    data = Packer(live).pack(sample, 5)
    kind, _, _, number, t = struct.unpack_from("<BBHId", data)
    assert (kind, number, t) == (wire.MessageKind.SAMPLE, 5, sample.t)
    n, ropes = live.figures[0].n_q, len(live.figures[0].strings)
    floats = np.frombuffer(data, "<f4", n + ropes + 1, 16)
    expected: Any = np.concatenate([sample.q[0], sample.tension[0], sample.series])
    np.testing.assert_array_equal(floats, expected.astype("<f4"))
    assert len(data) == 16 + 4 * (n + ropes + 1) + ropes
