"""Messages of every kind of nonsense: refused or obeyed, never a crash, and never a figure that is not finite."""

from __future__ import annotations

import asyncio
import json
import random
import struct
from typing import Any

import numpy as np
import pytest

from bunraku.stage import Entry, wire
from bunraku.stage.room import Visitor
from bunraku.stage.stage import Stage
from bunraku.stage.wire import Ack, Inbox, Refusal
from tests.stage.toys import Swinging, recorded

KINDS = [
    "hello", "join", "leave", "ask", "give", "record", "pause", "speed", "step", "replay", "pull", "release", "winch",
    "sticks", "reset", "", "__class__", "n",
]  # fmt: skip
ODD: list[Any] = [
    None, True, False, 0, -1, 1, 2**31, 2**63, 1e308, -1e308, 1e-320, 0.5, "", "e1", "e0", "left", "x" * 300, "\0", "\ud800",
    [], [0, 0, 1], [1e9, 0, 0], ["a"], [[]], {}, {"a": 1}, "spindle", "hook", "body",
]  # fmt: skip
FIELDS = {
    "join": ["entry"], "give": ["to"], "record": ["on"], "pause": ["on"], "speed": ["rate"],
    "winch": ["figure", "string", "by"], "pull": ["figure", "part", "name", "to", "at"],
    "release": ["figure", "part", "name"], "sticks": ["axes", "buttons"],
}  # fmt: skip
GOOD: dict[str, list[Any]] = {
    "entry": ["e1", "e1", "e0", "nothing"], "to": [[0.1, 0.2, 1.0], [-9000, 0, 1], "visitor 1"], "on": [True, False],
    "rate": [0.5, 4], "figure": [0, 1, 7], "string": ["left", "right", "none"], "by": [0.01, -0.5, 9999],
    "part": ["spindle", "hook", "body"], "name": ["left", "right", "left_hand"], "at": [[0, 0, 0]],
    "axes": [[0.5, -1], [], [1]], "buttons": [[True], []],
}  # fmt: skip


def message(dice: random.Random, n: int) -> str | bytes:
    """Mostly well-formed, often with something odd, sometimes noise."""
    luck = dice.random()
    if luck < 0.05:
        return dice.randbytes(dice.randrange(12))
    if luck < 0.15:
        return struct.pack("<BI", wire.MessageKind.ACK, dice.choice([0, 1, 5, 2**32 - 1]))
    kind = dice.choice(KINDS)
    plain: dict[str, Any] = {"n": n, "type": kind}
    for field in FIELDS.get(kind, []):
        if dice.random() < 0.95:
            plain[field] = dice.choice(GOOD[field] if dice.random() < 0.85 else ODD)
    if dice.random() < 0.05:
        plain[dice.choice(["n", "type", "extra", "to"])] = dice.choice(ODD)
    text = json.dumps(plain)
    if luck < 0.2:
        k = dice.randrange(len(text))
        text = text[:k] + dice.choice(["", "\0", "{", "NaN", "\u202e", "9" * 50]) + text[k + dice.randrange(3) :]
    return text


async def fuzz(count: int, seed: int) -> tuple[int, int]:
    dice = random.Random(seed)
    stage = Stage([Entry("recorded", recorded), Entry("live", Swinging)], fps=30.0)
    refused = heeded = 0
    codes: set[int] = set()
    inbox, visitor, n, now = Inbox(), Visitor(), 0, 0.0
    for k in range(count):
        if n == 0:
            text: str | bytes = json.dumps({"n": 1, "type": "hello", "version": wire.PROTOCOL_VERSION})
        else:
            text = message(dice, n + 1)
        now += 1 / 100
        try:
            read = inbox.read(text, now)
            if isinstance(read, Ack):
                visitor.acknowledge(read.number)
            else:
                n += 1
                await stage.handle(visitor, read)
            heeded += 1
        except Refusal as refusal:
            codes.add(refusal.code)
            refused += 1
            stage.goodbye(visitor)
            inbox, visitor, n = Inbox(), Visitor(), 0
        for waiting in visitor.messages():
            json.dumps(waiting)
        visitor.sample()
        if k % 200 == 0:
            await asyncio.sleep(0)
    stage.goodbye(visitor)
    for room in stage._rooms.values():
        room.run.stop()
        n_q = room.live.figures[0].n_q
        assert room.run.latest is not None
        assert np.isfinite(np.frombuffer(room.run.latest.data, "<f4", n_q, 16)).all()
    await stage.close()
    assert codes == {wire.CloseCode.MALFORMED, wire.CloseCode.OUT_OF_ORDER}
    return refused, heeded


@pytest.mark.parametrize(("count", "seed"), [(20_000, 1), pytest.param(100_000, 2, marks=pytest.mark.slow)])
def test_many_messages_find_no_crash(count: int, seed: int, caplog: pytest.LogCaptureFixture) -> None:
    refused, heeded = asyncio.run(fuzz(count, seed))
    assert refused > count // 20
    assert heeded > count // 3
    assert not [r for r in caplog.records if r.levelname == "ERROR"]
