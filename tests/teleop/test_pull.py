"""A simulated marionette, pulled with a mouse in a real browser, and real files dropped on the page."""

from __future__ import annotations

import json
import threading
from pathlib import Path

from bunraku import io
from bunraku.figure import library
from bunraku.stage import Entry, Recorded, Serving, serve
from bunraku.teleop import Simulated
from bunraku.teleop.dropped_files import entries_of
from bunraku.teleop.viewing_places import standing
from tests.patience import PATIENCE
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES


def opened(browser: Browser, serving: Serving) -> None:
    """The page; whatever the one before said, whose stage has closed under it, is forgotten."""
    browser.size(1280, 720)
    browser.leave()
    browser.go(serving.address)


def test_a_dragged_spindle_pulls_the_arm(browser: Browser) -> None:
    live = Simulated(library.named("marionette25"))
    live.step()
    with serve([Entry("Pull", lambda: live, "", "", (0.0, 1.0))]) as serving:
        opened(browser, serving)
        browser.wait("bunraku.driving && bunraku.samples > 10")
        tension, hand = browser.js("bunraku.string('right_arm').tension"), browser.js("bunraku.place('rhand')")
        x, y = browser.js("bunraku.screen('right_arm', 'spindle')")
        browser.drag((x, y), (260, 0), release=False)
        browser.wait(f"Math.abs(bunraku.string('right_arm').tension - {tension}) > 0.05")
        browser.wait(f"Math.hypot(bunraku.place('rhand')[0] - {hand[0]}, bunraku.place('rhand')[2] - {hand[2]}) > 0.02")
        browser.picture(PICTURES / "pull.png")
        browser.mouse("mouseReleased", x + 260, y)
        then = browser.js("bunraku.time")
        browser.wait(f"bunraku.time > {then} + 0.5")  # it goes on
        assert browser.console() == []


def test_a_dragged_limb_follows_on_a_rubber_band(browser: Browser) -> None:
    live = Simulated(library.named("marionette25"))
    live.step()
    with serve([Entry("Pull", live, front=(0.0, 1.0))]) as serving:
        opened(browser, serving)
        browser.wait("bunraku.driving && bunraku.samples > 10")
        foot = browser.js("bunraku.place('rfoot')")
        x, y = browser.js("bunraku.screenOf('rfoot')")  # no string is hooked near it
        browser.drag((x, y), (-110, -90), release=False)
        browser.wait(f"Math.hypot(...bunraku.place('rfoot').map((v, k) => v - {foot}[k])) > 0.06")
        browser.picture(PICTURES / "limb.png")
        browser.mouse("mouseReleased", x - 110, y - 90)
        browser.wait(f"Math.hypot(...bunraku.place('rfoot').map((v, k) => v - {foot}[k])) < 0.05")  # it swings back
        assert browser.console() == []


DROP = """(files => {
  const carried = new DataTransfer()
  files.forEach(([name, text]) => carried.items.add(new File([text], name)))
  for (const type of ['dragenter', 'dragover', 'drop'])
    document.querySelector('.stage').dispatchEvent(new DragEvent(type, { dataTransfer: carried, bubbles: true, cancelable: true }))
})"""


def test_a_dropped_figure_opens_and_a_bad_one_shows_the_loaders_message(browser: Browser, tmp_path: Path) -> None:
    io.save(library.named("arm3d"), tmp_path / "arm.yaml")
    text = (tmp_path / "arm.yaml").read_text()
    at = text.index("hook:")
    bad = text[:at] + "hoook:" + text[at + 5 :]
    live = Simulated(library.named("arm3d"))
    live.step()
    entries_of(tmp_path / "arm.yaml")[0].open()  # what compiles does so before the page waits for it
    with serve([Entry("Arm", live)], opener=entries_of) as serving:
        opened(browser, serving)
        browser.js(f"{DROP}({json.dumps([['arm.yaml', bad]])})")
        line = text[:at].count("\n") + 1
        browser.wait(f"document.querySelector('.notice.error')?.textContent.includes('arm.yaml:{line}:')")
        shown = browser.text(".notice.error")
        assert "did you mean hook?" in shown
        assert "^" in shown  # the caret
        assert str(tmp_path) not in shown
        browser.picture(PICTURES / "dropped-bad-file.png")
        browser.click(".notice.error button")
        browser.js(f"{DROP}({json.dumps([['arm.yaml', text]])})")
        browser.wait("document.querySelector('.now strong').textContent.startsWith('arm')")
        assert [line for line in browser.console() if "422" not in line] == []


def test_a_file_is_taken_while_the_first_entry_is_still_being_made(browser: Browser, tmp_path: Path) -> None:
    arm, made = library.named("arm3d"), threading.Event()
    io.save(arm, tmp_path / "arm.yaml")
    entries_of(tmp_path / "arm.yaml")[0].open()

    def slowly() -> Recorded:
        made.wait(PATIENCE)
        return standing(arm)

    with serve([Entry("Slow", slowly)], opener=entries_of) as serving:
        browser.driver.get("about:blank")
        browser.driver.get(f"{serving.address}#quality=4")
        browser.wait("window.bunraku && document.querySelector('.drop-hint')")
        browser.js(f"{DROP}({json.dumps([['arm.yaml', (tmp_path / 'arm.yaml').read_text()]])})")
        browser.wait("bunraku.ready && document.querySelector('.now strong').textContent.startsWith('arm')")
        made.set()
        browser.wait("document.querySelector('.drop-hint') && bunraku.ready")
        assert browser.text(".now strong").startswith("arm")  # what was asked for last
