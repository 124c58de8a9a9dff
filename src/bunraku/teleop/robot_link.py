"""A robot behind a socket: joint targets go there at the control rate, what it measures comes back.

    with Served(MujocoRobot(humanoid, scene, q)) as served, Link(served.address) as link:
        drive(session, link, commands)

The robot says first, in one line of JSON, what its motors are called, its control period, its servos and where it is. Then each
frame of targets (one f64 a motor) is answered by a frame of what it measures (one f64 a variable). Anything else ends the
connection, and the robot stays where its last targets hold it.
"""

from __future__ import annotations

import json
import math
import socket
import threading
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.kinematics import pose
from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.navigation_points import moved
from bunraku.locomotion.guide.session import Session
from bunraku.locomotion.guide.stabiliser import Stabiliser, StabiliserOptions

Array = NDArray[np.float64]
PATIENCE = 10.0
"""Seconds that an answer may take."""


class Robot(Protocol):
    """What is served: motors by name, a control period, servos, and `step`."""

    motors: tuple[str, ...]
    dt: float

    @property
    def servos(self) -> tuple[Array, Array]: ...
    @property
    def q(self) -> Array: ...
    def step(self, targets: Array) -> Array: ...


class Served:
    """A robot that listens on the loopback; one client at a time."""

    def __init__(self, robot: Robot, *, port: int = 0) -> None:
        self.robot = robot
        self._socket = socket.create_server(("127.0.0.1", port))
        self._socket.settimeout(0.1)
        self.address: tuple[str, int] = ("127.0.0.1", int(self._socket.getsockname()[1]))
        self._stop = threading.Event()
        self._thread = threading.Thread(target=self._work, name="bunraku-robot", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._stop.set()
        self._thread.join(timeout=PATIENCE)
        self._socket.close()

    def _work(self) -> None:
        while not self._stop.is_set():
            try:
                client, _ = self._socket.accept()
            except TimeoutError:
                continue
            except OSError:
                return
            with client:
                client.settimeout(0.5)
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._serve(client)

    def _serve(self, client: socket.socket) -> None:
        stiffness, damping = self.robot.servos
        hello = {
            "motors": self.robot.motors, "dt": self.robot.dt, "stiffness": stiffness.tolist(), "damping": damping.tolist(),
            "q": self.robot.q.tolist(),
        }  # fmt: skip
        try:
            client.sendall(json.dumps(hello).encode() + b"\n")
            while not self._stop.is_set():
                frame = _read(client, 8 * len(self.robot.motors), self._stop.is_set)
                if frame is None:
                    return
                client.sendall(self.robot.step(np.frombuffer(frame, "<f8")).astype("<f8").tobytes())
        except (OSError, BunrakuError):
            return


def _read(client: socket.socket, size: int, over: Callable[[], bool] = lambda: False) -> bytes | None:
    """So many bytes; nothing where the other end is gone."""
    parts: list[bytes] = []
    while size:
        try:
            part = client.recv(size)
        except TimeoutError:
            if over():
                return None
            continue
        if not part:
            return None
        parts.append(part)
        size -= len(part)
    return b"".join(parts)


class Link:
    """The other end: targets out, measurements in."""

    def __init__(self, address: tuple[str, int]) -> None:
        try:
            self._socket = socket.create_connection(address, timeout=PATIENCE)
        except OSError as problem:
            raise BunrakuError(
                f"no robot answers at {address[0]}:{address[1]}: {problem}\n  advice: start it first, or check the port"
            ) from None
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        hello = self._hello()
        self.motors: tuple[str, ...] = tuple(hello["motors"])
        self.dt = float(hello["dt"])
        self.stiffness, self.damping, self.q = (np.array(hello[key], float) for key in ("stiffness", "damping", "q"))

    def _hello(self) -> dict[str, Any]:
        line = b""
        while not line.endswith(b"\n"):
            part = self._socket.recv(1)
            if not part or len(line) > 100_000:
                raise BunrakuError("what answers is not a robot\n  advice: check the port")
            line += part
        try:
            return dict(json.loads(line))
        except ValueError:
            raise BunrakuError("what answers is not a robot\n  advice: check the port") from None

    def exchange(self, targets: Array) -> Array:
        """Targets out; what the robot then measures."""
        try:
            self._socket.sendall(np.asarray(targets, "<f8").tobytes())
            answer = _read(self._socket, 8 * len(self.q))
        except OSError:
            answer = None
        if answer is None:
            raise BunrakuError("the robot is gone\n  advice: it holds its last targets; start it again and connect anew")
        self.q = np.frombuffer(answer, "<f8").copy()
        return self.q

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()


def slipped(session: Session, measured: Array) -> tuple[Array, float]:
    """How far the feet that stand are from where the plan has them, (x, y) and yaw (*guiding* V: commands follow on from the actual
    state)."""
    own, points = session.performer.guide.humanoid, session.points
    here = pose(own.figure, measured)
    stand = [k for k in (0, 1) if k != points.aloft]
    turns = []
    for k in stand:
        R = here.X(own.feet[k])[:3, :3] @ own.foot_axes[k].T
        turns.append(math.remainder(math.atan2(R[1, 0], R[0, 0]) - float(points.feet[k, 3]), 2.0 * math.pi))
    turn = float(np.mean(turns))
    turned = moved(points, np.zeros(2), turn)
    off = [here.point(own.feet[k])[:2] - turned.feet[k, :2] for k in stand]
    return np.asarray(np.mean(off, axis=0)), turn


@dataclass
class Drive:
    """What was planned and what was measured, tick by tick."""

    planned: list[Array] = field(default_factory=list)
    measured: list[Array] = field(default_factory=list)


def drive(
    session: Session, link: Link, commands: Iterable[Command], *, gains: StabiliserOptions = StabiliserOptions(),
    watch: Callable[[], bool] = lambda: True, keep: bool = True,
) -> Drive:  # fmt: skip
    """Performs commands with a robot; each tick's targets follow from what it measured at the tick before. `watch` may end it.
    Without `keep`, nothing is recorded."""
    stabiliser, record = Stabiliser(session.performer, link.stiffness, link.damping, options=gains), Drive()
    for command in commands:
        session.relocate(*slipped(session, link.q))
        before = session.before
        done = session.obey(command)
        for k in range(1, done.move.n + 1):
            measured = link.exchange(stabiliser.targets(done, k, link.q, before))
            if keep:
                record.planned.append(done.q[k])
                record.measured.append(measured)
            if not watch():
                return record
    return record
