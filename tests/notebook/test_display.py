"""Things show themselves in notebooks: a player for motions, a picture and a table for everything."""

from __future__ import annotations

import base64
import gzip
import io
import re
import sys
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from PIL import Image

import bunraku
from bunraku.notebook import in_notebook
from bunraku.outcome import Outcome
from bunraku.result import Result

pendulum = bunraku.library.named("pendulum")


@pytest.fixture(scope="module")
def motion() -> bunraku.Motion:
    return bunraku.simulate(pendulum, duration=0.2)


def picture(html: str) -> np.ndarray[Any, Any]:
    (data,) = re.findall(r'src="data:image/png;base64,([^"]+)"', html)
    return np.asarray(Image.open(io.BytesIO(base64.b64decode(data))).convert("RGB"))


def test_a_figure() -> None:
    shown = pendulum._repr_mimebundle_()
    assert set(shown) == {"text/html", "text/plain"}
    assert picture(shown["text/html"]).std() > 5.0
    assert "<script" not in shown["text/html"]
    for word in ("pendulum", "1 moved by physics", "1, 1 kg"):
        assert word in shown["text/html"]
    assert len(shown["text/html"]) < 200_000


def test_a_pose() -> None:
    html = bunraku.pose(pendulum, [0.3])._repr_html_()
    assert "0.3" in html
    assert (picture(html) != picture(bunraku.pose(pendulum, [1.3])._repr_html_())).any()


def test_a_motion_has_a_player_and_a_picture(motion: bunraku.Motion) -> None:
    """The player is the page of the stage with the samples of this motion; without scripts, the picture stays."""
    html = motion._repr_html_()
    (packed,) = re.findall(r'atob\("([^"]+)"\)', html)
    page = gzip.decompress(base64.b64decode(packed)).decode()
    assert page.startswith("<!doctype html>")
    assert "stage-data" in page
    assert "pendulum" in page
    assert len(html) < 700_000
    assert picture(html).shape[1] > 3 * 240
    assert "0.2 s of pendulum, 21 samples" in html
    names = re.findall(r'id="(bunraku-[^"]+)"', html + motion._repr_html_())
    assert len(set(names)) == 2  # shown twice, they do not disturb each other


def test_a_result_shows_its_report() -> None:
    class Done(Result):
        outcome = Outcome(False, "stuck", "a <string> is caught", advice="untie it")
        motion = None

    shown = Done()._repr_mimebundle_()
    assert "a &lt;string&gt; is caught" in shown["text/html"]
    assert shown["text/plain"].startswith("outcome")


def test_play_in_a_notebook(motion: bunraku.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    assert not in_notebook()
    fake = SimpleNamespace(get_ipython=lambda: SimpleNamespace(kernel=1), display=SimpleNamespace(HTML=lambda text: ("HTML", text)))
    monkeypatch.setitem(sys.modules, "IPython", fake)
    kind, html = motion.play()
    assert kind == "HTML"
    assert "DecompressionStream" in html


def test_play_elsewhere_opens_the_stage(motion: bunraku.Motion, monkeypatch: pytest.MonkeyPatch) -> None:
    served: list[Any] = []
    monkeypatch.setattr(
        "bunraku.notebook.motion_player.serve_until_stopped", lambda entries, **options: served.append((entries, options))
    )
    assert motion.play(port=0, scene=bunraku.Scene("hall")) is None
    ((entry,), options) = served[0]
    assert entry.open().motion is motion
    assert entry.open().scene.name == "hall"
    assert options == {"port": 0}
