from __future__ import annotations

import re
import subprocess
from pathlib import Path
from typing import Any

import imageio_ffmpeg
import numpy as np
import pytest
from PIL import Image

from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.figure.build import capsule, figure, free
from bunraku.motion import Motion, Track
from bunraku.render import video
from bunraku.render.camera import Camera
from bunraku.render.video import save_mp4, save_png, sheet
from bunraku.sound.soundtrack import Soundtrack

SMALL = (96, 72)


def swing(samples: int = 11, duration: float = 1.0) -> Motion:
    pendulum = library.named("pendulum")
    t = np.linspace(0, duration, samples)
    return Motion.of(pendulum, t, np.sin(5 * t)[:, None])


def film(path: Path) -> tuple[dict[str, Any], list[Any]]:
    """What is in a film, by ffmpeg itself. (The reader of imageio_ffmpeg leaves a pipe open.)"""
    words = [imageio_ffmpeg.get_ffmpeg_exe(), "-i", str(path), "-f", "rawvideo", "-pix_fmt", "rgb24", "-"]
    done = subprocess.run(words, capture_output=True, check=True)
    found = re.search(r"Video:.*?, (\d+)x(\d+)\D.*?([\d.]+) fps", done.stderr.decode())
    assert found is not None, done.stderr.decode()
    width, height = int(found[1]), int(found[2])
    pictures = np.frombuffer(done.stdout, np.uint8).reshape(-1, height, width, 3)
    return {"size": (width, height), "fps": float(found[3])}, list(pictures)


def test_film_lasts_as_long_as_the_motion(tmp_path: Path) -> None:
    save_mp4(swing(), tmp_path / "a.mp4", fps=10, size=SMALL)
    about, pictures = film(tmp_path / "a.mp4")
    assert about["size"] == SMALL
    assert about["fps"] == 10
    assert len(pictures) == 11
    assert np.ptp([picture.mean() for picture in pictures]) > 0.05  # it moves
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_odd_sizes_become_even(tmp_path: Path) -> None:
    save_mp4(swing(2), tmp_path / "a.mp4", fps=1, size=(97, 73))
    assert film(tmp_path / "a.mp4")[0]["size"] == SMALL


def test_interrupt_keeps_what_is_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pictures = iter(range(100))

    def interrupted(*args: Any, **words: Any) -> Any:
        if next(pictures) == 4:
            raise KeyboardInterrupt
        return np.zeros((SMALL[1], SMALL[0], 3), np.uint8)

    monkeypatch.setattr(video, "image", interrupted)
    with pytest.raises(KeyboardInterrupt):
        save_mp4(swing(), tmp_path / "a.mp4", fps=10, size=SMALL)
    assert len(film(tmp_path / "a.mp4")[1]) == 4
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]


def test_other_trouble_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*args: Any, **words: Any) -> Any:
        raise ZeroDivisionError

    monkeypatch.setattr(video, "image", broken)
    with pytest.raises(ZeroDivisionError):
        save_mp4(swing(), tmp_path / "a.mp4", fps=10, size=SMALL)
    assert list(tmp_path.iterdir()) == []


def test_contact_sheet(tmp_path: Path) -> None:
    save_png(swing(), tmp_path / "a.png", samples=6, columns=3, size=SMALL)
    picture = np.asarray(Image.open(tmp_path / "a.png"))
    assert picture.shape == (72 * 2 + 2, 96 * 3 + 4, 3)
    cells = [picture[y : y + 72, x : x + 96] for y in (0, 74) for x in (0, 98, 196)]
    assert not np.array_equal(cells[0][20:], cells[1][20:])


def test_picture_of_a_figure(tmp_path: Path) -> None:
    save_png(library.named("marionette22"), tmp_path / "a.png", size=SMALL)
    with Image.open(tmp_path / "a.png") as picture:
        assert picture.size == (192, 144)


