from __future__ import annotations

import inspect
import math
import textwrap
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import bunraku
from bunraku.errors import BunrakuError, FileError
from bunraku.figure import Box, Capsule, Drum, Figure, Frame, Joint, Mesh, Point, Pulley, Shape, String, Variable, library
from bunraku.figure.build import (
    ball,
    body,
    box,
    capsule,
    closure,
    contact,
    cylinder,
    effort,
    figure,
    fixed,
    free,
    push,
    rotate,
    rx,
    ry,
    rz,
    screw,
    sphere,
    spindle,
    spring,
    string,
    translate,
    tx,
    tz,
    under,
    wire,
)
from bunraku.io.yaml import figure_file
from bunraku.io.yaml.figure_file import figure_yaml, load_figure, parse_figure, save_figure
from tests.kinematics.test_wrapping import WAYS, strung

HERE = Path(__file__).parent

# A figure with everything that a file can say.
RICH = figure(
    "rich",
    box((1, 1, 0.1), at=(0, 0, -0.05), name="ground"),
    fixed("post", cylinder(0.05, 1.0), body(2.0, (0, 0, 0.5)), at=(0, 0, 0.5), rpy=(0, 0, math.pi / 4)),
    free(
        "torso", capsule(0.1, to=(0, 0, 0.4), mass=3.0), sphere(0.2, at=(0, 0, 0.5), mass=0.5, name="head"),
        ball(
            "shoulder", body(0.4, (0, 0, -0.1), (1e-3, 1e-3, 1e-4, 1e-5, 0, 0), "upper"), capsule(0.03, length=0.2),
            rx("elbow", at=(0, 0, -0.3), limits=(0, 2.5), speed=3.0, effort=10.0, stiffness=1.0, rest=0.1, armature=0.01),
            at=(0.1, 0.2, 0.3), rpy=(0.1, 0.2, 0.3), start=(0.1, 0, 0), limits=((-1, 1), (-2, 2), (-3, math.inf)),
        ),
        start=(0, 0, 1, 0, 0, 0.2),
    ),
    rotate((1, 1, 0), "oblique", screw("y", 0.01, "lead"), quaternion=(0.8, 0, 0.6, 0), variable="turning", start=0.5),
    translate((0, 3, 4), "rail", tz("drop", kinematic=True, limits=(-math.inf, 0.0))),
    rz("drum", kinematic=True),
    spindle("hand", box((0.1, 0.1, 0.02), color=(1, 0, 0), collides=False), at=(0.1, 0.2, 2.0)),
    spindle("foot", at=(0, 0, 2), moves="xyz", limits=(-1, 1)),
    strings=[
        string("hand", "elbow", "hand_spindle", stiffness=300.0),
        string("foot", ("torso", (0, 0, 0.1)), "foot_spindle", 1.5, through=["post", ("torso", (1, 0, 0))]),
        string("back", "torso", "post", "drum", ratio=-0.02),
        string("loaded", "torso", "post", 0.7, variable="drum", ratio=0.02),
        string("named", "torso", "post", "wound", start=0.9, limits=(0.1, 2.0), speed=0.5),
        string("tied", "torso", "post", "wound"),
        wire("rod", "elbow", ("post", (0, 0, 1)), 0.8, stiffness=400.0),
        wire("rigged", "elbow", "post"),
    ],
    springs=[spring("tension", "torso", ("post", (0, 0, 1)), 20.0, 0.1, 0.5)],
    forces=[effort("elbow"), effort("shoulder_rx", "lift", -2.0), push("wind", "torso", (1, 0, 0)),
            push("thrust", ("torso", (0, 0, 1)), (0, 0, 1), turns=True)],
    contacts=[contact("toe", ("torso", (0, 0, -0.1)), friction=0.4), contact("side", "elbow", "post", (1, 0, 0))],
    closures=[closure("loop", "elbow", ("post", (0.1, 0, 0))), closure("weld", "lead", "rail", "weld")],
    allowed=[("elbow", "torso")], gravity=(0, 0, -1.62), damping=0.02,
)  # fmt: skip


def again(thing: Figure) -> Figure:
    """Through a file and back; the text settles at once."""
    text = figure_yaml(thing)
    read = parse_figure(text)
    assert figure_yaml(read) == text
    return read


# -- the notation ----------------------------------------------------------------------------------------------------


