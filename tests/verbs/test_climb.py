"""Climbing files: what they say, what is wrong with them and where, and what the command line makes of them."""

from __future__ import annotations

import math

import pytest
from typer.testing import CliRunner

import bunraku
from bunraku.cli import app
from bunraku.errors import FileError
from bunraku.figure.shape import Mesh
from bunraku.locomotion.climb.climb_outcomes import CURVE_TOO_TIGHT
from bunraku.locomotion.climb.path_segments import Arc, Slope, Step, Straight
from bunraku.locomotion.climb.surface_course import SurfacePath
from bunraku.verbs.climb.file import ClimbOrder
from bunraku.verbs.entries import entries_of

GOOD = """climb: gecko
path:
  - straight: 10 cm
  - {curve: 90 deg, radius: 150 mm}
  - slope: -45 deg
  - step: 2 cm
  - {obstacle: 15 mm, length: 12 cm}
stride: 50 mm
quarter: 200 ms
friction: 0.8
grip: 30 deg
light: true
output: climb.npz
"""


def written(tmp_path, text):
    path = tmp_path / "path.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def ran(file, *options):
    return CliRunner().invoke(app, ["climb", str(file), *map(str, options), "--no-play"])


def test_what_a_file_says(tmp_path):
    order = ClimbOrder.load(written(tmp_path, GOOD))
    assert order.path == (
        Straight(0.1), Arc(0.15, math.pi / 2), Slope(-math.pi / 4), Step(0.02), Step(0.015), Straight(0.12), Step(-0.015),
    )  # fmt: skip
    assert order.lines == (3, 4, 5, 6, 7, 7, 7)
    assert (order.stride, order.quarter, order.dt, order.friction) == (0.05, 0.2, None, 0.8)
    assert order.grip == pytest.approx(math.tan(math.pi / 6))
    assert order.light
    assert order.optimized
    assert order.pause is None
    assert order.output == (tmp_path / "climb.npz",)
    assert "curve 90°" in str(order)


@pytest.mark.parametrize(("old", "new", "line", "told"), [
    ("climb: gecko", "climb: geko", 1, "did you mean"),
    ("climb: gecko", "climb: pendulum", 1, "climb with a gecko"),
    ("straight: 10 cm", "straight: -10 cm", 3, "above zero"),
    ("straight: 10 cm", "straight: 10 deg", 3, "deg"),
    ("straight: 10 cm", "straigth: 10 cm", 3, "did you mean straight"),
    ("radius: 150 mm", "radius: 0", 4, "above zero"),
    (", radius: 150 mm", "", 4, "no 'radius'"),
    ("radius: 150 mm", "radious: 150 mm", 4, "did you mean radius"),
    ("slope: -45 deg", "slope: 120 deg", 5, "two slopes"),
    ("step: 2 cm", "step: 0", 6, "goes down"),
    ("length: 12 cm", "length: .nan", 7, "not a number"),
    ("stride: 50 mm", "stride: 0", 8, "positive"),
    ("friction: 0.8", "friction: -1", 10, "positive"),
    ("grip: 30 deg", "grip: 90 deg", 11, "between 0 and 90"),
    ("quarter: 200 ms", "dt: 200 ms", 9, "an eighth"),
    ("quarter: 200 ms", "gait: gallop", 9, "trot"),
    ("friction: 0.8", "speed: 1 m/s", 10, "give one of them"),
    ("straight: 10 cm", "straight: 100000", 3, "shorten"),
    ("climb.npz", "climb.txt", 13, "end the name"),
    ("light: true", "lite: true", 12, "did you mean light"),
])  # fmt: skip
def test_what_is_wrong_and_where(tmp_path, old, new, line, told):
    assert old in GOOD
    with pytest.raises(FileError) as caught:
        ClimbOrder.load(written(tmp_path, GOOD.replace(old, new)))
    text = str(caught.value)
    assert told in text
    assert text.startswith(f"{tmp_path / 'path.yaml'}:{line}:")
    assert "^" in text
    assert "advice" in text


