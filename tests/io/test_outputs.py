from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import FileError
from bunraku.figure import library
from bunraku.io import load
from bunraku.io.outputs import MOTION_SUFFIXES, outputs_of, require, require_outputs, save_motion
from bunraku.io.yaml import yaml_reader
from bunraku.motion import Motion
from bunraku.scene import Scene


def of(text):
    return outputs_of(yaml_reader.parse(text).get("output"), Path("here"))


def test_one_several_or_none():
    assert of("output: a.npz") == (Path("here/a.npz"),)
    assert of("output: [a.npz, b.GLB]") == (Path("here/a.npz"), Path("here/b.GLB"))
    assert of("other: 1") == ()


def test_what_cannot_hold_a_motion_is_pointed_at():
    with pytest.raises(FileError, match="cannot hold a motion") as caught:
        of("output: [a.npz, a.yaml]")
    assert caught.value.column == 17
    assert ".npz" in caught.value.advice


def test_names_are_refused_before_the_work():
    require_outputs([Path(f"a{suffix}") for suffix in MOTION_SUFFIXES], Path("a.svg"))
    require_outputs([])
    require(None, (".png",), "a picture")
    for motions, plot, what in (([Path("a.doc")], None, "a motion"), ([], Path("a.npz"), "a plot")):
        with pytest.raises(FileError, match=f"cannot hold {what}"):
            require_outputs(motions, plot)


@pytest.mark.parametrize("suffix", [".npz", ".png"])
def test_only_pictures_show_the_scene(tmp_path, suffix):
    path = tmp_path / f"swing{suffix}"
    motion = Motion.of(library.named("pendulum"), np.linspace(0.0, 1.0, 5), np.linspace(0.0, 0.5, 5)[:, None])
    save_motion(motion, path, Scene("floor"))
    assert path.exists()
    if suffix == ".npz":
        assert load(path) == motion
