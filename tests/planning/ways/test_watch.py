from __future__ import annotations

import io

from rich.console import Console

from bunraku.planning.ways.roadmap import Roadmap
from bunraku.planning.ways.visibility import learn
from bunraku.planning.ways.watch import watch
from tests.planning.rooms import space


def test_a_bar_tells_how_the_roadmap_grows():
    out = io.StringIO()
    roadmap = Roadmap(space())
    with watch("room", failures=20, console=Console(file=out, force_terminal=True, width=120)) as listen:
        learn(roadmap, seed=1, failures=20, listen=listen)
    assert "room" in out.getvalue()
    assert f"{len(roadmap.guards)} guards" in out.getvalue()