def test_a_file_says_the_same_as_the_nested_notation():
    assert load_figure(HERE / "arm.yaml") == figure(
        "arm",
        ball(
            "shoulder", capsule(0.03, to=(0, 0, -0.3), mass=0.4),
            rx(
                "elbow", body(0.3, (0, 0, -0.12), (1e-3, 1e-3, 1e-4)), fixed("wrist", at=(0, 0, -0.25)), at=(0, 0, -0.3),
                limits=(0, 2.5),
            ),
            at=(0, 0, 1),
        ),
        spindle("hand", at=(0, 0.2, 1.5)),
        strings=[string("hand", "wrist", "hand_spindle")],
        forces=[effort("elbow"), push("wind", "wrist", (1, 0, 0))],
    )  # fmt: skip


def test_the_example_in_the_documentation_is_read():
    text = textwrap.dedent(inspect.getdoc(figure_file).split("\n\n")[1])  # type: ignore[union-attr]
    arm = parse_figure(text)
    assert arm.names == ("shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow", "hand_x", "hand_y", "hand_length")
    assert arm.frame("elbow").variable.upper == pytest.approx(math.radians(140))  # type: ignore[union-attr]
    assert [v.damping for v in arm.variables[:4]] == [0.02] * 4


def test_frames_may_be_listed_flat_and_keep_their_order():
    flat = parse_figure(
        """
        figure: pair
        frames:
          - {rx: left}
          - {rx: right, at: [0, 1, 0]}
          - {fixed: left_tip, parent: left, at: [0, 0, -1]}
          - {fixed: right_tip, parent: right, at: [0, 0, -1]}
        bodies:
          - {mass: 1, frame: right_tip}
          - {mass: 2, frame: left_tip}
          - {mass: 5}
        shapes:
          - {sphere: 0.1, frame: left_tip}
          - {box: [1, 1, 1]}
        """
    )
    assert [f.name for f in flat.frames] == ["left", "right", "left_tip", "right_tip"]
    assert [f.parent for f in flat.frames] == ["world", "world", "left", "right"]
    assert [(b.frame, b.mass) for b in flat.bodies] == [("right_tip", 1), ("left_tip", 2), ("world", 5)]
    assert [s.frame for s in flat.shapes] == ["left_tip", "world"]
    assert again(flat) == flat


def test_units_are_si_or_said():
    made = parse_figure(
        """
        figure: units
        frames:
          - rx: hinge
            at: [10 mm, 2.5 cm, 1 m]
            rpy: [90 deg, 0, 180°]
            limits: [-30 deg, 1.5 rad]
            speed: 180 deg/s
            bodies:
              - {mass: 250 g}
            shapes:
              - {sphere: 5 cm}
          - {tz: slide, limits: [0, 20 cm], speed: 5 cm/s, effort: 3 N}
          - {free: loose, start: [1 cm, 0, 0, 90 deg, 0, 0], limits: [[0, 1 m], [0, 1], [0, 1], [0, 90 deg], [0, 1], [0, 1]]}
        """
    )
    hinge, slide = made.frame("hinge"), made.frame("slide")
    assert hinge.position == (0.01, 0.025, 1.0)
    assert hinge.variable.lower == pytest.approx(-math.pi / 6)  # type: ignore[union-attr]
    assert hinge.variable.speed == pytest.approx(math.pi)  # type: ignore[union-attr]
    assert (slide.variable.upper, slide.variable.speed) == (0.2, 0.05)  # type: ignore[union-attr]
    assert made.bodies[0].mass == 0.25
    assert made.shapes[0].geometry.radius == 0.05  # type: ignore[union-attr]
    assert made.start[made.indices(["loose_tx", "loose_rz"])] == pytest.approx([0.01, math.pi / 2])


def test_words_of_a_ball_are_for_all_or_for_each():
    made = parse_figure(
        "figure: b\nframes:\n  - {ball: hip, limits: [-1, 1], damping: [1, 2, 3], kinematic: [false, true, false]}\n"
    )
    found = {v.name: (v.lower, v.damping, v.kinematic) for v in made.variables}
    assert found == {"hip_rz": (-1, 1, False), "hip_rx": (-1, 3, False), "hip_ry": (-1, 2, True)}


def test_a_string_may_be_wound_by_a_drum():
    made = parse_figure(
        "figure: s\nframes: [{rz: drum, kinematic: true}, {tz: load}]\n"
        "strings:\n  - {string: rope, hook: load, spindle: drum, length: 2, variable: drum, ratio: -0.03}\n"
    )
    assert (made.strings[0].length, made.strings[0].variable, made.strings[0].ratio) == (2.0, "drum", -0.03)
    assert not made.lengths


# -- round trips -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", library.names())
def test_figures_of_the_library_come_back_equal(name):
    thing = library.named(name)
    assert again(thing) == thing


