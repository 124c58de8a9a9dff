from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.figure import Figure, library, plain_kinematics
from bunraku.figure.build import (
    FrameNode,
    ball,
    body,
    closure,
    contact,
    effort,
    figure,
    fixed,
    free,
    push,
    rotate,
    rx,
    screw,
    spindle,
    spring,
    string,
    translate,
    wire,
)
from bunraku.figure.compiled import Compiled
from bunraku.figure.mass import inertia_matrix
from bunraku.figure.records import LinkKind
from bunraku.spatial import se3, so3

ALL = pytest.mark.parametrize("name", library.names())
VECTOR = st.tuples(*[st.floats(-1, 1)] * 3)
AXIS = st.one_of(st.sampled_from("xyz"), VECTOR.filter(lambda v: np.linalg.norm(v) > 0.1))


def joint_poses(compiled: Compiled, q: np.ndarray) -> list[np.ndarray]:
    """X_W of every joint, straight from the arrays: its constant place, then its turn about or slide along an own axis."""
    X_W: list[np.ndarray] = []
    for joint in compiled.tree.joints:
        X = se3.pose(joint["position"], joint["rotation"])
        kind, value = int(joint["kind"]), float(q[joint["variable"]])
        if kind < 3:
            own = se3.pose(joint["pitch"] * value * np.eye(3)[kind], so3.about(kind, value))
        else:
            own = se3.pose(value * np.eye(3)[kind - 3])
        parent = int(joint["parent"])
        X_W.append((X_W[parent] if parent >= 0 else np.eye(4)) @ X @ own)
    return X_W


def frame_poses(figure: Figure, q: np.ndarray) -> list[np.ndarray]:
    compiled = figure.compiled
    X_W = joint_poses(compiled, q)
    return [(X_W[j] if j >= 0 else np.eye(4)) @ X for j, X in zip(compiled.frame_joint, compiled.frame_X, strict=True)]


@st.composite
def trees(draw: st.DrawFn) -> Figure:
    """Any mixture of frames, with bodies anywhere."""
    n = draw(st.integers(1, 7))
    nodes: list[FrameNode] = []
    for k in range(n):
        inside = [body(draw(st.floats(0, 3)), draw(VECTOR), (0.3, 0.4, 0.5))] if draw(st.booleans()) else []
        below = [nodes.pop() for _ in range(min(draw(st.integers(0, 2)), len(nodes)))]
        place = {"at": draw(VECTOR), "rpy": draw(VECTOR)}
        kinematic = {"kinematic": draw(st.booleans())}
        items = (*inside, *below)
        match draw(st.integers(0, 5)):
            case 0:
                node = fixed(f"f{k}", *items, **place)
            case 1:
                node = rotate(draw(AXIS), f"f{k}", *items, **place, **kinematic)
            case 2:
                node = translate(draw(AXIS), f"f{k}", *items, **place, **kinematic)
            case 3:
                node = screw(draw(AXIS), draw(st.floats(-1, 1)), f"f{k}", *items, **place, **kinematic)
            case 4:
                node = ball(f"f{k}", *items, **place)
            case _:
                node = free(f"f{k}", *items, **place)
        nodes.append(node)
    return figure("tree", *nodes)


@given(trees(), st.integers(0, 2**32 - 1))
def test_frames_are_where_the_plain_twin_puts_them(tree: Figure, seed: int) -> None:
    q = np.random.default_rng(seed).uniform(-2, 2, tree.n_q)
    expected = plain_kinematics.poses(tree.frames, dict(zip(tree.names, q, strict=True)))
    for frame, X in zip(tree.frames, frame_poses(tree, q), strict=True):
        np.testing.assert_allclose(X, expected[frame.name], atol=1e-11)


@ALL
def test_frames_of_the_library(name: str) -> None:
    thing = library.named(name)
    rng = np.random.default_rng(5)
    for _ in range(3):
        q = rng.uniform(-2, 2, thing.n_q)
        expected = plain_kinematics.poses(thing.frames, dict(zip(thing.names, q, strict=True)))
        for frame, X in zip(thing.frames, frame_poses(thing, q), strict=True):
            np.testing.assert_allclose(X, expected[frame.name], atol=1e-11)


def about_origin(mass: float, com: np.ndarray, inertia: np.ndarray) -> np.ndarray:
    """Mass, first moment and inertia about the world's origin: these add."""
    return np.array([mass, *(mass * com), *(inertia + mass * (com @ com * np.eye(3) - np.outer(com, com))).reshape(-1)])


