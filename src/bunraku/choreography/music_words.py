"""The `tempo:` and `music:` of a show file: how long a count lasts, and what sounds from count 0 on."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path

from bunraku.choreography.motion_words import between
from bunraku.choreography.script import Music
from bunraku.errors import BunrakuError, parts
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.shape_words import file_named
from bunraku.sound.beats import OtherTempo, find_beats
from bunraku.sound.wav_file import read_wav


@dataclass(frozen=True)
class _Wish:
    """A part of a recording, as a file names it; with when the recording changed, so that it is read once."""

    path: Path
    changed: tuple[int, int]
    begin: float
    end: float | None
    found: bool
    """Whether counts are beats that are found."""
    tempo: float | None


def tempo_and_music(root: Node, folder: Path) -> tuple[float, Music | None]:
    """Counts per minute, and the music; None if there is none.

    root: the document of a show.
    folder: file names in it are relative to this folder.

    With `beats: found`, or without `tempo`, counts are the beats of the recording, and the first of them at or after `from` is
    count 0. Otherwise count 0 is at `from`. Raises FileError, which points at the first mistake.
    """
    given, node = root.get("tempo"), root.get("music")
    if node is None:
        return _tempo(root.need("tempo", "the show")), None
    tempo = None if given is None else _tempo(given)
    is_file = not isinstance(node.value, dict)
    if not is_file:
        node.words(("file", "from", "to", "beats"), "music")
    file = node if is_file else node.need("file", "'music'")
    wish = _wish(node, file, folder, tempo)
    if not wish.found and tempo is None:
        raise node.place_of("beats").error("there is no 'tempo' to count by", advice="add tempo: …, or write beats: found")
    try:
        music = _read(wish)
    except BunrakuError as problem:
        message, advice = parts(problem)
        blamed = given if given is not None and isinstance(problem, OtherTempo) else file
        raise blamed.error(message.removeprefix(f"{wish.path}: "), advice=advice) from None
    return (tempo or 0.0) if music.beats is None else music.beats.tempo, music.at(node)


def _tempo(node: Node) -> float:
    return between(node, 20.0, 300.0, "counts per minute")


def _wish(node: Node, file: Node, folder: Path, tempo: float | None) -> _Wish:
    name = file.scalar("the name of a WAV file")
    if Path(name).suffix.lower() in (".mp3", ".ogg", ".flac", ".m4a", ".aac", ".opus", ".aif", ".aiff", ".wma"):
        advice = f'convert it: ffmpeg -i "{name[-60:]}" -ac 2 -c:a pcm_s16le "{Path(name).stem[-60:]}.wav"'
        raise file.error(f"expected a WAV file, got {name[-60:]!r}", advice=advice)
    path = file_named(file, folder, (".wav",), "a WAV file")
    words = node.given(
        **{
            "from": lambda n: between(n, 0.0, 86400.0, "s into the recording", Quantity.TIME),
            "to": lambda n: between(n, 0.0, 86400.0, "s into the recording", Quantity.TIME),
            "beats": lambda n: n.choice(("found", "tempo"), "kind of beats"),
        }
    )
    begin, end = words.get("from", 0.0), words.get("to")
    if end is not None and end <= begin:
        raise node.place_of("to").error(f"the music ends ({end:g} s) before it begins ({begin:g} s)", advice="choose a later 'to'")
    found = words.get("beats", "found" if tempo is None else "tempo") == "found"
    about = path.stat()
    return _Wish(path, (about.st_mtime_ns, about.st_size), begin, end, found, tempo)


@functools.lru_cache(maxsize=4)  # an edit of a show reads its script again, and has the same music
def _read(wish: _Wish) -> Music:
    sound = read_wav(wish.path, begin=wish.begin, end=wish.end)
    if not wish.found:
        return Music(wish.path, wish.begin, sound, None)
    beats = find_beats(sound, tempo=wish.tempo)
    return Music(wish.path, wish.begin + beats.first, sound.part(beats.first, sound.duration), beats)
