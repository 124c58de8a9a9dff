"""WAV files of every kind are read, and what cannot be read is told with the command that converts it."""

from __future__ import annotations

import struct
import wave
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BunrakuError, FileError
from bunraku.sound.soundtrack import Soundtrack
from bunraku.sound.wav_file import WavLimits, read_wav


def written(path: Path, x: np.ndarray, width: int, rate: int = 8000) -> Path:
    """A file of numbers from -1 to 1, (n, channels), with samples of so many bytes."""
    top = 1 << (8 * width - 1)
    whole = np.clip(np.round(x * top), -top, top - 1).astype(np.int64) + (128 if width == 1 else 0)
    data = whole.astype("<i8").view(np.uint8).reshape(*x.shape, 8)[..., :width].tobytes()
    with wave.open(str(path), "wb") as file:
        file.setparams((x.shape[1], width, rate, 0, "NONE", ""))
        file.writeframes(data)
    return path


@pytest.mark.parametrize("width", [1, 2, 3, 4])
@pytest.mark.parametrize("channels", [1, 2])
@pytest.mark.parametrize("rate", [8000, 44100])
def test_every_width_is_read(width: int, channels: int, rate: int, tmp_path: Path) -> None:
    x = np.random.default_rng(0).uniform(-1.0, 1.0, (500, channels))
    x[0] = [-1.0] * channels
    sound = read_wav(written(tmp_path / "a.wav", x, width, rate))
    assert (sound.rate, sound.samples.shape) == (rate, (500, channels))
    assert np.abs(sound.samples / 32768.0 - x).max() < (1.0 / 120.0 if width == 1 else 1.1 / 32768.0)
    np.testing.assert_array_equal(sound.samples[0], -32768)
    (tmp_path / "b.wav").write_bytes(sound.wav())
    np.testing.assert_array_equal(read_wav(tmp_path / "b.wav").samples, sound.samples)


def test_a_part_is_read(tmp_path: Path) -> None:
    ramp = np.linspace(-1.0, 0.999, 8000)[:, None]
    file = written(tmp_path / "a.wav", ramp, 2)
    whole = read_wav(file)
    part = read_wav(file, begin=0.25, end=0.75, limits=WavLimits(frames=1000))
    np.testing.assert_array_equal(part.samples, whole.samples[2000:6000])
    np.testing.assert_array_equal(whole.part(0.5, 0.1).samples, whole.samples[4000:4800])
    longer = whole.lasting(1.5)
    assert (longer.duration, longer.samples[8000:].any()) == (1.5, False)
    assert whole.lasting(0.5).duration == 0.5
    np.testing.assert_allclose(whole.loudness(2.0), [1.0, 0.999], atol=0.001)


def test_what_is_no_sound_is_told_how_to_convert_it(tmp_path: Path) -> None:
    file = tmp_path / "song.wav"
    samples = struct.pack("<4f", 0.0, 0.5, -0.5, 0.0)
    head = struct.pack("<4sI4s4sIHHIIHH4sI", b"RIFF", 36 + 16, b"WAVE", b"fmt ", 16, 3, 1, 8000, 32000, 4, 32, b"data", 16)
    for data in (head + samples, b"ID3\x04 not a wave file at all", b"RIFF", b""):
        file.write_bytes(data)
        with pytest.raises(FileError, match="convert it: ffmpeg -i") as caught:
            read_wav(file)
        assert caught.value.path == str(file)
    written(file, np.zeros((10, 3)), 2)
    with pytest.raises(FileError, match=r"3 channels.*\n.*-ac 2"):
        read_wav(file)


def test_what_is_not_there_is_told(tmp_path: Path) -> None:
    file = written(tmp_path / "a.wav", np.zeros((8000, 1)), 2)
    with pytest.raises(FileError, match="the recording lasts 1 s"):
        read_wav(file, begin=2.0)
    with pytest.raises(FileError, match="is empty"):
        read_wav(written(tmp_path / "b.wav", np.zeros((0, 1)), 2))
    with pytest.raises(FileError, match="cannot be read: No such file"):
        read_wav(tmp_path / "c.wav")
    with pytest.raises(FileError, match="minutes long"):
        read_wav(file, end=1.0, limits=WavLimits(seconds=0.5))


def test_a_head_that_promises_too_much_gets_what_there_is(tmp_path: Path) -> None:
    file = written(tmp_path / "a.wav", np.full((100, 1), 0.5), 2)
    data = bytearray(file.read_bytes())
    data[40:44] = struct.pack("<I", 0x7FFFFFF0)
    file.write_bytes(data)
    assert len(read_wav(file).samples) == 100


def test_a_soundtrack_is_checked() -> None:
    """It may come from a process that has read a stranger's file."""
    for samples, rate in ((np.zeros((4, 3), np.int16), 8000), (np.zeros((4, 1)), 8000), (np.zeros((4, 1), np.int16), 0)):
        with pytest.raises(BunrakuError, match="one or two channels"):
            Soundtrack(samples, rate)
