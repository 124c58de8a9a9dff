"""A simulated marionette, pulled with a mouse in a real browser."""

from __future__ import annotations

import pytest

from bunraku.figure import library
from bunraku.stage import Entry, serve
from bunraku.teleop import Simulated
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES


@pytest.mark.timeout(280)  # the first step of a fresh machine compiles
def test_a_dragged_spindle_pulls_the_arm(browser: Browser) -> None:
    live = Simulated(library.named("marionette25"))
    live.step()
    with serve([Entry("Pull", lambda: live, "", "", (0.0, 1.0))]) as serving:
        browser.size(1280, 720)
        browser.console()
        browser.go(serving.address)
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