@settings(max_examples=50)
@given(trees(), st.integers(0, 2**32 - 1))
def test_bodies_on_one_joint_are_one_body(tree: Figure, seed: int) -> None:
    """Steiner's theorem: whatever was folded, the whole has the same mass, centre and inertia."""
    q = np.random.default_rng(seed).uniform(-2, 2, tree.n_q)
    X_frames = dict(zip((f.name for f in tree.frames), frame_poses(tree, q), strict=True))
    carried = {f.name: int(j) for f, j in zip(tree.frames, tree.compiled.frame_joint, strict=True)}
    expected = np.zeros(13)
    for part in tree.bodies:
        if carried[part.frame] >= 0:  # what is fixed in the world never moves
            X = X_frames[part.frame]
            R = X[:3, :3]
            expected += about_origin(part.mass, se3.transform(X, part.com), R @ inertia_matrix(part.inertia) @ R.T)
    found = np.zeros(13)
    for joint, X in zip(tree.compiled.tree.joints, joint_poses(tree.compiled, q), strict=True):
        xx, xy, xz, yy, yz, zz = joint["inertia"]
        I = X[:3, :3] @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ X[:3, :3].T
        found += about_origin(float(joint["mass"]), se3.transform(X, joint["com"]), I)
    np.testing.assert_allclose(found, expected, atol=1e-9)


@given(trees())
def test_parents_come_first_and_those_with_mass_before_those_without(tree: Figure) -> None:
    joints, chain = tree.compiled.tree.joints, tree.compiled.tree.chain
    n_massive = tree.compiled.tree.n_massive
    heavy = {j for j, joint in enumerate(joints) if joint["mass"] > 0 or np.any(joint["inertia"])}
    for j, joint in enumerate(joints):
        assert joint["parent"] < j
        row = chain[j, 1 : 1 + chain[j, 0]].tolist()
        assert row[0] == j
        assert all(joints["parent"][a] == b for a, b in zip(row, [*row[1:], -1], strict=True))
        assert (j < n_massive) == any(j in chain[k, 1 : 1 + chain[k, 0]] for k in heavy)


def gap(compiled: Compiled, k: int, q: np.ndarray) -> float:
    """Distance − length of a string; how far a point is through its plane; from the arrays."""
    tree, link = compiled.tree, compiled.tree.links[k]
    X_W = joint_poses(compiled, q)

    def place(p: np.void) -> np.ndarray:
        X = X_W[p["joint"]] if p["joint"] >= 0 else np.eye(4)
        return X[:3, :3] @ p["position"] + p["is_point"] * X[:3, 3]

    places = [place(tree.points[link["first"] + i]) for i in range(link["count"])]
    if link["kind"] == LinkKind.LENGTH:
        wound = link["length"] + (link["ratio"] * q[link["variable"]] if link["variable"] >= 0 else 0.0)
        way = float(np.linalg.norm(np.diff(places, axis=0), axis=1).sum()) if places else 0.0
        return way - float(wound)
    return float((places[0] - places[1]) @ places[2])


@pytest.fixture(scope="module")
def rig() -> Figure:
    """One of each link."""
    return figure(
        "rig",
        free("crate", body(2.0, inertia=(1, 1, 1)), fixed("corner", at=(0.5, 0.5, -0.5)),
             fixed("lid", at=(0, 0, 0.5), rpy=(0, 0.3, 0))),
        rx("arm", body(1.0, (0, 0, -1)), fixed("tip", at=(0, 0, -1)), limits=(-2.0, 1.0), armature=0.1),
        spindle("top", at=(0, 0, 2)),
        strings=[
            string("rope", "tip", "top_spindle", through=[("crate", (0, 0, 0.5))]),
            string("drum", "corner", "world", 3.0, variable="top_x", ratio=0.5),
            wire("stay", "corner", "world", 1.0),
        ],
        springs=[spring("coil", "tip", "corner", 5.0, 0.2, 0.1)],
        forces=[effort("arm", gain=2.0), push("wind", "tip", (0, 1, 0)), push("jet", "lid", (1, 0, 0), turns=True)],
        contacts=[contact("floor", "corner", friction=0.5), contact("wall", "tip", ("world", (0, 3, 0)), (0, -1, 0))],
        closures=[closure("pin", "tip", "lid"), closure("hinge", "tip", "corner", "hinge"),
                  closure("weld", "arm", "lid", "weld"), closure("slot", "tip", "lid", "plane")],
    )  # fmt: skip


def test_links_in_their_order(rig: Figure) -> None:
    assert rig.compiled.link_names == (
        "rope", "drum", "stay", "floor", "floor.slip1", "floor.slip2", "wall", "pin.x", "pin.y", "pin.z",
        "hinge.x", "hinge.y", "hinge.z", "hinge.z⊥x", "hinge.z⊥y", "weld.x", "weld.y", "weld.z", "weld.x⊥y", "weld.y⊥z",
        "weld.z⊥x", "slot.z", "arm.upper", "arm.lower",
    )  # fmt: skip
    links = dict(zip(rig.compiled.link_names, rig.compiled.tree.links, strict=True))
    kinds = {
        "rope": (LinkKind.LENGTH, 1),
        "stay": (LinkKind.LENGTH, 0),
        "floor": (LinkKind.PLANE, 1),
        "floor.slip1": (LinkKind.SLIP, 0),
        "pin.x": (LinkKind.PLANE, 0),
    }
    assert {name: (links[name]["kind"], links[name]["pulls"]) for name in kinds} == kinds
    assert int(links["floor.slip2"]["normal"]) == rig.compiled.link_names.index("floor")
    assert float(links["floor.slip2"]["friction"]) == 0.5


