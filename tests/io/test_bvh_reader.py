from __future__ import annotations

import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import Figure, library
from bunraku.figure.build import ball, capsule, figure, fixed, free, rotate, rx, ry, screw, spindle, string, tx
from bunraku.io.bvh.bvh_reader import BVH_UNITS, load_bvh, parse_bvh, save_bvh
from bunraku.kinematics import frames_along
from bunraku.motion import Motion, Track
from bunraku.spatial import so3

HERE = Path(__file__).parent / "bvh"
CLIPS = sorted(Path(os.environ.get("MOCAP_CLIPS", HERE / "none")).glob("*.bvh"))  # real ones, where there are any
Y_UP = so3.about(0, np.pi / 2)


def positions(motion: Motion) -> dict[str, Any]:
    """Where every frame is, over time."""
    X = frames_along(motion.figure, motion.q)
    return {frame.name: X[:, k, :3, 3] for k, frame in enumerate(motion.figure.frames)}


def plain_positions(path: Path, scale: float) -> dict[str, Any]:
    """The same by the book: offset, translation, then rotations in the order of the channels."""
    clip = parse_bvh(path, path.read_bytes())
    out: dict[str, list[Any]] = {}
    for row in clip.values:
        left = list(row)
        X: list[Any] = []
        for node in clip.nodes:
            own = [left.pop(0) for _ in node.channels]
            R, p = np.eye(3), np.array(node.offset)
            for channel, value in zip(node.channels, own, strict=True):
                axis = "XYZ".index(channel[0])
                if channel.endswith("position"):
                    p[axis] = value
                else:
                    R = R @ so3.about(axis, np.radians(value))
            R_P, p_P = X[node.parent] if node.parent >= 0 else (Y_UP, np.zeros(3))
            X.append((R_P @ R, p_P + R_P @ p))
            out.setdefault(node.name, []).append(X[-1][1] * scale)
            for end in node.ends:
                out.setdefault(f"{node.name}_end", []).append((X[-1][1] + X[-1][0] @ end) * scale)
    return {name: np.array(points) for name, points in out.items()}


# -- reading ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["mixamo", "odd", "positions"])
def test_every_joint_is_where_the_file_says(name: str) -> None:
    path = HERE / f"{name}.bvh"
    motion = load_bvh(path, scale=0.01)
    want, got = plain_positions(path, 0.01), positions(motion)
    assert set(want) <= set(got)
    for joint, points in want.items():
        assert np.allclose(got[joint], points, atol=1e-12), joint


def test_mixamo() -> None:
    motion = load_bvh(HERE / "mixamo.bvh")
    assert motion.names == ("mixamo",)
    assert motion.t.tolist() == pytest.approx([0, 0.033333, 0.066666])
    assert motion.figure.names[:6] == tuple(f"mixamorig:Hips_{x}" for x in ("tx", "ty", "tz", "rz", "rx", "ry"))
    head = positions(motion)["mixamorig:Head_end"]
    assert np.all((head[:, 2] > 1.6) & (head[:, 2] < 1.8))  # centimetres were guessed, and z is up
    assert motion.orientation("mixamorig:LeftLeg").shape == (3, 4)


def test_odd_whitespace() -> None:
    motion = load_bvh(HERE / "odd.bvh", scale=1.0)
    assert motion.figure.names == (*(f"Left Hip_{x}" for x in ("tx", "ty", "tz", "ry", "rx", "rz")), "Knee_rx")
    turned = np.radians([[4, 5, 6, 7], [4, 0.5, 60, -7]])
    assert np.allclose(motion.q, np.hstack([[[1, 2, 3], [1.5, -2, 3]], turned]))
    assert motion.t[1] == 0.033333


def test_zyx_makes_ball_and_free_joints(tmp_path: Path) -> None:
    path = tmp_path / "a.bvh"
    path.write_text(
        "HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation\n"
        "JOINT b\n{\nOFFSET 0 1 0\nCHANNELS 3 Zrotation Yrotation Xrotation\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n"
        "1 2 3 4 5 6 7 8 9\n"
    )
    motion = load_bvh(path)
    assert [(joint.name, joint.kind) for joint in motion.figure.groups] == [("a", "free"), ("b", "ball")]


