"""C3D and TRC: what other programs wrote, what a known person would have recorded, and files that are broken."""

from __future__ import annotations

import contextlib
import struct
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bunraku
from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import Figure, library
from bunraku.io.markers.c3d_file import read_c3d
from bunraku.io.markers.landmarks import landmarks
from bunraku.io.markers.marker_skeleton import fixed_point
from bunraku.kinematics import frames_along
from bunraku.kinematics.anatomy import BodyPart, anatomy
from bunraku.kinematics.retarget import retarget
from bunraku.motion import Motion
from bunraku.spatial import so3
from tests.io.mutated import mutated

HERE = Path(__file__).parent / "markers"


# -- files -------------------------------------------------------------------------------------------------------------


def c3d(names: list[str], points: Any, *, rate: float = 100.0, machine: int = 84, floats: bool = True, up: str = "+Z") -> bytes:
    """A C3D file by the book, in millimetres, with one analogue channel: machine 84 is a PC, 85 a DEC, 86 a MIPS."""
    order = ">" if machine == 86 else "<"
    scale = -0.1 if floats else 0.1

    def real(values: Any) -> bytes:
        values = np.asarray(values, np.float32)
        if machine != 85:
            return values.astype(f"{order}f4").tobytes()
        return np.ascontiguousarray((values * 4.0).astype("<f4").view("<u2").reshape(-1, 2)[:, ::-1]).tobytes()

    def parameter(name: str, value: Any) -> bytes:
        if isinstance(value, list):
            width = max(len(text) for text in value)
            body = struct.pack("bBBB", -1, 2, width, len(value)) + "".join(text.ljust(width) for text in value).encode()
        elif isinstance(value, int):
            body = struct.pack("bB", 2, 0) + struct.pack(f"{order}h", value)
        else:
            body = struct.pack("bB", 4, 0) + real([value])
        return struct.pack("bb", len(name), 1) + name.encode() + struct.pack(f"{order}h", len(body) + 3) + body + b"\0"

    group = struct.pack("bb", 5, -1) + b"POINT" + struct.pack(f"{order}h", 3) + b"\0"
    parts = [parameter("LABELS", names), parameter("UNITS", ["mm"]), parameter("SCALE", scale), parameter("RATE", rate),
             parameter("Y_SCREEN", [up])]  # fmt: skip
    section = group + b"".join(parts) + b"\0\0"
    blocks = -(-(len(section) + 4) // 512)
    section = (bytes([1, 0x50, blocks, machine]) + section).ljust(512 * blocks, b"\0")
    count, samples = len(names), len(points)
    head = struct.pack("BB", 2, 0x50) + struct.pack(f"{order}HHHHH", count, 1, 1, samples, 0) + real([scale])
    head += struct.pack(f"{order}HH", 2 + blocks, 1) + real([rate])
    seen = np.isfinite(points).all(-1)
    millimetres = np.where(seen[..., None], 1000.0 * points, 0.0)
    rows = np.concatenate([millimetres / (1.0 if floats else scale), np.where(seen, 0.0, -1.0)[..., None]], -1).reshape(samples, -1)
    rows = np.hstack([rows, np.full((samples, 1), 7.0)])
    data = real(rows.reshape(-1)) if floats else np.round(rows).astype(f"{order}i2").tobytes()
    return head.ljust(512, b"\0") + section + data


def trc(names: list[str], points: Any, *, rate: float = 100.0) -> str:
    """A TRC file by the book, in millimetres, y up."""
    axes = 1000.0 * points @ so3.about(0, -np.pi / 2).T
    rows = [
        "\t".join([str(k + 1), f"{k / rate:.6f}", *("" if np.isnan(x) else f"{x:.5f}" for x in row.reshape(-1))])
        for k, row in enumerate(axes)
    ]
    facts = "DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\tOrigDataRate\tOrigDataStartFrame\tOrigNumFrames"
    values = f"{rate:.2f}\t{rate:.2f}\t{len(points)}\t{len(names)}\tmm\t{rate:.2f}\t1\t{len(points)}"
    heads = "\t".join(f"{axis}{k + 1}" for k in range(len(names)) for axis in "XYZ")
    return "\n".join(
        ["PathFileType\t4\t(X/Y/Z)\ta.trc", facts, values, "Frame#\tTime\t" + "\t\t\t".join(names), f"\t\t{heads}", "", *rows]
    )


def test_a_file_of_ezc3d() -> None:
    cloud = read_c3d(HERE / "ezc3d.c3d")
    t = np.arange(6) / 120.0
    assert cloud.names == ("LASI", "RASI", "a long name: with words")
    assert np.allclose(cloud.t, t)
    for k in range(3):
        want = 0.001 * np.stack([100 * (k + 1) + 10 * t, -50.0 * k + 0 * t, 1000 + 100 * np.sin(10 * t + k)], 1)
        unseen = np.arange(6) == (3 if k == 1 else -1)
        assert np.isnan(cloud.points[unseen, k]).all()
        assert np.allclose(cloud.points[~unseen, k], want[~unseen], atol=1e-7)


@pytest.mark.parametrize("machine", [84, 85, 86])
@pytest.mark.parametrize("floats", [True, False])
def test_files_of_every_machine(machine: int, floats: bool, tmp_path: Path) -> None:
    points = np.random.default_rng(machine).uniform(-2.0, 2.0, (7, 5, 3))
    points[2, 3] = np.nan
    (tmp_path / "a.c3d").write_bytes(c3d(list("abcde"), points, machine=machine, floats=floats, rate=50.0))
    cloud = read_c3d(tmp_path / "a.c3d")
    assert np.allclose(cloud.t, np.arange(7) / 50.0)
    assert np.array_equal(np.isnan(cloud.points), np.isnan(points))
    assert np.nanmax(np.abs(cloud.points - points)) < (1e-6 if floats else 6e-5)


# -- a known person ----------------------------------------------------------------------------------------------------

PLACES = {
    "LKNE": ("left_knee", (0, 0.05, 0)), "RKNE": ("right_knee", (0, -0.05, 0)),
    "LANK": ("left_ankle", (0, 0.035, 0)), "RANK": ("right_ankle", (0, -0.035, 0)),
    "LKNM": ("left_knee", (0, -0.05, 0)), "RKNM": ("right_knee", (0, 0.05, 0)),
    "LANKM": ("left_ankle", (0, -0.035, 0)), "RANKM": ("right_ankle", (0, 0.035, 0)),
    "LTOE": ("left_ankle", (0.15, 0, -0.05)), "RTOE": ("right_ankle", (0.15, 0, -0.05)),
    "LHEE": ("left_ankle", (-0.05, 0, -0.05)), "RHEE": ("right_ankle", (-0.05, 0, -0.05)),
    "LELB": ("left_elbow", (0, 0, 0)), "RELB": ("right_elbow", (0, 0, 0)),
    "LWRA": ("left_wrist", (0.03, 0, 0)), "RWRA": ("right_wrist", (0.03, 0, 0)),
    "LWRB": ("left_wrist", (-0.03, 0, 0)), "RWRB": ("right_wrist", (-0.03, 0, 0)),
}  # fmt: skip
"""Markers of a mannequin, who looks along x: a frame, and a place in it while he stands [m]."""
LIMBS = [BodyPart(side, name) for side in ("left", "right") for name in ("upper_arm", "forearm", "thigh", "shin")]


def recorded(seed: int, samples: int = 40) -> tuple[Motion, list[str], Any]:
    """A mannequin who moves his limbs, and his markers (T, n, 3)."""
    figure = library.named("mannequin")
    rng = np.random.default_rng(seed)
    t = np.linspace(0.0, 2.0, samples)
    swing = 0.25 * np.sin(t[:, None] * rng.uniform(1, 4, figure.n_q) + rng.uniform(0, 6, figure.n_q))
    free = [k for k, name in enumerate(figure.names) if name.startswith("pelvis")]
    swing[:, free] *= 0.3
    motion = Motion.of(figure, t, np.clip(figure.start + swing, *figure.limits))
    X, rest = frames_along(figure, motion.q), frames_along(figure, figure.start[None])[0]
    points = []
    for frame, place in (PLACES | trunk(figure, rest)).values():
        k = figure.frame_index[frame]
        points.append(X[:, k, :3, :3] @ (rest[k, :3, :3].T @ np.array(place)) + X[:, k, :3, 3])
    return motion, [*PLACES, *trunk(figure, rest)], np.stack(points, 1)


def trunk(figure: Figure, rest: Any) -> dict[str, tuple[str, Any]]:
    """Shoulders: 5 cm above the joints. Front of the hips: where Bell and others found them, seen from the joints.

    That is 19 % of the distance of the two markers ahead of the hip joints, 30 % above, 14 % outward.
    """
    at = {name: rest[k, :3, 3] for name, k in figure.frame_index.items()}
    w = np.linalg.norm(at["left_hip"] - at["right_hip"]) / 0.72
    out: dict[str, tuple[str, Any]] = {}
    for side, sign in (("left", 1.0), ("right", -1.0)):
        letter, chest = side[0].upper(), f"{side}_clavicle"
        out[f"{letter}ASI"] = ("pelvis", at[f"{side}_hip"] - at["pelvis"] + [0.19 * w, sign * 0.14 * w, 0.30 * w])
        out[f"{letter}PSI"] = ("pelvis", np.array([-0.12, 0.04 * sign, out[f"{letter}ASI"][1][2]]))  # as high as the front
        out[f"{letter}SHO"] = (chest, at[f"{side}_shoulder"] - at[chest] + [0.0, 0.0, 0.05])
    return out


def directions(motion: Motion, part: BodyPart) -> Any:
    parts, X = anatomy(motion.figure), frames_along(motion.figure, motion.q)
    a, b = (X[:, motion.figure.frame_index[parts.places[p]], :3, 3] for p in (part, part.below))
    return (b - a) / np.linalg.norm(b - a, axis=1, keepdims=True)


@pytest.mark.parametrize(("suffix", "inner"), [(".c3d", True), (".trc", True), (".c3d", False)])
def test_the_skeleton_is_that_of_the_person(suffix: str, inner: bool, tmp_path: Path) -> None:
    motion, names, points = recorded(seed=11)
    if not inner:
        kept = [k for k, name in enumerate(names) if name[1:] not in ("KNM", "ANKM")]
        names, points = [names[k] for k in kept], points[:, kept]
    file = tmp_path / f"person{suffix}"
    if suffix == ".c3d":
        file.write_bytes(c3d(names, points, rate=19.5))
    else:
        file.write_text(trc(names, points, rate=19.5))
    read = bunraku.load(file)
    assert np.allclose(read.t, np.arange(len(motion)) / 19.5)
    for part in LIMBS:
        angle = np.degrees(np.arccos(np.clip(np.sum(directions(read, part) * directions(motion, part), 1), -1.0, 1.0)))
        # Shoulder joints are below their markers along the trunk, though the clavicles of this person go up and down. Knees and
        # ankles without inner markers are beside their outer ones, along the pelvis, though this person twists his legs.
        worst = 5.0 if "arm" in part.name else 3.0 if inner else 8.0
        assert angle.max() < worst, (part, angle.max())
    puppet = library.named("marionette22")
    moved = retarget(read, puppet)
    assert np.isfinite(moved.q).all()
    for part in (p for p in LIMBS if p.name in ("forearm", "shin") and p.below in anatomy(puppet).places):
        angle = np.degrees(np.arccos(np.clip(np.sum(directions(moved, part) * directions(read, part), 1), -1.0, 1.0)))
        assert np.median(angle) < 20.0, (part, np.median(angle))  # both look their own way; joints of the puppet are hinges


def test_gaps_are_filled_and_told(tmp_path: Path) -> None:
    motion, names, points = recorded(seed=3)
    holes = np.array(points)
    holes[10:13, names.index("LKNE")] = np.nan
    (tmp_path / "whole.trc").write_text(trc(names, points))
    (tmp_path / "holes.trc").write_text(trc(names, holes))
    whole = bunraku.load(tmp_path / "whole.trc")
    with pytest.warns(BunrakuWarning, match="gaps, filled by lines: LKNE"):
        read = bunraku.load(tmp_path / "holes.trc")
    assert len(read) == len(motion)
    assert np.abs(read.q - whole.q).max() < 0.1


def test_text_of_any_program(tmp_path: Path) -> None:
    """A mark of UTF-8 at the start, lines that end as in Windows, and names that are not English."""
    _, names, points = recorded(seed=4)
    own = ["Müller:" + name for name in names]
    text = trc(own, points)
    for k, data in enumerate((text.encode("utf-8-sig").replace(b"\n", b"\r\n"), text.encode("latin-1"))):
        (tmp_path / f"{k}.trc").write_bytes(data)
        read = bunraku.load(tmp_path / f"{k}.trc", markers=True)
        assert set(own) <= set(read.figure.frame_index)
        assert bunraku.load(tmp_path / f"{k}.trc").figure.n_q < 3 * len(names)  # the skeleton: names are known


def test_markers_themselves(tmp_path: Path) -> None:
    _, names, points = recorded(seed=4)
    (tmp_path / "a.c3d").write_bytes(c3d(names, points))
    read = bunraku.load(tmp_path / "a.c3d", markers=True)
    X = frames_along(read.figure, read.q)
    for k, name in enumerate(names):
        assert np.allclose(X[:, read.figure.frame_index[name], :3, 3], points[:, k], atol=1e-6)
    (tmp_path / "b.c3d").write_bytes(c3d([f"M{k}" for k in range(len(names))], points))
    with pytest.warns(BunrakuWarning, match="read as points"):
        assert bunraku.load(tmp_path / "b.c3d").figure.n_q == 3 * len(names)


def test_a_knee_without_markers() -> None:
    """The point that stays fixed in the markers above and below it."""
    rng = np.random.default_rng(8)
    knee = rng.uniform(-1, 1, 3)
    above, below = rng.uniform(-0.3, 0.3, (2, 3, 3))
    t = np.linspace(0.0, 1.0, 30)
    R = np.array([so3.rpy(0.3 * s, 0.2 * np.sin(5 * s), s) for s in t])
    S = np.array([r @ so3.rpy(1.2 * np.sin(4 * s), 0.5 * s, 0.6 * np.cos(3 * s)) for r, s in zip(R, t, strict=True)])
    centre = knee + t[:, None] * [1.0, 0.2, 0.0]
    clusters = [np.einsum("tij,nj->tni", Q, points) + centre[:, None] for Q, points in ((R, above), (S, below))]
    assert np.abs(fixed_point(*clusters) - centre).max() < 1e-6


@pytest.mark.parametrize(
    ("name", "landmark"),
    [
        ("Anna:LASI", "left front of the hip"), ("R_FLE", "right outer knee"), ("l asis", "left front of the hip"),
        ("L.Acromium", "left shoulder"), ("R.Knee.Med", "right inner knee"), ("ASISr", "right front of the hip"),
        ("V.Sacral", "sacrum"), ("C7", "nape"), ("RKL", "right outer knee"), ("Top.Head", "top of the head"),
    ],
)  # fmt: skip
def test_names_of_markers(name: str, landmark: str) -> None:
    assert landmarks([name, "something"]) == {landmark: name}


# -- broken files ------------------------------------------------------------------------------------------------------


def quiet(path: Path) -> None:
    """Loads a file that may be broken: a FileError is an answer; any other exception is not."""
    with warnings.catch_warnings(), contextlib.suppress(FileError):
        warnings.simplefilter("ignore", BunrakuWarning)
        assert isinstance(bunraku.load(path), Motion)


def test_every_cut_is_one_clear_error(tmp_path: Path) -> None:
    _, names, points = recorded(seed=5, samples=4)
    whole = {".c3d": c3d(names, points), ".trc": trc(names, points).encode()}
    for suffix, data in whole.items():
        for size in np.linspace(0, len(data) - 12, 25).astype(int):
            (tmp_path / f"cut{suffix}").write_bytes(data[:size])
            with pytest.raises(FileError) as caught:
                bunraku.load(tmp_path / f"cut{suffix}")
            assert caught.value.advice


def test_no_samples(tmp_path: Path) -> None:
    lines = TEXT.splitlines()
    values = lines[2].split("\t")
    values[2] = "0"
    (tmp_path / "none.trc").write_text("\n".join([*lines[:2], "\t".join(values), *lines[3:]]))
    with pytest.raises(FileError, match="0 samples are announced"):
        bunraku.load(tmp_path / "none.trc")


BYTES = c3d(["LASI", "RASI", "SACR", "LKNE", "RKNE"], np.random.default_rng(0).uniform(-1, 1, (3, 5, 3)))
TEXT = trc(["LASI", "RASI", "SACR", "LKNE", "RKNE"], np.random.default_rng(0).uniform(-1, 1, (3, 5, 3)))


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(changes=st.lists(st.tuples(st.integers(0, len(BYTES) - 1), st.integers(0, 255)), min_size=1, max_size=6))
def test_whatever_bytes_are_in_it(changes: list[tuple[int, int]], tmp_path: Path) -> None:
    data = bytearray(BYTES)
    for place, value in changes:
        data[place] = value
    (tmp_path / "a.c3d").write_bytes(data)
    quiet(tmp_path / "a.c3d")


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=mutated(TEXT))
def test_whatever_text_is_in_it(text: str, tmp_path: Path) -> None:
    (tmp_path / "a.trc").write_text(text, encoding="utf-8", errors="replace")
    quiet(tmp_path / "a.trc")
