from __future__ import annotations

import contextlib
import re

import numpy as np
import pytest

from bunraku.ensemble.errand_file import load_errand
from bunraku.errors import BunrakuError, FileError
from bunraku.io.shipped import shipped_orders
from bunraku.planning.ways.steer import Differential
from bunraku.verbs.carry.file import CarryOrder

TEXT = """carry: tray
object:
  shapes: [{box: [1.5, 0.8, 0.06], name: slab}]
  tilt: 17 deg
  heights: [0.6, 1.3]
agents:
  left: {kind: rover, moves: differential, holds: {tool: {at: [-0.62, 0, 0.05], x: [0, 1, 0]}}}
  right: {kind: rover, holds: {tool: {at: [0.62, 0, 0.05], x: [0, 1, 0]}}}
area: [[-4, 4], [-3, 3]]
start: {object: [-2, 0, 0.8], yaw: 90 deg, left: [-2, -1.2, 90 deg], right: [-2, 1.2, -90 deg]}
goal: {object: [2, 0, 0.8], yaw: 90 deg, left: [2, -1.2, 90 deg], right: [2, 1.2, -90 deg]}
margin: 2 cm
samples: 120
budget: 5 s
output: [tray.npz]
"""


@pytest.fixture
def read(tmp_path):
    def reader(text):
        file = tmp_path / "tray.yaml"
        file.write_text(text, encoding="utf-8")
        return CarryOrder.load(file)

    return reader


def test_what_a_file_says(read, tmp_path):
    order = read(TEXT)
    errand = order.errand
    assert (errand.name, errand.margin, errand.samples, errand.budget) == ("tray", 0.02, 120, 5.0)
    assert errand.team.n == 12
    assert errand.team.agents[0].moves is Differential
    bases, held = errand.team.in_world(errand.goal)
    assert np.allclose(bases["left"], [2, -1.2, np.pi / 2])
    assert np.allclose(held, [2, 0, 0.8, np.pi / 2, 0, 0])
    assert order.output == (tmp_path / "tray.npz",)


@pytest.mark.slow
def test_those_that_are_shipped_are_whole():
    for name in ("factory", "factory_door", "living_room", "ramp", "ramp_people", "two_doors"):
        assert name in shipped_orders()
        errand = load_errand(name)
        for q in (errand.start, errand.goal):
            assert errand.space.objection(errand.space.configuration(q, name)) == ""


@pytest.mark.parametrize(
    ("old", "new", "message", "place"),
    [
        ("kind: rover, moves", "kind: rower, moves", "did you mean|rover", (7, 16)),
        ("holds: {tool: {at: [-0.62", "holds: {tol: {at: [-0.62", "tol", (7, 52)),
        ("tilt: 17 deg", "tilt: 170 deg", "tilt", (4, 9)),
        ("heights: [0.6, 1.3]", "heights: [2.6, 2.8]", "no height", (7, 3)),
        ("start: {object: [-2, 0, 0.8]", "start: {object: [-2, 0]", "3", (10, 17)),
        ("area: [[-4, 4]", "area: [[4, -4]", "lower", (9, 8)),
        ("margin: 2 cm", "margin: 2 kg", "kg", (12, 9)),
        ("samples: 120", "samples: 1.5", "whole", (13, 10)),
        ("samples: 120", "speed: 2 kg", "m/s", (13, 8)),
        ("output: [tray.npz]", "output: [tray.doc]", "cannot hold a motion", (15, 10)),
        ("right: [2, 1.2, -90 deg]", "wrong: [2, 1.2, -90 deg]", "wrong", (11, 67)),
        ("carry: tray", "carry: tray\nscene: factori", "factory", (2, 8)),
        ("carry: tray", "carry: tray\nscene: {factory: {window: 1}}", "window", (2, 19)),
        ("x: [0, 1, 0]}}}\n  right", "x: [0, 0, 1]}}}\n  right", "parallel", (7, 58)),
    ],
)
def test_mistakes_are_pointed_at(read, old, new, message, place):
    assert old in TEXT
    with pytest.raises(FileError) as caught:
        read(TEXT.replace(old, new))
    assert re.search(message, str(caught.value))
    assert "advice" in str(caught.value)
    assert (caught.value.line, caught.value.column) == place


def test_any_word_left_out_or_spoilt_is_one_clear_error(read):
    lines = TEXT.splitlines()
    for k in range(len(lines)):
        for changed in (lines[:k] + lines[k + 1 :], [*lines[:k], lines[k].replace(":", "", 1), *lines[k + 1 :]]):
            with contextlib.suppress(BunrakuError):
                read("\n".join(changed))


def test_files_of_others_are_told_apart(tmp_path):
    with pytest.raises(FileError, match="cannot be read"):
        load_errand(tmp_path / "nowhere.yaml")
