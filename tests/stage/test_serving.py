"""`play` as a person starts it."""

from __future__ import annotations

import io
import os
import re
import signal
import socket
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from rich.console import Console

from bunraku.errors import BunrakuError
from bunraku.stage import Entry, Recorded, serve, still
from bunraku.stage import serving as command
from bunraku.stage.stage import Stage
from tests.patience import PATIENCE, until
from tests.stage.conftest import entries
from tests.stage.toys import puppet

ROOT = Path(__file__).parents[2]
SCRIPT = """
import sys
from pathlib import Path
from bunraku.stage import play
from tests.stage.conftest import entries, npz
play(entries(), host=sys.argv[2], port=0, out=Path(sys.argv[1]), exporters={"mp4": npz})
"""


@pytest.mark.parametrize("host", ["127.0.0.1", "0.0.0.0"])
def test_without_a_display_it_prints_the_address_and_writes_files_until_ctrl_c(tmp_path: Path, host: str) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", SCRIPT, str(tmp_path / "out"), host], cwd=ROOT, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True, env={**os.environ, "COLUMNS": "200", "DISPLAY": "", "WAYLAND_DISPLAY": ""},
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stderr is not None
        try:
            address = re.search(r"http://\S+", process.stdout.readline())
            assert address is not None
            until((tmp_path / "out" / "show.mp4").exists)
            assert httpx.get(address[0], timeout=PATIENCE).status_code == 200  # and it is still there
            assert "stage-data" in (tmp_path / "out" / "show.html").read_text()
        finally:
            process.send_signal(signal.SIGINT)
            # Not `communicate`, which would miss what `readline` has already taken in.
            out, err = process.stdout.read(), process.stderr.read()
    assert process.returncode == 0
    assert "Traceback" not in err
    assert ("every network" in out) == (host == "0.0.0.0")
    assert ("ssh -L" in out) == (host == "127.0.0.1")
    assert "There is no display. No browser is opened. The stage is served until Ctrl-C" in out
    assert f"Meanwhile {tmp_path / 'out' / 'show.html'} and a video of it are written" in out
    assert f"wrote {tmp_path / 'out' / 'show.html'}" in out


def test_an_entry_that_fails_keeps_nothing_from_being_written(tmp_path: Path) -> None:
    def broken() -> Recorded:
        raise BunrakuError("no wood")

    said = io.StringIO()
    command._write_offline(Stage([Entry("Broken", broken), *entries()]), tmp_path / "out", Console(file=said, width=200))
    assert "Broken: no wood" in said.getvalue()
    page = (tmp_path / "out" / "show.html").read_text()
    assert "Waving" in page
    assert "Broken" not in page
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["show.html"]


def test_no_browser_opens_none_claims_nothing_and_writes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(command.Serving, "run", lambda self, _heard: self._socket.close())
    monkeypatch.setattr(command.webbrowser, "open", lambda _: pytest.fail("a browser was opened"))
    monkeypatch.setattr(command, "_write_offline", lambda *_: pytest.fail("files were written"))
    said = io.StringIO()
    command.play(entries(), port=0, browser=False, out=tmp_path / "out", console=Console(file=said, width=200))
    assert "display" not in said.getvalue()
    assert "No browser is opened" in said.getvalue()


def test_the_film_is_of_something_that_moves(tmp_path: Path) -> None:
    filmed: list[Recorded] = []
    stage = Stage([Entry("Still", still(puppet())), *entries()], exporters={"mp4": lambda piece, _: filmed.append(piece)})
    command._write_offline(stage, tmp_path / "out", Console(file=io.StringIO()))
    assert [piece.motion.duration for piece in filmed] == [2.0]


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        with pytest.raises(BunrakuError, match="--port 0"):
            serve(entries(), port=other.getsockname()[1])


def test_an_address_that_is_not_ours_is_told() -> None:
    with pytest.raises(BunrakuError, match=r"cannot use 192\.0\.2\.1:0: .*\n  advice: 127\.0\.0\.1 is this machine alone"):
        serve(entries(), host="192.0.2.1", port=0)


def test_the_usual_port_gives_way(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        taken = other.getsockname()[1]
        monkeypatch.setattr(command, "DEFAULT_PORT", taken)
        monkeypatch.setattr(command.Serving, "run", lambda self, _heard: self._socket.close())
        said = io.StringIO()
        command.play(entries(), port=taken, browser=False, console=Console(file=said, width=200))
        assert f":{taken}/" not in said.getvalue()
        assert "http://127.0.0.1:" in said.getvalue()


@pytest.mark.parametrize(("display", "seen"), [("", False), (":0", True)])
def test_a_display_is_looked_for(monkeypatch: pytest.MonkeyPatch, display: str, seen: bool) -> None:
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("DISPLAY", display)
    monkeypatch.delenv("WAYLAND_DISPLAY", raising=False)
    assert command.has_display() is seen
