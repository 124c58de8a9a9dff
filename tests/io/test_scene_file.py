from __future__ import annotations

import inspect
import math
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bunraku
from bunraku import io
from bunraku.errors import FileError
from bunraku.figure import Box, Capsule, Cylinder, Mesh, Sphere, library
from bunraku.io.yaml import scene_file
from bunraku.io.yaml.scene_file import load_scene, parse_scene, save_scene, scene_yaml
from bunraku.scene import Heightfield, Obstacle, Plane, Scene
from bunraku.spatial import so3

HERE = Path(__file__).parent


def again(scene: Scene) -> Scene:
    text = scene_yaml(scene)
    read = parse_scene(text)
    assert scene_yaml(read) == text
    return read


def test_a_scene_of_all_kinds():
    scene = load_scene(HERE / "workshop.yaml")
    assert scene.name == "workshop"
    assert scene.floor == pytest.approx(-0.05)
    assert [o.name for o in scene.obstacles] == [
        "table", "box_1", "box_2", "scroll", "wall", "sphere_1", "capsule_1", "heightfield_1",
    ]  # fmt: skip
    assert scene.obstacle("table") == Obstacle("table", Box((1.2, 0.6, 0.04)), (0, 0.5, 0.7), color=(0.6, 0.4, 0.2))
    assert scene.obstacle("wall").geometry == Plane((0, -1, 0))
    assert scene.obstacle("heightfield_1").geometry == Heightfield(((0, 0.1, 0.2), (0, 0, 0.1)), (10, 5))
    assert {name: len(group) for name, group in scene.groups.items()} == {"shelf": 2, "shelf/books": 1, "lamp": 2}
    assert again(scene) == scene


def test_the_pose_of_a_group_carries_its_obstacles():
    scene = parse_scene(
        "scene: s\nobstacles:\n  - group: g\n    at: [1, 0, 0]\n    rpy: [0, 0, 90 deg]\n    obstacles:\n"
        "      - {box: [1, 2, 3], at: [0.5, 0, 0], rpy: [90 deg, 0, 0]}\n"
    )
    (crate,) = scene.obstacles
    np.testing.assert_allclose(crate.position, (1, 0.5, 0), atol=1e-15)
    np.testing.assert_allclose(so3.matrix(crate.rotation), so3.rpy(math.pi / 2, 0, math.pi / 2), atol=1e-15)
    assert crate.group == "g"


def test_the_example_in_the_documentation_is_read(tmp_path):
    text = textwrap.dedent(inspect.getdoc(scene_file).split("\n\n")[1])  # type: ignore[union-attr]
    (tmp_path / "hills.csv").write_text("0,0.1,0\n0,0.2,0\n")
    (tmp_path / "scene.yaml").write_text(text)
    scene = load_scene(tmp_path / "scene.yaml")
    assert len(scene.obstacles) == 5
    assert scene.obstacles[-1].geometry == Heightfield(((0, 0.1, 0), (0, 0.2, 0)), (10, 5))


def test_there_may_be_no_floor():
    assert parse_scene("scene: s\nfloor: none\n").floor is None
    assert parse_scene("scene: s\n").floor == 0.0
    assert again(Scene("s", floor=None)) == Scene("s", floor=None)


UNIT = st.floats(0.01, 2)
VECTORS = st.tuples(*[st.floats(-3, 3)] * 3)
GEOMETRIES: st.SearchStrategy[Any] = st.one_of(
    st.builds(Sphere, UNIT), st.builds(Box, st.tuples(UNIT, UNIT, UNIT)), st.builds(Capsule, UNIT, UNIT),
    st.builds(Cylinder, UNIT, UNIT), st.builds(Plane, VECTORS.filter(lambda v: max(map(abs, v)) > 0.1)),
    st.builds(Heightfield, st.just(((0.0, 1.0), (0.5, 0.25))), st.tuples(UNIT, UNIT)),
)  # fmt: skip
OBSTACLES = st.builds(
    Obstacle, st.uuids().map(str), GEOMETRIES, VECTORS, st.tuples(*[st.floats(0.1, 1)] * 4),
    st.sampled_from([Obstacle.color, (1.0, 0.5, 0.0)]), st.sampled_from(["", "pile", "a b"]),
)  # fmt: skip


@settings(max_examples=50)
@given(st.lists(OBSTACLES, max_size=5).map(tuple), st.sampled_from([0.0, None, -1.5]))
def test_any_scene_comes_back_equal(obstacles, floor):
    scene = Scene("any", obstacles, floor)
    assert again(scene) == scene


def test_save_and_load(tmp_path):
    scene = load_scene(HERE / "workshop.yaml")
    bunraku.save(scene, tmp_path / "scene.yaml")
    assert bunraku.load(tmp_path / "scene.yaml") == scene


