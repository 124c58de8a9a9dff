"""WAV files: 8, 16, 24 or 32 bits, one channel or two, any rate."""

from __future__ import annotations

import os
import wave
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import FileError
from bunraku.sound.soundtrack import Soundtrack


@dataclass(frozen=True)
class WavLimits:
    """What is read of a file."""

    seconds: float = 900.0
    """Longest part of a recording that is read [s]."""
    frames: int = 1 << 20
    """Samples that are read at once: a head may promise more than there is."""


def read_wav(
    path: str | os.PathLike[str], *, begin: float = 0.0, end: float | None = None, limits: WavLimits = WavLimits()
) -> Soundtrack:
    """The sound in a WAV file.

    path: the file
    begin: where the part that is read begins [s]
    end: where it ends [s]; by default at the end of the file
    limits: how much is read at most

    Raises FileError, with advice, if the file is missing, in another format, or has no sound there.
    """
    try:
        with Path(path).open("rb") as file, wave.open(file) as opened:
            return _read(opened, path, begin, end, limits)
    except (wave.Error, EOFError) as problem:
        raise _other_format(path, str(problem) or "it is cut off") from None
    except FileError:  # a confined process may not open it
        raise
    except OSError as problem:
        raise FileError(f"the recording cannot be read: {problem.strerror}", path=str(path), advice="check its name") from None


def _read(opened: wave.Wave_read, path: str | os.PathLike[str], begin: float, end: float | None, limits: WavLimits) -> Soundtrack:
    channels, width, rate = opened.getnchannels(), opened.getsampwidth(), opened.getframerate()
    if channels not in (1, 2) or width not in (1, 2, 3, 4) or not 1000 <= rate <= 400_000:
        raise _other_format(path, f"{channels} channels of {8 * width} bits at {rate} Hz")
    first = round(begin * rate)
    last = min(opened.getnframes(), round(rate * (begin + limits.seconds if end is None else end)))
    if not 0 <= first < last:
        length = opened.getnframes() / rate
        what = "the recording is empty" if length == 0.0 else f"no sound there: the recording lasts {length:.4g} s"
        raise FileError(what, path=str(path), advice="choose another recording, or an earlier part of it")
    if (last - first) / rate > limits.seconds:
        advice = f"choose at most {limits.seconds / 60.0:g} minutes of it"
        raise FileError(f"the part is {(last - first) / rate / 60.0:.0f} minutes long", path=str(path), advice=advice)
    opened.setpos(first)
    blocks = []
    while first < last:
        data = opened.readframes(min(last - first, limits.frames))
        data = data[: len(data) // (channels * width) * channels * width]
        if not data:  # the file is shorter than its head says
            break
        blocks.append(_as_16_bits(data, width).reshape(-1, channels))
        first += len(blocks[-1])
    if not blocks:
        raise _other_format(path, "it is cut off")
    return Soundtrack(np.concatenate(blocks), rate)


def _as_16_bits(data: bytes, width: int) -> NDArray[np.int16]:
    """Samples of `width` bytes, scaled to 16 bits. Those of one byte have no sign; of longer ones the upper bytes are kept."""
    if width == 1:
        return ((np.frombuffer(data, np.uint8).astype(np.int16) - 128) * 256).astype(np.int16)
    upper = np.frombuffer(data, np.uint8).reshape(-1, width)[:, width - 2 :]
    return np.ascontiguousarray(upper).view("<i2").astype(np.int16).reshape(-1)


def _other_format(path: str | os.PathLike[str], why: str) -> FileError:
    advice = f'convert it: ffmpeg -i "{Path(path).name}" -ac 2 -c:a pcm_s16le music.wav'
    return FileError(f"not a WAV file with mono or stereo sound in whole numbers ({why})", path=str(path), advice=advice)
