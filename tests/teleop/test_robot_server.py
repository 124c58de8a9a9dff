"""The protocol of the robot's socket: garbage, silence and second clients are refused in words, the owner is served."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.teleop.robot_link import RobotLink
from bunraku.teleop.robot_messages import VERSION, Refused, RobotLinkOptions
from bunraku.teleop.robot_server import RobotServer, _Player
from tests.patience import PATIENCE, until

Array = NDArray[np.float64]
PATIENT = RobotLinkOptions(handshake=PATIENCE, silence=PATIENCE, takeover=PATIENCE)
POST = b"POST /targets HTTP/1.1\r\nHost: localhost\r\nContent-Length: 480\r\n\r\n" + b"\x00" * 480


class Recorder:
    """A robot with three motors that is always where it should be."""

    motors = ("hip", "knee", "ankle")
    dt = 0.005
    servos = (np.ones(3), np.ones(3))

    def __init__(self) -> None:
        self.q: Array = np.zeros(3)
        self.steps = 0
        self.played: list[list[float]] = []

    def step(self, targets: Array) -> Array:
        self.steps += 1
        self.q = targets.copy()
        self.played.append(targets.tolist())
        return self.q

    late = 0
    soles = None

    def ahead(self, targets: Array) -> None:
        pass

    def skip(self, ticks: int) -> None:
        pass


@contextmanager
def serving(options: RobotLinkOptions = PATIENT) -> Iterator[RobotServer]:
    with RobotServer(Recorder(), options=options, timeout=PATIENCE) as server:
        yield server


def link_to(server: RobotServer) -> RobotLink:
    return RobotLink(server.address, server.token, timeout=PATIENCE)


def raw(server: RobotServer, data: bytes = b"") -> socket.socket:
    end = socket.create_connection(server.address, timeout=PATIENCE)
    end.sendall(data)
    return end


def hello(server: RobotServer, **fields: Any) -> bytes:
    return json.dumps({"bunraku": "robot", "version": VERSION, "token": server.token, **fields}).encode() + b"\n"


def number(tick: int) -> bytes:
    return tick.to_bytes(4, "little")


def words(end: socket.socket) -> str:
    """Everything the server says until it closes."""
    said = b""
    while part := end.recv(65536):
        said += part
    return said.decode("utf-8", "replace")


def is_served(server: RobotServer) -> None:
    with link_to(server) as link:
        assert link.step(np.array([0.1, 0.2, 0.3])).tolist() == [0.1, 0.2, 0.3]


@pytest.mark.parametrize(
    "garbage",
    [POST, b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01\x02\x00\x01", b"\x00" * 24, b"{\n", b"[1]\n", b"{" + b"[" * 900 + b"\n",
     b"{}\n", b"{" * 5000, b'{"bunraku": "robot", "version": 1}\n', b"\n", "{ä}\n".encode("latin-1"),
     b"{" * 100 + b"\n" + b"T" * 100_000],
)  # fmt: skip
def test_garbage_is_refused_and_moves_nothing(garbage: bytes) -> None:
    with serving() as server:
        with raw(server, garbage) as end:
            answer = json.loads(words(end))
        assert answer["ok"] is False
        assert "advice" in answer["why"]
        assert server.robot.steps == 0  # type: ignore[attr-defined]
        is_served(server)


@pytest.mark.parametrize(
    ("fields", "why"),
    [({"token": "guess"}, "wrong token"), ({"token": None}, "wrong token"), ({"token": "\ud800"}, "wrong token"),
     ({"version": VERSION + 1}, "version"), ({"version": "1"}, "version"), ({"bunraku": "stage"}, "not a handshake")],
)  # fmt: skip
def test_strangers_are_refused_in_words(fields: dict[str, Any], why: str) -> None:
    with serving() as server:
        with raw(server, hello(server, **fields)) as end:
            assert why in json.loads(words(end))["why"]
        is_served(server)


def test_the_client_tells_why() -> None:
    with serving() as server, pytest.raises(Refused, match="wrong token"):
        RobotLink(server.address, "guess", timeout=PATIENCE)


def test_silent_clients_do_not_keep_the_owner_out() -> None:
    """They are as many as may wait and more, and their handshake would never end."""
    with serving() as server:
        silent = [raw(server) for _ in range(PATIENT.waiting + 4)]
        is_served(server)
        for end in silent:
            end.close()


def test_silence_instead_of_a_handshake_is_told() -> None:
    with serving(RobotLinkOptions(handshake=0.05)) as server, raw(server) as end:
        assert "no handshake within 0.05 s" in words(end)


def test_half_a_handshake_is_silence() -> None:
    with serving(RobotLinkOptions(handshake=0.05)) as server, raw(server, hello(server)[:20]) as end:
        assert "no handshake within 0.05 s" in words(end)


def test_a_second_client_is_refused_while_the_first_goes_on() -> None:
    with serving() as server, link_to(server) as link:
        with pytest.raises(Refused, match="another client"):
            link_to(server)
        assert link.step(np.ones(3)).tolist() == [1.0, 1.0, 1.0]


def test_when_the_first_leaves_the_next_is_served() -> None:
    with serving() as server:
        is_served(server)
        until(lambda: server._owner is None)
        is_served(server)


def test_a_silent_client_with_the_token_is_replaced() -> None:
    """It shook hands and sends no heartbeat: the next one with the token takes over, and the silent one moves nothing more."""
    with serving(RobotLinkOptions(silence=PATIENCE, takeover=0.0)) as server, raw(server, hello(server)) as silent:
        until(lambda: server._owner is not None)
        with link_to(server) as link:
            link.step(np.ones(3))
            words(silent)  # ends
            assert server.robot.steps == 1  # type: ignore[attr-defined]
            assert link.step(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_a_silent_client_with_the_token_is_let_go() -> None:
    with serving(RobotLinkOptions(handshake=PATIENCE, silence=0.05)) as server, raw(server, hello(server)) as silent:
        assert "no message came for 0.05 s" in words(silent)
        until(lambda: server._owner is None)


def test_heartbeats_keep_a_client_that_plans() -> None:
    """It says nothing for many heartbeats, and is still the owner: a second one is refused, and the robot moves for the first."""
    beats = RobotLinkOptions(handshake=PATIENCE, heartbeat=0.01, silence=PATIENCE, takeover=PATIENCE)
    with serving(beats) as server, link_to(server) as link:
        owner = server._owner
        assert owner is not None
        first = owner.heard
        until(lambda: owner.heard > first)
        later = owner.heard
        until(lambda: owner.heard > later)
        link.step(np.ones(3))
        assert server._owner is owner


@pytest.mark.parametrize(
    ("message", "why"),
    [(POST, "no message begins with b'P'"), (b"T" + number(0) + np.full(3, np.nan).tobytes(), "not finite"),
     (b"T" + number(0) + np.full(3, np.inf).tobytes(), "not finite")],
)  # fmt: skip
def test_an_owner_who_sends_garbage_is_refused_in_words(message: bytes, why: str) -> None:
    with serving() as server:
        with raw(server, hello(server) + message) as end:
            assert why in words(end)
        assert server.robot.steps == 0  # type: ignore[attr-defined]
        until(lambda: server._owner is None)
        is_served(server)


@pytest.mark.parametrize("bad", [[0.0], [np.nan] * 3, [[0.0] * 3]])
def test_the_client_refuses_targets_that_make_no_sense(bad: Any) -> None:
    with serving() as server, link_to(server) as link:
        with pytest.raises(NotFinite, match="3 finite targets"):
            link.step(np.array(bad))
        link.step(np.zeros(3))


def test_what_the_robot_says_arrives() -> None:
    class Broken(Recorder):
        def step(self, targets: Array) -> Array:
            raise BunrakuError("the knee is broken")

    with RobotServer(Broken(), options=PATIENT) as server, link_to(server) as link:
        for _ in range(2):
            with pytest.raises(Refused, match="the knee is broken"):
                link.step(np.zeros(3))


def test_what_is_no_robot() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other, socket.create_connection(other.getsockname()) as early:
        end, _ = other.accept()
        early.close()
        end.close()

        def page() -> None:
            client, _ = other.accept()
            with client:
                client.recv(100)
                client.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")

        answering = threading.Thread(target=page)
        answering.start()
        with pytest.raises(BunrakuError, match="not a robot"):
            RobotLink(other.getsockname(), "any", timeout=PATIENCE)
        answering.join()


ROWS = np.arange(15.0).reshape(5, 3)


def test_targets_of_the_past_only_correct_the_plan() -> None:
    """A clocked robot has played a plan by itself for three ticks when targets for the first one come, 0.1 off."""
    player = _Player(Recorder(), 0.5)
    robot: Any = player.robot
    player.plan(40, ROWS)
    for _ in range(3):
        player.play()
    player.take(40, ROWS[0] + 0.1, now=False)
    for _ in range(3):
        player.play()
    offset = np.array([0, 0, 0, 0.1, 0.05, 0.025])
    np.testing.assert_allclose(robot.played, ROWS[[0, 1, 2, 3, 4, 4]] + offset[:, None], atol=1e-12)
    assert player.resting


def test_another_plan_takes_over_without_a_leap() -> None:
    """Sent for tick 42 when tick 43 is next: what differs there fades. One for later begins later."""
    player = _Player(Recorder(), 0.5)
    robot: Any = player.robot
    player.plan(40, ROWS)
    for _ in range(3):
        player.play()
    player.plan(42, ROWS + 8.0)  # its second row is 3 more - 3 + 8 = 5 more than the fourth of the other
    player.play()
    np.testing.assert_allclose(robot.played[-1], ROWS[1] + 8.0 + 0.5 * (ROWS[3] - ROWS[1] - 8.0))
    late = _Player(Recorder(), 0.5)
    late.plan(40, ROWS)
    late.plan(43, ROWS + 100.0)
    other: Any = late.robot
    late.finish()
    np.testing.assert_allclose(other.played, [*ROWS[:3], *(ROWS + 100.0)], atol=1e-9)


@pytest.mark.parametrize("end", ["leaves", "sends garbage", "falls silent"])
def test_what_was_sent_ahead_is_played_without_the_client(end: str) -> None:
    """A move of five steps; the client corrects the first two by 0.1 and is lost: the others keep what is left of that."""
    silence = 0.2 if end == "falls silent" else PATIENCE
    with serving(RobotLinkOptions(handshake=PATIENCE, silence=silence, takeover=PATIENCE)) as server:
        robot: Any = server.robot
        one = raw(server, hello(server))
        assert one.recv(1) == b"{"
        one.sendall(b"A" + number(7) + (5).to_bytes(2, "little") + ROWS.tobytes())
        for k, row in enumerate(ROWS[:2] + 0.1):
            one.sendall(b"T" + number(7 + k) + row.tobytes())
        if end == "leaves":
            until(lambda: robot.steps >= 2)
            one.close()
        elif end == "sends garbage":
            one.sendall(b"?")
        until(lambda: robot.steps == 5)
        kept = [0.1, 0.1, 0.1 * 0.9, 0.1 * 0.9**2, 0.1 * 0.9**3]
        np.testing.assert_allclose(robot.played, ROWS + np.array(kept)[:, None], atol=1e-12)
        one.close()
        until(lambda: not server.served)
        is_served(server)


def test_a_clocked_robot_goes_on_by_itself_and_then_holds() -> None:
    with RobotServer(Recorder(), clocked=True, options=PATIENT, timeout=PATIENCE) as server:
        robot: Any = server.robot
        with link_to(server) as link:
            link.ahead(ROWS)
            link.step(ROWS[0])
        until(lambda: robot.steps >= 8)
        played = [row for k, row in enumerate(robot.played) if k == 0 or row != robot.played[k - 1]]
        assert played == ROWS[len(ROWS) - len(played) :].tolist()  # the clock may have ticked before the first targets came
        assert server.times.held >= 3


def test_rows_that_make_no_sense_are_refused() -> None:
    with serving() as server, link_to(server) as link:
        for bad in (np.zeros(3), np.zeros((2, 4)), np.full((1, 3), np.nan)):
            with pytest.raises(NotFinite):
                link.ahead(bad)
        assert link.step(np.zeros(3)).tolist() == [0.0, 0.0, 0.0]


def test_a_port_that_is_taken_is_told() -> None:
    with serving() as server, pytest.raises(BunrakuError, match="cannot listen"):
        RobotServer(Recorder(), port=server.address[1])


@pytest.mark.parametrize(("tick", "rows"), [(2**32 - 1, 1), (100_000, 1), (7, 0)])
def test_ticks_that_make_no_sense_are_refused(tick: int, rows: int) -> None:
    """In the middle of a move, they would make it endless."""
    with serving() as server:
        move = b"A" + number(7) + (5).to_bytes(2, "little") + ROWS.tobytes() + b"T" + number(7) + ROWS[0].tobytes()
        one = raw(server, hello(server) + move)
        one.sendall(b"A" + number(tick) + rows.to_bytes(2, "little") + ROWS[:rows].tobytes())
        assert f"tick {tick}" in words(one)
        one.close()
        is_served(server)


def test_a_client_that_left_or_was_refused_may_come_again_at_once() -> None:
    with serving() as server:
        for _ in range(4):
            raw(server, hello(server) + b"T" + number(7) + ROWS[0].tobytes()).close()
            is_served(server)
            one = raw(server, hello(server) + b"?")
            assert "begins with" in words(one)
            is_served(server)
            one.close()


def test_a_clocked_robot_that_fails_says_why() -> None:
    class Broken(Recorder):
        def step(self, targets: Array) -> Array:
            raise NotFinite("the robot has diverged")

    with RobotServer(Broken(), clocked=True, options=PATIENT, timeout=PATIENCE) as server:
        with link_to(server) as link:
            link.step(ROWS[0])
            until(lambda: server.trouble)
        assert "diverged" in server.trouble
