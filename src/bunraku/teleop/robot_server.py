"""A robot served over a socket, to one client with the token at a time; other clients are refused with a reason.

    with RobotServer(robot) as server:
        print(server.address, server.token)      # both are needed by a client

Every client has its own thread until its handshake is over, so that garbage or silence blocks nobody else. The robot moves for one
client only; if that client leaves, falls silent or sends an invalid message, the robot holds its last targets.
See `robot_messages` for the protocol.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic
from types import TracebackType
from typing import Self

import numpy as np

from bunraku.errors import BunrakuError
from bunraku.teleop.robot_loop import Robot
from bunraku.teleop.robot_messages import (
    HEARTBEAT,
    MEASUREMENTS,
    REFUSAL,
    TARGETS,
    VERSION,
    Refused,
    RobotLinkOptions,
    fields_of,
    json_line,
    read_exactly,
    read_line,
)


@dataclass
class _Client:
    """One connection."""

    end: socket.socket
    heard: float = field(default_factory=monotonic)
    """Time of its last complete message."""

    def close(self) -> None:
        """Closes the connection; a thread that reads from it wakes up."""
        with suppress(OSError):
            self.end.shutdown(socket.SHUT_RDWR)
        self.end.close()


class RobotServer:
    """Serves a robot on the loopback interface, to one client with the token at a time."""

    def __init__(
        self, robot: Robot, *, port: int = 0, token: str | None = None, timeout: float = 10.0,
        options: RobotLinkOptions = RobotLinkOptions(),
    ) -> None:  # fmt: skip
        """Serves a `robot`.

        port: 0 picks a free one.
        token: the token that clients must send; by default a random one.
        timeout: maximum time that closing waits [s].
        options: timeouts for clients.
        """
        self.robot, self.options, self._timeout = robot, options, timeout
        self.token = secrets.token_urlsafe(16) if token is None else token
        self._socket = socket.create_server(("127.0.0.1", port))
        self._socket.settimeout(0.1)
        self.address: tuple[str, int] = ("127.0.0.1", int(self._socket.getsockname()[1]))
        self._stop = threading.Event()
        self._lock = threading.Lock()  # guards the two attributes below
        self._waiting: list[_Client] = []
        self._owner: _Client | None = None
        self._moving = threading.Lock()  # held during a step of the robot
        self._thread = threading.Thread(target=self._accept, name="bunraku-robot", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(timeout=self._timeout)
        self._socket.close()
        with self._lock:
            for client in (*self._waiting, *([self._owner] if self._owner else [])):
                client.close()
        with self._moving:  # waits for the last step
            pass

    def _accept(self) -> None:
        while not self._stop.is_set():
            try:
                end, _ = self._socket.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            client = _Client(end)
            with self._lock:
                self._waiting.append(client)
                oldest = self._waiting.pop(0) if len(self._waiting) > self.options.waiting else None
            if oldest:
                oldest.close()
            threading.Thread(target=self._meet, args=(client,), name="bunraku-robot-client", daemon=True).start()

    def _meet(self, client: _Client) -> None:
        """Performs the handshake with a client; serves it if it is accepted."""
        try:
            with suppress(OSError):
                client.end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    self._admit(client)
                except Refused as refused:
                    _say(client, json_line({"ok": False, "version": VERSION, "why": str(refused)}))
                    return
                self._serve(client)
        finally:
            with self._lock:
                if client in self._waiting:
                    self._waiting.remove(client)
                if self._owner is client:
                    self._owner = None
            client.close()

    def _admit(self, client: _Client) -> None:
        """Reads the first line and makes the client the owner; raises Refused."""
        advice = f'the first line is {{"bunraku": "robot", "version": {VERSION}, "token": "…"}}; see docs/guiding.md'
        try:
            asked = fields_of(read_line(client.end, self.options.first_line, self.options.handshake))
        except TimeoutError:
            raise Refused(f"no handshake within {self.options.handshake:g} s\n  advice: {advice}") from None
        except ValueError:
            raise Refused(f"this is a robot, and the first line is not a handshake\n  advice: {advice}") from None
        if asked.get("bunraku") != "robot":
            raise Refused(f"this is a robot, and the first line is not a handshake\n  advice: {advice}")
        if asked.get("version") != VERSION:
            said = str(asked.get("version"))[:20]
            raise Refused(f"the robot speaks version {VERSION}, the client {said}\n  advice: use the same bunraku at both ends")
        if not hmac.compare_digest(str(asked.get("token")).encode("utf-8", "replace"), self.token.encode()):
            raise Refused("wrong token\n  advice: the program that serves the robot has it (RobotServer.token)")
        with self._lock:
            if client not in self._waiting:  # disconnected because too many others came
                raise ConnectionError
            last = self._owner
            if last and monotonic() - last.heard < self.options.takeover:
                raise Refused("the robot has another client\n  advice: close that one first; a silent one is replaced")
            self._owner, client.heard = client, monotonic()
            self._waiting.remove(client)
        if last:
            last.close()

    def _serve(self, client: _Client) -> None:
        """Handles messages until the client leaves, falls silent or sends an invalid one."""
        with self._moving:
            stiffness, damping = self.robot.servos
            hello = {
                "ok": True, "version": VERSION, "motors": self.robot.motors, "dt": self.robot.dt, "stiffness": stiffness.tolist(),
                "damping": damping.tolist(), "q": self.robot.q.tolist(), "heartbeat": self.options.heartbeat,
            }  # fmt: skip
        client.end.sendall(json_line(hello))
        try:
            while not self._stop.is_set():
                client.end.sendall(self._answer(client))
        except TimeoutError:
            why = f"no message came for {self.options.silence:g} s; the robot holds its last targets\n  advice: send a heartbeat"
        except BunrakuError as problem:
            why = str(problem)
        else:
            return
        text = why.encode()[:65535]
        _say(client, REFUSAL + len(text).to_bytes(2, "little") + text)

    def _answer(self, client: _Client) -> bytes:
        """Reads one message and executes it; raises TimeoutError, ConnectionError, BunrakuError."""
        kind = read_exactly(client.end, 1, self.options.silence)
        if kind == HEARTBEAT:
            client.heard = monotonic()
            return HEARTBEAT
        if kind != TARGETS:
            raise Refused(f"no message begins with {kind!r}\n  advice: T for targets, H for a heartbeat; see docs/guiding.md")
        targets = np.frombuffer(read_exactly(client.end, 8 * len(self.robot.motors), self.options.silence), "<f8")
        if not np.isfinite(targets).all():
            raise Refused("a target is not finite; the robot holds its last targets")
        client.heard = monotonic()
        with self._moving:
            if self._owner is not client:  # another client has taken over
                raise ConnectionError
            return MEASUREMENTS + self.robot.step(targets).astype("<f8").tobytes()


def _say(client: _Client, words: bytes) -> None:
    """Sends a last message to a client and waits until it can have read it, although it may still be sending."""
    with suppress(OSError):
        client.end.settimeout(0.5)
        client.end.sendall(words)
        client.end.shutdown(socket.SHUT_WR)
        until = monotonic() + 0.5
        while monotonic() < until and client.end.recv(4096):  # closing with unread bytes would reset the connection
            pass
