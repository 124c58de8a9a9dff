"""Ctrl-C at a random moment of a command, and what is wrong with how it ended. `python -m tests.interrupts` does it 200 times.

Each command runs in a session, a folder, a cache and a temporary directory of its own. The signal goes to the process alone, as
from `kill`, or to the group, as from a terminal, where processes that it has started hear it too.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import httpx
import numpy as np
from websockets.exceptions import WebSocketException
from websockets.sync.client import connect

import bunraku
from bunraku.kernels.folders import user_cache
from tests.patience import PATIENCE, until

COMMANDS = {
    "play": ("play", "--port", "0"),
    "simulate": ("simulate", "dance", "-o", "motion.npz"),
    "film": ("simulate", "dance", "-o", "motion.mp4"),
    "optimize": ("optimize", "swing_up", "-o", "motion.npz", "--plot", "plot.png"),
    "perform": ("perform", "the_meeting", "--again", "-o", "motion.npz"),
    "plan": ("plan", "around_the_block", "-o", "motion.npz"),
    "plan by two": ("plan", "around_the_block", "--workers", "2", "-o", "motion.npz"),
    "carry": ("carry", "factory", "-o", "motion.npz"),
    "carry often": ("carry", "factory", "--runs", "4", "--workers", "2"),
    "climb": ("climb", "up_the_wall", "-o", "motion.npz"),
    "guide": ("guide", "to_the_door", "-o", "motion.npz"),
}
WHOLE = ("motion.npz", "motion.mp4", "plot.png", "show.html", "show.mp4")

# Who runs tests in the background has the signal ignored. Python's own start is nobody's to interrupt: a line says when it is over.
START = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
from bunraku.cli import main
print("started", flush=True)
main()
"""


@dataclass(frozen=True)
class Ending:
    """How a command ended after a signal."""

    name: str
    moment: float
    """After its start [s]."""
    seconds: float
    """From the signal to the end."""
    starved: float
    """How much of that its main thread was ready, but others had the processors [s]."""
    orphans: float
    """From its end to that of the last process that it had started [s]."""
    status: int
    wrong: tuple[str, ...]
    said: str

    def __str__(self) -> str:
        took = f"ended with {self.status} in {self.seconds:.2f} s ({self.starved:.2f} starved), orphans {self.orphans:.2f} s"
        return f"{self.name} after {self.moment:.2f} s: {took}; {', '.join(self.wrong) or 'nothing wrong'}"


class Command:
    """A command that runs. Used with `with`, which ends whatever is left of it."""

    def __init__(self, name: str, cache: Path | None = None) -> None:
        """name: of COMMANDS; cache: a folder with compiled kernels, or None for an empty one."""
        self.name, self.mark = name, uuid.uuid4().hex
        self.root = Path(tempfile.mkdtemp(prefix="interrupt-"))
        self.work, self.scratch = self.root / "work", self.root / "scratch"
        self.cache = cache or self.root / "cache"
        for folder in (self.work, self.scratch, self.cache):
            folder.mkdir(exist_ok=True)
        own = {key: value for key, value in os.environ.items() if key not in ("DISPLAY", "WAYLAND_DISPLAY", "PYTEST_CURRENT_TEST")}
        own |= {"XDG_CACHE_HOME": str(self.cache), "TMPDIR": str(self.scratch), "COLUMNS": "300", "INTERRUPTED_TEST": self.mark}
        own |= {"PYTHONPATH": str(Path(bunraku.__file__).parents[1])}  # these sources, from any folder
        with (self.root / "said").open("wb") as said:
            words = [sys.executable, "-c", START, *COMMANDS[name]]
            self.process = subprocess.Popen(words, cwd=self.work, stdout=said, stderr=said, env=own, start_new_session=True)
        until(lambda: "started\n" in self.said() or self.process.poll() is not None)
        self.begun = time.monotonic()
        if name == "play":
            found = until(lambda: re.search(r"http://\S+", self.said()))
            threading.Thread(target=_visit, args=(found[0],), daemon=True).start()

    def __enter__(self) -> Command:
        return self

    def __exit__(self, *_: object) -> None:
        for pid in _marked(self.mark):
            _kill(pid, signal.SIGKILL)
        self.process.wait()
        shutil.rmtree(self.root, ignore_errors=True)

    def said(self) -> str:
        return (self.root / "said").read_text(errors="replace")

    def interrupted(self, after: float, *, by: signal.Signals = signal.SIGINT, group: bool = False) -> Ending:
        """How it ends when the signal comes so many seconds `after` its start, `by` a signal to itself or its whole `group`."""
        pid = self.process.pid
        while (left := self.begun + after - time.monotonic()) > 0 and self.process.poll() is None:
            time.sleep(min(left, 0.05))
        was_over = self.process.poll() is not None
        waited = _waited(pid)
        sent = time.monotonic()
        if not was_over:
            (os.killpg if group else os.kill)(pid, by)
            until(lambda: os.waitid(os.P_PID, pid, os.WEXITED | os.WNOWAIT | os.WNOHANG))
        ended = time.monotonic()
        starved = _waited(pid) - waited
        status = self.process.wait()
        until(lambda: not list(_marked(self.mark)))
        gone = time.monotonic()
        wrong = [*self._wrong_status(status, by), *_wrong_words(self.said()), *self._left_behind()]
        name = f"{self.name}{' (group)' if group else ''}"
        return Ending(name, sent - self.begun, ended - sent, starved, gone - ended, status, tuple(wrong), self.said())

    def _wrong_status(self, status: int, by: signal.Signals) -> Iterator[str]:
        """0 is right where all had been done before the signal came."""
        is_done = re.search(r"carried +\d of 4 " if self.name == "carry often" else r"(?m)^wrote ", self.said())
        if status not in ((0, 128 + by) if is_done and self.name != "play" else (128 + by,)):
            yield f"status {status}"

    def _left_behind(self) -> Iterator[str]:
        for path in sorted(self.work.rglob("*")):
            if path.is_file():
                place = path.relative_to(self.work)
                if path.name not in WHOLE:
                    yield f"a stray {place}"
                elif not _is_whole(path):
                    yield f"half of {place}"
        yield from (f"a stray {path.name} in TMPDIR" for path in self.scratch.iterdir())
        if self.cache != user_cache().parent:  # where others are at work
            yield from (f"a stray {path.name} in the cache" for path in self.cache.rglob("*.part*"))


