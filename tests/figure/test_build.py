from __future__ import annotations

import math
import re

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.errors import FigureError
from bunraku.figure import Capsule, Wire, build, plain_kinematics
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
    mesh,
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
    ty,
    tz,
    under,
    wire,
)
from bunraku.figure.mass import inertia_matrix
from bunraku.spatial import so3

VECTOR = st.tuples(*[st.floats(-2, 2)] * 3)


def test_nesting_makes_the_tree() -> None:
    tree = figure("t", fixed("a", fixed("b", fixed("c")), fixed("d")), fixed("e"))
    assert [(f.name, f.parent) for f in tree.frames] == [
        ("a", "world"), ("b", "a"), ("c", "b"), ("d", "a"), ("e", "world"),
    ]  # fmt: skip


def test_items_may_be_listed_beside_their_parents() -> None:
    nested = figure("t", fixed("a", fixed("b", sphere(0.1, mass=1.0))))
    listed = figure("t", fixed("a"), under("a", fixed("b")), under("b", sphere(0.1, mass=1.0)))
    assert listed == nested


@pytest.mark.parametrize(
    ("node", "axis", "motion"),
    [
        (rx, "x", "rotate"),
        (ry, "y", "rotate"),
        (rz, "z", "rotate"),
        (tx, "x", "translate"),
        (ty, "y", "translate"),
        (tz, "z", "translate"),
    ],
)
def test_shorthands(node: object, axis: str, motion: str) -> None:
    short = figure("f", node("v", at=(1, 2, 3), start=0.3, limits=(-1, 1)))  # type: ignore[operator]
    general = {"rotate": rotate, "translate": translate}[motion]
    assert short == figure("f", general(axis, "v", at=(1, 2, 3), start=0.3, limits=(-1, 1)))
    variable = short.frames[0].variable
    assert variable is not None
    assert (variable.motion, variable.axis, variable.lower) == (motion, tuple(float(c == axis) for c in "xyz"), -1.0)


def test_a_variable_may_have_a_name_of_its_own() -> None:
    elbow = figure("f", rx("forearm", variable="elbow"))
    assert elbow.names == ("elbow",)
    assert elbow.frames[0].name == "forearm"


@given(st.floats(-3, 3), VECTOR.filter(lambda v: np.linalg.norm(v) > 0.1))
def test_a_screw_turns_and_advances(angle: float, axis: tuple) -> None:
    X = plain_kinematics.poses(figure("f", screw(axis, 0.25, "v")).frames, {"v": angle})["v"]
    unit = np.array(axis) / np.linalg.norm(axis)
    np.testing.assert_allclose(X[:3, 3], 0.25 * angle * unit, atol=1e-12)
    np.testing.assert_allclose(X[:3, :3], so3.exp(angle * unit), atol=1e-12)


@given(VECTOR, VECTOR, VECTOR)
def test_free_and_ball_joints(place: tuple, angles: tuple, inner: tuple) -> None:
    hip = ball("hip", at=(0, 0, 1), rpy=(0.1, 0.2, 0.3), start=inner)
    puppet = figure("p", free("torso", hip, at=(0, 0, 2), start=(*place, *angles)))
    assert puppet.names[:6] == ("torso_tx", "torso_ty", "torso_tz", "torso_rz", "torso_ry", "torso_rx")
    assert puppet.names[6:] == ("hip_rz", "hip_ry", "hip_rx")
    assert [(j.name, j.kind) for j in puppet.joints] == [("torso", "free"), ("hip", "ball")]
    X = plain_kinematics.poses(puppet.frames)
    np.testing.assert_allclose(X["torso"][:3, 3], np.add(place, (0, 0, 2)), atol=1e-12)
    np.testing.assert_allclose(X["torso"][:3, :3], so3.rpy(*angles[::-1]), atol=1e-12)
    turned = so3.rpy(0.1, 0.2, 0.3) @ so3.rpy(*inner[::-1])
    np.testing.assert_allclose(X["torso"][:3, :3].T @ X["hip"][:3, :3], turned, atol=1e-12)


def test_words_of_a_ball_may_be_lists() -> None:
    hip = figure("f", ball("hip", limits=((-1, 1), (-2, 2), (-3, 3)), damping=0.5, speed=(1, 2, 3)))
    assert [(v.upper, v.damping, v.speed) for v in hip.variables] == [(1, 0.5, 1), (2, 0.5, 2), (3, 0.5, 3)]
    same = figure("f", ball("hip", limits=(-1, 1)))
    assert {v.upper for v in same.variables} == {1.0}


def test_a_spindle_moves_along_its_axes_from_its_place() -> None:
    free_one, still = spindle("b", at=(1, 2, 3), moves="xyz"), spindle("c", at=(1, 2, 3), moves="")
    stage = figure("f", spindle("a", at=(0.1, 0.2, 2.0)), free_one, still)
    assert stage.kinematic == ("a_x", "a_y", "b_x", "b_y", "b_z")
    X = plain_kinematics.poses(stage.frames)
    for name, place in (("a", (0.1, 0.2, 2.0)), ("b", (1, 2, 3)), ("c", (1, 2, 3))):
        np.testing.assert_allclose(X[f"{name}_spindle"][:3, 3], place)