def test_a_figure_with_everything_comes_back_equal():
    assert again(RICH) == RICH
    text = figure_yaml(RICH)
    for handy in ("ball: shoulder", "free: torso", "spindle: hand", "to: [0, 0, 0.4], mass: 3", "moves: xyz"):
        assert handy in text
    assert text.index("rod") > text.index("wires:")


def test_a_file_written_by_hand_settles_after_one_round():
    text = figure_yaml(load_figure(HERE / "arm.yaml"))
    assert figure_yaml(parse_figure(text)) == text


def _words() -> st.SearchStrategy[dict[str, Any]]:
    value = st.floats(0.01, 10)
    return st.fixed_dictionaries({}, optional={
        "kinematic": st.booleans(), "start": st.floats(-3, 3), "limits": st.tuples(st.floats(-9, -3), st.floats(3, 9)),
        "speed": value, "effort": value, "stiffness": value, "rest": st.floats(-1, 1), "damping": value, "armature": value,
    })  # fmt: skip


@st.composite
def figures(draw: Any) -> Figure:
    """Trees of all kinds of frames, listed in any order that a tree allows, with parts fixed in them."""
    vector = st.tuples(*[st.floats(-1, 1)] * 3)
    frames: list[str] = ["world"]
    items: list[Any] = []
    for k in range(draw(st.integers(1, 8))):
        parent, name, at = draw(st.sampled_from(frames)), f"f{k}", draw(vector)
        kind = draw(st.sampled_from([fixed, rx, ry, tx, ball, free, spindle, rotate]))
        own = {} if kind is fixed else draw(_words())
        if kind in (ball, free, spindle):
            own.pop("start", None)
        if kind is rotate:
            made: Any = rotate((1, 2, 3), name, at=at, rpy=draw(vector), **own)
        else:
            made = kind(name, at=at, **own)
        items.append(under(parent, made))
        frames += [frame.name for frame in made.frames]
    for _ in range(draw(st.integers(0, 6))):
        part = draw(st.sampled_from([
            sphere(0.1, mass=0.3), body(1.0, (0, 0, 0.1), (0.1, 0.1, 0.1)), capsule(0.02, to=(0.1, 0.2, 0.3), mass=0.1),
            box((0.1, 0.2, 0.3), rpy=(0.1, 0, 0), mass=1.0, name="crate"), cylinder(0.1, 0.2, at=(0, 0, 1), name="can"),
        ]))  # fmt: skip
        items.append(under(draw(st.sampled_from(frames)), part))
    damping = draw(st.sampled_from([None, 0.1]))
    return figure("any", *items, strings=[string("s", frames[-1], "world")], damping=damping)


@settings(max_examples=60)
@given(figures())
def test_any_figure_comes_back_equal(thing):
    assert again(thing) == thing


def test_joints_and_lengths_of_any_name_come_back():
    """As loaders make them: frames are links, variables are joints."""
    axes: tuple[Any, ...] = ((0.0, 0.0, 1.0), (0.0, 1.0, 0.0), (1.0, 0.0, 0.0))
    parents = ("world", "link0", "link1")
    frames = [Frame(f"link{k}", parents[k], variable=Variable(f"j{k}", axis=axis)) for k, axis in enumerate(axes)]
    length = Variable("winch", "length", kinematic=True, start=0.4, effort=30.0)
    thing = Figure(
        "loaded", tuple(frames), groups=(Joint("hip", "ball", ("link0", "link1", "link2")),), lengths=(length,),
        strings=(String("rope", Point("link2"), Point("world"), variable="winch"),),
    )  # fmt: skip
    assert again(thing) == thing
    assert "joints:" in figure_yaml(thing)
    assert "lengths:" in figure_yaml(thing)


def test_long_chains_are_listed_flat():
    thing = library.chain(60)
    assert "parent:" in figure_yaml(thing)
    assert again(thing) == thing
    assert "parent:" not in figure_yaml(library.chain(10))


def test_the_order_of_bodies_is_kept():
    arm = library.named("double_pendulum")
    thing = arm.replace(bodies=arm.bodies[::-1])
    assert again(thing) == thing


# -- files -----------------------------------------------------------------------------------------------------------


def test_save_and_load(tmp_path):
    path = tmp_path / "rich.yaml"
    save_figure(RICH, path)
    assert load_figure(path) == RICH
    bunraku.save(RICH, tmp_path / "again.yml")
    assert bunraku.load(tmp_path / "again.yml") == RICH
    assert {p.name for p in tmp_path.iterdir()} == {"rich.yaml", "again.yml"}


def test_nothing_is_written_when_a_figure_is_too_large(tmp_path):
    path = tmp_path / "chain.yaml"
    path.write_text("what was there")
    with pytest.raises(BunrakuError, match="too large"):
        save_figure(Figure("many", tuple(Frame(f"f{k}") for k in range(5_000))), path)
    assert path.read_text() == "what was there"