def _wrong_words(said: str) -> Iterator[str]:
    for word in ("Traceback", "Assertion", "Aborted", "Fatal", "leaked", "Exception", "Error"):
        if word in said:
            yield f"said {word}"


def _is_whole(path: Path) -> bool:
    if path.suffix == ".npz":
        with np.load(path) as arrays:
            return all(np.asarray(arrays[name]).dtype is not None for name in arrays)
    if path.suffix == ".mp4":
        import imageio_ffmpeg

        words = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(path), "-f", "null", "-"]
        return subprocess.run(words, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False).stderr == b""
    return path.read_bytes().rstrip().endswith(b"</html>" if path.suffix == ".html" else b"IEND\xaeB`\x82")


def _marked(mark: str) -> Iterator[int]:
    """Processes that inherited the environment of a command, itself included, as long as they run."""
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                if mark.encode() in (entry / "environ").read_bytes():
                    yield int(entry.name)
            except OSError:  # it has gone, or is another's
                continue


def _kill(pid: int, by: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, by)


def _waited(pid: int) -> float:
    """How long the main thread of a process, or what is left of it, was ready to run and did not [s]."""
    try:
        return int(Path(f"/proc/{pid}/schedstat").read_text().split()[1]) * 1e-9
    except (OSError, IndexError):
        return 0.0


def _visit(address: str) -> None:
    """A visitor who looks at an entry that nobody has prepared, and stays until the stage goes."""
    origin = address.split("/?")[0]
    with suppress(httpx.HTTPError, OSError, WebSocketException, KeyError):  # it goes
        cookie = httpx.get(address, timeout=PATIENCE).headers["set-cookie"].partition(";")[0]
        headers = {"Origin": origin, "Cookie": cookie}
        with connect(f"{origin.replace('http', 'ws')}/ws", additional_headers=headers, open_timeout=PATIENCE) as socket:
            entries = httpx.get(f"{origin}/api/entries", headers=headers, timeout=PATIENCE).json()["entries"]
            httpx.get(f"{origin}/api/entries/{random.choice(entries)['id']}", headers=headers, timeout=PATIENCE)
            for _ in socket:  # until it is closed
                pass


def many(count: int, cache: Path | None, longest: Mapping[str, float], *, seed: int) -> list[Ending]:
    """Interrupts commands in turn, `count` times in all, at random moments before the `longest` of each [s].

    cache: a folder with compiled kernels, or None for an empty one.
    """
    dice, names, out = random.Random(seed), list(longest), []
    for k in range(count):
        name = names[k % len(names)]
        with Command(name, cache) as command:
            out.append(command.interrupted(dice.uniform(0.0, longest[name]), group=dice.random() < 0.5))
        print(f"{k + 1} {out[-1]}", flush=True)
        if out[-1].wrong:
            print(out[-1].said, flush=True)
    return out


def lasts(name: str, cache: Path) -> float:
    """How long a command runs with its kernels on disk [s]; the stage, until its films are written."""
    if name == "play":
        return 60.0
    with Command(name, cache) as command:
        command.process.wait()
        return time.monotonic() - command.begun


def summary(title: str, endings: list[Ending]) -> str:
    """How long they took, without the time in which others had the processors; a line for a table."""
    net = np.array([one.seconds - one.starved for one in endings])
    half, most = np.percentile(net, [50, 95])
    return (
        f"{title:<22}{len(endings):4d}  median {half:.2f}  95 % {most:.2f}  longest {net.max():.2f} s "
        f"(wall {max(one.seconds for one in endings):.2f})  orphans {max(one.orphans for one in endings):.2f} s  "
        f"over 2 s: {np.sum(net > 2.0)}  wrong: {sum(bool(one.wrong) for one in endings)}"
    )


def main(count: int = 100, *heats: str) -> None:
    """So many interrupts with an empty cache ("cold"), and as many with the user's own ("warm")."""
    seed = random.randrange(10**6)
    print(f"seed {seed}")
    for heat in heats or ("cold", "warm"):
        cache = None if heat == "cold" else user_cache().parent
        longest = {name: 30.0 if cache is None else lasts(name, cache) for name in COMMANDS}
        endings = many(count, cache, longest, seed=seed)
        for name in COMMANDS:
            if some := [one for one in endings if one.name.removesuffix(" (group)") == name]:
                print(summary(f"{heat} {name}", some))
        print(summary(heat, endings))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 100, *sys.argv[2:])
