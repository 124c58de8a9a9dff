from __future__ import annotations

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
import pytest
from PIL import Image

from bunraku.dynamics import simulate
from bunraku.errors import FileError, MotionError, UnknownName
from bunraku.figure import library
from bunraku.figure.build import body, figure, rx, spindle
from bunraku.motion import Mark, Motion, Track, together
from bunraku.render.plots import lines, plot


def walk() -> Motion:
    figure = library.named("marionette22")
    t = np.linspace(0, 1, 30)
    q = figure.start + 0.3 * np.sin(t[:, None] * np.arange(1, figure.n_q + 1))
    tension = np.abs(np.cos(t[:, None] * np.arange(6)))
    return Motion.of(figure, t, q, v=q, tension=tension, marks=(Mark(0.5, "step", "cue"),))


def names(what: str | list[str], **series: np.ndarray) -> list[str]:
    return [line.name for line in lines(walk(), what, series)]


def test_chooses_by_name_and_pattern() -> None:
    assert names("lknee_rx") == ["lknee_rx"]
    assert names(["torso_t?", "torso_tz"]) == ["torso_tx", "torso_ty", "torso_tz"]
    assert names("*") == list(walk().figure.names)
    assert names("tension") == [f"tension:{string.name}" for string in walk().figure.strings]
    assert names("tension:left_*") == ["tension:left_arm", "tension:left_leg"]
    assert names("v:lknee_rx") == ["v:lknee_rx"]
    assert len(names("v")) == walk().figure.n_q
    assert names(["energy"], **{"energy [J]": np.zeros(30)}) == ["energy"]


def test_energy_and_gaps_of_a_simulation() -> None:
    """In the words of the command line: --curve energy, --curve gap."""
    motion = simulate(library.arm2d(), duration=0.1)
    energy = lines(motion, "energy", {})
    assert [line.name for line in energy] == ["energy:kinetic", "energy:potential", "energy:total"]
    assert {line.unit for line in energy} == {"energy [J]"}
    assert motion.energy is not None
    assert motion.gap is not None
    np.testing.assert_array_equal(energy[2].values, motion.energy.sum(1))
    (gap,) = lines(motion, "gap", {})
    assert (gap.name, gap.unit) == ("gap:hand", "gap [m]")
    np.testing.assert_array_equal(gap.values, motion.gap[:, 0])
    assert [line.name for line in lines(motion, "*", {})] == list(motion.figure.names)


def test_names_with_a_colon_are_variables_too() -> None:
    """As Mixamo writes them; and two of a kind are told apart."""
    fig = figure("person", rx("mixamorig:Hips", body(1.0, (0, 0, -0.1)), start=0.2), spindle("v:hand"))
    motion = Motion.of(fig, [0.0, 1.0], np.repeat(fig.start[None], 2, 0), v=np.zeros((2, fig.n_q)))
    assert [line.name for line in lines(motion, "*", {})] == list(fig.names)
    assert [line.name for line in lines(motion, "mixamorig:*", {})] == ["mixamorig:Hips"]
    assert [line.name for line in lines(motion, "v", {})] == [f"v:{name}" for name in fig.names]
    arm = library.arm2d()
    q = np.repeat(arm.start[None], 2, 0)
    pair = Motion(np.array([0.0, 1.0]), tuple(Track(arm, q, tension=np.ones((2, 1)), name=name) for name in ("anna", "bert")))
    assert [(line.name, line.label) for line in lines(pair, "tension", {})] == [
        ("anna/tension:hand", "anna hand"), ("bert/tension:hand", "bert hand"),
    ]  # fmt: skip


def test_values_and_units() -> None:
    motion = walk()
    knee, height, pull, energy = lines(motion, ["lknee_rx", "torso_tz", "tension:left_arm", "energy"], {"energy [J]": motion.t})
    assert np.array_equal(knee.values, motion.column("lknee_rx"))
    assert [line.unit for line in (knee, height, pull, energy)] == [
        "angle [rad]",
        "position [m]",
        "tension [N]",
        "energy [J]",
    ]
    assert np.array_equal(energy.values, motion.t)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_draws(suffix: str, tmp_path: Path) -> None:
    path = tmp_path / f"a{suffix}"
    plot(walk(), path, ["l*_rx", "tension", "energy"], series={"energy [J]": walk().t}, title="a walk")
    assert path.stat().st_size > 5000
    assert [p.name for p in tmp_path.iterdir()] == [path.name]
    if suffix == ".svg":
        text = path.read_text()
        for word in ("lknee_rx", "tension [N]", "energy [J]", "time [s]", "a walk", "step"):
            assert word in text


def test_marks_and_lines_are_drawn(tmp_path: Path) -> None:
    motion = walk()
    plot(motion, tmp_path / "a.png", "lknee_rx")
    plot(motion.replace(marks=()), tmp_path / "b.png", "lknee_rx")
    a, b = (np.asarray(Image.open(tmp_path / name).convert("RGB")) for name in ("a.png", "b.png"))
    assert a.shape == b.shape
    assert not np.array_equal(a, b)


def test_several_figures(tmp_path: Path) -> None:
    other = library.named("pendulum")
    both = together(walk(), Motion.of(other, [0.0, 1.0], [[0.0], [1.0]]))
    assert [line.name for line in lines(both, "pendulum/*", {})] == [f"pendulum/{other.names[0]}"]
    plot(both, tmp_path / "a.png", ["pendulum/*", "marionette22/lknee_rx"])


def test_leaves_pyplot_alone(tmp_path: Path) -> None:
    before = (plt.get_fignums(), plt.rcParams["axes.grid"])
    plot(walk(), tmp_path / "a.png", "lknee_rx")
    assert (plt.get_fignums(), plt.rcParams["axes.grid"]) == before


def test_what_cannot_be_drawn(tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="did you mean lknee_rx"):
        plot(walk(), tmp_path / "a.png", "lkne_rx")
    with pytest.raises(FileError, match="not a picture file"):
        plot(walk(), tmp_path / "a.txt")
    with pytest.raises(MotionError, match="energy"):
        plot(walk(), tmp_path / "a.png", "energy", series={"energy": np.zeros(3)})
    with pytest.raises(MotionError, match="finite"):
        plot(walk(), tmp_path / "a.png", "energy", series={"energy": np.full(30, np.nan)})
    assert list(tmp_path.iterdir()) == []
