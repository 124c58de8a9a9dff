from __future__ import annotations

import io
import pickle
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import bunraku
from bunraku.errors import FileError
from bunraku.figure import Figure, library
from bunraku.figure.build import ball, capsule, contact, figure, fixed, rx, spindle, string
from bunraku.io.bvh.bvh_reader import load_bvh
from bunraku.io.tables.csv_file import load_csv, save_csv
from bunraku.io.tables.npz_file import load_npz, load_npz_layers, save_npz
from bunraku.motion import Curve, Key, Layer, Mark, Motion, Track, layered

FUZZ = settings(max_examples=120, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)


def arm() -> Figure:
    return figure(
        "arm",
        ball(
            "shoulder",
            rx("elbow", fixed("wrist", at=(0, 0, -0.3)), capsule(0.03, to=(0, 0, -0.3), mass=0.4), at=(0, 0, -0.3)),
        ),
        spindle("hand", at=(0.1, 0, 1)),
        strings=[string("hand", "wrist", "hand_spindle")],
        contacts=[contact("fist", "wrist")],
    )


def waving(samples: int = 6, *, seed: int = 0, name: str = "") -> Motion:
    rng = np.random.default_rng(seed)
    t = np.cumsum(rng.uniform(0.01, 0.1, samples))
    q, v = rng.normal(size=(2, samples, arm().n_q))
    pull, push = rng.uniform(0, 5, (2, samples, 1))
    marks = (Mark(0.1, "hello, «world»", "cue"), Mark(0.2, 'a "quote"\n'))
    return Motion.of(arm(), t, q, v=v, tension=pull, contact=push, marks=marks, name=name)


def pair() -> Motion:
    one = waving()
    pendulum = library.named("pendulum")
    return one.replace(tracks=(*one.tracks, Track(pendulum, np.zeros((6, 1)), name="clock")))


# -- NPZ -------------------------------------------------------------------------------------------------------


def test_layers_are_kept_apart_and_read_with_the_motion(tmp_path: Path) -> None:
    motion = waving()
    keys = (Key(0.0, 0.3), Key(0.2, -0.1))
    layers = (Layer("bend", (Curve("arm", "elbow", keys),), 0.5), Layer("still", muted=True))
    save_npz(motion, tmp_path / "a.npz", layers)
    assert load_npz_layers(tmp_path / "a.npz") == (motion, layers)
    assert load_npz(tmp_path / "a.npz") == layered(motion, layers) != motion
    save_npz(motion, tmp_path / "b.npz")
    assert load_npz_layers(tmp_path / "b.npz") == (motion, ())


@pytest.mark.parametrize("motion", [waving(), waving(1), waving(name="left, 2nd"), pair(), pair().replace(marks=())])
def test_npz_round_trip(motion: Motion, tmp_path: Path) -> None:
    save_npz(motion, tmp_path / "a.npz")
    assert load_npz(tmp_path / "a.npz") == motion


@pytest.mark.parametrize("name", library.names())
def test_every_figure_travels_along(name: str, tmp_path: Path) -> None:
    figure = library.named(name)
    bunraku.save(figure, tmp_path / "a.npz")
    motion = bunraku.load(tmp_path / "a.npz")
    assert motion.figure == figure
    assert np.array_equal(motion.q[0], figure.start)


def test_captured_skeletons_travel_along(tmp_path: Path) -> None:
    motion = load_bvh(Path(__file__).parent / "bvh" / "mixamo.bvh")
    save_npz(motion, tmp_path / "a.npz")
    assert load_npz(tmp_path / "a.npz") == motion


def test_numpy_alone_can_read_it(tmp_path: Path) -> None:
    motion = pair()
    save_npz(motion, tmp_path / "a.npz")
    with np.load(tmp_path / "a.npz") as data:
        assert np.array_equal(data["q"], motion.track("arm").q)
        assert np.array_equal(data["q1"], motion.track("clock").q)
        assert data["variables"].tolist() == list(arm().names)
        assert "figure: arm" in str(data["figure"])


