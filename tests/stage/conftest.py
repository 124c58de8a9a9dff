"""A stage that is served, started once for all tests that use it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from bunraku.errors import FileError
from bunraku.render.camera import Camera
from bunraku.stage import Entry, Posing, Recorded, Serving, serve, still
from tests.stage.toys import Swinging, puppet, recorded


def opener(path: Path) -> list[Entry]:
    """Stands in for the loaders: knows one kind of file."""
    if path.suffix != ".puppet":
        raise FileError("files of this kind cannot be read", path=str(path), advice="there is: .puppet")
    lines = path.read_text(errors="replace").splitlines()
    for number, line in enumerate(lines, 1):
        if not line.startswith("name: "):
            raise FileError("expected name", path=str(path), line=number, column=1, source=line, advice="name: my_puppet")
    return [Entry(line[6:], lambda: still(puppet())) for line in lines]


def npz(piece: Recorded, path: Path) -> None:
    path.write_bytes(b"samples: %d" % len(piece.motion))


def film(piece: Recorded, path: Path, *, camera: Camera | None = None) -> None:
    """Not a film, but where it would be taken from."""
    path.write_text(json.dumps(None if camera is None else [camera.eye, camera.target, camera.field]))


def entries() -> list[Entry]:
    return [
        Entry("Waving", recorded, "recorded, with a ghost", "Recorded", (0.0, 1.0)),
        Entry("Swinging", Swinging, "live", "Live", (0.0, 1.0)),
        Entry("Posing", lambda: Posing(puppet()), "live: drag a hand", "Live", (0.0, 1.0)),
    ]


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve(entries(), opener="tests.stage.conftest:opener", exporters={"npz": npz, "mp4": film}) as served:
        yield served