def test_rest_is_the_offsets() -> None:
    motion = load_bvh(HERE / "positions.bvh", scale=0.01)
    rest = positions(motion.replace(t=[0.0], tracks=(Track(motion.figure, motion.figure.start[None]),)))
    assert np.allclose(rest["Chest"], [0, 0, 1.25])
    assert np.allclose(rest["LeftHand_end"], [0.8, 0, 1.45])


def test_positions_may_be_added_to_the_offset(tmp_path: Path) -> None:
    path = tmp_path / "added.bvh"
    path.write_text(
        "HIERARCHY\nROOT a\n{\nCHANNELS 1 Xrotation\nJOINT b\n{\nOFFSET 0 50 0\n"
        "CHANNELS 3 Xposition Yposition Zposition\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n0 1 -2 0\n"
    )
    assert np.allclose(positions(load_bvh(path, scale=0.01))["b"], [0.01, 0, 0.48])


def test_z_up_and_scale() -> None:
    y_up, z_up = (positions(load_bvh(HERE / "mixamo.bvh", scale=1.0, up=up)) for up in "yz")
    for name, points in z_up.items():
        assert np.allclose(y_up[name], points @ Y_UP.T)
    metres = positions(load_bvh(HERE / "mixamo.bvh", scale=0.01))
    assert np.allclose(metres["mixamorig:Head"], 0.01 * y_up["mixamorig:Head"])


def test_no_samples_is_the_rest(tmp_path: Path) -> None:
    path = tmp_path / "rest.bvh"
    path.write_text("HIERARCHY\nROOT a\n{\nOFFSET 0 0 0\nCHANNELS 1 Xrotation\n}\nMOTION\nFrames: 0\nFrame Time: 0.1\n")
    assert load_bvh(path).q.tolist() == [[0.0]]


def test_names_used_twice_get_a_number(tmp_path: Path) -> None:
    path = tmp_path / "twice.bvh"
    path.write_text(
        "HIERARCHY\nROOT world\n{\nCHANNELS 1 Xrotation\nJOINT a\n{\nCHANNELS 1 Xrotation\n}\nJOINT a\n{\n"
        "CHANNELS 1 Xrotation\n}\n}\nMOTION\nFrames: 1\nFrame Time: 0.1\n1 2 3\n"
    )
    with pytest.warns(BunrakuWarning, match="a is called a_2"):
        motion = load_bvh(path)
    assert motion.figure.names == ("world_2_rx", "a_rx", "a_2_rx")


# -- what is wrong with it -------------------------------------------------------------------------------------