def rewritten(path: Path, **changes: Any) -> Path:
    """The file with some arrays changed or left out."""
    with np.load(path) as data:
        arrays = dict(data) | changes
    np.savez(path, **{k: x for k, x in arrays.items() if x is not None})
    return path


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"t": None}, "no array 't'"),
        ({"q": None}, "no array 'q'"),
        ({"figure": None}, "no array 'figure'"),
        ({"t": np.zeros(6)}, "does not increase"),
        ({"t": np.arange(7.0)}, "6 samples, t has 7"),
        ({"q": np.zeros((6, 3))}, "expected"),
        ({"q": np.full((6, 6), np.nan)}, "is nan"),
        ({"q": np.zeros(36)}, "1-dimensional"),
        ({"q": np.zeros((6, 6), complex)}, "complex128"),
        ({"v": np.zeros((5, 6))}, "v has shape"),
        ({"figure": np.array("figure: [1")}, "figure"),
        ({"figure": np.array(3.0)}, "float64"),
        ({"variables": np.array(["a"])}, "not those of the motion"),
        ({"marks": np.array("[1, 2]")}, "marks"),
        ({"marks": np.array("nonsense")}, "marks"),
        ({"marks": np.array("[" * 100_000)}, "marks"),
        ({"marks": np.array('[[NaN, "a", "b"]]')}, "t = nan"),
        ({"layers": np.array("[1, 2]")}, "layers"),
        ({"layers": np.array('[{"name": "a"}]')}, "layers"),
        ({"layers": np.array('[{"name": "a", "weight": NaN, "muted": false, "curves": []}]')}, "weight nan"),
        ({"layers": np.array('[{"name": "a", "weight": 1, "muted": false, "curves": [["arm", "knee", [[0, 1]]]]}]')}, "knee"),
        ({"layers": np.array('[{"name": "a", "weight": 1, "muted": false, "curves": [["arm", "elbow", []]]}]')}, "no key"),
    ],
)
def test_npz_refuses(changes: Any, message: str, tmp_path: Path) -> None:
    save_npz(waving(), tmp_path / "a.npz")
    with pytest.raises(FileError, match=message) as caught:
        load_npz(rewritten(tmp_path / "a.npz", **changes))
    assert "a.npz" in str(caught.value)
    assert caught.value.advice


class Trap:
    """Unpickling this would be noticed."""

    def __reduce__(self) -> Any:
        return (pytest.fail, ("a pickle was run",))


def test_npz_never_runs_a_pickle(tmp_path: Path) -> None:
    save_npz(waving(), tmp_path / "a.npz")
    raw = io.BytesIO()
    np.lib.format.write_array_header_1_0(raw, {"descr": "|O", "fortran_order": False, "shape": (6, 6)})  # type: ignore[no-untyped-call]
    raw.write(pickle.dumps(Trap()))
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("q.npy", b"\x93NUMPY\x01\x00" + raw.getvalue().removeprefix(b"\x93NUMPY\x01\x00"))
    with pytest.raises(FileError, match="object"):
        load_npz(tmp_path / "a.npz")


@pytest.mark.parametrize("shape", [(6, 10**12), (6, 2**61), (-1, 6), (10**6, 10**6)])
def test_npz_headers_may_lie(shape: tuple[int, int], tmp_path: Path) -> None:
    save_npz(waving(), tmp_path / "a.npz")
    header = io.BytesIO()
    np.lib.format.write_array_header_1_0(header, {"descr": "<f8", "fortran_order": False, "shape": shape})  # type: ignore[no-untyped-call]
    with zipfile.ZipFile(tmp_path / "a.npz", "a") as archive, pytest.warns(UserWarning, match="Duplicate"):
        archive.writestr("q.npy", header.getvalue() + bytes(288))
    with pytest.raises(FileError):
        load_npz(tmp_path / "a.npz")


def test_npz_bombs_stay_packed(tmp_path: Path) -> None:
    save_npz(waving(), tmp_path / "a.npz")
    with zipfile.ZipFile(tmp_path / "a.npz", "a", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        archive.writestr("v9.npy", bytes(200 << 20))
    with pytest.raises(FileError, match="MB packed into"):
        load_npz(tmp_path / "a.npz")


@FUZZ
@given(st.data())
def test_npz_fuzz(tmp_path: Path, data: st.DataObject) -> None:
    if not (tmp_path / "a.npz").exists():
        save_npz(waving(3), tmp_path / "a.npz")
    raw = bytearray((tmp_path / "a.npz").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw) - 1))
        end = data.draw(st.integers(at, min(len(raw), at + 40)))
        raw[at:end] = data.draw(st.binary(max_size=40))
    (tmp_path / "b.npz").write_bytes(bytes(raw))
    try:
        good = bool(np.isfinite(load_npz(tmp_path / "b.npz").q).all())
    except FileError as error:
        good = bool(error.advice)
    assert good


def test_not_there_or_not_an_npz(tmp_path: Path) -> None:
    (tmp_path / "text.npz").write_text("hello")
    for name in ("none.npz", "text.npz", "."):
        for load in (load_npz, load_csv):
            with pytest.raises(FileError):
                load(tmp_path / name)


# -- CSV -------------------------------------------------------------------------------------------------------


def test_csv_round_trip(tmp_path: Path) -> None:
    motion = waving()
    save_csv(motion, tmp_path / "a.csv")
    assert load_csv(tmp_path / "a.csv", arm()) == motion.replace(marks=())
    first = (tmp_path / "a.csv").read_text().splitlines()[0]
    assert first.startswith("t [s],shoulder_rz [rad],shoulder_ry [rad],shoulder_rx [rad],elbow [rad],hand_x [m]")
    assert first.endswith("tension:hand [N],contact:fist [N]")


