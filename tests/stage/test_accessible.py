"""The page for people who use a keyboard or a screen reader: axe finds nothing, and Tab reaches the stage."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.stage import Serving
from tests.stage.browser import Browser

AXE = Path(__file__).parents[2] / "stage-web" / "node_modules" / "axe-core" / "axe.min.js"
RULES = "{runOnly: ['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'best-practice']}"


def violations(page: Browser) -> list[str]:
    page.js(f"void (window.found = null, axe.run(document, {RULES}).then((result) => window.found = result.violations))")
    page.wait("window.found !== null")
    return list(page.js("found.map((v) => v.id + ': ' + v.nodes.map((n) => n.html.slice(0, 120)).join(' | '))"))


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run npm ci in stage-web")
def test_axe_finds_nothing(browser: Browser, serving: Serving) -> None:
    browser.size(1280, 720)
    browser.scheme("light")
    browser.go(serving.address)
    browser.driver.execute_script(AXE.read_text(encoding="utf-8"))
    for theme in ("light", "dark"):
        browser.wait(f"bunraku.ready && document.documentElement.dataset.theme == '{theme}'")
        assert violations(browser) == []
        browser.js("void bunraku.open('e1')")
        browser.wait("bunraku.entry == 'e1' && bunraku.driving")
        assert violations(browser) == []
        browser.key("?")
        browser.wait("document.querySelector('#help')")
        assert violations(browser) == []
        browser.key("Escape")
        browser.wait("!document.querySelector('#help')")
        browser.js("void bunraku.open('e0')")
        browser.wait("bunraku.entry == 'e0'")
        browser.key("m")
    browser.forget(serving.origin)


def test_the_first_tab_stop_leads_to_the_stage(browser: Browser, serving: Serving) -> None:
    from selenium.webdriver.common.keys import Keys

    browser.go(serving.address)
    browser.wait("bunraku.ready")
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.js("document.activeElement.textContent") == "Skip to the stage"
    browser.driver.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.js("document.activeElement.id") == "stage"
    browser.driver.switch_to.active_element.send_keys(Keys.TAB)
    assert browser.js("document.activeElement.tagName") == "CANVAS"
