"""A robot served over a socket, to one client with the token at a time; other clients are refused with a reason.

    with RobotServer(robot) as server:
        print(server.address, server.token)      # both are needed by a client

Every client has its own thread until its handshake is over, so that garbage or silence blocks nobody else. The robot moves for one
client only. If that client leaves, falls silent or sends an invalid message, the robot plays what the client has sent ahead, the
rest of a move that ends at rest, and stands: a robot that only held its last targets would fall in the middle of a step.

A robot that is `clocked` moves in real time, whether targets come or not, as a real one does; otherwise it waits for targets, and
each of them is one control period. See `robot_messages` for the protocol.
"""

from __future__ import annotations

import hmac
import secrets
import socket
import threading
from contextlib import suppress
from dataclasses import dataclass, field
from time import monotonic, sleep
from types import TracebackType
from typing import Self

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.locomotion.guide.loop_times import LoopTimes
from bunraku.teleop.robot_loop import Robot
from bunraku.teleop.robot_messages import (
    VERSION,
    Refused,
    RobotLinkOptions,
    RobotMessage,
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
    beside: set[tuple[int, float]] = field(default_factory=set)
    """When the owner of the robot was heard while this client waited for it."""

    def close(self) -> None:
        """Closes the connection; a thread that reads from it wakes up."""
        with suppress(OSError):
            self.end.shutdown(socket.SHUT_RDWR)
        self.end.close()


class RobotServer:
    """Serves a robot on the loopback interface, to one client with the token at a time."""

    def __init__(
        self, robot: Robot, *, clocked: bool = False, host: str = "127.0.0.1", port: int = 0, token: str | None = None,
        timeout: float = 10.0, options: RobotLinkOptions = RobotLinkOptions(),
    ) -> None:  # fmt: skip
        """Serves a `robot`.

        clocked: whether it moves in real time.
        host: the address to listen on.
        port: 0 picks a free one.
        token: the token that clients must send; by default a random one.
        timeout: maximum time that closing waits [s].
        options: timeouts for clients.
        """
        self.robot, self.options, self._timeout = robot, options, timeout
        self.token = secrets.token_urlsafe(16) if token is None else token
        try:
            self._socket = socket.create_server((host, port))
        except OSError as problem:
            raise BunrakuError(f"cannot listen on {host}:{port}: {problem}\n  advice: choose another port, 0 for any") from None
        self._socket.settimeout(0.1)
        self.address: tuple[str, int] = (host, int(self._socket.getsockname()[1]))
        self._stop = threading.Event()
        self._lock = threading.Lock()  # guards the two attributes below
        self._waiting: list[_Client] = []
        self._owner: _Client | None = None
        self._moving = threading.Lock()  # held during a step of the robot; guards what follows
        self._player = _Player(robot, options.fading)
        self.times = LoopTimes(robot.dt)
        """How long the steps of a clocked robot took; `held` counts those for which no targets had come."""
        self.trouble = ""
        """Why a clocked robot has stopped, if it has."""
        self._clock = threading.Thread(target=self._run, name="bunraku-robot-clock", daemon=True) if clocked else None
        self._thread = threading.Thread(target=self._accept, name="bunraku-robot", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        if self._clock is not None:
            self._clock.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(timeout=self._timeout)
        self._socket.close()
        with self._lock:
            for client in (*self._waiting, *([self._owner] if self._owner else [])):
                client.close()
        if self._clock is not None:
            self._clock.join(timeout=self._timeout)
        with self._moving:  # waits for the last step
            pass

    @property
    def served(self) -> bool:
        """Whether it has a client."""
        return self._owner is not None

    @property
    def resting(self) -> bool:
        """Whether it has played everything that was sent ahead."""
        return self._player.resting

    def _run(self) -> None:
        """Moves a clocked robot, once in every control period; one that is late does not hurry afterwards."""
        due = monotonic()
        while not self._stop.is_set():
            due = max(due + self.robot.dt, monotonic() - self.robot.dt)
            sleep(max(due - monotonic(), 0.0))
            with self._moving:
                began = monotonic()
                self.times.held += not self._player.fresh
                try:
                    self._player.play()
                except BunrakuError as problem:
                    self.trouble = str(problem)
                    self._stop.set()
                self.times.timed(monotonic() - began)

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
            self._leave(client)
            client.close()

    def _leave(self, client: _Client) -> None:
        """The robot ends its move, and is free for another client."""
        with self._lock:
            if client in self._waiting:
                self._waiting.remove(client)
            lost = self._owner is client
            if lost:
                self._owner = None
        if lost and self._clock is None:
            with self._moving, suppress(BunrakuError):
                self._player.finish()

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
        while not self._own(client):
            sleep(0.01)

    def _own(self, client: _Client) -> bool:
        """Makes the client the owner, if the robot has none or one that is silent.

        Returns False while the owner may have left without being noticed yet; raises Refused if it goes on talking.
        """
        with self._lock:
            if client not in self._waiting:  # disconnected because too many others came
                raise ConnectionError
            last = self._owner
            if last and monotonic() - last.heard < self.options.takeover:
                client.beside.add((id(last), last.heard))
                if len(client.beside) > 2:  # what was on its way when it left may still have been heard once
                    raise Refused("the robot has another client\n  advice: close that one first; a silent one is replaced")
                return False
            self._owner, client.heard = client, monotonic()
            self._waiting.remove(client)
        if last:
            last.close()
        return True

    def _serve(self, client: _Client) -> None:
        """Handles messages until the client leaves, falls silent or sends an invalid one. It is greeted when the robot stands."""
        while not (self._player.resting or self._stop.is_set()):
            sleep(self.robot.dt)
        with self._moving:
            (stiffness, damping), soles = self.robot.servos, self.robot.soles
            hello = {
                "ok": True, "version": VERSION, "motors": self.robot.motors, "dt": self.robot.dt, "stiffness": stiffness.tolist(),
                "damping": damping.tolist(), "q": self.robot.q.tolist(), "soles": None if soles is None else soles.tolist(),
                "heartbeat": self.options.heartbeat,
            }  # fmt: skip
        client.end.sendall(json_line(hello))
        try:
            while not self._stop.is_set():
                client.end.sendall(self._answer(client))
        except TimeoutError:
            why = f"no message came for {self.options.silence:g} s; the robot ends its move and stands\n  advice: send a heartbeat"
        except BunrakuError as problem:
            why = str(problem)
        else:
            return
        text = why.encode()[:65535]
        self._leave(client)  # before it is told, so that it may come again at once
        _say(client, RobotMessage.REFUSAL + len(text).to_bytes(2, "little") + text)

    def _answer(self, client: _Client) -> bytes:
        """Reads one message and executes it; raises TimeoutError, ConnectionError, BunrakuError."""
        kind = read_exactly(client.end, 1, self.options.silence)
        if kind == RobotMessage.HEARTBEAT:
            client.heard = monotonic()
            return RobotMessage.HEARTBEAT
        if kind not in (RobotMessage.TARGETS, RobotMessage.AHEAD):
            kinds = "T for targets, A for those ahead, H for a heartbeat"
            raise Refused(f"no message begins with {kind!r}\n  advice: {kinds}; see docs/guiding.md")
        motors, wait = len(self.robot.motors), self.options.silence
        tick = int.from_bytes(read_exactly(client.end, 4, wait), "little")
        rows = 1 if kind == RobotMessage.TARGETS else int.from_bytes(read_exactly(client.end, 2, wait), "little")
        targets = np.frombuffer(read_exactly(client.end, 8 * rows * motors, wait), "<f8").reshape(rows, motors)
        if not np.isfinite(targets).all():
            raise Refused("a target is not finite; the robot ends its move and stands")
        if not rows or tick >= 2**31 or (tick > self._player.tick + 65535 and not self._player.resting):
            raise Refused(f"tick {tick} with {rows} rows\n  advice: number ticks one by one, and send at least one row ahead")
        client.heard = monotonic()
        with self._moving:
            if self._owner is not client:  # another client has taken over
                raise ConnectionError
            if kind == RobotMessage.AHEAD:
                self._player.plan(tick, targets)
                return RobotMessage.AHEAD
            self._player.take(tick, targets[0], now=self._clock is None)
            measured = self.robot.q if self._clock is not None else self._player.play()
            now = self._player.tick.to_bytes(4, "little")
            felt = b"" if (soles := self.robot.soles) is None else soles.astype("<f8").tobytes()
            return RobotMessage.MEASUREMENTS + now + measured.astype("<f8").tobytes() + felt


class _Player:
    """Plays the targets that came for this tick; without any, those that were sent ahead, with what is left of the last
    correction."""

    def __init__(self, robot: Robot, fading: float) -> None:
        self.robot, self.fading, self.tick = robot, fading, 0
        self._rows, self._first = np.empty((0, len(robot.motors))), 0  # what was sent ahead, and the tick of its first row
        self._correction = np.zeros(len(robot.motors))
        self._came: tuple[int, NDArray[np.float64]] | None = None
        self._held: NDArray[np.float64] | None = None

    def _planned(self, tick: int) -> NDArray[np.float64]:
        return np.asarray(self._rows[min(max(tick - self._first, 0), len(self._rows) - 1)])

    @property
    def fresh(self) -> bool:
        """Whether targets have come since the last step."""
        return self._came is not None

    @property
    def resting(self) -> bool:
        """Whether it has played everything that was sent ahead."""
        return self.tick >= self._first + len(self._rows)

    def plan(self, tick: int, rows: NDArray[np.float64]) -> None:
        """`rows` (n, motors) for the ticks from `tick` on, which replace those that were sent before; if it rests, time begins
        anew."""
        before = self._planned(self.tick) if len(self._rows) else None
        if self.resting:
            self.tick = tick
        if tick > self.tick and len(self._rows):
            until_then = range(max(self._first, self.tick - 50), tick)
            self._rows, self._first = np.array([*(self._planned(t) for t in until_then), *rows]), until_then.start
        else:
            self._rows, self._first = rows, tick
        if before is not None and len(rows):
            self._correction = self._correction + before - self._planned(self.tick)

    def take(self, tick: int, targets: NDArray[np.float64], *, now: bool) -> None:
        """Targets for a `tick`, which is `now` or of the client's own time."""
        self.tick = tick if now else self.tick
        self._came = tick, targets

    def play(self) -> NDArray[np.float64]:
        """One step; returns the measured configuration."""
        if self._came is not None:
            tick, targets = self._came
            if len(self._rows):
                self._correction = targets - self._planned(tick)
            late = tick != self.tick and len(self._rows)  # a client that was late corrects the plan; its targets are of the past
            self._held = self._planned(self.tick) + self._correction if late else targets
        elif len(self._rows):
            self._correction = self.fading * self._correction
            self._held = self._planned(self.tick) + self._correction
        self._came, self.tick = None, self.tick + 1
        return self.robot.q if self._held is None else self.robot.step(self._held)

    def finish(self) -> None:
        """Plays everything that was sent ahead."""
        while not self.resting:
            self.play()


def _say(client: _Client, words: bytes) -> None:
    """Sends a last message to a client and waits until it can have read it, although it may still be sending."""
    with suppress(OSError):
        client.end.settimeout(0.5)
        client.end.sendall(words)
        client.end.shutdown(socket.SHUT_WR)
        until = monotonic() + 0.5
        while monotonic() < until and client.end.recv(4096):  # closing with unread bytes would reset the connection
            pass