def test_meshes_are_named_from_the_folder_of_the_file(tmp_path, monkeypatch):
    (tmp_path / "robot" / "meshes").mkdir(parents=True)
    (tmp_path / "robot" / "meshes" / "arm.stl").write_bytes(b"")
    path = tmp_path / "robot" / "arm.yaml"
    path.write_text("figure: a\nframes:\n  - {fixed: f, shapes: [{mesh: meshes/arm.stl, scale: [1, 1, -1]}]}\n")
    loaded = load_figure(path)
    assert loaded.shapes[0].geometry == Mesh(str(tmp_path / "robot" / "meshes" / "arm.stl"), (1, 1, -1))
    save_figure(loaded, tmp_path / "robot" / "copy.yaml")
    assert "meshes/arm.stl" in (tmp_path / "robot" / "copy.yaml").read_text()
    assert str(tmp_path) not in (tmp_path / "robot" / "copy.yaml").read_text()
    assert load_figure(tmp_path / "robot" / "copy.yaml") == loaded
    # From elsewhere: a path given in full stays, one given from here is rewritten.
    (tmp_path / "other").mkdir()
    save_figure(loaded, tmp_path / "other" / "arm.yaml")
    assert load_figure(tmp_path / "other" / "arm.yaml") == loaded
    monkeypatch.chdir(tmp_path)
    near = load_figure("robot/arm.yaml")
    assert near.shapes[0].geometry.file == str(Path("robot/meshes/arm.stl"))  # type: ignore[union-attr]
    save_figure(near, "other/near.yaml")
    assert "../robot/meshes/arm.stl" in Path("other/near.yaml").read_text()
    (tmp_path / "robot" / "meshes" / "arm.stl").unlink()
    with pytest.raises(FileError, match=r":3:32: the file 'meshes/arm.stl' does not exist"):
        load_figure(path)


