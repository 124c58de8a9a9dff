"""The client of a robot behind a socket: joint targets are sent at the control rate, and measurements come back.

    with RobotServer(MujocoRobot(humanoid, scene, q)) as server, RobotLink(server.address, server.token) as link:
        drive(session, link, commands)        # see robot_loop

See `robot_messages` for the protocol, `robot_server` for the other end.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress
from time import monotonic
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, NotFinite
from bunraku.teleop.robot_messages import (
    HEARTBEAT,
    MEASUREMENTS,
    REFUSAL,
    TARGETS,
    VERSION,
    Refused,
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
        if not {"motors", "dt", "stiffness", "damping", "q", "heartbeat"} <= hello.keys():
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
                        self._ask(HEARTBEAT, HEARTBEAT, 0)

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
                if said != REFUSAL:
                    raise ConnectionError("an unexpected kind of answer")
                length = int.from_bytes(read_exactly(self._socket, 2, self._timeout), "little")
                words = read_exactly(self._socket, length, self._timeout).decode("utf-8", "replace")
                self._trouble = Refused(f"the robot refuses: {words}")
            except OSError:
                self._trouble = BunrakuError(
                    "the robot no longer answers\n  advice: it holds its last targets; start it again and reconnect"
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
        with self._lock:
            self.q = np.frombuffer(self._ask(TARGETS + sent.tobytes(), MEASUREMENTS, 8 * len(self.q)), "<f8").copy()
        return self.q

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._over.set()
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._thread.join(timeout=self._timeout)
        self._socket.close()
