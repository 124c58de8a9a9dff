"""What is fuzzed: functions of bytes. A BunrakuError is an answer; any other exception, or two seconds of silence, is a find."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from bunraku.errors import BunrakuError

ROOT = Path(__file__).parents[1]
FOLDER = Path(tempfile.mkdtemp(prefix="bunraku-fuzz-"))


def _loaded(suffix: str) -> Callable[[bytes], None]:
    """Loads a file of this kind, whatever it holds."""

    def target(data: bytes) -> None:
        from bunraku.verbs.loading import load

        file = FOLDER / f"fuzzed{suffix}"
        file.write_bytes(data)
        with warnings.catch_warnings(), contextlib.suppress(BunrakuError):
            warnings.simplefilter("ignore")
            load(file)

    return target


def _mesh(suffix: str) -> Callable[[bytes], None]:
    def target(data: bytes) -> None:
        from bunraku.figure.mesh_file import read_mesh
        from bunraku.figure.shape import Mesh

        file = FOLDER / f"fuzzed{suffix}"
        file.write_bytes(data)
        with warnings.catch_warnings(), contextlib.suppress(BunrakuError):
            warnings.simplefilter("ignore")
            read_mesh(Mesh(str(file)))

    return target


def upload(data: bytes) -> None:
    """What the page sends when files are dropped."""
    from bunraku.stage.uploads import unpack
    from bunraku.stage.wire import Refusal

    with contextlib.suppress(Refusal):
        unpack(data)


def message(data: bytes) -> None:
    """What comes through the websocket."""
    from bunraku.stage.hand_commands import BadCommand, from_plain
    from bunraku.stage.wire import Ack, Inbox, Refusal

    with contextlib.suppress(Refusal, BadCommand):
        text: str | bytes = data
        with contextlib.suppress(UnicodeDecodeError):
            text = data.decode() if not data.startswith(b"\0") else data
        inbox = Inbox()
        inbox.read('{"type": "hello", "version": 1}', 0.0)
        read = inbox.read(text, 0.0)
        if not isinstance(read, Ack):
            from_plain(read)


def edit(data: bytes) -> None:
    """What the page sends to edit a take or the script of a show, to pose a figure, or to export a film: a wish in each line."""
    from bunraku.stage.book_edits import edited as book_edited
    from bunraku.stage.page_export import camera_of
    from bunraku.stage.stage_limits import StageLimits
    from bunraku.stage.take_edits import edited
    from bunraku.stage.take_posing import TakePosing
    from bunraku.stage.takes import Version
    from bunraku.stage.wire import Refusal, parse
    from tests.stage.test_book_edits import ToyBook
    from tests.stage.toys import recorded

    if not _TAKE:
        _TAKE.append((recorded(), TakePosing()))
    piece, posing = _TAKE[0]
    version = Version(piece)
    for line in data.decode(errors="replace").splitlines()[:20]:
        with contextlib.suppress(Refusal, BunrakuError):
            wish = parse(line)
            for answer_to in (camera_of, lambda wish: posing.posed(piece, wish), lambda wish: book_edited(ToyBook(), wish)):
                with contextlib.suppress(Refusal, BunrakuError):
                    answer_to(wish)
            version = edited(version, wish, StageLimits())
            assert len(version.seen.motion) > 0


def input_log(data: bytes) -> None:
    """A saved log of a live figure."""
    from bunraku.stage.input_log import read_log

    with contextlib.suppress(BunrakuError):
        read_log(data.decode(errors="replace"), _posing())


def answer(data: bytes) -> None:
    """What a confined process answers, which a file may have taken over."""
    from bunraku.stage.plain_answer import unpacked

    with contextlib.suppress(BunrakuError):
        unpacked(data)


_LIVE: list[object] = []
_TAKE: list[Any] = []


def _posing() -> object:
    if not _LIVE:
        from bunraku.figure import library
        from bunraku.stage import Posing

        _LIVE.append(Posing(library.pendulum()))
    return _LIVE[0]


TARGETS: dict[str, Callable[[bytes], None]] = {
    "yaml": _loaded(".yaml"), "urdf": _loaded(".urdf"), "sdf": _loaded(".sdf"), "mjcf": _loaded(".xml"), "bvh": _loaded(".bvh"),
    "csv": _loaded(".csv"), "npz": _loaded(".npz"), "stl": _mesh(".stl"), "obj": _mesh(".obj"), "ply": _mesh(".ply"),
    "glb": _mesh(".glb"), "dae": _mesh(".dae"), "upload": upload, "message": message, "input_log": input_log,
    "mcap": _loaded(".mcap"), "gltf": _loaded(".glb"), "usda": _loaded(".usda"), "c3d": _loaded(".c3d"), "trc": _loaded(".trc"),
    "answer": answer, "edit": edit,
}  # fmt: skip


def seeds(name: str) -> Iterator[bytes]:
    """Good and broken examples from which a target's fuzzing starts."""
    kept = ROOT / "tests" / "fuzz" / name
    yield from (file.read_bytes() for file in sorted(kept.glob("*")))
    if name == "yaml":
        folders = (ROOT / "src" / "bunraku" / "orders", ROOT / "tests" / "io", ROOT / "tests" / "io" / "broken")
        files = [file for folder in folders for file in sorted(folder.glob("*.yaml"))]
        yield from (file.read_bytes() for file in files if file.stat().st_size < 5000)
    if name == "bvh":
        yield from (file.read_bytes() for file in sorted((ROOT / "tests" / "io" / "bvh").glob("*.bvh")))
    needs = {"mcap": "mcap", "usda": "pxr"}
    if name in ("npz", "csv", "gltf") or (name in needs and importlib.util.find_spec(needs[name])):
        yield _motion({"gltf": "glb"}.get(name, name))
    if name == "c3d":
        yield (ROOT / "tests" / "io" / "markers" / "ezc3d.c3d").read_bytes()
    if name == "trc":
        facts = b"DataRate\tCameraRate\tNumFrames\tNumMarkers\tUnits\n60\t60\t2\t2\tmm\n"
        names = b"Frame#\tTime\tLASI\t\t\tRASI\n\t\tX1\tY1\tZ1\tX2\tY2\tZ2\n\n"
        yield b"PathFileType\t4\n" + facts + names + b"1\t0\t1\t2\t3\t4\t5\t6\n2\t0.016667\t1\t2\t3\t\t\t\n"
    if name == "answer":
        from bunraku.figure import library
        from bunraku.stage import still
        from bunraku.stage.plain_answer import packed

        yield from (packed(still(library.named(figure))) for figure in ("pendulum", "arm2d"))
    if name == "message":
        pull = {"type": "pull", "figure": 0, "part": "hook", "name": "a", "to": [0, 0, 1]}
        sticks = {"type": "sticks", "axes": [0.1, 0.2], "buttons": [True]}
        yield from (json.dumps(one).encode() for one in ({"type": "reset"}, pull, sticks))
    if name == "edit":
        keys = {"edit": "set keys", "layer": 0, "track": 0, "t": 0.5, "values": {"left_elbow": 0.5}}
        loop = {"edit": "loop", "blend": 0.3, "travel": False, "times": 2}
        camera = {"eye": [1, 2, 3], "target": [0, 0, 1], "field": 0.8}
        pose = {"track": 0, "q": [0.0] * 10, "frame": "left_hand", "at": [0, 0, 0], "to": [0, 0, 1]}
        show = [{"edit": "move", "cue": "one", "by": 1}, {"edit": "stretch", "cue": "one", "counts": 4}]
        take = [{"edit": "add layer"}, keys, {"edit": "mirror"}, {"edit": "trim", "start": 0.2, "stop": 1.5}, loop]
        yield "\n".join(json.dumps(one) for one in take).encode()
        yield from (json.dumps(one).encode() for one in (camera, pose, *show))
    if name == "upload":
        yield b"\x0c\0\0\0" + b'[["a.b", 3]]' + b"abc"
    if name == "urdf":
        yield b"""<robot name="r">
            <link name="a"><inertial><mass value="1"/></inertial></link><link name="b"/>
            <joint name="j" type="revolute"><parent link="a"/><child link="b"/><axis xyz="1 0 0"/>
            <limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
    if name == "sdf":
        yield b"""<sdf version="1.9"><model name="m"><link name="a"><inertial><mass>1</mass></inertial></link>
            <link name="b"><pose relative_to="a">0 0 1 0 0 0</pose></link>
            <joint name="j" type="revolute"><parent>a</parent><child>b</child><axis><xyz>1 0 0</xyz>
            <limit><lower>-1</lower><upper>1</upper></limit></axis></joint></model></sdf>"""
    if name == "mjcf":
        yield b'<mujoco><worldbody><body name="b"><joint axis="1 0 0"/><geom size="1"/><site name="s"/></body></worldbody></mujoco>'
    if name in ("stl", "obj", "ply", "glb"):
        yield _box(name)


def _motion(kind: str) -> bytes:
    import numpy as np

    from bunraku.figure import library
    from bunraku.io import save
    from bunraku.motion import Motion

    arm = library.arm2d()
    save(Motion.of(arm, [0.0, 0.5], np.repeat(arm.start[None], 2, 0)), FOLDER / f"seed.{kind}")
    return (FOLDER / f"seed.{kind}").read_bytes()


def _box(kind: str) -> bytes:
    import trimesh

    made = trimesh.creation.box((1.0, 2.0, 3.0)).export(file_type=kind)
    return made.encode() if isinstance(made, str) else made