HEAD = "HIERARCHY\nROOT a\n{\n\tOFFSET 0 1 0\n\tCHANNELS 3 Zrotation Xrotation Yrotation\n}\nMOTION\n"


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the file ends before HIERARCHY"),
        ("solid cube\n", 1, 1, "expected HIERARCHY, got 'solid'"),
        ("HIERARCHY\nMOTION\n", 2, 1, "expected ROOT, got 'MOTION'"),
        ("HIERARCHY\nROOT\n{\n", 2, 5, "without a name"),
        ("HIERARCHY\nROOT a\nOFFSET 0 0 0\n", 3, 1, "expected {, got 'OFFSET'"),
        ("HIERARCHY\nROOT a {\n  OFFSET 0 zero 0\n", 3, 12, "'zero' is not a number"),
        ("HIERARCHY\nROOT a {\n  OFFSET 0 1e999 0\n", 3, 12, "out of range"),
        ("HIERARCHY\nROOT a {\n  CHANNELS 9 Xrotation\n", 3, 12, "9 channels"),
        ("HIERARCHY\nROOT a {\n  CHANNELS 2 Xrotation\n}", 4, 1, "CHANNELS says 2"),
        ("HIERARCHY\nROOT a {\n  CHANNELS 2 Xrotation Wrotation\n}", 3, 24, "no such channel"),
        ("HIERARCHY\nROOT a {\n  CHANNELS 2 Xrotation Xrotation\n}", 3, 24, "Xrotation twice"),
        ("HIERARCHY\nROOT a {\n  CHANNEL 2\n}", 3, 3, "'CHANNEL' inside a"),
        ("HIERARCHY\nROOT a {\n End Site {\n  CHANNELS 0 }\n}", 4, 3, "expected }, got 'CHANNELS'"),
        ("HIERARCHY\nROOT a {\n", 2, 9, "the file ends before } of a"),
        ("HIERARCHY\nROOT a {\n}\nMOTION\nFrames: 1\nFrame Time: 1\n", 5, 9, "no joint has a channel"),
        (HEAD + "Frames: 1.5\n", 8, 9, "Frames: 1.5"),
        (HEAD + "Samples: 1\n", 8, 1, "expected Frames:, got 'Samples:'"),
        (HEAD + "Frames: 1\nFrame Time: 0\n1 2 3\n", 9, 13, "Frame Time of 0"),
        (HEAD + "Frames: 1\nFrame Rate: 60\n1 2 3\n", 9, 7, "expected Frame Time:, got 'Rate:'"),
        (HEAD + "Frames: 2\nFrame Time: 1\n1 2 3\n", 8, 9, "Frames: says 2, but 1 samples follow"),
        (HEAD + "Frames: 2\nFrame Time: 1\n1 2 3\n1 2\n", 11, 4, "2 numbers in a sample of 3 channels"),
        (HEAD + "Frames: 2\nFrame Time: 1\n1 2 3\n4 5 6 7\n", 11, 8, "4 numbers"),
        (HEAD + "Frames: 1\nFrame Time: 1\n1 2,5 3\n", 10, 3, "'2,5' is not a number"),
        (HEAD + "Frames: 1\nFrame Time: 1\n1 2 nan\n", 10, 5, "'nan' is out of range"),
        (HEAD + "Frames: 1\nFrame Time: 1\n1 2 -1e300\n", 10, 5, "out of range"),
    ],
)
def test_errors_point_at_the_place(tmp_path: Path, text: str, line: int, column: int, message: str) -> None:
    path = tmp_path / "bad.bvh"
    path.write_text(text)
    with pytest.raises(FileError) as caught:
        load_bvh(path)
    error = caught.value
    assert message in str(error)
    assert (error.line, error.column) == (line, column)
    assert error.advice
    if text:
        shown = str(error).splitlines()
        assert shown[2].index("^") - shown[1].index("|") - 2 == column - 1


@pytest.mark.parametrize("count", [10**9, 10**30])
def test_announcing_many_samples_costs_nothing(tmp_path: Path, count: int) -> None:
    path = tmp_path / "bad.bvh"
    path.write_text(HEAD + f"Frames: {count}\nFrame Time: 1\n1 2 3\n")
    with pytest.raises(FileError):
        load_bvh(path)


def test_deep_nesting_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "deep.bvh"
    depth = 100_000
    path.write_text("HIERARCHY\nROOT a {\n" + "JOINT a {\nCHANNELS 1 Xrotation\n" * depth + "}\n" * depth)
    with pytest.raises(FileError, match="more than 5000 joints"):
        load_bvh(path)


def test_files_that_are_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.bvh", tmp_path):
        with pytest.raises(FileError, match="cannot be read"):
            load_bvh(path)
    with pytest.raises(FileError, match="unknown axis up='x'"):
        load_bvh(HERE / "mixamo.bvh", up="x")
    with pytest.raises(FileError, match="scale"):
        load_bvh(HERE / "mixamo.bvh", scale=-1.0)


MIXAMO = (HERE / "mixamo.bvh").read_bytes()


@given(st.data())
@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
def test_fuzz(tmp_path: Path, data: st.DataObject) -> None:
    """Cut, doubled, moved and overwritten pieces of a good file: a motion or a FileError, nothing else."""
    text = bytearray(data.draw(st.sampled_from([MIXAMO, (HERE / "odd.bvh").read_bytes()])))
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        end = data.draw(st.integers(at, min(len(text), at + 200)))
        text[at:end] = data.draw(
            st.one_of(
                st.binary(max_size=8),
                st.sampled_from([b"", b"{", b"}", b"JOINT x {", b"1e309", b"\x00", b"CHANNELS 6 ", b"End Site", b"\n"]),
                st.just(bytes(text[end : end + 300])),
            )
        )
    path = tmp_path / "fuzz.bvh"
    path.write_bytes(bytes(text))
    try:
        with warnings.catch_warnings(action="ignore", category=BunrakuWarning):
            motion = load_bvh(path)
    except FileError as error:
        good = bool(error.advice)
    else:
        good = bool(np.isfinite(motion.q).all())
    assert good


