"""Music in a real browser: its clock and that of the time line are compared at the same moment of one page."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest

from bunraku.sound.soundtrack import Soundtrack
from bunraku.stage import Entry, Recorded, Serving, serve
from tests.stage.browser import Browser
from tests.stage.test_accessible import AXE, violations
from tests.stage.test_page import content, opened
from tests.stage.toys import puppet, recorded, waving

SECONDS = 30.0
# Both clocks whenever the page shows another time. The music goes on while a picture is made: its time is noted
# when the page looks at it, and after the picture, in the same task.
WATCH = """
window.clocks = []
window.watcher?.disconnect()
const music = document.querySelector('#music')
const { get, set } = Object.getOwnPropertyDescriptor(HTMLMediaElement.prototype, 'currentTime')
let looked = 0
Object.defineProperty(music, 'currentTime', { configurable: true, set, get: () => (looked = get.call(music)) })
window.watcher = new MutationObserver(() => clocks.push([bunraku.time, looked, get.call(music), Number(music.paused)]))
watcher.observe(document.querySelector('#clock'), { childList: true, characterData: true, subtree: true })
"""


def sounding() -> Recorded:
    t = np.arange(round(SECONDS * 8000)) / 8000
    beeps = 8000.0 * np.sin(2 * np.pi * 440 * t) * (t % 0.5 < 0.1)
    return Recorded(waving(puppet(), seconds=SECONDS), sound=Soundtrack(beeps.astype(np.int16)[:, None], 8000))


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve([Entry("Sounding", sounding), Entry("Silent", recorded)]) as served:
        yield served


@pytest.fixture
def page(browser: Browser, serving: Serving) -> Iterator[Browser]:
    yield opened(browser, serving)
    content(browser, serving)


def sounds(page: Browser) -> None:
    """Waits until the music plays; a click on the stage is the gesture that browsers want first."""
    page.wait("document.querySelector('#music').readyState >= 3")
    page.click("#clock")
    page.wait("!document.querySelector('#music').paused && document.querySelector('#music').currentTime > 0")


def apart(page: Browser, pictures: int = 12) -> np.ndarray:
    """By how much the clocks differ while so many pictures are shown [s of the show]."""
    page.driver.execute_script(WATCH)
    page.wait(f"clocks.length > {pictures}")
    seen = np.array(page.js("(watcher.disconnect(), clocks)"))[1:]
    time, begin, end, paused = seen.T
    assert not paused.any()
    assert (np.diff(time) >= 0.0).all()
    assert np.ptp(end) > 0.05  # it sounds
    return np.maximum(begin - time, time - end).clip(0.0)


def test_music_goes_with_the_time_line(page: Browser) -> None:
    sounds(page)
    assert apart(page).max() < 0.1
    for jump in (12.0, 3.0):
        page.js(f"bunraku.seek({jump})")
        page.wait("!document.querySelector('#music').seeking")
        assert apart(page).max() < 0.1
        assert page.js("bunraku.time") >= jump
    for key, speed in (("[", 0.5), ("]", 1.0), ("]", 1.5), ("]", 2.0)):
        page.key(key)
        assert page.js("document.querySelector('#music').playbackRate") == speed
        assert apart(page).max() < 0.1
    page.key(" ")
    assert page.js("document.querySelector('#music').paused")
    page.js("bunraku.seek(7.25)")
    assert page.js("document.querySelector('#music').currentTime") == pytest.approx(7.25, abs=0.02)
    page.key(" ")
    page.wait("!document.querySelector('#music').paused")
    assert apart(page).max() < 0.1


def test_it_begins_again_with_the_loop(page: Browser) -> None:
    sounds(page)
    page.js(f"bunraku.seek({SECONDS - 0.4})")
    page.wait("bunraku.time < 5 && !document.querySelector('#music').paused && !document.querySelector('#music').seeking")
    assert apart(page).max() < 0.1
    assert page.js("document.querySelector('#music').currentTime") < 10.0


def test_the_mute_button_is_reached_by_keys_and_remembered(page: Browser, serving: Serving) -> None:
    sounds(page)
    button = "document.querySelector('#mute')"
    assert page.js(f"[{button}.getAttribute('aria-label'), {button}.getAttribute('aria-pressed')]") == ["Mute the music", "false"]
    page.js("document.querySelector('#speed').focus()")
    page.cdp("Input.dispatchKeyEvent", type="keyDown", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    page.cdp("Input.dispatchKeyEvent", type="keyUp", key="Tab", code="Tab", windowsVirtualKeyCode=9)
    assert page.js("document.activeElement.id") == "mute"
    page.key(" ", code="Space")
    page.wait("document.querySelector('#music').muted && document.querySelector('#music').paused")
    assert page.js(f"{button}.getAttribute('aria-pressed')") == "true"
    before = page.js("bunraku.time")
    page.wait(f"bunraku.time > {before}")  # the picture goes on
    page.key(" ", code="Space")
    page.wait("!document.querySelector('#music').paused")
    assert apart(page).max() < 0.1  # it has come in where the picture is
    page.click("#mute")
    page.go(serving.address)
    assert page.js("document.querySelector('#music').muted")
    page.wait("bunraku.time > 0.2")
    assert page.js("document.querySelector('#music').paused")
    assert page.text("#notices") == ""  # nothing is heard that a browser could refuse
    page.js("void bunraku.open('e1')")
    page.wait("bunraku.entry == 'e1'")
    assert page.js(f"{button}.hidden")
    page.wait("bunraku.playing && bunraku.time > 0.05")  # a silent piece plays as ever
    page.js("void bunraku.open('e0')")
    page.wait("bunraku.entry == 'e0' && document.querySelector('#music').readyState >= 3")
    page.click("#mute")
    page.wait("!document.querySelector('#music').paused")
    assert page.js(f"[{button}.hidden, {button}.getAttribute('aria-pressed')]") == [False, "false"]
    page.forget(serving.origin)


def test_a_browser_that_wants_a_gesture_is_told_of(browser: Browser, serving: Serving) -> None:
    refusing = """{
      const play = HTMLMediaElement.prototype.play
      HTMLMediaElement.prototype.play = function () {
        return window.gesture ? play.call(this) : Promise.reject(new DOMException('no gesture', 'NotAllowedError'))
      }
      for (const kind of ['click', 'keydown', 'pointerup']) addEventListener(kind, () => { window.gesture = true }, true)
    }"""
    browser._run_first(refusing, True)  # as every browser may, by its own rules, before a visitor has done anything
    try:
        page = opened(browser, serving)
        page.wait("document.querySelector('#notices').textContent.includes('only after a click or a key')")
        page.wait("bunraku.time > 0.2")  # the picture does not wait
        assert page.js("document.querySelector('#music').paused")
        page.key("g")
        page.wait("!document.querySelector('#music').paused")
        assert apart(page).max() < 0.1
        content(browser, serving)
    finally:
        browser._run_first(refusing, False)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run npm ci in stage-web")
def test_axe_finds_nothing(page: Browser, serving: Serving) -> None:
    sounds(page)
    page.driver.execute_script(AXE.read_text(encoding="utf-8"))
    for theme in ("light", "dark"):
        page.wait(f"document.documentElement.dataset.theme == '{theme}'")
        assert violations(page) == []
        page.click("#mute")
        assert violations(page) == []
        page.key("m")
    page.forget(serving.origin)


def test_an_exported_page_plays_its_music(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> None:
    from bunraku.stage import standalone

    file = tmp_path_factory.mktemp("page") / "show.html"
    file.write_text(standalone([Entry("Sounding", replace(sounding(), reference=None))]), encoding="utf-8")
    browser.leave()
    browser.go(file.as_uri())
    sounds(browser)
    assert apart(browser).max() < 0.1
    said = browser.console()
    assert [line for line in said if "favicon.svg" not in line] == []  # the browser may still look for that of the page before
