"""Takes edited in a real browser: keys by dragging, curves, layers, mirror, loop, undo, and all of it after a restart."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.io.tables.npz_file import load_npz, save_npz
from bunraku.kinematics import frames_along
from bunraku.stage import Recorded, Serving
from bunraku.stage.stage import Stage
from bunraku.stage.takes import Take, Version
from bunraku.teleop.take_folder import TakeFolder
from tests.stage.browser import Browser
from tests.stage.conftest import entries
from tests.stage.test_accessible import AXE, violations
from tests.stage.test_page import content, opened
from tests.stage.toys import puppet, waving

MOTION = waving(puppet())
ELBOW = MOTION.figure.index("left_elbow")
ARM = MOTION.figure.index("left_arm_rz")


def npz(piece: Recorded, path: Path) -> None:
    save_npz(piece.motion, path)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    shelf = TakeFolder(tmp_path / "takes")
    shelf.keep("Wave", Version(Recorded(MOTION)))
    return Stage(entries(), shelf=shelf, exporters={"npz": npz})


@pytest.fixture
def editor(browser: Browser, stage: Stage) -> Iterator[Browser]:
    """The editor of a take, paused at one second."""
    with Serving(stage) as served:
        opened(browser, served)
        open_editor(browser, stage)
        yield browser
        content(browser, served)


def open_editor(page: Browser, stage: Stage) -> None:
    key = next(iter(stage.takes))
    page.js(f"void bunraku.open('{key}')")
    page.wait(f"bunraku.ready && bunraku.entry == '{key}'")
    page.click("#edit-take")
    page.wait("!document.querySelector('#editor').hidden && !bunraku.playing")
    page.js("bunraku.seek(1.0)")


def take(stage: Stage) -> Take:
    return next(iter(stage.takes.values()))


def choose(page: Browser, variable: int) -> None:
    page.js(
        "(() => { const s = document.querySelector('#joint');"
        f" s.value = '0 {variable}'; s.dispatchEvent(new Event('change')) }})()"
    )


def set_value(page: Browser, degrees: float) -> None:
    """Types a value at the playhead, and waits until it is keyed and shown."""
    page.js(
        "(() => { const f = document.querySelector('#joint-value');"
        f" f.value = '{degrees}'; f.dispatchEvent(new Event('change')) }})()"
    )


def settled(page: Browser, stage: Stage, keys: int) -> None:
    """Waits until the page shows so many keys of the chosen joint, and that joint where the stage has it."""
    page.wait(f"!bunraku.saving && document.querySelectorAll('.keyframe').length == {keys}")
    page.wait(lambda: np.allclose(page.js("bunraku.q()"), seen(page, stage), atol=1e-5))


def seen(page: Browser, stage: Stage) -> Any:
    return take(stage).piece.motion.sample(page.js("bunraku.time"))


def middle(page: Browser, selector: str) -> tuple[float, float]:
    x, y, w, h = page.box(selector)
    return x + w / 2, y + h / 2


def test_a_dragged_limb_becomes_keys(editor: Browser, stage: Stage) -> None:
    before = editor.js("bunraku.q()")
    bent = dragged(editor)
    assert np.abs(np.array(bent) - before).max() > 0.05
    assert take(stage).version.layers == ()  # only shown so far
    editor.key("v")
    editor.wait(lambda: take(stage).version.layers)
    settled(editor, stage, 1)
    np.testing.assert_allclose(seen(editor, stage), bent, atol=1e-5)
    keyed = {curve.variable for curve in take(stage).version.layers[0].curves}
    assert keyed <= {"left_arm_rz", "left_arm_ry", "left_arm_rx", "left_elbow"}
    editor.click("#undo")
    editor.wait(lambda: np.allclose(editor.js("bunraku.q()"), before, atol=1e-6))
    assert take(stage).version.layers == ()


def dragged(page: Browser) -> Any:
    """Drags the forearm, and returns the pose once it has come to the hand."""
    page.drag(page.spot("bunraku.screenOf('left_elbow')"), (25, 20))
    page.frames(3)  # the last message of the hand is sent with a picture
    page.wait("!bunraku.posing && document.querySelector('#set-key').classList.contains('primary')")
    return page.js("bunraku.q()")


def test_a_pose_that_is_not_keyed_goes_with_the_playhead(editor: Browser, stage: Stage) -> None:
    assert not np.allclose(dragged(editor), MOTION.sample(1.0), atol=1e-3)
    editor.js("bunraku.seek(0.5)")
    np.testing.assert_allclose(editor.js("bunraku.q()"), MOTION.sample(0.5), atol=1e-6)
    assert not take(stage).can_undo


def test_a_key_is_moved_by_mouse_and_arrows_and_deleted(editor: Browser, stage: Stage) -> None:
    choose(editor, ARM)
    set_value(editor, 40)
    settled(editor, stage, 1)
    assert editor.js("bunraku.q()")[ARM] == pytest.approx(np.deg2rad(40), abs=1e-5)
    editor.drag(middle(editor, ".keyframe"), (80, -30), release=False)
    shown = editor.js("bunraku.q()")[ARM]
    x, y = middle(editor, ".keyframe")
    editor.mouse("mouseReleased", x, y)
    editor.wait(lambda: take(stage).version.layers[0].curves[0].keys[0].t > 1.05)
    settled(editor, stage, 1)
    key = take(stage).version.layers[0].curves[0].keys[0]
    assert key.t in MOTION.t  # on a sample
    assert seen(editor, stage)[ARM] == pytest.approx(shown, abs=1e-5)  # where it was shown while it was dragged
    assert shown > np.deg2rad(41)
    editor.js("document.querySelector('.keyframe').focus()")
    editor.key("ArrowRight")
    editor.wait(lambda: take(stage).version.layers[0].curves[0].keys[0].t == pytest.approx(key.t + 0.02))
    settled(editor, stage, 1)
    editor.js("document.querySelector('.keyframe').focus()")
    for _ in range(6):  # held down: faster than the stage answers
        editor.hold("ArrowUp", down=True)
    editor.hold("ArrowUp", down=False)
    editor.wait(lambda: take(stage).version.layers[0].curves[0].keys[0].offset > key.offset)
    settled(editor, stage, 1)
    assert editor.js("document.querySelectorAll('.notice.error').length") == 0
    editor.js("document.querySelector('.keyframe').focus()")
    editor.key("Delete")
    editor.wait(lambda: take(stage).version.layers[0].curves == ())
    settled(editor, stage, 0)


def test_layers_are_muted_weighed_merged_and_removed(editor: Browser, stage: Stage) -> None:
    choose(editor, ARM)
    set_value(editor, 40)
    settled(editor, stage, 1)
    editor.click("#add-layer")
    editor.wait(lambda: len(take(stage).version.layers) == 2)
    settled(editor, stage, 0)  # keys go into the new layer now
    choose(editor, ELBOW)
    set_value(editor, 60)
    settled(editor, stage, 1)
    editor.click("[data-layer='0'] .mute")
    editor.wait(lambda: take(stage).version.layers[0].muted)
    settled(editor, stage, 1)
    q = np.array(editor.js("bunraku.q()"))
    np.testing.assert_allclose(q[[ARM, ELBOW]], [MOTION.sample(1.0)[ARM], np.deg2rad(60)], atol=1e-5)
    slider = "document.querySelector(\"[data-layer='1'] .weight\")"
    editor.js(f"(() => {{ {slider}.value = '0.5'; {slider}.dispatchEvent(new Event('input')) }})()")
    half = (MOTION.sample(1.0)[ELBOW] + np.deg2rad(60)) / 2
    editor.wait(lambda: abs(editor.js("bunraku.q()")[ELBOW] - half) < 1e-5)  # seen while it is dragged
    assert take(stage).version.layers[1].weight == 1.0
    editor.js(f"{slider}.dispatchEvent(new Event('change'))")
    editor.wait(lambda: take(stage).version.layers[1].weight == 0.5)
    settled(editor, stage, 1)
    editor.click("[data-layer='1'] .merge")
    editor.wait(lambda: len(take(stage).version.layers) == 1)
    editor.wait("!bunraku.saving && document.querySelectorAll('.layer[data-layer]').length == 1")
    assert take(stage).version.recording.motion.sample(1.0)[ELBOW] == pytest.approx(half)
    editor.click("[data-layer='0'] .remove")
    editor.wait(lambda: take(stage).version.layers == ())
    settled(editor, stage, 0)
    assert "no tensions" in editor.text("#take-notes")


def test_mirror_and_loop(editor: Browser, stage: Stage) -> None:
    editor.click("#mirror")
    editor.wait(lambda: take(stage).can_undo)
    settled(editor, stage, 0)
    other = frames_along(MOTION.figure, MOTION.sample(1.0)[None])[0][:, :3, 3] * [-1, 1, 1]
    names = MOTION.figure.frame_index
    np.testing.assert_allclose(editor.js("bunraku.place('right_hand')"), other[names["left_hand"]], atol=1e-5)
    np.testing.assert_allclose(editor.js("bunraku.place('left_hand')"), other[names["right_hand"]], atol=1e-5)
    editor.click("#make-loop")
    editor.wait("document.querySelector('#loop-take')")
    editor.js("(() => { for (const [id, v] of [['blend', 0.4], ['times', 2]]) document.querySelector('#loop-' + id).value = v })()")
    editor.click("#loop-take form button")
    editor.wait("document.querySelector('#clock').textContent.includes('/ 4.00 s')")
    motion = take(stage).piece.motion
    np.testing.assert_allclose(motion.q[-1], motion.q[0], atol=1e-12)
    editor.key("z")
    editor.key("z")
    editor.wait(lambda: not take(stage).can_undo)
    settled(editor, stage, 0)
    np.testing.assert_allclose(editor.js("bunraku.q()"), MOTION.sample(1.0), atol=1e-5)


def test_what_is_seen_is_exported_and_there_after_a_restart(
    browser: Browser, stage: Stage, editor: Browser, tmp_path: Path
) -> None:
    choose(editor, ARM)
    set_value(editor, 40)
    settled(editor, stage, 1)
    editor.cdp("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    editor.click("#export summary")
    editor.click("[data-format='npz']")
    file = editor.wait(lambda: [p for p in tmp_path.glob("*.npz") if p.stat().st_size])[0]
    np.testing.assert_array_equal(load_npz(file).q, take(stage).piece.motion.q)
    again = Stage(entries(), shelf=TakeFolder(tmp_path / "takes"))
    with Serving(again) as served:
        browser.leave()
        browser.go(served.address)
        open_editor(browser, again)
        choose(browser, ARM)
        settled(browser, again, 1)
        assert browser.js("bunraku.q()")[ARM] == pytest.approx(np.deg2rad(40), abs=1e-5)
        np.testing.assert_array_equal(take(again).piece.motion.q, take(stage).piece.motion.q)
        browser.leave()


@pytest.mark.skipif(not AXE.is_file(), reason="axe-core is not installed: run npm ci in stage-web")
def test_axe_finds_nothing_in_the_editor(editor: Browser, stage: Stage) -> None:
    choose(editor, ELBOW)
    set_value(editor, 160)  # beyond its limit
    settled(editor, stage, 1)
    assert "Held at a limit: left elbow" in editor.text("#take-notes")
    editor.driver.execute_script(AXE.read_text(encoding="utf-8"))
    assert violations(editor) == []
    editor.key("m")
    assert violations(editor) == []
    editor.click("#make-loop")
    editor.wait("document.querySelector('#loop-take')")
    assert violations(editor) == []