def test_errors_name_the_file_and_show_the_line(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text((HERE / "arm.yaml").read_text().replace("hook: wrist", "hook: wirst"))
    with pytest.raises(FileError) as caught:
        load_figure(path)
    line = "  - {string: hand, hook: wirst, spindle: hand_spindle}"
    assert str(caught.value) == (
        f"{path}:18:26: no frame is called 'wirst'\n  18 | {line}\n     | {' ' * 25}^\n  advice: did you mean wrist?"
    )


def test_the_name_of_a_spindle_is_not_that_of_its_frame(tmp_path):
    path = tmp_path / "arm.yaml"
    path.write_text((HERE / "arm.yaml").read_text().replace("spindle: hand_spindle", "spindle: hand"))
    with pytest.raises(FileError, match=r"no frame is called 'hand'[^?]*did you mean hand_spindle\?"):
        load_figure(path)


def test_shapes_that_cannot_be_said_shorter_are_exact():
    shape = Shape("f", Capsule(0.1, 0.3), (0.1, 0.2, 0.3), (0.5, 0.5, -0.5, 0.5))
    other = replace(shape, geometry=Box((1, 2, 3)), collides=False, color=(0, 0, 1))
    thing = Figure("f", (Frame("f"),), shapes=(shape, other))
    assert again(thing) == thing


def _changed(value: Any, field: str) -> Any:
    """Another value that the same field may have, or None where a change needs more than itself."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, float):
        return 7.25 if math.isinf(value) else value + 0.125
    if field in ("rotation", "inertia", "scale"):
        return {"rotation": (0.6, 0.0, 0.8, 0.0), "inertia": (2.0, 2.0, 3.0, 0.0, 0.1, 0.0), "scale": (1.0, 2.0, 1.0)}[field]
    if isinstance(value, tuple) and len(value) == 3 and all(isinstance(x, float) for x in value):
        return (0.25, value[1], value[2])
    return None


MEANINGLESS = {("lengths", "kinematic"), ("lengths", "axis"), ("lengths", "pitch"), ("wires", "ratio")}


def _one_change_each() -> dict[str, Figure]:
    """RICH with every number and flag of one part of each kind changed, one at a time."""
    out: dict[str, Figure] = {"gravity": RICH.replace(gravity=(0.0, 0.25, -9.0))}
    for section in ("bodies", "strings", "wires", "springs", "forces", "contacts", "shapes", "lengths"):
        first, *rest = getattr(RICH, section)
        for field in fields(first):
            if (section, field.name) in MEANINGLESS:
                continue
            if (value := _changed(getattr(first, field.name), field.name)) is not None:
                out[f"{section} {field.name}"] = RICH.replace(**{section: (replace(first, **{field.name: value}), *rest)})
    for k, frame in enumerate(RICH.frames):
        if frame.name not in ("elbow", "lead", "shoulder_rz", "hand_x"):
            continue
        around = RICH.frames[:k], RICH.frames[k + 1 :]
        moved = {name: replace(frame, **{name: _changed(getattr(frame, name), name)}) for name in ("position", "rotation")}
        for field in fields(Variable):
            if field.name != "axis" and (value := _changed(getattr(frame.variable, field.name), field.name)) is not None:
                moved[field.name] = replace(frame, variable=replace(frame.variable, **{field.name: value}))  # type: ignore[type-var]
        for name, other in moved.items():
            if not (name == "kinematic" and frame.name == "elbow") and (name != "pitch" or frame.name == "lead"):
                out[f"{frame.name} {name}"] = RICH.replace(frames=(*around[0], other, *around[1]))
    return out


CHANGED = _one_change_each()


@pytest.mark.parametrize("change", CHANGED)
def test_every_field_comes_back(change):
    """A field that files forget would make this fail."""
    assert CHANGED[change] != RICH
    assert again(CHANGED[change]) == CHANGED[change]


def test_the_changes_cover_every_part():
    assert len(CHANGED) > 60
    assert {"shapes visible", "shapes collides", "bodies inertia", "elbow armature", "strings length"} <= set(CHANGED)


@pytest.mark.parametrize("kind", WAYS)
def test_pulleys_drums_and_branches_are_kept(kind: str) -> None:
    figure = strung(kind)
    assert figure_file.parse_figure(figure_file.figure_yaml(figure)) == figure


def test_a_pulley_in_words() -> None:
    text = """
    figure: crane
    frames:
      - tz: load
        at: [0, 0, 0]
      - ry: winch
        kinematic: true
    strings:
      - string: rope
        hook: load
        through:
          - pulley: [world, [0.5, 0, 1]]
            radius: 10 cm
            axis: y
            turn: 1
        spindle: {drum: [world, [1, 0, 0.5]], radius: 5 cm, axis: y, towards: [-1, 0, 1]}
        variable: winch
        length: 2
    """
    string = figure_file.parse_figure(textwrap.dedent(text)).strings[0]
    assert string.eyelets == (Pulley("world", (0.5, 0.0, 1.0), 0.1, (0.0, 1.0, 0.0), turn=1),)
    assert isinstance(string.spindle, Drum)
    assert string.wound(2.0) == pytest.approx(2.1)
    with pytest.raises(FileError, match=r"a radius of -0\.1 m"):
        figure_file.parse_figure(textwrap.dedent(text).replace("radius: 10 cm", "radius: -10 cm"))


# -- total mass, and figures inside orders ----------------------------------------------------------------------------

HEAVY = (
    "figure: f\nmass: {}\nframes:\n"
    "  - {{rx: a, bodies: [{{mass: 1, com: [0, 0, -1], inertia: [2, 3, 4]}}, {{mass: 3, name: b}}]}}\n"
)


def test_the_total_mass_scales_all_bodies() -> None:
    found = parse_figure(HEAVY.format("500 g"))
    assert [one.mass for one in found.bodies] == pytest.approx([0.125, 0.375])
    assert found.bodies[0].inertia[:3] == pytest.approx((0.25, 0.375, 0.5))
    assert found.bodies[0].com == (0, 0, -1)


@pytest.mark.parametrize(("mass", "told"), [("0", "not more than zero"), ("-1", "not more than zero"), ("2 m", "expected a mass")])
def test_masses_that_are_none(mass: str, told: str) -> None:
    with pytest.raises(FileError, match=told) as error:
        parse_figure(HEAVY.format(mass))
    assert error.value.line == 2


def test_nothing_to_scale() -> None:
    with pytest.raises(FileError, match="no mass to scale"):
        parse_figure("figure: f\nmass: 1\nframes: [{fixed: a}]\n")


def test_a_figure_inside_an_order(tmp_path: Path) -> None:
    inner = textwrap.indent(HEAVY.format("4 kg"), "  ")
    (tmp_path / "order.yaml").write_text(f"simulate:\n{inner}duration: 10 ms\n")
    assert bunraku.load(tmp_path / "order.yaml").figure == parse_figure(HEAVY.format("4 kg"))
    (tmp_path / "order.yaml").write_text(f"simulate:\n{inner.replace('rx', 'rxx')}duration: 10 ms\n")
    with pytest.raises(FileError, match=r"order.yaml:5"):
        bunraku.load(tmp_path / "order.yaml")
