from __future__ import annotations

import difflib
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.choreography import load_script, score
from bunraku.choreography.script import Cue, Script
from bunraku.choreography.script_edits import added, moved, removed, stretched
from bunraku.choreography.script_file import script_of
from bunraku.errors import FileError, UnknownName
from bunraku.io.shipped import found
from bunraku.io.yaml import yaml_reader

MEETING = load_script(found("the_meeting"))
TEXT = MEETING.cues[0].where.source.text


def read(text: str) -> Script:
    return script_of(yaml_reader.parse(text), Path())


def said(cue: Cue) -> tuple[object, ...]:
    """Everything that a cue says, but its name if nobody gave it one."""
    start = (cue.start.at_end, cue.start.counts)
    return cue.role, cue.motion, start, cue.counts, cue.until, cue.give, cue.to, cue.facing, cue.size, cue.mirrored


def comments(text: str) -> list[str]:
    return re.findall(r"#.*", text)


@settings(max_examples=15, deadline=None)
@given(st.sampled_from([cue.name for cue in MEETING.cues]), st.integers(-8, 8).map(lambda k: k / 4))
def test_a_moved_cue_begins_later_and_nothing_else_is_written(name: str, by: float) -> None:
    text = moved(MEETING, name, by)
    k = [cue.name for cue in MEETING.cues].index(name)
    script = read(text)
    old, new = MEETING.cues[k], script.cues[k]
    assert new.start.counts == pytest.approx(old.start.counts + by)
    entry = [i for i, cue in enumerate(MEETING.cues) if cue.where is old.where]
    others = [i for i in range(len(MEETING.cues)) if i not in entry]
    assert [said(script.cues[i]) for i in others] == [said(MEETING.cues[i]) for i in others]
    assert comments(text) == comments(TEXT)
    changed = [line for line in difflib.ndiff(TEXT.splitlines(), text.splitlines()) if line[0] in "+-"]
    assert len(changed) <= 2
    assert moved(script, name, -by) == TEXT or old.where.get("wait") is None


def test_cues_that_refer_to_a_moved_one_move_along() -> None:
    before = {t.cue.name: float(t.begin[0]) for t in score(MEETING).cues}
    after = {t.cue.name: float(t.begin[0]) for t in score(read(moved(MEETING, "come", 1.0))).cues}
    assert after["come"] == before["come"] + 1.0
    assert after["bert_comes"] == before["bert_comes"] + 1.0
    assert after["hello"] == before["hello"]


def test_a_stretched_cue() -> None:
    assert read(stretched(MEETING, "come", 6.5)).cue("come").counts == 6.5
    without = next(cue for cue in MEETING.cues if cue.counts is None and not cue.until)
    assert read(stretched(MEETING, without.name, 5.0)).cue(without.name).counts == 5.0


def test_a_removed_cue_is_gone_with_its_lines_alone() -> None:
    text = removed(MEETING, "cue 4")
    assert [said(cue) for cue in read(text).cues] == [said(cue) for cue in MEETING.cues if cue.name != "cue 4"]
    assert comments(text) == comments(TEXT)


def test_an_added_cue_is_the_last() -> None:
    *others, last = read(added(MEETING, "bert", "wave", 200.0)).cues
    assert [said(cue) for cue in others] == [said(cue) for cue in MEETING.cues]
    assert (last.role, last.motion, last.start.cue, last.start.counts) == ("bert", "wave", "", 200.0)


HEAD = "perform: Short\ntempo: 100\nfigures: {anna: marionette22, bert: {figure: marionette22, at: [1, 0]}}\nscript:\n"


@pytest.mark.parametrize("break_", ["\n", "\r\n"])
@pytest.mark.parametrize(
    "cues",
    [
        "  - {anna: wave, counts: 4}  # in one line\n  - bert: nod",  # and no break at the end
        "- anna: wave  # who\n- bert: nod\n# the end\n",
        "  -   anna: wave\n      # beside\n      counts: 4\n  - {bert: nod,\n     counts: 4}\noutput: a.npz\n",
    ],
)
def test_other_ways_to_write_it(cues: str, break_: str) -> None:
    script = read((HEAD + cues).replace("\n", break_))
    for name, who in (("cue 1", "anna"), ("cue 2", "bert")):
        text = moved(script, name, 1.5)
        assert next(cue for cue in read(text).cues if cue.role == who).start.counts == 1.5
        assert next(cue for cue in read(stretched(script, name, 5.0)).cues if cue.role == who).counts == 5.0
        assert [cue.role for cue in read(removed(script, name)).cues] == [{"anna": "bert", "bert": "anna"}[who]]
        assert comments(text) == comments(script.cues[0].where.source.text)
        assert break_ == "\n" or text.count("\n") == text.count("\r\n")
    assert [cue.role for cue in read(added(script, "anna", "bow", 20.0)).cues] == ["anna", "bert", "anna"]


def test_what_cannot_be_edited_is_said() -> None:
    with pytest.raises(UnknownName):
        moved(MEETING, "nobody", 1.0)
    with pytest.raises(FileError, match="waits for 'hello'"):
        removed(MEETING, "hello")
    script = read(HEAD + "  - {anna: wave, until: nods}\n  - {bert: nod, at: 6, name: nods}\n")
    with pytest.raises(FileError, match="ends when 'nods' begins"):
        stretched(script, "cue 1", 2.0)
    quoted = read(HEAD + "  - anna: 'wave'\n")
    with pytest.raises(FileError, match="by hand"):
        moved(quoted, "cue 1", 2.0)
    with pytest.raises(FileError, match="only cue"):
        removed(quoted, "cue 1")
    flow = read(HEAD.replace("script:\n", "script: [{anna: wave}, {bert: nod}]\n"))
    with pytest.raises(FileError, match="lines of its own"):
        removed(flow, "cue 1")
    with pytest.raises(FileError, match="lines of its own"):
        added(flow, "anna", "wave", 3.0)
    assert read(moved(flow, "cue 2", 2.0)).cues[1].start.counts == 2.0
