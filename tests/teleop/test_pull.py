"""A simulated marionette, pulled with a mouse in a real browser, and real files dropped on the page."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from bunraku import io
from bunraku.figure import library
from bunraku.stage import Entry, Recorded, Serving, serve
from bunraku.teleop import Simulated
from bunraku.teleop.dropped_files import entries_of
from bunraku.teleop.viewing_places import standing
from tests.patience import PATIENCE
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES, reset


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    live = Simulated(library.named("marionette25"))
    live.step()
    with serve([Entry("Pull", live, front=(0.0, 1.0))], opener=entries_of) as served:
        yield served


@pytest.fixture(scope="module")
def same_page(browser: Browser, serving: Serving) -> Iterator[Browser]:
    browser.size(1280, 720)
    browser.leave()
    browser.go(serving.address)
    yield browser
    browser.leave()


@pytest.fixture
def page(same_page: Browser, serving: Serving) -> Browser:
    """One page and one stage for all tests that pull: each begins with a reset."""
    same_page.wait("bunraku.driving && bunraku.samples > 10")
    reset(same_page, serving, "e0")
    return same_page


def test_a_dragged_spindle_pulls_the_arm(page: Browser) -> None:
    tension, hand = page.js("bunraku.string('right_arm').tension"), page.js("bunraku.place('rhand')")
    x, y = page.spot("bunraku.screen('right_arm', 'spindle')")
    page.drag((x, y), (260, 0), release=False)
    page.wait(f"Math.abs(bunraku.string('right_arm').tension - {tension}) > 0.05")
    page.wait(f"Math.hypot(bunraku.place('rhand')[0] - {hand[0]}, bunraku.place('rhand')[2] - {hand[2]}) > 0.02")
    page.picture(PICTURES / "pull.png")
    page.mouse("mouseReleased", x + 260, y)
    then = page.js("bunraku.time")
    page.wait(f"bunraku.time > {then} + 0.5")  # it goes on
    assert page.console() == []


def test_a_spindle_that_is_dragged_up_winds_its_string(page: Browser) -> None:
    length = page.js("bunraku.string('left_arm').length")
    x, y = page.spot("bunraku.screen('left_arm', 'spindle')")
    page.drag((x, y), (0, -50), release=False)
    page.wait(f"bunraku.string('left_arm').length < {length} - 0.02")
    page.mouse("mouseReleased", x, y - 50)
    assert page.console() == []


def test_a_dragged_limb_follows_on_a_rubber_band(page: Browser) -> None:
    foot = page.js("bunraku.place('rfoot')")
    x, y = page.js("bunraku.screenOf('rfoot')")  # no string is hooked near it
    page.drag((x, y), (-110, -90), release=False)
    page.wait(f"Math.hypot(...bunraku.place('rfoot').map((v, k) => v - {foot}[k])) > 0.06")
    page.picture(PICTURES / "limb.png")
    page.mouse("mouseReleased", x - 110, y - 90)
    page.wait(f"Math.hypot(...bunraku.place('rfoot').map((v, k) => v - {foot}[k])) < 0.05")  # it swings back
    assert page.console() == []


DROP = """(files => {
  const carried = new DataTransfer()
  files.forEach(([name, text]) => carried.items.add(new File([text], name)))
  for (const type of ['dragenter', 'dragover', 'drop'])
    document.querySelector('.stage').dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }))
})"""


def test_a_dropped_figure_opens_and_a_bad_one_shows_the_loaders_message(page: Browser, tmp_path: Path) -> None:
    io.save(library.named("arm3d"), tmp_path / "arm.yaml")
    text = (tmp_path / "arm.yaml").read_text()
    at = text.index("hook:")
    bad = text[:at] + "hoook:" + text[at + 5 :]
    entries_of(tmp_path / "arm.yaml")[0].open()  # what compiles does so before the page waits for it
    page.js(f"{DROP}({json.dumps([['arm.yaml', bad]])})")
    line = text[:at].count("\n") + 1
    page.wait(f"document.querySelector('.notice.error')?.textContent.includes('arm.yaml:{line}:')")
    shown = page.text(".notice.error")
    assert "did you mean hook?" in shown
    assert "^" in shown  # the caret
    assert str(tmp_path) not in shown
    page.picture(PICTURES / "dropped-bad-file.png")
    page.click(".notice.error button")
    page.js(f"{DROP}({json.dumps([['arm.yaml', text]])})")
    page.wait("bunraku.driving && document.querySelector('.now strong').textContent == 'arm'")  # live, to be pulled
    assert [line for line in page.console() if "422" not in line] == []


def test_a_file_is_taken_while_the_first_entry_is_still_being_made(browser: Browser, tmp_path: Path) -> None:
    arm, made = library.named("arm3d"), threading.Event()
    io.save(arm, tmp_path / "arm.yaml")
    entries_of(tmp_path / "arm.yaml")[0].open()

    def slowly() -> Recorded:
        made.wait(PATIENCE)
        return standing(arm)

    with serve([Entry("Slow", slowly)], opener=entries_of) as serving:
        browser.pictures(False)
        browser.driver.get("about:blank")
        browser.driver.get(serving.address)
        browser.wait("window.bunraku && document.querySelector('.drop-hint')")
        browser.js(f"{DROP}({json.dumps([['arm.yaml', (tmp_path / 'arm.yaml').read_text()]])})")
        browser.wait("bunraku.ready && document.querySelector('.now strong').textContent.startsWith('arm')")
        made.set()
        browser.wait("document.querySelector('.drop-hint') && bunraku.ready")
        assert browser.text(".now strong").startswith("arm")  # what was asked for last
