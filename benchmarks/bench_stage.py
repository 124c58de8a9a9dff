"""The stage on loopback: what 60 samples a second cost the server, and how soon a drag is in a frame.

The server runs in a process of its own, so that its processor time is its own. What moves the figure costs next to
nothing, so that this measures the stage; only the last one simulates, twenty marionettes of which one is dragged.
"""

from __future__ import annotations

import json
import multiprocessing
import struct
import time
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection

import numpy as np
from websockets.sync.client import ClientConnection, connect

from benchmarks.table import Ratio
from bunraku.figure import Figure, library
from bunraku.figure.build import capsule, figure, fixed, rx, spindle, string
from bunraku.scene import Scene
from bunraku.stage import Command, Entry, Live, Pull, Sample, serve
from bunraku.stage.wire import PROTOCOL_VERSION, MessageKind

RATIOS = {
    "stage.cpu_share": Ratio("stage.cpu_ms_per_s", "stage.second_ms", at_most=0.10),
    "stage.drag_median_share": Ratio("stage.drag_median_ms", "stage.second_ms", at_most=0.025),
    "stage.drag_p95_share": Ratio("stage.drag_p95_ms", "stage.second_ms", at_most=0.060),
    "stage.troupe_frame_share": Ratio("stage.troupe_frame_ms", "stage.second_ms", at_most=1 / 30),
    "stage.third_visitor_share": Ratio("stage.third_visitor_ms", "stage.second_ms", at_most=1.0),
    "stage.simulated_frame_share": Ratio("stage.simulated_frame_ms", "stage.second_ms", at_most=1 / 30),
}
NOTES = {
    "stage.cpu_ms_per_s": "processor time of the server: 40 bodies, 20 strings, 60 samples a second, one page",
    "stage.frames_per_s": "samples that the page got",
    "stage.frame_bytes": "each",
    "stage.drag_median_ms": "from a drag message to the frame with its effect",
    "stage.troupe_frame_ms": "between two samples of 20 marionettes, p95",
    "stage.simulated_frame_ms": "the same, simulated at 100 Hz, one of them dragged",
    "stage.simulated_speed": "simulated seconds in a second",
    "stage.troupe_cpu_ms_per_s": "processor time of the server for them",
    "stage.third_visitor_ms": "a small file, dropped beside two stalled uploads and two endless orders; the slowest of five",
    "stage.cpu_share": "of one core",
    "stage.second_ms": "for the shares below",
}


def puppet(bodies: int, strings: int) -> Figure:
    """A column of bodies with strings along it."""
    node = fixed("top")
    for k in reversed(range(bodies)):
        node = rx(f"b{k}", capsule(0.02, to=(0, 0, 0.1), mass=0.1), node, at=(0, 0, 0.1))
    spindles = [spindle(f"s{k}", at=(0.1 * k, 0.3, 5.0)) for k in range(strings)]
    ropes = [string(f"s{k}", f"b{k * bodies // strings}", f"s{k}_spindle") for k in range(strings)]
    return figure("column", node, *spindles, strings=ropes)


class Waving:
    """A live figure that costs nothing: a sine, and a spindle that is where it is pulled."""

    pulls = frozenset(("spindle",))
    sticks: tuple[str, ...] = ()
    series: tuple[tuple[str, str], ...] = ()
    scene = Scene("bench")
    dt = 0.01

    def __init__(self, bodies: int, strings: int, copies: int) -> None:
        self.figures = (puppet(bodies, strings),) * copies
        self._phase = np.arange(self.figures[0].n_q) * 0.1
        self.reset()

    def reset(self) -> Sample:
        self._t, self._x = 0.0, 0.0
        return self.step()

    def apply(self, command: Command) -> None:
        if isinstance(command, Pull):
            self._x = command.to[0]

    def step(self) -> Sample:
        self._t += self.dt
        q = self.figures[0].start + 0.1 * np.sin(self._t + self._phase)
        q[0] = self._x
        tension = np.full(len(self.figures[0].strings), self._t)
        copies = len(self.figures)
        return Sample(self._t, (q,) * copies, (tension,) * copies)


def _live(bodies: int, strings: int, copies: int) -> Live:
    if bodies:
        return Waving(bodies, strings, copies)
    from bunraku.teleop.simulated_figure import Simulated, placed

    one = library.named("marionette25")
    return Simulated(*(placed(one, (0.6 * k, 0.0, 0.0), name=f"m{k}") for k in range(copies)), dt=0.01)


def _serve(pipe: Connection, bodies: int, strings: int, copies: int) -> None:
    """In the other process: serves, and tells its processor time when asked."""
    with serve([Entry("bench", lambda: _live(bodies, strings, copies))]) as serving:
        pipe.send((serving.port, serving.origin, serving.guard.set_cookie.partition(";")[0]))
        while pipe.recv() == "time":
            pipe.send(time.process_time())