def test_csv_knows_the_library(tmp_path: Path) -> None:
    figure = library.named("cart_pendulum")
    motion = Motion.of(figure, [0.0, 0.5], [figure.start, figure.start + 0.1])
    save_csv(motion, tmp_path / "a.csv")
    assert bunraku.load(tmp_path / "a.csv") == motion


def test_csv_of_several_figures_is_for_reading_only(tmp_path: Path) -> None:
    save_csv(pair(), tmp_path / "a.csv")
    assert "arm/elbow [rad]" in (tmp_path / "a.csv").read_text()
    with pytest.raises(FileError, match="no figure of the library"):
        load_csv(tmp_path / "a.csv")


@given(st.integers(0, 10_000), st.floats(1e-300, 1e300))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
def test_numbers_are_written_in_full(tmp_path: Path, seed: int, size: float) -> None:
    pendulum = library.named("pendulum")
    q = size * np.random.default_rng(seed).uniform(-1, 1, (4, 1))
    motion = Motion.of(pendulum, np.arange(4.0), q)
    save_csv(motion, tmp_path / "a.csv")
    assert load_csv(tmp_path / "a.csv") == motion


def test_csv_units_order_and_odd_line_ends(tmp_path: Path) -> None:
    swing = figure("swing", rx("a"), rx("b"), spindle("c", at=(0, 0, 1), moves="x"))
    text = "\ufefft [ms], c_x [mm],b [deg], a,v:c_x [m/s],v:a [deg/s],v:b\r\n0,1,180,2,3,180,5\r\n\r\n10,2,90,3,4,90,6\r\n"
    (tmp_path / "a.csv").write_text(text, encoding="utf-8")
    motion = load_csv(tmp_path / "a.csv", swing)
    assert motion.t.tolist() == [0.0, 0.01]
    assert np.allclose(motion.q, [[2, np.pi, 0.001], [3, np.pi / 2, 0.002]])
    assert motion.v is not None
    assert np.allclose(motion.v[0], [np.pi, 5, 3])


@pytest.mark.parametrize(
    ("text", "line", "column", "message"),
    [
        ("", 1, 1, "the first column is not t"),
        ("a,b\n1,2\n", 1, 1, "the first column is not t"),
        ("t;a\n1;2\n", 1, 1, "the first column is not t"),
        ("t,a,a\n1,2,3\n", 1, 5, "'a' exists twice"),
        ("t,a\n", 1, 1, "no samples"),
        ("t,b\n0,1\n", 1, 1, "no column 'a'"),
        ("t,a,aa\n0,1,2\n", 1, 5, "has no 'aa'"),
        ("t,a [m]\n0,1\n", 1, 3, r"expected \[rad\], got \[m\]"),
        ("t,a,v:a [rad]\n0,1,2\n", 1, 5, r"expected \[rad/s\], got \[rad\]"),
        ("t,a\n0,1\n1\n", 3, 2, "expected 2 numbers, got 1"),
        ("t,a\n0,1\n1,1,5\n", 3, 6, "expected 2 numbers, got 3"),
        ("t,a\n0,1\n1, one\n", 3, 3, "'one' is not a finite number"),
        ("t,a\n0,1\n1,nan\n", 3, 3, "'nan' is not a finite number"),
        ("t,a\n0,1\n0,1\n", None, None, "does not increase"),
        ('t,"a\n0,1\n', 1, 1, "header cannot be read"),
    ],
)
def test_csv_errors_point_at_the_place(text: str, line: int | None, column: int | None, message: str, tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text(text)
    with pytest.raises(FileError, match=message) as caught:
        load_csv(tmp_path / "a.csv", figure("swing", rx("a")))
    assert (caught.value.line, caught.value.column) == (line, column)
    assert caught.value.advice


@FUZZ
@given(st.data())
def test_csv_fuzz(tmp_path: Path, data: st.DataObject) -> None:
    if not (tmp_path / "a.csv").exists():
        save_csv(waving(3), tmp_path / "a.csv")
    raw = bytearray((tmp_path / "a.csv").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(raw)))
        end = data.draw(st.integers(at, min(len(raw), at + 60)))
        raw[at:end] = data.draw(st.one_of(st.binary(max_size=8), st.sampled_from([b"", b",", b"\n", b'"', b"[", b"e999"])))
    (tmp_path / "b.csv").write_bytes(bytes(raw))
    try:
        good = bool(np.isfinite(load_csv(tmp_path / "b.csv", arm()).q).all())
    except FileError as error:
        good = bool(error.advice)
    assert good


@pytest.mark.parametrize("suffix", [".npz", ".csv", ".bvh", ".glb", ".mp4", ".png"])
def test_only_motions_and_figures_can_be_saved(suffix: str, tmp_path: Path) -> None:
    with pytest.raises(FileError, match="got a dict"):
        bunraku.save({}, tmp_path / f"a{suffix}")
    assert list(tmp_path.iterdir()) == []
