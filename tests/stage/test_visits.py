"""Visitors in a real browser: thumbs, two tabs, reloads, a stage that is killed, and a folder of meshes that is dropped."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from bunraku.stage import Serving, serve
from bunraku.stage.stage_limits import StageLimits
from tests.stage.browser import Browser
from tests.stage.conftest import entries
from tests.stage.test_dropped_meshes import OPENER, STL, URDF
from tests.stage.test_page import PICTURES

ROOT = Path(__file__).parents[2]
DRIVING = "window.bunraku?.entry == 'e1' && bunraku.driving && bunraku.samples > 3"


@pytest.fixture(scope="module")
def serving() -> Iterator[Serving]:
    with serve(entries(), opener=OPENER, limits=replace(StageLimits(), silent_seconds=0.5)) as served:
        yield served


@pytest.fixture
def page(browser: Browser, serving: Serving) -> Iterator[Browser]:
    """The live entry, driven by this page, which nobody has pulled yet."""
    browser.size(1280, 720)
    browser.leave()
    browser.go(serving.address)
    browser.js("void bunraku.open('e1')")
    browser.wait(DRIVING)
    yield browser
    browser.leave()


def touch(page: Browser, kind: str, *points: tuple[float, float]) -> None:
    page.cdp("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": k} for k, (x, y) in enumerate(points)])


def test_thumbs_pull_a_string_and_move_sticks(page: Browser, serving: Serving) -> None:
    page.size(390, 844, mobile=True)
    page.driver.refresh()
    page.wait(DRIVING)
    before = page.js("bunraku.place('left_spindle')")
    x, y = page.spot("bunraku.screen('left', 'spindle')")
    touch(page, "touchStart", (x, y))
    for k in range(1, 6):
        touch(page, "touchMove", (x + 10 * k, y))
        page.frames()
    page.wait(f"Math.abs(bunraku.place('left_spindle')[0] - {before[0]}) > 0.02")
    touch(page, "touchEnd")
    turn = serving.stage.opened("e1").figures[0].index("left_arm_rz")  # type: ignore[union-attr]
    then = page.js(f"bunraku.q()[{turn}]")
    x, y, w, _ = page.box(".pad.left")
    touch(page, "touchStart", (x + w / 2, y + 2))  # forward
    page.wait(f"bunraku.q()[{turn}] > {then} + 0.1")
    page.picture(PICTURES / "thumbs.png")
    touch(page, "touchEnd")
    page.wait("document.querySelector('.pad.left i').style.transform === ''")


def test_a_reload_while_recording_keeps_the_take(page: Browser) -> None:
    page.click("#record")
    page.wait("document.querySelector('#record').textContent == 'Stop'")
    page.wait(f"bunraku.time > {page.js('bunraku.time')} + 0.3")
    page.driver.refresh()
    page.wait("window.bunraku?.ready && document.querySelector('#entries .entry .title')?.textContent.startsWith('Take')")
    page.wait(DRIVING)
    page.click("#entries .entry")
    page.wait("bunraku.entry.startsWith('n') && bunraku.ready")


def test_the_same_address_twice_in_a_tab_drives(page: Browser, serving: Serving) -> None:
    for _ in range(2):
        page.driver.get(f"{serving.address}#swinging")  # without leaving: the page before may be kept for the Back button
        page.driver.get(f"{serving.origin}/?again#swinging")
        page.wait(DRIVING)


def test_control_goes_to_another_tab_and_back(page: Browser, serving: Serving) -> None:
    first = page.driver.current_window_handle
    page.new_tab()
    try:
        page.driver.get(f"{serving.origin}/#swinging")
        page.wait("window.bunraku?.entry == 'e1' && document.querySelector('#who').textContent.endsWith('is driving')")
        page.click("#control")
        page.wait(DRIVING)  # as soon as the first has been silent
        page.driver.switch_to.window(first)
        page.wait("!bunraku.driving")
        page.click("#control")
        page.wait(DRIVING)
    finally:
        page.driver.switch_to.window(next(w for w in page.driver.window_handles if w != first))
        page.driver.close()
        page.driver.switch_to.window(first)


def drop(page: Browser, *paths: Path) -> None:
    """Real files and folders, as from a file manager."""
    x, y, w, h = page.box(".stage")
    data = {"items": [], "files": [str(path) for path in paths], "dragOperationsMask": 1}
    for kind in ("dragEnter", "dragOver", "drop"):
        page.cdp("Input.dispatchDragEvent", type=kind, x=x + w / 2, y=y + h / 2, data=data)


def test_a_folder_of_meshes_is_dropped(page: Browser, tmp_path: Path) -> None:
    meshes = tmp_path / "robot" / "meshes"
    meshes.mkdir(parents=True)
    (meshes / "x.stl").write_bytes(STL)
    (tmp_path / "robot" / "r.urdf").write_text(URDF.format("package://robot/meshes/x.stl"))
    page.requests()
    drop(page, tmp_path / "robot")
    page.wait("bunraku.ready && document.querySelector('.now strong').textContent.startsWith('r')")
    page.wait(lambda: any("/api/meshes/" in address for address in page.requests()))
    assert page.js("document.querySelectorAll('.notice').length") == 0


SCRIPT = """
import sys
from bunraku.stage import play
from tests.stage.conftest import entries
play(entries(), port=int(sys.argv[1]), browser=False)
"""


def started(port: int) -> tuple[subprocess.Popen[str], str]:
    """A stage in a process of its own, and its address."""
    environment = {**os.environ, "COLUMNS": "200"}
    command = [sys.executable, "-c", SCRIPT, str(port)]
    process = subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True, env=environment)
    assert process.stdout is not None
    return process, process.stdout.readline().split()[-1]


def ended(process: subprocess.Popen[str]) -> None:
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()


@pytest.mark.slow
def test_a_stage_that_is_killed_and_started_again_is_told(browser: Browser) -> None:
    process, address = started(0)
    try:
        browser.size(1280, 720)
        browser.leave()
        browser.go(f"{address}")
        browser.js("void bunraku.open('e1')")
        browser.wait(DRIVING)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        browser.wait("document.querySelector('#who').textContent == 'Reconnecting…'")
        again, new = started(int(address.partition("127.0.0.1:")[2].partition("/")[0]))
        try:
            browser.wait("document.querySelector('.notice.error')?.textContent.includes('Open the address that it printed')")
            browser.driver.get(f"{new}#swinging")
            browser.wait(DRIVING)
        finally:
            ended(again)
    finally:
        ended(process)
        browser.leave()