class Page:
    """What a browser does, as cheaply as Python can."""

    def __init__(self, socket: ClientConnection, pipe: Connection) -> None:
        self._socket, self._pipe, self._n = socket, pipe, 0

    def send(self, kind: str, **fields: object) -> None:
        self._n += 1
        self._socket.send(json.dumps({"n": self._n, "type": kind, **fields}))

    def frame(self) -> bytes:
        while isinstance(data := self._socket.recv(timeout=300.0), str):
            pass
        self._socket.send(struct.pack("<BI", MessageKind.ACK, struct.unpack_from("<I", data, 4)[0]))
        return data

    def server_time(self) -> float:
        self._pipe.send("time")
        return float(self._pipe.recv())


@contextmanager
def page(*, bodies: int, strings: int, copies: int = 1) -> Iterator[Page]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=_serve, args=(theirs, bodies, strings, copies), daemon=True)
    process.start()
    try:
        port, origin, cookie = ours.recv()
        headers = {"Origin": origin, "Cookie": cookie}
        with connect(f"ws://127.0.0.1:{port}/ws", additional_headers=headers, compression=None) as socket:
            out = Page(socket, ours)
            out.send("hello", version=PROTOCOL_VERSION)
            out.send("join", entry="e0")
            for _ in range(60):  # a second to settle
                out.frame()
            yield out
    finally:
        ours.send("stop")
        process.join(timeout=10.0)


def _watched(visitor: Page, seconds: float) -> tuple[float, int, int]:
    """Processor time of the server, frames, and bytes of the last one."""
    start, cpu, frames, size = time.perf_counter(), visitor.server_time(), 0, 0
    while time.perf_counter() - start < seconds:
        size = len(visitor.frame())
        frames += 1
    passed = time.perf_counter() - start
    return (visitor.server_time() - cpu) / passed, round(frames / passed * 100) // 100, size


def bench_forty_bodies() -> dict[str, float]:
    with page(bodies=40, strings=20) as visitor:
        share, frames, size = _watched(visitor, 5.0)
    return {
        "stage.second_ms": 1000.0, "stage.cpu_ms_per_s": 1000.0 * share, "stage.frames_per_s": frames,
        "stage.frame_bytes": size,
    }  # fmt: skip


def bench_drag_latency() -> dict[str, float]:
    """A drag at random moments; the frame whose first variable is where it was dragged."""
    taken, dice = [], np.random.default_rng(1)
    with page(bodies=40, strings=20) as visitor:
        for k in range(200):
            visitor.frame()
            time.sleep(dice.uniform(0.0, 1 / 60))
            wanted = np.float32(0.001 * (k + 1))
            start = time.perf_counter()
            visitor.send("pull", figure=0, part="spindle", name="s0", to=[float(wanted), 0.0, 0.0])
            while np.frombuffer(visitor.frame(), "<f4", 1, 16)[0] != wanted:
                pass
            taken.append(1000.0 * (time.perf_counter() - start))
    return {"stage.drag_median_ms": float(np.median(taken)), "stage.drag_p95_ms": float(np.percentile(taken, 95))}


def bench_troupe() -> dict[str, float]:
    """Twenty marionettes: 10 bodies and 7 strings each."""
    with page(bodies=10, strings=7, copies=20) as visitor:
        times = []
        start = visitor.server_time()
        for _ in range(180):
            visitor.frame()
            times.append(time.perf_counter())
        share = (visitor.server_time() - start) / (times[-1] - times[0])
    return {
        "stage.troupe_frame_ms": 1000.0 * float(np.percentile(np.diff(times), 95)),
        "stage.troupe_cpu_ms_per_s": 1000.0 * share,
    }


def bench_simulated_troupe() -> dict[str, float]:
    """Twenty marionettes, stepped by the variational integrator; the spindle of one goes round in a circle."""
    with page(bodies=0, strings=0, copies=20) as visitor:
        times, moments = [], []
        for k in range(240):
            data = visitor.frame()
            times.append(time.perf_counter())
            moments.append(struct.unpack_from("<d", data, 8)[0])
            to = [0.1 * np.sin(0.1 * k), 0.1 * np.cos(0.1 * k), 1.3]
            visitor.send("pull", figure=0, part="spindle", name="head", to=to)
    return {
        "stage.simulated_frame_ms": 1000.0 * float(np.percentile(np.diff(times), 95)),
        "stage.simulated_speed": (moments[-1] - moments[0]) / (times[-1] - times[0]),
    }


def bench_third_visitor() -> dict[str, float]:
    """How long a visitor's small file takes while two uploads stall and two dropped orders run that would take an hour."""
    from tests.stage.test_busy_stage import OPENER, SMALL, busy, visitor
    from tests.stage.test_server import bundle

    took = []
    with serve([], opener=OPENER) as serving, busy(serving), visitor(serving) as third:
        for k in range(5):
            began = time.perf_counter()
            third.post("/api/open", content=bundle((f"small{k}.yaml", SMALL))).raise_for_status()
            took.append(time.perf_counter() - began)
    return {"stage.third_visitor_ms": 1e3 * max(took), "stage.second_ms": 1e3}