def test_large_tables_go_beside_the_file(tmp_path):
    rows = tuple(tuple(math.sin(i) * math.cos(j) for i in range(60)) for j in range(40))
    scene = Scene("hills", (Obstacle("the hills", Heightfield(rows, (6.0, 4.0))),))
    save_scene(scene, tmp_path / "land.yaml")
    assert {p.name for p in tmp_path.iterdir()} == {"land.yaml", "land_the_hills.csv"}
    assert load_scene(tmp_path / "land.yaml") == scene


def test_meshes_are_named_from_the_folder(tmp_path):
    (tmp_path / "rock.obj").write_bytes(b"")
    (tmp_path / "scene.yaml").write_text("scene: s\nobstacles: [{mesh: rock.obj, name: rock}]\n")
    scene = load_scene(tmp_path / "scene.yaml")
    assert scene.obstacles[0].geometry == Mesh(str(tmp_path / "rock.obj"))
    save_scene(scene, tmp_path / "copy.yaml")
    assert "mesh: rock.obj" in (tmp_path / "copy.yaml").read_text()


def test_a_mesh_is_scaled_by_one_number_or_by_three(tmp_path):
    (tmp_path / "rock.obj").write_bytes(b"")
    for said, scale in (("1.5", (1.5, 1.5, 1.5)), ("[1, 2, 3]", (1.0, 2.0, 3.0))):
        (tmp_path / "scene.yaml").write_text(f"scene: s\nobstacles: [{{mesh: rock.obj, scale: {said}}}]\n")
        assert load_scene(tmp_path / "scene.yaml").obstacles[0].geometry == Mesh(str(tmp_path / "rock.obj"), scale)


@pytest.mark.parametrize(
    ("text", "place", "message", "advice"),
    [
        ("scene: s\nobstacles: [{bx: [1, 1, 1]}]", (2, 14), "say what it is", "did you mean box"),
        ("scene: s\nobstacles: [{box: [1, 1]}]", (2, 19), "expected 3 numbers, got 2", "exactly 3"),
        ("scene: s\nobstacles: [{box: [1, 1, 0]}]", (2, 19), "positive", "metres"),
        ("scene: s\nobstacles: [{sphere: 1, name: a}, {sphere: 2, name: a}]", (2, 53), "the name 'a' is taken", "line 2"),
        ("scene: s\nobstacles: [{plane: [0, 0, 0]}]", (2, 21), "no direction", "[0, 0, 1]"),
        ("scene: s\nobstacles: [{heightfield: [[1, 2], [3]], size: [1, 1]}]", (2, 27), "table", "same length"),
        ("scene: s\nobstacles: [{heightfield: [[1, 2], [3, 4]]}]", (2, 13), "no 'size'", "add size"),
        ("scene: s\nobstacles: [{heightfield: hills.csv, size: [1, 1]}]", (2, 27), "does not exist", "folder"),
        ("scene: s\nobstacles: [{group: g}]", (2, 14), "say what it is", "sphere"),
        ("scene: s\nobstacles: [{group: g, obstacles: [{box: 3}]}]", (2, 42), "a list of numbers", "[ … ]"),
        ("scene: s\nobstacles: [{sphere: 1, mass: 3}]", (2, 25), "unknown word 'mass'", "there are"),
        ("scene: s\nflor: 1", (2, 1), "unknown word 'flor'", "did you mean floor"),
        ("scene: s\nfloor: low", (2, 8), "a number in m", "write"),
        ("figure: s", (1, 1), "unknown word 'figure'", "scene"),
    ],
)
def test_what_is_wrong_is_shown(text, place, message, advice):
    with pytest.raises(FileError) as caught:
        parse_scene(text)
    assert message in caught.value.message
    assert advice in caught.value.advice
    assert (caught.value.line, caught.value.column) == place


def test_a_table_that_is_wrong_is_shown_in_its_own_file(tmp_path):
    (tmp_path / "hills.csv").write_text("1,2\n3,four\n")
    (tmp_path / "scene.yaml").write_text("scene: s\nobstacles: [{heightfield: hills.csv, size: [1, 1]}]\n")
    with pytest.raises(FileError, match=r"hills\.csv:2:1: not a row of numbers"):
        load_scene(tmp_path / "scene.yaml")


def test_only_figures_and_scenes_are_yaml(tmp_path):
    with pytest.raises(FileError, match="cannot write a list"):
        bunraku.save([1, 2, 3], tmp_path / "list.yaml")
    with pytest.raises(FileError, match="cannot be written"):
        bunraku.save(library.pendulum(), tmp_path / "pendulum.xyz")
    with pytest.raises(FileError, match=r"no suffix.*\n.*\.yaml"):
        io.load(tmp_path / "pendulum")
    (tmp_path / "show.yaml").write_text("# a list\nfigrue: a\n")
    with pytest.raises(FileError, match=r"(?s):2:1: the file must say what it is.*did you mean figure"):
        io.load(tmp_path / "show.yaml")
