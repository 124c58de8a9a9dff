"""The sound of an entry: served to those who may see it, written into exported pages and films, and sent by confined processes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import httpx
import numpy as np
import pytest

from bunraku.sound.soundtrack import Soundtrack
from bunraku.sound.wav_file import read_wav
from bunraku.stage import Entry, Recorded, Serving, serve, standalone
from bunraku.stage.plain_answer import packed, unpacked
from bunraku.teleop import dropped_files
from tests.patience import PATIENCE
from tests.stage.toys import recorded


def sounding(seconds: float = 2.0, rate: int = 8000) -> Recorded:
    """A waving puppet with noise that grows louder."""
    noise = np.random.default_rng(0).uniform(-1.0, 1.0, (round(seconds * rate), 1))
    return replace(recorded(), sound=Soundtrack((32767 * noise * np.linspace(0, 1, len(noise))[:, None]).astype(np.int16), rate))


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve([Entry("Sounding", sounding), Entry("Silent", recorded)]) as served:
        yield served


def test_sound_is_served_to_who_knows_the_token(serving: Serving, tmp_path: Path) -> None:
    path = f"{serving.origin}/api/entries/e0/sound"
    assert httpx.get(path, timeout=PATIENCE).status_code == 403
    with httpx.Client(base_url=serving.origin, timeout=PATIENCE) as client:
        client.get(serving.address)
        answer = client.get(path)
        assert answer.headers["content-type"] == "audio/wav"
        assert "media-src blob:" in answer.headers["content-security-policy"]
        (tmp_path / "a.wav").write_bytes(answer.content)
        sound = sounding().sound
        assert sound is not None
        np.testing.assert_array_equal(read_wav(tmp_path / "a.wav").samples, sound.samples)
        told = client.get("/api/entries/e0").json()["sound"]
        assert len(told["loudness"]) == 2.0 * told["rate"]
        assert told["loudness"][0] < 10 < 90 < told["loudness"][-1] <= 100
        assert "sound" not in client.get("/api/entries/e1").json()
        silent = client.get("/api/entries/e1/sound")
        assert (silent.status_code, silent.json()["error"]) == (422, "Silent has no sound")
        assert client.get("/api/entries/e9/sound").status_code == 404


def test_an_exported_page_carries_its_sound() -> None:
    text = standalone([Entry("Sounding", sounding)])
    data = re.search(r'id="stage-data">(.*?)</script>', text)
    assert data is not None
    (entry,) = json.loads(data[1])["entries"]
    assert len(entry["sound"]) > 10_000
    assert "media-src blob:" in text


def test_a_confined_process_sends_its_sound() -> None:
    piece = sounding()
    made = unpacked(packed(piece))
    assert piece.sound is not None
    assert made.sound.rate == piece.sound.rate
    np.testing.assert_array_equal(made.sound.samples, piece.sound.samples)


def test_a_film_of_the_page_has_the_sound(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = {}
    monkeypatch.setattr("bunraku.render.video.save_mp4", lambda motion, path, **options: kept.update(options))
    piece = sounding()
    dropped_files.exporters()["mp4"](piece, tmp_path / "a.mp4")
    assert kept["sound"] is piece.sound
