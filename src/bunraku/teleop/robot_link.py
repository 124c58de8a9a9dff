"""A robot behind a socket: joint targets go there at the control rate, its measurements come back.

    with Served(MujocoRobot(humanoid, scene, q)) as served, RobotLink(served.address) as link:
        drive(session, link, commands)

First the robot sends one line of JSON: names of its motors, control period, servos, configuration. Then it answers every message
of targets (one f64 for each motor) by a message of measurements (one f64 for each variable). Anything else ends the connection, and
the robot holds its last targets.
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


class Robot(Protocol):
    """What can be served."""

    motors: tuple[str, ...]
    """Names of the variables that have a motor."""
    dt: float
    """Control period [s]."""

    @property
    def servos(self) -> tuple[Array, Array]:
        """Stiffness and damping of the motors."""
        ...

    @property
    def q(self) -> Array:
        """The measured configuration."""
        ...

    def step(self, targets: Array) -> Array:
        """One control period with joint `targets`, in the order of `motors`; returns the measured configuration."""
        ...


class Served:
    """A robot that listens on the loopback interface; one client at a time."""

    def __init__(self, robot: Robot, *, port: int = 0, timeout: float = 10.0) -> None:
        """Serves a `robot` on a `port` (0 picks a free one); closing waits `timeout` [s] at most."""
        self.robot, self._timeout = robot, timeout
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
        self._thread.join(timeout=self._timeout)
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
    """So many bytes; None where the other end is gone."""
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


class RobotLink:
    """The client's end: sends targets, receives measurements."""

    def __init__(self, address: tuple[str, int], *, timeout: float = 10.0) -> None:
        """Connects to the robot at an `address` (host, port), whose answers may take `timeout` [s]; raises BunrakuError."""
        try:
            self._socket = socket.create_connection(address, timeout=timeout)
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
                raise BunrakuError("what answers at this port is not a robot\n  advice: check the port")
            line += part
        try:
            return dict(json.loads(line))
        except ValueError:
            raise BunrakuError("what answers at this port is not a robot\n  advice: check the port") from None

    def exchange(self, targets: Array) -> Array:
        """Sends joint `targets`, in the order of `motors`; returns the measured configuration. Raises BunrakuError."""
        try:
            self._socket.sendall(np.asarray(targets, "<f8").tobytes())
            answer = _read(self._socket, 8 * len(self.q))
        except OSError:
            answer = None
        if answer is None:
            raise BunrakuError("the robot no longer answers\n  advice: it holds its last targets; start it again and reconnect")
        self.q = np.frombuffer(answer, "<f8").copy()
        return self.q

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None) -> None:
        self._socket.close()


def slipped(session: Session, measured: Array) -> tuple[Array, float]:
    """How far the standing feet are from the plan of a `session`: (x, y) [m] and yaw [rad].

    measured: the measured configuration, (n_q,). Commands continue from the actual state (*guiding* V).
    """
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
    """Planned and measured configurations, tick by tick."""

    planned: list[Array] = field(default_factory=list)
    measured: list[Array] = field(default_factory=list)


def drive(
    session: Session, link: RobotLink, commands: Iterable[Command], *, gains: StabiliserOptions = StabiliserOptions(),
    going: Callable[[], bool] = lambda: True, keep: bool = True,
) -> Drive:  # fmt: skip
    """Performs commands with a robot. The targets of each tick depend on what it measured at the tick before.

    session: plans the motion.
    link: the robot.
    commands: what an operator wants, one after the other.
    gains: of the stabiliser.
    going: is asked after every tick; where it says False, the drive ends.
    keep: whether configurations are recorded.

    Returns what was recorded; raises BunrakuError where the robot no longer answers.
    """
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
            if not going():
                return record
    return record
