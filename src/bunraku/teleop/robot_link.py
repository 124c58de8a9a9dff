"""The client of a robot behind a socket: joint targets are sent at the control rate, and measurements come back.

    with RobotServer(MujocoRobot(humanoid, scene, q)) as server, RobotLink(server.address, server.token) as link:
        drive(session, link, commands)        # see robot_loop

See `robot_messages` for the protocol, `robot_server` for the other end.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from time import monotonic, sleep
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.teleop.robot_messages import (
    VERSION,
    Refused,
    RobotMessage,
    fields_of,
    json_line,
    read_exactly,
    read_line,
)

Array = NDArray[np.float64]


class RobotLink:
    """The client of a robot: sends targets, receives measurements. A thread sends heartbeats while the client plans."""

    def __init__(self, address: tuple[str, int], token: str, *, timeout: float = 10.0) -> None:
        """Connects to a robot.

        address: its host and port.
        token: the token of its server (`RobotServer.token`).
        timeout: maximum time to wait for an answer [s].

        Raises BunrakuError if no robot answers, Refused if it refuses; the message says why.
        """
        self._timeout = timeout
        try:
            self._socket = socket.create_connection(address, timeout=timeout)
        except OSError as problem:
            raise BunrakuError(
                f"no robot answers at {address[0]}:{address[1]}: {problem}\n  advice: start it first, or check the port"
            ) from None
        try:
            hello = self._hello(token)
        except BaseException:
            self._socket.close()
            raise
        self.motors: tuple[str, ...] = tuple(hello["motors"])
        self.dt = float(hello["dt"])
        self.servos: tuple[Array, Array] = (np.array(hello["stiffness"], float), np.array(hello["damping"], float))
        self.q = np.array(hello["q"], float)
        self.soles: Array | None = None if hello["soles"] is None else np.array(hello["soles"], float)
        self.tick = self._clock = 0
        self._lock = threading.Lock()  # for one message and its answer
        self._trouble: BunrakuError | None = None
        self._over = threading.Event()
        self._beat = float(hello["heartbeat"])
        self._spoken = monotonic()
        self._thread = threading.Thread(target=self._live, name="bunraku-heartbeat", daemon=True)
        self._thread.start()

    def _hello(self, token: str) -> dict[str, Any]:
        """Performs the handshake; returns the robot's description of itself."""
        stranger = BunrakuError("what answers at this port is not a robot\n  advice: check the port")
        try:
            self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self._socket.sendall(json_line({"bunraku": "robot", "version": VERSION, "token": token}))
            hello = fields_of(read_line(self._socket, 100_000, self._timeout))
        except (OSError, ValueError):
            raise stranger from None
        if hello.get("ok") is False:
            raise Refused(f"the robot refuses: {str(hello.get('why'))[:1000]}")
        if not {"motors", "dt", "stiffness", "damping", "q", "soles", "heartbeat"} <= hello.keys():
            raise stranger
        return hello

    def _live(self) -> None:
        """Sends a heartbeat whenever nothing was sent for a while."""
        while not self._over.wait(self._beat):
            with self._lock:
                if self._trouble:
                    return
                if monotonic() - self._spoken >= self._beat:
                    with suppress(BunrakuError):  # reported at the next exchange
                        self._ask(RobotMessage.HEARTBEAT, RobotMessage.HEARTBEAT, 0)

    def _ask(self, message: bytes, kind: bytes, size: int) -> bytes:
        """Sends a message; returns the `size` bytes of its answer, which must be of `kind`."""
        if self._trouble is None:
            try:
                with suppress(ConnectionError):  # the robot may have sent a reason before it closed
                    self._socket.settimeout(self._timeout)
                    self._socket.sendall(message)
                said = read_exactly(self._socket, 1, self._timeout)
                if said == kind:
                    self._spoken = monotonic()
                    return read_exactly(self._socket, size, self._timeout)
                if said != RobotMessage.REFUSAL:
                    raise ConnectionError("an unexpected kind of answer")
                length = int.from_bytes(read_exactly(self._socket, 2, self._timeout), "little")
                words = read_exactly(self._socket, length, self._timeout).decode("utf-8", "replace")
                self._trouble = Refused(f"the robot refuses: {words}")
            except OSError:
                self._trouble = BunrakuError(
                    "the robot no longer answers\n  advice: it ends its move and stands; connect again, or start it again"
                )
        raise self._trouble

    def step(self, targets: Array) -> Array:
        """Sends joint `targets`, in the order of `motors`; returns the measured configuration.

        Raises NotFinite if the targets are not finite numbers, one for each motor, Refused if the robot refuses, and BunrakuError
        if it no longer answers.
        """
        sent = np.asarray(targets, "<f8")
        if sent.shape != (len(self.motors),) or not np.isfinite(sent).all():
            raise NotFinite(f"expected {len(self.motors)} finite targets, one for each motor")
        early = self.tick - self._clock - 2
        if early > 0:  # the robot's clock sets the pace
            sleep(min(early * self.dt, self._beat))
        with self._lock:
            message = RobotMessage.TARGETS + self.tick.to_bytes(4, "little") + sent.tobytes()
            count = len(self.q) + (0 if self.soles is None else self.soles.size)
            answer = self._ask(message, RobotMessage.MEASUREMENTS, 4 + 8 * count)
        self.tick, self._clock = self.tick + 1, int.from_bytes(answer[:4], "little")
        measured = np.frombuffer(answer[4:], "<f8")
        if self.soles is not None:
            self.soles = measured[len(self.q) :].reshape(2, 3).copy()
        self.q = measured[: len(self.q)].copy()
        return self.q

    @property
    def late(self) -> int:
        """How many control periods the robot has played that were not sent to it."""
        return max(self._clock - self.tick, 0)

    def skip(self, ticks: int) -> None:
        """Leaves out so many `ticks`, which the robot has played by itself."""
        self.tick += ticks

    def ahead(self, targets: Array) -> None:
        """Sends joint `targets` (n, motors), one row for each control period from the next step on, that end at rest: what the
        robot plays by itself if the connection is lost. Raises as `step` does."""
        rows = np.asarray(targets, "<f8")
        if rows.ndim != 2 or rows.shape[1] != len(self.motors) or len(rows) > 65535 or not np.isfinite(rows).all():
            raise NotFinite(f"expected at most 65535 rows of {len(self.motors)} finite targets")
        with self._lock:
            self._ask(
                RobotMessage.AHEAD + self.tick.to_bytes(4, "little") + len(rows).to_bytes(2, "little") + rows.tobytes(),
                RobotMessage.AHEAD,
                0,
            )

    def close(self) -> None:
        """Ends the connection."""
        self.__exit__(None, None, None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=self._timeout)
        self._socket.close()
