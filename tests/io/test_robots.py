from __future__ import annotations

import importlib.metadata
import warnings
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.errors import BunrakuWarning, FileError, MissingExtra, UnknownName
from bunraku.figure import Figure
from bunraku.io.robots import robot_files
from bunraku.kinematics import pose

pytest.importorskip("pinocchio", exc_type=ImportError)  # example-robot-data is installed with it


def robot(name: str) -> Figure:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        figure = bunraku.load(f"robot:{name}")
    assert isinstance(figure, Figure)
    return figure


def test_talos_stands_on_its_feet() -> None:
    talos = robot("talos")
    assert talos.name == "talos"
    assert talos.groups[0].kind == "free"
    assert talos.mass == pytest.approx(93.3, abs=0.1)
    at = pose(talos, talos.start)
    soles = [at.point(f"{side}_sole_link")[2] for side in ("left", "right")]
    assert np.allclose(soles, 0.0, atol=2e-3)  # the posture of its package, half sitting
    assert at.point("head_2_link")[2] > 1.3


@pytest.mark.parametrize(
    ("name", "variables"), [("panda", 9), ("solo12", 18), ("ur5", 6), ("ur3", 6), ("cassie", 44), ("icub", 38)]
)
def test_arms_stand_and_walkers_float(name: str, variables: int) -> None:
    figure = robot(name)
    assert figure.n_q == variables
    lower, upper = figure.limits
    if name != "cassie":  # its file starts outside the limits of its feet
        assert np.all(figure.start >= lower)
        assert np.all(figure.start <= upper)
    assert (bool(figure.groups) and figure.groups[0].kind == "free") == (name in ("solo12", "cassie", "icub"))


def test_a_wrong_name_lists_the_right_ones() -> None:
    with pytest.raises(UnknownName, match="did you mean talos"):
        bunraku.load("robot:taloss")
    with pytest.raises(UnknownName, match="there are: TwoDofs, a1, alex") as caught:
        bunraku.load("robot:?")
    assert {"solo12", "talos", "ur5", "z1"} <= set(str(caught.value).partition("there are: ")[2].split(", "))


def test_without_the_package_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def files(_name: str) -> None:
        raise importlib.metadata.PackageNotFoundError

    robot_files.cache_clear()
    monkeypatch.setattr(importlib.metadata, "files", files)
    with pytest.raises(MissingExtra, match=r"bunraku\[robots\]"):
        bunraku.load("robot:talos")


def test_an_order_may_name_a_robot(tmp_path: Path) -> None:
    file = tmp_path / "fall.yaml"
    file.write_text("simulate: robot:double_pendulum\nduration: 0.05\n", encoding="utf-8")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BunrakuWarning)
        motion = bunraku.load(file).run()
    assert motion.figure.name == "double_pendulum"
    file.write_text("simulate: robot:tallos\nduration: 0.05\n", encoding="utf-8")
    with pytest.raises(FileError, match=r"fall.yaml:1[\s\S]*did you mean talos"):
        bunraku.load(file)
