"""A show edited in a real browser: a cue is dragged while the show plays, saved, and loaded again."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import bunraku
from bunraku.choreography import load_script, perform, show_book
from bunraku.kinematics import frames_along
from bunraku.scene import Scene
from bunraku.stage import Entry, Serving, serve
from tests.stage.browser import Browser
from tests.stage.test_accessible import AXE, violations
from tests.stage.test_page import PICTURES, content, opened

SHOW = """\
perform: A short one   # by two
tempo: 100
figures:
  anna: {figure: marionette22, at: [-0.8, 0]}
  bert: {figure: marionette22, at: [0.8, 0]}
script:
  # Anna begins.
  - anna: nod
    counts: 4
    name: first
  - anna: shrug
    at: 6    # her answer
    counts: 4
  - bert: nod
    with: first
    counts: 4
"""
BAR = "[...document.querySelectorAll('.cue')].find((bar) => bar.title.startsWith({!r}))"
CENTRE = "(r => [r.x + r.width / 2, r.y + r.height / 2])({}.getBoundingClientRect())"
WATCH = """
  window.seen = []
  const look = () => {
    seen.push([bunraku.time, bunraku.playing, ...bunraku.place('head', 1)])
    window.watching && requestAnimationFrame(look)
  }
  window.watching = true
  look()
"""


@pytest.fixture(scope="module")
def file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("show") / "short.yaml"
    path.write_text(SHOW)
    return path


@pytest.fixture(scope="module")
def serving(file: Path) -> Iterator[Serving]:
    kept = file.parent / "rehearsals"
    done = perform(load_script(file), folder=kept)
    assert done.rehearsed_anew == 3 - 1  # two puppets of one kind nod alike
    bare = replace(show_book.recorded(done, folder=kept), scene=Scene("stage"), reference=None)  # a processor draws all this
    with serve([Entry("Short", bare)]) as served:
        yield served


@pytest.fixture
def score(browser: Browser, serving: Serving) -> Iterator[Browser]:
    opened(browser, serving)
    browser.click("#edit-score")
    browser.wait("document.querySelectorAll('.cue').length == 3")
    yield browser
    content(browser, serving)


def test_a_cue_is_dragged_while_the_show_plays_and_saved(score: Browser, serving: Serving, file: Path) -> None:
    score.js("(() => { if (!bunraku.playing) bunraku.act('play'); bunraku.act('loop') })()")
    score.js("bunraku.seek(0)")
    shrug = BAR.format("cue 2")
    score.spot(CENTRE.format(shrug))
    width = score.js("parseFloat(getComputedStyle(document.querySelector('.score-sheet')).getPropertyValue('--count'))")
    score.driver.execute_script(WATCH)
    score.drag(score.spot(CENTRE.format(shrug)), (width, 0.0), steps=3)
    score.wait("!bunraku.saving")
    seen = np.array(score.js("(watching = false, seen.map((row) => row.map(Number)))"))
    assert score.text("#score-status") == "Nothing had to be rehearsed."  # she shrugs as before, only later
    assert "counts 7.00 to 11.00" in score.js(f"{shrug}.title")
    # Time went on, never back, never further than a picture lasts; and Bert, whose part is the same, was where he plays it.
    played = seen[seen[:, 1] == 1.0]
    steps = np.diff(played[:, 0])
    assert len(played) > 5
    assert (steps >= 0.0).all()
    assert steps.max() <= 0.25 + 1e-6
    motion = serving.stage.opened("e0").motion
    bert = motion.track("bert")
    head = frames_along(bert.figure, bert.q)[:, [frame.name for frame in bert.figure.frames].index("head"), :3, 3]
    assert np.ptp(head, axis=0).max() > 0.02
    there = np.stack([np.interp(played[:, 0], motion.t, x) for x in head.T], 1)
    assert np.abs(played[:, 2:] - there).max() < 0.003
    assert seen[-1, 1] == 1.0 or score.js("bunraku.time") >= 6.0
    score.js("(() => { if (bunraku.playing) bunraku.act('play') })()")
    x, y, w, h = score.js(f"(r => [r.x, r.y, r.width, r.height])({shrug}.getBoundingClientRect())")
    score.drag((x + w - 4.0, y + h / 2), (width, 0.0), steps=3)
    score.wait("!bunraku.saving")
    assert score.text("#score-status") == "1 stretch rehearsed again, the rest is kept."
    assert "counts 7.00 to 12.00" in score.js(f"{shrug}.title")
    score.picture(PICTURES / "score.png")
    score.click("#save-score")
    score.wait("!bunraku.saving")
    assert file.read_text() == SHOW.replace("at: 6    # her answer\n    counts: 4", "at: 7    # her answer\n    counts: 5")
    assert score.js("document.querySelector('#save-score').disabled")
    # What was saved is what is shown.
    loaded = bunraku.load(file)
    again = perform(loaded.script, folder=file.parent / "rehearsals")
    assert again.rehearsed_anew == 0
    shown = serving.stage.opened("e0")
    assert all(np.array_equal(a.q, b.q) for a, b in zip(again.motion.tracks, shown.motion.tracks, strict=True))
    for _ in range(2):
        score.key("z")
        score.wait("!bunraku.saving")
    assert "counts 6.00 to 10.00" in score.js(f"{shrug}.title")


def test_keys_move_and_what_cannot_be_is_told(score: Browser, serving: Serving) -> None:
    shrug = BAR.format("cue 2")
    before = serving.stage.book("e0").book.text
    score.js("(() => { if (bunraku.playing) bunraku.act('play') })()")
    score.js(f"{shrug}.focus()")
    for _ in range(2):
        score.key("ArrowRight")
    score.wait("!bunraku.saving")
    assert "counts 6.50 to 10.50" in score.js(f"{shrug}.title")
    score.js(f"{BAR.format('first')}.focus()")
    score.key("Delete")  # Bert nods with it
    score.wait("!bunraku.saving && document.querySelector('.notice.error')?.textContent.includes(\"waits for 'first'\")")
    assert ["422" in line for line in score.console()] == [True]  # the browser's own word on the refused request
    score.js(f"{shrug}.focus()")
    score.key("Delete")
    score.wait("!bunraku.saving && document.querySelectorAll('.cue').length == 2")
    score.js("(() => { document.querySelector('#cue-motion').value = 'shrug'; bunraku.seek(2.4) })()")
    score.click("#add-cue")
    score.wait("!bunraku.saving && document.querySelectorAll('.cue').length == 3")
    assert serving.stage.book("e0").book.text.endswith("    counts: 4\n  - anna: shrug\n    at: 4\n")
    for _ in range(3):
        score.click("#undo-cue")
        score.wait("!bunraku.saving")
    assert serving.stage.book("e0").book.text == before


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run npm ci in stage-web")
def test_axe_finds_nothing_in_the_score(score: Browser, serving: Serving) -> None:
    score.driver.execute_script(AXE.read_text(encoding="utf-8"))
    for theme in ("light", "dark"):
        score.wait(f"document.documentElement.dataset.theme == '{theme}'")
        assert violations(score) == []
        score.key("m")
    score.forget(serving.origin)
