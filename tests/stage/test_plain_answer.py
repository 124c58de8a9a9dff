"""What a confined process answers is made into objects by their constructors; no answer can run code."""

from __future__ import annotations

import functools
import json
import pickle
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

from bunraku import library
from bunraku.errors import BunrakuError
from bunraku.figure import Mesh
from bunraku.locomotion.guide.humanoid_file import humanoid_named
from bunraku.scene import Heightfield, Obstacle, Scene
from bunraku.stage import Recorded, still
from bunraku.stage.entry import Series
from bunraku.stage.plain_answer import NotPlain, packed, unpacked
from tests.stage.toys import puppet, recorded, waving


def back(value: Any) -> Any:
    return unpacked(packed(value))


@pytest.mark.parametrize("name", library.names())
def test_figures_come_back_as_they_were(name: str) -> None:
    figure = library.named(name)
    assert back(figure) == figure


def test_motions_scenes_and_calls() -> None:
    piece = recorded()
    ground = Obstacle("ground", Heightfield(((0.0, 0.1), (0.2, 0.3)), (1.0, 2.0)))
    piece = Recorded(piece.motion, Scene("s", (ground,), floor=None), piece.reference, (Series("a", "m", piece.motion.t),))
    made = back(piece)
    assert made.motion.tracks == piece.motion.tracks
    assert made.motion.marks == piece.motion.marks
    assert np.array_equal(made.motion.t, piece.motion.t)
    assert made.reference.tracks == piece.reference.tracks if piece.reference is not None else True
    assert made.scene == piece.scene
    assert np.array_equal(made.series[0].values, piece.motion.t)
    call = back(functools.partial(still, puppet(), scene=Scene("s")))
    assert call.func is still
    assert call.args == (puppet(),)
    assert call.keywords == {"scene": Scene("s")}
    twice = back((puppet_one := puppet(), [puppet_one, {"a": (1, True, None, 0.5, "é", np.float64(2.0))}]))
    assert twice[0] is twice[1][0]  # whatever is computed for a figure is computed once
    assert twice[1][1] == {"a": (1, True, None, 0.5, "é", 2.0)}
    person = humanoid_named("humanoid")
    assert np.array_equal(back(person).home, person.home)
    assert back(person).limits == person.limits


def test_other_things_cannot_be_sent(tmp_path: Path) -> None:
    for thing in (tmp_path, lambda: None, functools.partial(print, 1), np.array([object()]), {1, 2}, BunrakuError("no")):
        with pytest.raises(NotPlain, match="cannot be sent"):
            packed(thing)


def answer(value: Any, objects: Any = (), arrays: Any = (), data: bytes = b"") -> bytes:
    text = json.dumps({"value": value, "objects": objects, "arrays": arrays}).encode()
    return struct.pack("<Q", len(text)) + text + data


class Bomb:
    """Runs code where it is unpickled."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> Any:
        return Path.write_text, (self.path, "code ran")


FIGURE = "bunraku.figure.figure:Figure"
TRACK = "bunraku.motion.track:Track"


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff" * 8, struct.pack("<Q", 2) + b"[]", answer({"what": 1}), answer({"object": 0}), answer({"array": 0}),
        answer({"call": "os:system", "args": [], "words": {"dict": []}}),
        answer({"call": "builtins:eval", "args": ["1"], "words": {"dict": []}}),
        answer({"object": 0}, [["subprocess:Popen", {"args": "true"}]]),
        answer({"object": 0}, [["bunraku.stage.posing:Posing", {}]]),
        answer({"object": 0}, [[FIGURE, {"name": "f", "frames": [], "compiled": 1}]]),  # what kernels would trust
        answer({"object": 0}, [[FIGURE, {"name": "f", "frames": [1]}]]),
        answer({"object": 0}, [[FIGURE, {"name": "f", "frames": []}], [TRACK, {"figure": {"object": 0}, "q": [[1.0]]}]][::-1]),
        answer({"array": 0}, (), [["|O", [1]]], b"12345678"), answer({"array": 0}, (), [["<f8", [2]]], b"12345678"),
        answer({"array": 0}, (), [["<f8", [-1]]], b"12345678"), answer({"array": 0}, (), [["<f8", [10**30]]], b"12345678"),
        answer({"object": 0}, [["bunraku.stage.uploads:ReadEntry", {
            "title": "t", "shows": "x", "about": "", "group": "", "front": None, "file": 0, "number": 0,
        }]]),
        struct.pack("<Q", 100_000) + b"[" * 100_000,
    ],
)  # fmt: skip
def test_a_forged_answer_is_refused(data: bytes) -> None:
    with pytest.raises(BunrakuError):
        unpacked(data)


def test_a_track_that_does_not_fit_its_figure_is_refused() -> None:
    motion = waving(puppet())
    good = packed(motion)
    size = struct.unpack_from("<Q", good)[0]
    document = json.loads(good[8 : 8 + size])
    for head in document["arrays"]:
        head[1] = [head[1][0] * head[1][-1], 1] if len(head[1]) == 2 else head[1]  # one column instead of many
    text = json.dumps(document).encode()
    with pytest.raises(BunrakuError):
        unpacked(struct.pack("<Q", len(text)) + text + good[8 + size :])


def test_a_pickle_is_not_unpickled(tmp_path: Path) -> None:
    bomb = pickle.dumps(Bomb(tmp_path / "ran"))
    for data in (bomb, struct.pack("<Q", len(bomb)) + bomb):
        with pytest.raises(BunrakuError):
            unpacked(data)
    assert not (tmp_path / "ran").exists()
    pickle.loads(bomb)
    assert (tmp_path / "ran").exists()  # as it would have


def test_each_object_is_shown_to_the_check() -> None:
    seen: list[Any] = []
    unpacked(packed((Mesh("a.stl"), puppet())), seen.append)
    assert Mesh("a.stl") in seen
    assert puppet() in seen


GOOD = packed(waving(puppet(), seconds=0.1))


@given(some.integers(0, len(GOOD) - 1), some.binary(min_size=1, max_size=8), some.booleans())
def test_damage_is_an_error_in_words_or_another_motion(at: int, junk: bytes, cut: bool) -> None:
    try:
        unpacked(GOOD[:at] + junk if cut else GOOD[:at] + junk + GOOD[at + len(junk) :])
    except BunrakuError:
        return