def test_strings_get_their_lengths() -> None:
    rig = figure(
        "f", tx("drum", kinematic=True, start=0.5), fixed("hook", at=(3, 0, 0)), fixed("ring", at=(3, 4, 0)),
        strings=[
            string("taut", "hook", ("world", (0, 4, 0))),
            string("through", "hook", ("world", (0, 4, 0)), through=["ring"]),
            string("given", "hook", "world", start=9.0),
            string("constant", "hook", "world", 7.0),
            string("wound", "hook", "world", 4.0, variable="drum", ratio=-2.0),
            wire("rigid", "hook", "world", 3.0),
        ],
    )  # fmt: skip
    start = dict(zip(rig.names, rig.start, strict=True))
    assert start == {"drum": 0.5, "taut_length": 5.0, "through_length": 7.0, "given_length": 9.0}
    assert [s.name for s in rig.strings] == ["taut", "through", "given", "constant", "wound"]
    assert isinstance(rig.wires[0], Wire)
    assert not rig.wires[0].pulls_only
    wound = rig.strings[4]
    assert (wound.length, wound.variable, wound.ratio) == (4.0, "drum", -2.0)


def test_what_joins_frames() -> None:
    rig = figure(
        "f", rx("a"), fixed("b"),
        springs=[spring("s", "a", ("b", (0, 0, 1)), 2.0, 0.5, 0.1)],
        forces=[effort("a"), push("wind", "a", (1, 0, 0), turns=True)],
        contacts=[contact("c", ("a", (0, 0, -1)), friction=0.4)],
        closures=[closure("l", "a", "b", "hinge")],
    )  # fmt: skip
    assert rig.springs[0].b.position == (0.0, 0.0, 1.0)
    assert [f.name for f in rig.forces] == ["a_effort", "wind"]
    assert rig.contacts[0].plane.frame == "world"
    assert rig.closures[0].kind == "hinge"


def test_damping_for_all_but_those_with_their_own() -> None:
    rig = figure("f", rx("a"), rx("b", damping=3.0), spindle("c"), damping=0.5)
    assert {v.name: v.damping for v in rig.variables} == {"a": 0.5, "b": 3.0, "c_x": 0.0, "c_y": 0.0}


@given(VECTOR, VECTOR, st.floats(0.05, 1.0), st.floats(0.1, 3.0))
def test_a_shape_with_mass_is_a_body_along_it(start: tuple, to: tuple, radius: float, mass: float) -> None:
    a, b = np.array(start), np.array(to)
    length = float(np.linalg.norm(b - a))
    if length < 1e-3:
        return
    rod = figure("f", fixed("rod", capsule(radius, start=start, to=to, mass=mass, name="limb")))
    shape, limb = rod.shapes[0], rod.bodies[0]
    along = so3.matrix(shape.rotation) @ [0, 0, 1]
    np.testing.assert_allclose(along, (b - a) / length, atol=1e-9)
    np.testing.assert_allclose(limb.com, (a + b) / 2, atol=1e-12)
    assert (limb.mass, limb.name, limb.frame) == (mass, "limb", "rod")
    axial = Capsule(radius, length).unit_inertia()[2]
    assert along @ inertia_matrix(limb.inertia) @ along == pytest.approx(mass * axial)
    assert np.trace(inertia_matrix(limb.inertia)) == pytest.approx(mass * sum(Capsule(radius, length).unit_inertia()[:3]))


def test_shapes_take_the_name_and_place_they_are_given() -> None:
    rig = figure(
        "f",
        fixed("a", box((1, 2, 3), at=(1, 0, 0), rpy=(0, 0, math.pi / 2), color=(1, 0, 0), collides=False),
              cylinder(0.1, 0.5, name="pin"), mesh("hull.stl", (2, 2, 2))),
    )  # fmt: skip
    crate, pin, hull = rig.shapes
    assert (crate.name, crate.frame, crate.position, crate.collides) == ("a", "a", (1.0, 0.0, 0.0), False)
    np.testing.assert_allclose(so3.matrix(crate.rotation) @ [1, 0, 0], [0, 1, 0], atol=1e-12)
    assert pin.name == "pin"
    assert hull.geometry.scale == (2.0, 2.0, 2.0)  # type: ignore[union-attr]
    assert not rig.bodies


def test_a_mesh_takes_no_mass() -> None:
    with pytest.raises(FigureError, match=r"mass: a mesh has no mass of its own\n  advice: put body\("):
        mesh("hull.stl", mass=1.0)


def test_bodies() -> None:
    extra = body(1.0, inertia=(1, 1, 1, 0.1, 0.2, 0.3), name="extra")
    rig = figure("f", fixed("a", body(2.0, (0, 0, 1), (1, 2, 2.5)), extra))
    assert rig.bodies[0].inertia == (1.0, 2.0, 2.5, 0.0, 0.0, 0.0)
    assert [b.name for b in rig.bodies] == ["a", "extra"]


def test_a_chain_of_thousands_is_no_matter() -> None:
    node = fixed("end")
    for k in range(3000):
        node = rx(f"j{k}", node)
    assert figure("long", node).n_q == 3000


def test_bad_trees_are_refused_by_the_figure() -> None:
    with pytest.raises(FigureError, match="frame 'a': the name is taken"):
        figure("f", fixed("a"), fixed("a"))
    with pytest.raises(FigureError, match="no frame is called 'nowhere'"):
        figure("f", under("nowhere", fixed("a")), strings=[string("s", "a", "world")])
    with pytest.raises(FigureError, match="string 's': hook: no frame is called 'b'"):
        figure("f", fixed("a"), strings=[string("s", "b", "world")])


def test_the_example_in_the_module_runs() -> None:
    example = re.search(r"\n    (from .*?\n    \))", build.__doc__ or "", re.DOTALL)
    assert example is not None
    code = "\n".join(line.removeprefix("    ") for line in example[1].splitlines())
    space: dict[str, object] = {}
    exec(code.replace("figure(\n", "made = figure(\n", 1), space)
    assert repr(space["made"]).startswith("<Figure arm: 4 dynamic + 3 kinematic variables")
