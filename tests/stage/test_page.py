"""The page in a real browser, end to end. Screenshots are kept in out/stage for whoever wants to look."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from bunraku.kinematics import frames_along
from bunraku.stage import Entry, Serving, standalone
from bunraku.stage.stage_limits import StageLimits
from tests.stage.browser import Browser
from tests.stage.toys import recorded

PICTURES = Path(__file__).parents[2] / "out" / "stage"
# What a gamepad says, without a gamepad.
PAD = """
window.fake = {id: 'Fake pad', index: 0, connected: true, mapping: 'standard', axes: [0, 0, 0, 0], buttons: []};
navigator.getGamepads = () => [window.fake];
"""


def opened(browser: Browser, serving: Serving, *, quality: int | None = None) -> Browser:
    browser.size(1280, 720)
    browser.scheme("light")
    browser.leave()
    browser.forget(serving.origin)
    browser.go(serving.address, quality=quality)
    return browser


def content(browser: Browser, serving: Serving) -> None:
    """Nothing has complained, and nothing was fetched from elsewhere."""
    assert browser.console() == []
    own = (serving.origin, f"ws://127.0.0.1:{serving.port}/", "blob:", "data:")
    assert [u for u in browser.requests() if not u.startswith(own)] == []


@pytest.fixture
def page(browser: Browser, serving: Serving) -> Iterator[Browser]:
    """The page, just opened; afterwards nothing may have complained."""
    yield opened(browser, serving)
    content(browser, serving)


@pytest.fixture(scope="module")
def same_page(browser: Browser, serving: Serving) -> Browser:
    """The page, opened once for the first tests, which only look at its recorded entry: each pauses it first."""
    return opened(browser, serving, quality=4)


@pytest.fixture
def still_page(same_page: Browser, serving: Serving) -> Iterator[Browser]:
    same_page.wait("bunraku.ready && bunraku.entry == 'e0'")
    same_page.js("(() => { if (bunraku.playing) bunraku.act('play') })()")
    yield same_page
    content(same_page, serving)


def test_it_loads_and_plays_at_once(same_page: Browser) -> None:
    page = same_page
    assert page.js("location.search") == ""  # the token is gone
    first = page.wait("bunraku.playing && bunraku.time > 0.05 && bunraku.time")
    page.wait(f"bunraku.time !== {first}")  # it begins again at its end, so it may also be less
    assert page.js("document.fonts.check('14px Inter')")


def test_the_time_line_takes_arrows_while_it_has_the_focus(still_page: Browser) -> None:
    """A hundredth of the motion each, as sliders do; elsewhere arrows drive."""
    still_page.key("Home")
    still_page.js("document.querySelector('#bar').focus()")
    for key in ("ArrowRight", "ArrowRight", "PageUp", "ArrowLeft"):
        still_page.key(key)
    assert still_page.js("bunraku.time") == pytest.approx(0.11 * 2.0)
    assert float(still_page.js("document.querySelector('#bar').getAttribute('aria-valuemin')")) == 0.0
    still_page.key("PageDown")
    still_page.key("PageDown")
    assert still_page.js("bunraku.time") == 0.0


def test_the_page_puts_frames_where_the_library_does(still_page: Browser) -> None:
    piece = recorded()
    f = piece.motion.figure
    row = 37
    still_page.js(f"bunraku.seek({float(piece.motion.t[row])})")
    shown = np.array(still_page.js("bunraku.frames(0)")).reshape(-1, 4, 4).transpose(0, 2, 1)
    np.testing.assert_allclose(shown, frames_along(f, piece.motion.q[row : row + 1])[0], atol=2e-6)


def test_a_slack_string_has_its_length(still_page: Browser) -> None:
    for a, b, length in (
        ((0, 0, 1), (1, 0, 2), 2.0), ((0, 0, 1), (0.5, 0.5, 1), 0.9), ((0, 0, 0), (0.001, 0, 1), 1.5),
        ((0, 0, 2), (2, 0, 2), 2.001), ((0, 0, 0), (0.3, 0, 3), 30.0), ((0, 0, 0), (1, 1, 1), 1.0),
    ):  # fmt: skip
        points = np.array(still_page.js(f"bunraku.hang({list(a)}, {list(b)}, {length}, 2000)")).reshape(-1, 3)
        np.testing.assert_allclose(points[0], a, atol=1e-9)
        np.testing.assert_allclose(points[-1], b, atol=1e-9)
        found = np.linalg.norm(np.diff(points, axis=0), axis=1).sum()
        assert found == pytest.approx(max(length, float(np.linalg.norm(np.subtract(a, b)))), rel=2e-3)


def test_the_ghost_of_the_reference_stands_beside_the_motion(still_page: Browser) -> None:
    still_page.js("bunraku.seek(0.7)")
    assert np.abs(np.subtract(still_page.js("bunraku.frames(0)"), still_page.js("bunraku.frames(1)"))).max() > 0.05  # elsewhere
    x, y, w, h = (int(v) for v in still_page.box("canvas"))

    def look() -> np.ndarray:
        with Image.open(still_page.still(PICTURES / "ghost.png")) as picture:
            return np.asarray(picture.convert("RGB"), float)[y : y + h, x : x + w]

    first = look()
    still_page.key("g")
    without = look()
    still_page.key("g")
    again = look()
    assert np.mean(np.abs(first - without).max(2) > 12) > 0.002  # a part of the picture was the ghost
    assert np.mean(np.abs(first - again).max(2) > 12) < 0.0005


def test_pause_step_scrub_speed_and_loop(page: Browser) -> None:
    page.click("#play")
    assert not page.js("bunraku.playing")
    then = page.js("bunraku.time")
    page.frames(8)
    assert page.js("bunraku.time") == then

    page.key("Home")
    page.key(".")
    page.key(".")
    assert page.js("bunraku.time") == pytest.approx(0.04)
    page.key(",")
    assert page.js("bunraku.time") == pytest.approx(0.02)

    x, y, width, height = page.box("#bar")
    page.drag((x + 0.25 * width, y + height / 2), (0.5 * width, 0))
    page.wait("Math.abs(bunraku.time - 1.5) < 0.02")
    assert "1.5" in page.text("#clock")
    assert not page.js("bunraku.playing")

    page.key("[")
    assert page.js("document.querySelector('#speed').value") == "0.5"
    page.key(" ")
    assert page.js("bunraku.playing")
    page.key("l")  # no loop: it stops at the end
    page.key("]")
    page.key("]")
    page.key("]")
    page.wait("!bunraku.playing")
    assert page.js("bunraku.time") == pytest.approx(2.0)


def test_a_narrow_stage_shows_all_of_its_tools(page: Browser) -> None:
    """A phone on its side, with list and plots open: nothing is cut off."""
    page.size(844, 390)
    page.wait("innerWidth === 844")
    assert page.js("['with-list', 'with-plots'].every((name) => document.body.classList.contains(name))")
    right = page.js("Math.max(...[...document.querySelectorAll('.tools .tool')].map((e) => e.getBoundingClientRect().right))")
    x, _, width, _ = page.box(".stage")
    assert right <= x + width


def test_views_layers_themes_plots_and_help(page: Browser) -> None:
    for key in "1234fgtbjpmp":
        page.key(key)
    page.key("?", code="Slash")
    assert page.js("document.querySelector('#help').open")
    page.key("Escape")
    page.wait("!document.querySelector('#help')")
    assert page.js("document.documentElement.dataset.theme") == "dark"
    page.key("m")
    charts = page.js("[...document.querySelectorAll('.chart')].map(c => c.dataset.group)")
    assert charts[:3] == ["Tension", "Energy", "Constraint error"]
    # A click in a plot moves the cursor of the time line.
    page.js("bunraku.act('play')")
    x, y, w, h = page.box(".chart .box")
    page.drag((x + 44 + (w - 54) / 2, y + h / 2), (0, 0), steps=1)
    page.wait("Math.abs(bunraku.time - 1) < 0.02")


def reset(page: Browser, serving: Serving, entry: str = "e1") -> None:
    """Presses the button, and waits until the page shows what came after."""
    run = serving.stage._rooms[entry].run
    log = run.log
    page.click("#reset")
    page.wait(lambda: run.log is not log)
    page.wait(f"bunraku.samples > {page.js('bunraku.samples')} + {StageLimits.samples_in_flight + 2}")


def test_dragging_a_spindle_moves_the_figure_and_the_tension(page: Browser, serving: Serving) -> None:
    page.click("[data-id='e1']")
    page.wait("bunraku.entry == 'e1' && bunraku.driving && bunraku.string('left').tension !== null")
    reset(page, serving)
    before, place = page.js("bunraku.string('left')"), page.js("bunraku.place('left_spindle')")
    elbow = page.js("bunraku.q()")
    x, y = page.spot("bunraku.screen('left', 'spindle')")
    page.drag((x, y), (90, -10), release=False)
    page.wait(f"Math.abs(bunraku.string('left').tension - {before['tension']}) > 0.5")
    assert abs(page.js("bunraku.place('left_spindle')")[0] - place[0]) > 0.05
    page.wait("bunraku.samples > 60")
    assert np.abs(np.subtract(page.js("bunraku.q()"), elbow)).max() > 0.05
    assert "left:" in page.text("#label")
    # To where nothing reaches: it stays at its limit and says so.
    page.mouse("mouseMoved", x + 380, y, held=True)
    page.wait("bunraku.string('left').atLimit")
    page.wait("document.querySelector('#warnings').textContent.includes('left')")
    page.mouse("mouseReleased", x + 380, y)
    # The wheel winds the string under it.
    length = page.js("bunraku.string('right').length")
    x, y = page.spot("bunraku.screen('right', 'spindle')")
    page.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=400)
    page.wait(f"bunraku.string('right').length > {length} + 0.01")


def test_dragging_a_hand_of_a_posed_figure(page: Browser) -> None:
    page.click("[data-id='e2']")
    page.wait("bunraku.entry == 'e2' && bunraku.driving && bunraku.samples > 3")
    before = page.js("bunraku.place('right_hand')")
    x, y = page.spot("bunraku.screenOf('right_hand')")
    page.drag((x, y), (60, -60), release=False)
    page.wait(f"Math.abs(bunraku.place('right_hand')[2] - {before[2]}) > 0.05")
    page.mouse("mouseReleased", x + 60, y - 60)


def test_a_click_pins_a_limb_and_another_frees_it(page: Browser, serving: Serving) -> None:
    page.click("[data-id='e2']")
    page.wait("bunraku.entry == 'e2' && bunraku.driving && bunraku.samples > 3")
    run = serving.stage._rooms["e2"].run
    x, y = page.spot("bunraku.screenOf('right_hand')")
    for pinned in (True, False, True):
        page.mouse("mouseMoved", x, y)
        page.mouse("mousePressed", x, y)
        page.mouse("mouseReleased", x, y)
        page.wait(f"bunraku.pins == {int(pinned)}")
        page.wait(lambda wanted=pinned: any(part == "pin" for _, part, _ in run._held) == wanted)
    page.mouse("mouseMoved", x + 1, y)
    page.wait("document.querySelector('#label').textContent.startsWith('right ')")
    assert not run.holding  # a pin is no hand: control may pass
    page.key("Backspace")
    page.wait("bunraku.pins == 0")
    # While it is paused, a drag says why nothing moves.
    page.key(" ")
    page.wait(lambda: run.state().paused)
    page.hear_notices()
    page.drag((x, y), (30, 0))
    page.wait("heard.some((text) => text.includes('Paused'))")
    page.key(" ")
    page.wait(lambda: not run.state().paused)


def test_the_wheel_does_not_zoom_through_a_figure(page: Browser) -> None:
    page.click("#play")
    x, y = page.spot("bunraku.screenOf('trunk')")
    for _ in range(40):
        page.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=-400)
    page.frames(3)
    near = page.js("bunraku.distance")
    assert near > 0.1
    page.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=400)
    page.wait(f"bunraku.distance > {near}")  # and out again


def test_a_faked_gamepad_and_the_keyboard_drive(page: Browser, serving: Serving) -> None:
    script = page.cdp("Page.addScriptToEvaluateOnNewDocument", source=PAD)["identifier"]
    page.go(serving.address)
    page.js("bunraku.open('e1')")
    page.wait("bunraku.entry == 'e1' && bunraku.driving && bunraku.samples > 3")
    live: Any = serving.stage.opened("e1")
    turn = live.figures[0].index("left_arm_rz")
    page.js("fake.axes = [0, 0.05, 0, 0]")  # inside the dead zone
    reset(page, serving)
    assert page.js(f"bunraku.q()[{turn}]") == 0
    page.js("fake.axes = [0, -1, 0, 0]")  # up is forward
    page.wait(f"bunraku.q()[{turn}] > 0.1")
    page.click("#pad")
    page.wait("document.querySelector('#gamepad p').textContent == 'Fake pad'")
    page.picture(PICTURES / "gamepad.png")
    page.key("Escape")
    page.js("fake.axes = [0, 0, 0, 0]")
    then = page.wait(f"bunraku.q()[{turn}]")
    page.js("document.activeElement.blur()")
    page.hold("s", down=True)
    page.wait(f"bunraku.q()[{turn}] < {then} - 0.1")
    page.hold("s", down=False)
    page.cdp("Page.removeScriptToEvaluateOnNewDocument", identifier=script)


def test_record_trim_undo_and_export(page: Browser, tmp_path: Path) -> None:
    page.click("[data-id='e1']")
    page.wait("bunraku.entry == 'e1' && bunraku.driving && bunraku.samples > 3")
    page.click("#record")
    page.wait("document.querySelector('#record').textContent == 'Stop'")
    page.wait(f"bunraku.time > {page.js('bunraku.time')} + 0.5")
    page.key("r")
    page.wait("bunraku.entry.startsWith('n')")  # the take opens by itself, and plays
    page.wait("bunraku.playing")
    page.click("#play")
    whole = float(page.text("#clock").split("/")[1].split()[0])
    assert whole > 0.3
    page.click("#trim")
    x, y, w, h = page.box(".grip.end")
    width = page.box("#bar")[2]
    page.drag((x + w / 2, y + h / 2), (-0.5 * width, 0))
    page.click("#trim-apply")
    page.wait(f"parseFloat(document.querySelector('#clock').textContent.split('/')[1]) < {0.7 * whole}")
    page.click("#undo")
    page.wait(f"parseFloat(document.querySelector('#clock').textContent.split('/')[1]) > {0.99 * whole}")
    page.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    page.click("#export summary")
    page.click("[data-format='npz']")
    page.wait(lambda: [p for p in tmp_path.glob("take-*.npz") if p.stat().st_size])
    page.click("#export summary")
    page.click("[data-format='mp4']")  # taken from where the page looks
    page.wait(lambda: [p for p in tmp_path.glob("take-*.mp4") if p.stat().st_size])
    eye, target, _ = json.loads(next(tmp_path.glob("take-*.mp4")).read_text())
    assert math.dist(eye, target) == pytest.approx(page.js("bunraku.distance"), rel=1e-6)
    page.click("#rename")
    page.js("document.querySelector('#new-title').value = 'The bow'")
    page.click("#rename-take form button")
    page.wait("document.querySelector('.now strong').textContent == 'The bow' && location.hash == '#the-bow'")
    assert page.js("document.querySelector('#entries .entry .title').textContent") == "The bow"  # takes come first
    page.js("window.confirm = () => true")
    page.click("#delete")
    page.wait("bunraku.ready && bunraku.entry == 'e0' && !document.querySelector('#entries').textContent.includes('The bow')")


def test_the_address_names_the_entry(page: Browser) -> None:
    page.click("[data-id='e1']")
    page.wait("bunraku.entry == 'e1' && bunraku.driving && location.hash == '#swinging'")
    page.driver.refresh()
    page.wait("window.bunraku?.entry == 'e1' && bunraku.driving")  # and is not locked out by the page that it was
    page.click("[data-id='e0']")
    page.wait("bunraku.entry == 'e0' && location.hash == '#waving'")
    page.driver.back()
    page.wait("bunraku.entry == 'e1' && bunraku.driving")


def test_quick_keys_and_quick_switches(page: Browser) -> None:
    page.click("[data-id='e1']")
    page.wait("bunraku.entry == 'e1' && bunraku.driving")
    for _ in range(5):
        page.key("]")
    page.wait("document.querySelector('#live-speed').value == '4'")
    page.js("document.querySelector('#reset').focus({focusVisible: true})")
    page.key(" ")  # presses the button that has the focus: nothing pauses
    page.driver.execute_async_script("""
      const done = arguments[0]
      let k = 0
      const go = () => { document.querySelector(`[data-id='e${1 + (k % 2)}']`).click(); ++k < 100 ? setTimeout(go, 8) : done() }
      go()""")
    page.wait("bunraku.ready && bunraku.entry == 'e2' && bunraku.driving && bunraku.samples > 3")
    page.click("[data-id='e1']")
    page.wait("bunraku.entry == 'e1' && bunraku.driving && bunraku.samples > 3")


def test_a_bad_file_shows_the_loaders_own_words(page: Browser, tmp_path: Path) -> None:
    bad = tmp_path / "bad.puppet"
    bad.write_text("name: Ada\nnoise\n")
    good = tmp_path / "good.puppet"
    good.write_text("name: Ada\n")
    from selenium.webdriver.common.by import By

    chooser = page.driver.find_element(By.CSS_SELECTOR, "#file")
    chooser.send_keys(str(bad))
    page.wait("document.querySelector('.notice.error')?.textContent.includes('bad.puppet:2:1: expected name')")
    page.picture(PICTURES / "bad-file.png")
    page.click(".notice.error button")
    chooser.send_keys(str(good))
    page.wait("document.querySelector('.now strong').textContent == 'Ada'")
    # The browser itself reports the refused upload as a failed request: that one line is wanted.
    assert [line for line in page.console() if "422" not in line] == []


def test_an_exported_page_opens_from_disk_and_plays(browser: Browser, tmp_path: Path) -> None:
    file = tmp_path / "waving.html"
    file.write_text(standalone([Entry("Waving <b>", recorded, "offline"), Entry("Again", recorded)]))
    browser.leave()
    browser.go(file.as_uri())
    first = browser.wait("bunraku.playing && bunraku.time > 0.05 && bunraku.time")
    browser.wait(f"bunraku.time != {first}")
    assert browser.text(".now strong") == "Waving <b>"
    browser.picture(PICTURES / "standalone.png")
    browser.click("[data-id='e1']")
    browser.wait("bunraku.entry == 'e1'")
    assert browser.console() == []
    assert [u for u in browser.requests() if not u.startswith(("file:", "data:", "blob:"))] == []
