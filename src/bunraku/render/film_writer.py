"""Writes a film, picture by picture, with the program ffmpeg."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import Any, BinaryIO, cast

import numpy as np
from numpy.typing import NDArray

from bunraku.cleanup import TemporaryFolder, at_end
from bunraku.sound.soundtrack import Soundtrack


def ffmpeg_program() -> str | None:
    """The path of ffmpeg: that of the package imageio-ffmpeg if it is installed, else the one on the PATH; None without any."""
    try:
        import imageio_ffmpeg

        found = str(imageio_ffmpeg.get_ffmpeg_exe())
    except (ImportError, RuntimeError):
        found = "ffmpeg"
    return shutil.which(found)


class FilmWriter:
    """Takes pictures and writes an H.264 film. The output of ffmpeg is kept for error messages and otherwise not shown."""

    def __init__(self, path: Path, size: tuple[int, int], fps: float, sound: Soundtrack | None = None) -> None:
        """Writes to `path` with pictures of this `size` (width, height) [pixels], both even, and `fps` of them a second.

        sound: the sound track, at least as long as the pictures; None for a silent film
        """
        self._folder = None if sound is None else TemporaryFolder()
        heard = ["-an"]
        if sound is not None and self._folder is not None:
            file = Path(self._folder.name) / "sound.wav"
            file.write_bytes(sound.wav())
            # The film ends with its pictures, also where Ctrl-C ends it early.
            heard = ["-i", str(file), "-map", "0:v", "-map", "1:a", "-c:a", "aac", "-b:a", "192k", "-ar", "48000", "-shortest"]
        words = [
            ffmpeg_program() or "ffmpeg", "-y", "-v", "error",
            "-f", "rawvideo", "-pix_fmt", "rgb24", "-s", f"{size[0]}x{size[1]}", "-r", f"{fps:.06f}", "-i", "-", *heard,
            "-vcodec", "libx264", "-pix_fmt", "yuv420p", "-crf", "15", "-movflags", "+faststart", str(path),
        ]  # fmt: skip
        # A group of its own: Ctrl-C ends the film early through us, and is not heard by ffmpeg.
        own: dict[str, Any] = {"process_group": 0} if os.name == "posix" else {"creationflags": 0x200}
        self._path = path
        self._process = subprocess.Popen(words, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, **own)
        self._ended = at_end(self._stop)
        self._said: deque[bytes] = deque(maxlen=20)
        self._listening = threading.Thread(target=self._listen, name="bunraku-ffmpeg", daemon=True)
        self._listening.start()

    def _listen(self) -> None:
        self._said.extend(cast("BinaryIO", self._process.stderr))

    def add(self, pixels: NDArray[np.uint8]) -> None:
        """Adds a picture (`pixels`, (height, width, 3)); raises OSError if ffmpeg has stopped."""
        cast("BinaryIO", self._process.stdin).write(np.ascontiguousarray(pixels).data)

    def close(self) -> None:
        """Ends the film; raises OSError, with the reason, if it is not complete."""
        with suppress(OSError):  # if ffmpeg has stopped, its exit status tells
            cast("BinaryIO", self._process.stdin).close()
        status = self._process.wait()
        self._ended()
        self._forget_sound()
        self._listening.join()
        cast("BinaryIO", self._process.stderr).close()
        if status != 0 or not _whole(self._path):
            raise OSError(None, _reason(b"".join(self._said).decode("utf-8", "replace")))

    def _stop(self) -> None:
        """Ends ffmpeg, and waits until it has: it might still create its file after that has been removed."""
        self._process.kill()
        self._process.wait()

    def abandon(self) -> None:
        """Stops ffmpeg without finishing the film."""
        if self._process.poll() is None:
            self._process.kill()
        for stream in (self._process.stdin, self._process.stderr):
            with suppress(OSError):
                cast("BinaryIO", stream).close()
        self._process.wait()
        self._ended()
        self._forget_sound()

    def _forget_sound(self) -> None:
        if self._folder is not None:
            self._folder.cleanup()


def _reason(said: str) -> str:
    """The last error message of ffmpeg, in one line."""
    if "No space left on device" in said:
        return "No space left on device"
    if "File too large" in said:
        return "File too large"
    lines = [line for line in said.splitlines() if line.strip()]
    return f"ffmpeg failed: {lines[-1].strip()[:200]}" if lines else "ffmpeg failed"


def _whole(path: Path) -> bool:
    """Whether an MP4 file is complete: its parts ("boxes") fill it, and include the index (moov) and the pictures (mdat)."""
    found, at = set(), 0
    try:
        size = path.stat().st_size
        with path.open("rb") as file:
            while at < size:
                file.seek(at)
                head = file.read(16)
                if len(head) < 8:
                    return False
                length = int.from_bytes(head[:4], "big")
                if length == 1:  # a 64-bit length follows the name
                    length = int.from_bytes(head[8:], "big")
                if length < 8:
                    return False
                found.add(head[4:8])
                at += length
    except OSError:
        return False
    return at == size and {b"moov", b"mdat"} <= found
