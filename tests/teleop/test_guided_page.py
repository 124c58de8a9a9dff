"""A humanoid guided in a real browser: by a faked gamepad, and by keys."""

from __future__ import annotations

import pytest

from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.scenario import ROOM, START
from bunraku.stage import Entry, serve
from bunraku.teleop.guided import GuidedLive
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES

PAD = """
window.fake = {id: 'fake', index: 0, connected: true, mapping: 'standard', axes: [0, 0, 0, 0],
  buttons: Array.from({length: 16}, () => ({pressed: false, value: 0}))};
navigator.getGamepads = () => [window.fake];
"""


@pytest.mark.timeout(280)
def test_a_gamepad_walks_it_and_a_key_switches(browser: Browser) -> None:
    live = GuidedLive(Guide(small_humanoid(), ROOM), x=START)
    with serve([Entry("Guide", live, front=(0.6, -1.0))]) as serving:
        browser.size(1280, 720)
        browser.go(serving.address)
        browser.console()
        browser.wait("bunraku.driving && bunraku.samples > 10")
        trunk = browser.js("bunraku.place('trunk')")
        browser.js(f"(() => {{ {PAD} fake.axes[1] = -1 }})()")  # the left stick forward
        browser.wait(f"bunraku.place('trunk')[0] > {trunk[0]} + 0.03", seconds=60.0)
        browser.picture(PICTURES / "guided.png")
        browser.js("(() => { fake.axes[1] = 0; fake.buttons[5].pressed = true })()")
        browser.wait(lambda: live.guided == "left_hand", seconds=30.0)
        browser.js("(() => { fake.buttons[5].pressed = false })()")
        browser.wait("true")
        browser.hold("q", down=True)
        browser.wait(lambda: live.guided == "trunk", seconds=30.0)
        browser.hold("q", down=False)
        assert browser.console() == []