def test_a_path_is_climbed_written_and_drawn(tmp_path):
    file = written(tmp_path, "climb: gecko\npath: [straight: 6 cm]\n")
    out, plot = tmp_path / "climb.npz", tmp_path / "climb.png"
    told = ran(file, "-o", out, "--plot", plot)
    assert told.exit_code == 0
    for text in ("outcome     arrived", "rad/s²", "of the weight", "clearance   at least"):
        assert text in told.stdout
    motion = bunraku.load(out)
    assert motion.figure.name == "gecko"
    assert len(motion) == 401
    assert plot.stat().st_size > 10_000


def test_an_impossible_path_says_where_in_the_file_and_keeps_the_motion_so_far(tmp_path):
    text = "climb: gecko\noptimized: false\npath:\n  - straight: 10 cm\n  - {curve: 90 deg, radius: 8 cm}\n"
    file, out = written(tmp_path, text), tmp_path / "climb.npz"
    told = ran(file, "-o", out)
    assert told.exit_code == 1
    assert "too tight: a radius of 80 mm" in told.stdout
    assert "line 5: curve 90°" in told.stdout
    assert "advice: give the curve a larger radius" in told.stderr
    assert 1 <= len(bunraku.load(out)) < 401
    assert bunraku.load(file).run().outcome.kind == CURVE_TOO_TIGHT.kind


def test_names_that_cannot_be_written_are_refused_before_the_work(tmp_path):
    file = written(tmp_path, GOOD)
    told = ran(file, "--plot", tmp_path / "climb.txt")
    assert told.exit_code == 1
    assert "cannot hold a plot" in told.stderr


def test_a_climbing_file_on_the_stage(tmp_path):
    (entry,) = entries_of(written(tmp_path, "climb: gecko\npath: [straight: 6 cm]\npause: 50 ms\noptimized: false\n"))
    piece = entry.open()
    assert piece.motion.duration == pytest.approx(4 * 0.3)
    assert piece.scene.obstacles


def test_roles_in_a_file(tmp_path):
    feet = "[front_left_foot, front_right_foot, rear_left_foot, rear_right_foot]"
    roles = f"roles:\n  feet: {feet}\n  trunk: [neck, bottom]\n  tail: [tail]\n"
    order = ClimbOrder.load(written(tmp_path, GOOD + roles))
    assert order.roles.trunk == ("neck", "bottom")
    assert order.roles.bends == ()
    with pytest.raises(FileError, match="'nekc'"):
        ClimbOrder.load(written(tmp_path, GOOD + roles.replace("neck", "nekc")))
    with pytest.raises(FileError, match="no 'trunk'"):
        ClimbOrder.load(written(tmp_path, GOOD + roles.replace("trunk:", "tail:").replace("  tail: [tail]\n", "")))


def test_a_path_over_a_mesh_in_a_file(tmp_path):
    trimesh = pytest.importorskip("trimesh")
    trimesh.creation.box((100, 60, 20)).export(tmp_path / "block.obj")
    text = "climb: gecko\npath: {surface: block.obj, scale: 0.01, from: [-20 cm, 0, 10 cm], to: [0, 5 cm, 10 cm]}\n"
    order = ClimbOrder.load(written(tmp_path, text))
    assert order.path == SurfacePath(Mesh(str(tmp_path / "block.obj"), (0.01, 0.01, 0.01)), (-0.2, 0.0, 0.1), (0.0, 0.05, 0.1))
    assert order.lines == ()
    assert "over block.obj from (-0.2, 0, 0.1)" in str(order)
    for old, new, told in (
        ("block.obj", "rock.obj", "does not exist"), ("scale: 0.01", "scale: 0", "positive"),
        (", to: [0, 5 cm, 10 cm]", "", "no 'to'"),
        ("surface", "surfaces", "did you mean surface"),
    ):  # fmt: skip
        with pytest.raises(FileError, match=told):
            ClimbOrder.load(written(tmp_path, text.replace(old, new)))
