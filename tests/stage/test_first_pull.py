"""The first pull: a card leads through it, follows what the visitor does, and is never shown again."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from bunraku.stage import Serving
from tests.stage.browser import Browser
from tests.stage.test_accessible import AXE, violations
from tests.stage.test_page import content, opened

STEP = "document.querySelector('#first-pull small').textContent"


@pytest.fixture
def newcomer(browser: Browser, serving: Serving) -> Iterator[Browser]:
    """Somebody who has never been here, before a live figure."""
    browser.greet(True)
    opened(browser, serving)
    open_live(browser)
    yield browser
    content(browser, serving)
    browser.forget(serving.origin)
    browser.greet(False)


def open_live(page: Browser) -> None:
    page.js("void bunraku.open('e1')")
    page.wait("bunraku.entry == 'e1' && bunraku.driving && bunraku.samples > 3")


def shown(page: Browser) -> bool:
    return bool(page.js("!document.querySelector('#first-pull').hidden"))


def test_the_card_follows_what_is_done(newcomer: Browser) -> None:
    page = newcomer
    page.wait(f"{STEP} == '1 of 4'")
    page.drag(page.spot("bunraku.screen('left', 'spindle')"), (20, 0))
    page.wait(f"{STEP} == '2 of 4'")
    x, y = page.spot("bunraku.screen('left', 'spindle')")
    page.mouse("mouseMoved", x, y)
    page.cdp("Input.dispatchMouseEvent", type="mouseWheel", x=x, y=y, deltaX=0, deltaY=120)
    page.wait(f"{STEP} == '3 of 4'")
    page.hold("d", down=True)
    page.wait(f"{STEP} == '4 of 4'")
    page.hold("d", down=False)
    page.key("r")
    page.wait("document.querySelector('#record').textContent == 'Stop'")
    page.wait(f"bunraku.time > {page.js('bunraku.time')} + 0.2")
    page.key("r")
    page.wait("bunraku.entry.startsWith('n') && document.querySelector('#first-next').textContent == 'Done'")
    assert shown(page)
    page.click("#first-next")
    assert not shown(page)
    page.driver.refresh()
    page.wait("window.bunraku && bunraku.ready")
    open_live(page)
    assert not shown(page)


def test_steps_are_skipped_and_the_card_is_closed_for_good(newcomer: Browser) -> None:
    page = newcomer
    page.wait(f"{STEP} == '1 of 4'")
    page.click("#first-next")
    page.wait(f"{STEP} == '2 of 4'")
    page.js("void bunraku.open('e0')")
    page.wait("bunraku.entry == 'e0'")
    assert not shown(page)  # it is about live figures
    open_live(page)
    page.wait(f"{STEP} == '1 of 4'")
    page.click("#first-pull header button")
    assert not shown(page)
    page.driver.refresh()
    page.wait("window.bunraku && bunraku.ready")
    open_live(page)
    assert not shown(page)


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run npm ci in stage-web")
def test_axe_finds_nothing_in_the_card(newcomer: Browser) -> None:
    newcomer.wait(f"{STEP} == '1 of 4'")
    newcomer.driver.execute_script(AXE.read_text(encoding="utf-8"))
    assert violations(newcomer) == []
