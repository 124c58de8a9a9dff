"""A humanoid guided in a real browser: by a faked gamepad, and by keys."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.locomotion.guide.guide import Guide
from bunraku.locomotion.guide.humanoid import small_humanoid
from bunraku.locomotion.guide.scenario import PAPER_ROOM
from bunraku.stage import Entry, serve
from bunraku.teleop.guided_figure import GuidedLive
from bunraku.verbs.guide.run import entry
from tests.locomotion.guide.robots import written
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES

PAD = """
window.fake = {id: 'fake', index: 0, connected: true, mapping: 'standard', axes: [0, 0, 0, 0],
  buttons: Array.from({length: 16}, () => ({pressed: false, value: 0}))};
navigator.getGamepads = () => [window.fake];
"""


@pytest.mark.slow
def test_a_gamepad_walks_it_and_a_key_switches(browser: Browser) -> None:
    live = GuidedLive(Guide(small_humanoid(), PAPER_ROOM.scene), x=PAPER_ROOM.start)
    with serve([Entry("Guide", live, front=(0.6, -1.0))]) as serving:
        browser.size(1280, 720)
        browser.leave()
        browser.go(serving.address)
        browser.wait("bunraku.driving && bunraku.samples > 10")
        trunk = browser.js("bunraku.place('trunk')")
        browser.js(f"(() => {{ {PAD} fake.axes[1] = -1 }})()")  # the left stick forward
        browser.wait(f"bunraku.place('trunk')[0] > {trunk[0]} + 0.03")
        browser.picture(PICTURES / "guided.png")
        browser.js("(() => { fake.axes[1] = 0; fake.buttons[5].pressed = true })()")
        browser.wait(lambda: live.guided == "left_hand")
        browser.js("(() => { fake.buttons[5].pressed = false })()")
        browser.wait("true")
        browser.hold("q", down=True)
        browser.wait(lambda: live.guided == "trunk")
        browser.hold("q", down=False)
        assert browser.console() == []


@pytest.mark.slow
@pytest.mark.parametrize("robot", ["talos", "g1"])
def test_a_real_robot_walks_turns_and_reaches_on_the_stage(browser: Browser, robot: str, tmp_path: Path) -> None:
    """As `bunraku guide ROBOT.yaml` opens it, meshes and all."""
    live = entry(str(written(robot, tmp_path, meshes=True)), None).open()
    assert isinstance(live, GuidedLive)
    with serve([Entry(f"Guide {robot}", live, front=(0.6, -1.0))]) as serving:
        browser.size(1280, 720)
        browser.leave()
        browser.go(serving.address, quality=4)
        browser.wait("bunraku.driving && bunraku.samples > 10")
        trunk, hand = {"talos": ("torso_2_link", "gripper_left_base_link"), "g1": ("torso_link", "left_wrist_yaw_link")}[robot]
        start = browser.js(f"bunraku.place('{trunk}')")
        browser.js(f"(() => {{ {PAD} fake.axes[1] = -1 }})()")
        browser.wait(f"bunraku.place('{trunk}')[0] > {start[0]} + 0.1")
        browser.picture(PICTURES / f"{robot}.png")
        # It turns: the left hand goes forward or back against the trunk.
        ahead = f"(bunraku.place('{hand}')[0] - bunraku.place('{trunk}')[0])"
        before = browser.js(ahead)
        browser.js("(() => { fake.axes[1] = 0; fake.axes[2] = 1 })()")
        browser.wait(f"Math.abs({ahead} - {before}) > 0.04")
        browser.js("(() => { fake.axes[2] = 0; fake.buttons[5].pressed = true })()")
        browser.wait(lambda: live.guided == "left_hand")
        high = browser.js(f"bunraku.place('{hand}')[2]")
        browser.js("(() => { fake.buttons[5].pressed = false; fake.axes[3] = -1 })()")  # up
        browser.wait(f"bunraku.place('{hand}')[2] > {high} + 0.05")
        browser.picture(PICTURES / f"{robot}_reaches.png")
        assert browser.js("document.querySelector('#legend').hidden"), "nothing has a tension here"
        assert browser.console() == []