# -- writing ---------------------------------------------------------------------------------------------------


def same_motion(path: Path, motion: Motion, *, scale: float = 0.01) -> Motion:
    """Reads a file back; every frame that both have goes the same way."""
    again = load_bvh(path, scale=scale)
    want, got = positions(motion), positions(again)
    common = set(want) & set(got)
    assert common
    for name in common:
        assert np.allclose(got[name], want[name], atol=1e-6), name
    return again


@pytest.mark.parametrize("name", ["mixamo", "odd", "positions"])
def test_round_trip(name: str, tmp_path: Path) -> None:
    motion = load_bvh(HERE / f"{name}.bvh", scale=0.01)
    save_bvh(motion, tmp_path / "a.bvh")
    again = same_motion(tmp_path / "a.bvh", motion)
    assert np.allclose(again.t, motion.t)
    save_bvh(again, tmp_path / "b.bvh")
    assert (tmp_path / "b.bvh").read_text() == (tmp_path / "a.bvh").read_text()


def test_round_trip_keeps_the_channels(tmp_path: Path) -> None:
    source = HERE / "mixamo.bvh"
    save_bvh(load_bvh(source), tmp_path / "a.bvh")
    before, after = (parse_bvh(path, path.read_bytes()) for path in (source, tmp_path / "a.bvh"))
    assert np.allclose(before.values, after.values, rtol=0, atol=1e-6)
    assert before.dt == after.dt
    for a, b in zip(before.nodes, after.nodes, strict=True):
        assert (a.name, a.parent, a.channels) == (b.name, b.parent, b.channels)
        assert np.allclose(a.ends, b.ends, atol=1e-6)
        if a.parent >= 0:  # the root's offset is replaced by its positions
            assert np.allclose(a.offset, b.offset, atol=1e-6)


@pytest.mark.parametrize("path", CLIPS or [pytest.param(None, marks=pytest.mark.skip("no clips"))], ids=lambda p: p and p.stem)
def test_real_clips(path: Path, tmp_path: Path) -> None:
    motion = load_bvh(path)
    assert np.isfinite(motion.q).all()
    save_bvh(motion, tmp_path / "a.bvh", scale=BVH_UNITS["CMU"])
    source, written = (parse_bvh(p, p.read_bytes()) for p in (path, tmp_path / "a.bvh"))
    assert np.allclose(source.values, written.values, rtol=0, atol=1e-6)


def puppet() -> Figure:
    """Everything that BVH does not have: odd axes, turned frames, slides, screws, several trees, strings."""
    return figure(
        "puppet",
        free(
            "torso",
            ball("neck", capsule(0.05, to=(0, 0, 0.2), mass=1.0), at=(0, 0, 0.5), rpy=(0.3, 0.2, 0.1)),
            rotate((1, 1, 0), "elbow", ry("twist", fixed("hand", at=(0.3, 0, 0))), at=(0.2, 0, 0.4), rpy=(0, 0, 1)),
            tx("drawer", rx("lid", capsule(0.02, to=(0, 0.1, 0))), at=(0, 0.2, 0), rpy=(0.5, 0, 0), start=0.1),
            screw("z", 0.02, "bolt", fixed("tip", at=(0, 0.05, 0.1)), at=(0, -0.2, 0)),
        ),
        spindle("head string", at=(0.1, 0.0, 2.0)),
        strings=[string("head", "neck", "head string_spindle")],
    )