@given(seed=st.integers(0, 2**32 - 1))
def test_gaps_of_strings_contacts_and_stops(rig: Figure, seed: int) -> None:
    q = np.random.default_rng(seed).uniform(-1, 1, rig.n_q)
    X = plain_kinematics.poses(rig.frames, dict(zip(rig.names, q, strict=True)))
    value = {name: gap(rig.compiled, k, q) for k, name in enumerate(rig.compiled.link_names)}
    at = dict(zip(rig.names, q, strict=True))
    assert value["rope"] == pytest.approx(plain_kinematics.path_length(X, rig.strings[0]) - at["rope_length"])
    assert value["drum"] == pytest.approx(plain_kinematics.path_length(X, rig.strings[1]) - 3.0 - 0.5 * at["top_x"])
    assert value["stay"] == pytest.approx(plain_kinematics.path_length(X, rig.wires[0]) - 1.0)
    assert value["floor"] == pytest.approx(-X["corner"][2, 3])  # open above the floor
    assert value["wall"] == pytest.approx(X["tip"][1, 3] - 3.0)
    assert value["arm.upper"] == pytest.approx(at["arm"] - 1.0)
    assert value["arm.lower"] == pytest.approx(-2.0 - at["arm"])
    apart = X["tip"][:3, 3] - X["lid"][:3, 3]
    np.testing.assert_allclose([value[f"pin.{a}"] for a in "xyz"], X["lid"][:3, :3].T @ apart, atol=1e-12)
    assert value["slot.z"] == pytest.approx(value["pin.z"])
    assert value["hinge.z⊥x"] == pytest.approx(X["tip"][:3, 2] @ X["corner"][:3, 0])
    assert value["weld.y⊥z"] == pytest.approx(X["arm"][:3, 1] @ X["lid"][:3, 2])
    slips = [value["floor.slip1"], value["floor.slip2"]]
    assert np.hypot(*slips) == pytest.approx(np.linalg.norm(X["corner"][:2, 3]))


def test_support_is_every_joint_that_moves_a_link(rig: Figure) -> None:
    """What is not listed does not move the gap."""
    tree = rig.compiled.tree
    q = np.random.default_rng(2).uniform(-1, 1, rig.n_q)
    for k in range(len(tree.links)):
        listed = {int(tree.joints["variable"][j]) for j in tree.support[k, 1 : 1 + tree.support[k, 0]]}
        listed |= {int(tree.links["variable"][k])} - {-1}
        here = gap(rig.compiled, k, q)
        steps = 0.1 * np.eye(rig.n_q)
        moving = {i for i, step in enumerate(steps) if abs(gap(rig.compiled, k, q + step) - here) > 1e-9}
        assert moving <= listed


def test_forces_and_springs(rig: Figure) -> None:
    tree = rig.compiled.tree
    motor, wind, jet = tree.forces
    assert rig.compiled.joint_frame[motor["joint"]] == "arm"
    assert (motor["gain"], motor["link"]) == (2.0, -1)
    assert (wind["joint"], wind["turns"], jet["turns"]) == (-1, 0, 1)
    direction = tree.points[tree.springs[jet["link"]]["first"] + 2]
    np.testing.assert_allclose(direction["position"], so3.rpy(0, 0.3, 0) @ [1, 0, 0], atol=1e-12)  # in the crate's axes
    coil = tree.springs[0]
    assert (coil["stiffness"], coil["length"], coil["damping"]) == (5.0, 0.2, 0.1)


def test_variables_keep_their_numbers(rig: Figure) -> None:
    compiled = rig.compiled
    tree = compiled.tree
    assert (tree.n_dynamic, tree.n_q, tree.n_massive, tree.n_links) == (7, 10, 7, len(compiled.link_names))
    arm = compiled.tree.joints[compiled.joint_frame.index("arm")]
    assert arm["armature"] == 0.1
    assert arm["variable"] == rig.index("arm")
    assert [compiled.joint_frame[j] for j in compiled.tree.balls] == ["crate_rz"]


@ALL
def test_elimination_leaves_no_surprise(name: str) -> None:
    """Eliminating from the last variable to the first, every pair that meets is already listed: no fill-in."""
    tree = library.named(name).compiled.tree
    n = tree.n_dynamic
    rows = [set(tree.elimination[d, 1 : 1 + tree.elimination[d, 0]].tolist()) for d in range(n)]
    for d, row in enumerate(rows):
        assert all(k < d or k >= n for k in row)
        for a in row:
            if a < n:
                assert {b for b in row if b < a or b >= n} <= rows[a] | {a}


def test_a_figure_is_compiled_once() -> None:
    arm = library.arm3d()
    assert arm.compiled is arm.compiled
