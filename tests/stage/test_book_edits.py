from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from bunraku.errors import BunrakuError, UnknownName
from bunraku.progress import Listener, Progress
from bunraku.stage import Entry, Recorded
from bunraku.stage.prompt_book import CueBar
from bunraku.stage.stage import Stage
from bunraku.stage.wire import Refusal
from tests.patience import until
from tests.stage.toys import puppet, waving

MOTION = waving(puppet())


@dataclass(frozen=True)
class ToyBook:
    """One cue, whose text is its begin."""

    path: Path | None = None
    begin: float = 1.0
    anew: int = 0
    count: float = 0.5
    gate: threading.Event | None = None

    @property
    def text(self) -> str:
        return f"{self.begin:g}\n"

    @property
    def file(self) -> str:
        return "tóy show.yaml"

    @property
    def motions(self) -> Mapping[str, tuple[str, ...]]:
        return {MOTION.names[0]: ("wave",)}

    @property
    def bars(self) -> tuple[CueBar, ...]:
        return (CueBar("one", MOTION.names[0], "wave", self.begin * self.count, self.begin * self.count + 1.0),)

    def moved(self, cue: str, by: float) -> ToyBook:
        if cue != "one":
            raise UnknownName("cue", cue, ("one",))
        return replace(self, begin=self.begin + by)

    def stretched(self, cue: str, counts: float) -> ToyBook:
        raise BunrakuError("too long")

    def added(self, track: str, motion: str, begin: float) -> ToyBook:
        return replace(self, begin=begin)

    def removed(self, cue: str) -> ToyBook:
        return replace(self, begin=0.0)

    def performed(self, *, progress: Listener | None = None) -> Recorded:
        if progress is not None:
            progress(Progress("rehearsal", 0.5))
        if self.gate is not None:
            self.gate.wait()
        return Recorded(MOTION, book=replace(self, anew=1))

    def save(self) -> str:
        if self.path is not None:
            self.path.write_text(self.text)
        return str(self.path or "")


def staged(book: ToyBook) -> Stage:
    return Stage([Entry("Show", Recorded(MOTION, book=book)), Entry("Other", MOTION)])


def test_a_show_is_edited_undone_and_saved(tmp_path: Path) -> None:
    stage = staged(ToyBook(tmp_path / "show"))
    piece, _ = stage.described("e0")
    assert piece["book"]["cues"][0]["begin"] == 0.5
    assert not piece["book"]["undo"]
    assert stage.edit_book("e0", {"edit": "move", "cue": "one", "by": 2}) == {"saved": ""}
    piece, _ = stage.described("e0")
    assert (piece["book"]["cues"][0]["begin"], piece["book"]["anew"]) == (1.5, 1)
    assert piece["book"]["undo"]
    assert piece["book"]["unsaved"]
    assert stage.edit_book("e0", {"edit": "save"}) == {"saved": str(tmp_path / "show")}
    assert (tmp_path / "show").read_text() == "3\n"
    assert not stage.described("e0")[0]["book"]["unsaved"]
    stage.edit_book("e0", {"edit": "undo"})
    piece, _ = stage.described("e0")
    assert piece["book"]["cues"][0]["begin"] == 0.5
    assert piece["book"]["redo"]
    assert piece["book"]["unsaved"]
    stage.edit_book("e0", {"edit": "redo"})
    assert stage.book("e0").book.text == "3\n"


def test_what_cannot_be_done_leaves_the_show_as_it_was() -> None:
    stage = staged(ToyBook())
    for wish in ({"edit": "stretch", "cue": "one", "counts": 3}, {"edit": "move", "cue": "two", "by": 1}):
        with pytest.raises(BunrakuError):
            stage.edit_book("e0", wish)
    with pytest.raises(BunrakuError, match="plays no motion"):
        stage.edit_book("e0", {"edit": "add", "track": MOTION.names[0], "motion": "fly: {a", "begin": 1})
    with pytest.raises(BunrakuError, match="has no script"):
        stage.edit_book("e1", {"edit": "undo"})
    with pytest.raises(UnknownName):
        stage.edit_book("e9", {"edit": "undo"})
    assert stage.book("e0").book.text == "1\n"
    assert stage.edit_book("e0", {"edit": "save"}) == {"saved": ""}


@pytest.mark.parametrize(
    "wish",
    [
        {}, {"edit": "move"}, {"edit": "move", "cue": "one", "by": True}, {"edit": "move", "cue": "one", "by": 1e9},
        {"edit": "move", "cue": 1, "by": 1}, {"edit": "remove", "cue": "one", "more": 1}, {"edit": "undo", "more": 1},
        {"edit": "add", "track": 0, "motion": "wave", "begin": 0}, {"edit": "burn"},
    ],
)  # fmt: skip
def test_malformed_wishes_are_refused(wish: dict[str, object]) -> None:
    with pytest.raises(Refusal):
        staged(ToyBook()).edit_book("e0", wish)


def test_one_edit_at_a_time() -> None:
    gate = threading.Event()
    stage = staged(ToyBook(gate=gate))
    first = threading.Thread(target=stage.edit_book, args=("e0", {"edit": "move", "cue": "one", "by": 1}))
    first.start()
    until(stage._rehearsing.locked)
    with pytest.raises(BunrakuError, match="being rehearsed"):
        stage.edit_book("e0", {"edit": "undo"})
    gate.set()
    first.join()
    assert stage.book("e0").book.text == "2\n"