def test_any_figure(tmp_path: Path) -> None:
    figure = puppet()
    rng = np.random.default_rng(1)
    q = figure.start + np.cumsum(rng.normal(scale=0.05, size=(60, figure.n_q)), 0)
    motion = Motion.of(figure, 0.02 * np.arange(60), q)
    for up in "yz":
        save_bvh(motion, tmp_path / "a.bvh", up=up)
        again = load_bvh(tmp_path / "a.bvh", scale=0.01, up=up)
        want, got = positions(motion), positions(again)
        moving = {"torso", "neck", "elbow", "twist", "drawer", "lid", "bolt"} & set(got)
        assert moving >= {"torso", "neck", "twist", "lid", "bolt"}
        for name in moving:
            assert np.allclose(got[name], want[name], atol=1e-6), name
        assert np.allclose(got["twist_end"], want["hand"], atol=1e-6)  # so orientations are right too
        assert np.allclose(got["bolt_end"], want["tip"], atol=1e-6)
        assert np.allclose(got["head_string_spindle"], want["head string_spindle"], atol=1e-6)


def test_one_root_for_several_trees(tmp_path: Path) -> None:
    save_bvh(Motion.of(puppet(), [0.0], [puppet().start]), tmp_path / "a.bvh")
    text = (tmp_path / "a.bvh").read_text()
    assert text.count("ROOT") == 1
    assert "ROOT puppet\n" in text


def test_uneven_times_are_resampled(tmp_path: Path) -> None:
    swing = figure("swing", rx("a", capsule(0.1, to=(0, 0, -1), mass=1.0)))
    save_bvh(Motion.of(swing, [0.0, 0.1, 0.4], [[0.0], [0.1], [0.4]]), tmp_path / "a.bvh")
    again = load_bvh(tmp_path / "a.bvh")
    assert np.allclose(again.t, [0.0, 0.2, 0.4])
    assert np.allclose(again.column("a_rx"), [0.0, 0.2, 0.4])


def test_what_cannot_be_written(tmp_path: Path) -> None:
    swing = figure("swing", rx("a", capsule(0.1, to=(0, 0, -1), mass=1.0)))
    track = Track(swing, np.zeros((2, 1)), name="a")
    both = Motion(np.array([0.0, 1.0]), (track, Track(swing, np.ones((2, 1)), name="b")))
    with pytest.raises(FileError, match="one figure"):
        save_bvh(both, tmp_path / "a.bvh")
    save_bvh(both, tmp_path / "a.bvh", track="b")
    assert np.allclose(load_bvh(tmp_path / "a.bvh").q[:, 2], 1.0)
    still = figure("still", fixed("a"))
    with pytest.raises(FileError, match="no variable"):
        save_bvh(Motion.of(still, [0.0], np.zeros((1, 0))), tmp_path / "b.bvh")
    assert not (tmp_path / "b.bvh").exists()


def test_five_thousand_samples(tmp_path: Path) -> None:
    motion = load_bvh(HERE / "mixamo.bvh")
    rng = np.random.default_rng(0)
    long = Motion.of(motion.figure, np.arange(5000) / 120, rng.normal(size=(5000, motion.figure.n_q)))
    save_bvh(long, tmp_path / "long.bvh")
    assert len(load_bvh(tmp_path / "long.bvh")) == 5000


@pytest.mark.parametrize("name", ["pendulum", "arm2d", "marionette22", "humanoid", "gecko"])
def test_a_file_of_a_figure_becomes_its_motion(name: str, tmp_path: Path) -> None:
    """Its size and its axes tell the unit of the file and which axis is up."""
    own = library.named(name)
    steps = np.random.default_rng(7).normal(scale=0.05, size=(9, own.n_q))
    motion = Motion.of(own, 0.1 * np.arange(9), own.start + np.cumsum(steps, 0))
    moving = [k for k, variable in enumerate(own.variables) if variable.motion != "length"]
    files = ((1.0, "z"), (0.01, "y"), (0.001, "y")) if len(moving) > 4 else ((0.01, "y"),)
    for scale, up in files:
        save_bvh(motion, tmp_path / "a.bvh", scale=scale, up=up)
        assert np.abs(load_bvh(tmp_path / "a.bvh", figure=own).q - motion.q)[:, moving].max() < 1e-6
    with pytest.raises(FileError, match="no bone of finger"):
        load_bvh(tmp_path / "a.bvh", figure=library.named("finger"))