def test_several_figures_in_one_picture(tmp_path: Path) -> None:
    a = swing(3)
    b = Motion(a.t, (a.only, Track(library.named("marionette22"), np.tile(library.named("marionette22").start, (3, 1)))))
    save_png(a, tmp_path / "a.png", samples=1, size=SMALL)
    save_png(b, tmp_path / "b.png", samples=1, size=SMALL)
    assert not np.array_equal(*(np.asarray(Image.open(tmp_path / f"{x}.png")) for x in "ab"))


def test_camera_follows_what_goes_far(tmp_path: Path) -> None:
    walker = figure("walker", free("body", capsule(0.1, 0.5, mass=1.0, at=(0, 0, 0.35))))
    q = np.zeros((5, 6))
    q[:, 0] = np.linspace(0, 20, 5)
    shots = video._Shots(Motion.of(walker, np.arange(5.0), q), SMALL, None, None, None)
    targets = np.array([camera.target for camera in shots.cameras])
    assert np.allclose(np.diff(targets, axis=0), [5, 0, 0], atol=1e-6)
    still = video._Shots(Motion.of(walker, np.arange(5.0), q), SMALL, None, None, follow=False)
    assert len(set(still.cameras)) == 1
    given = Camera((5.0, 5.0, 2.0), (0.0, 0.0, 0.0))
    assert set(video._Shots(Motion.of(walker, np.arange(5.0), q), SMALL, given, None, None).cameras) == {given}


def test_the_floor_is_at_zero_or_under_what_hangs() -> None:
    hanging = video._Shots(swing(), SMALL, None, None, None).scene
    assert hanging.floor is not None
    assert hanging.floor < -0.9
    walker = figure("walker", free("body", capsule(0.1, 0.5, mass=1.0), at=(0, 0, 1)))
    assert video._Shots(Motion.of(walker, [0.0], np.zeros((1, 6))), SMALL, None, None, None).scene.floor == 0.0


def test_sheet_without_labels() -> None:
    white = np.full((4, 6, 3), 200, np.uint8)
    assert sheet([white] * 3, 2).shape == (10, 14, 3)


def test_no_samples(tmp_path: Path) -> None:
    with pytest.raises(FileError, match="0 samples"):
        save_png(swing(), tmp_path / "a.png", samples=0)


@pytest.mark.parametrize(("rate", "seconds"), [(44100, 3.0), (8000, 0.7)])
def test_film_has_the_sound_from_its_first_picture_on(rate: int, seconds: float, tmp_path: Path) -> None:
    rng = np.random.default_rng(rate)
    x = np.zeros(round(seconds * rate))
    for t in rng.uniform(0.0, 0.6, 6):  # clicks
        at = round(t * rate)
        x[at : at + rate // 50] += rng.normal(size=len(x[at : at + rate // 50]))
    sound = Soundtrack(np.round(8000 * np.clip(x, -3, 3)).astype(np.int16)[:, None], rate)
    save_mp4(swing(), tmp_path / "a.mp4", fps=10, size=SMALL, sound=sound)
    assert len(film(tmp_path / "a.mp4")[1]) == 11
    words = [imageio_ffmpeg.get_ffmpeg_exe(), "-v", "error", "-i", str(tmp_path / "a.mp4")]
    words += ["-ac", "1", "-ar", str(rate), "-f", "s16le", "-"]
    heard = np.frombuffer(subprocess.run(words, capture_output=True, check=True).stdout, "<i2").astype(float)
    assert len(heard) / rate == pytest.approx(1.1, abs=0.05)  # as long as its pictures
    n = round(0.7 * rate)
    alike = np.correlate(np.pad(heard[:n], (0, n)), sound.samples[:n, 0].astype(float), "full")
    assert abs(int(np.argmax(alike)) - (n - 1)) / rate < 0.02
    alone = alike.max() / (np.linalg.norm(heard[:n]) * np.linalg.norm(sound.samples[:n].astype(float)))
    assert alone > 0.8  # it is that sound, as far as its compression keeps noise
    assert [path.name for path in tmp_path.iterdir()] == ["a.mp4"]
