"""The notebooks in a real JupyterLab in a browser: what is drawn there, and strings that the mouse pulls.

Pictures are kept in out/notebook for whoever wants to look.
"""

from __future__ import annotations

import base64
import io
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.notebook import jupyter_lab
from tests.notebook.jupyter_lab import Lab
from tests.notebook.test_notebooks import NOTEBOOKS
from tests.patience import until
from tests.stage.browser import Browser

pytestmark = pytest.mark.slow
PICTURES = Path(__file__).parents[2] / "out" / "notebook"


@pytest.fixture(scope="module")
def lab(browser: Browser, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    if reason := jupyter_lab.missing():
        pytest.skip(reason)
    folder = tmp_path_factory.mktemp("lab") / "files"
    folder.mkdir()
    for path in NOTEBOOKS:
        shutil.copy(path, folder)
    browser.size(1280, 1000)
    with jupyter_lab.running(browser, folder) as started:
        yield started
    browser.leave()


def pixels(png: bytes) -> Any:
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGB"), float)


def same(one: Any, other: Any) -> bool:
    """Whether pictures differ at edges only: means over squares of 8 × 8 pixels, of which one in a hundred may differ."""
    assert one.shape == other.shape
    height, width = one.shape[0] // 8, one.shape[1] // 8
    a, b = (x[: 8 * height, : 8 * width].reshape(height, 8, width, 8, 3).mean((1, 3)) for x in (one, other))
    difference = np.abs(a - b).max(2)
    return bool(np.mean(difference > 24) < 0.01 and difference.mean() < 2.0)


def drawn_at(browser: Browser, time: float) -> Any:
    """The stage of the page at a time, as pixels: paused, in simple quality."""
    browser.js("bunraku.fixQuality(4)")
    if browser.js("bunraku.playing"):
        browser.js("bunraku.act('play')")
    browser.js(f"bunraku.seek({time})")
    browser.frames(5)
    return pixels(browser.driver.find_element("css selector", "main.stage").screenshot_as_png)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_shows_its_pictures(lab: Lab, path: Path) -> None:
    """Pictures are drawn as they were sent; players draw what the same page draws outside the notebook."""
    browser = lab.browser
    lab.open(path)
    assert lab.errors() == []
    PICTURES.mkdir(parents=True, exist_ok=True)
    browser.picture(PICTURES / f"{path.stem}.png")
    compare_stills(lab)
    players = [frame for frame in lab.frames() if frame.get_attribute("srcdoc")]
    assert players
    for k, frame in enumerate(players):
        lab.enter(frame)
        if browser.js("document.querySelector('meta[name=bunraku-frame]') !== null"):
            continue  # the widget: see below
        duration = float(browser.js("Number(document.querySelector('.clock').textContent.split('/')[1].split(' ')[1])"))
        drawn = drawn_at(browser, 0.4 * duration)
        size = browser.js("[innerWidth, innerHeight]")
        assert drawn.std() > 5.0, "it is not empty"
        browser.driver.switch_to.default_content()
        page = browser.driver.execute_script("return arguments[0].srcdoc", frame)
        (lab.folder / "alone.html").write_text(page, encoding="utf-8")
        home = browser.driver.current_window_handle
        browser.driver.switch_to.new_window("tab")
        browser.size(*size)
        browser.driver.get((lab.folder / "alone.html").as_uri())
        browser.wait("window.bunraku && bunraku.ready")
        alone = drawn_at(browser, 0.4 * duration)
        browser.driver.close()
        browser.driver.switch_to.window(home)
        Image.fromarray(np.hstack([drawn, alone]).astype(np.uint8)).save(PICTURES / f"{path.stem}_player_{k}.png")
        assert same(drawn, alone), f"{path.stem}_player_{k}.png"


def steady(browser: Browser, image: Any) -> bytes:
    """A picture of an image at rest: players above it that are still loading move it, and JupyterLab's news lie over it."""
    place = "const { x, y, width, height } = arguments[0].getBoundingClientRect(); return [x, y, width, height]"
    while True:
        browser.js("void document.querySelectorAll('.Toastify, .Toastify__toast').forEach((news) => news.remove())")
        browser.driver.execute_script("arguments[0].scrollIntoView({block: 'center'})", image)
        browser.frames(5)
        before = browser.driver.execute_script(place, image)
        picture = image.screenshot_as_png
        browser.frames(5)
        if browser.driver.execute_script(place, image) == before:
            return bytes(picture)


def compare_stills(lab: Lab) -> None:
    """Every picture of the outputs is on the page as it is in the notebook; each cell that plots has one."""
    browser = lab.browser
    browser.driver.switch_to.default_content()
    images = browser.driver.find_elements("css selector", ".jp-OutputArea-output img")
    assert images
    on_page = {"".join(image.get_attribute("src").partition(",")[2].split()) for image in images}
    for cell in lab.cells():
        if "plt." in (source := "".join(cell["source"])) and "import" not in source:
            plots = [output["data"]["image/png"] for output in cell["outputs"] if "image/png" in output.get("data", {})]
            assert plots, source
            assert {"".join("".join(plot).split()) for plot in plots} <= on_page
    for image in images:
        sent = pixels(base64.b64decode(image.get_attribute("src").partition(",")[2]))

        def as_sent(image: Any = image, sent: Any = sent) -> bool:
            shown = pixels(steady(browser, image))
            wanted = Image.fromarray(sent.astype(np.uint8)).resize((shown.shape[1], shown.shape[0]), Image.Resampling.LANCZOS)
            return same(shown, np.asarray(wanted, float))

        until(as_sent)  # a busy browser may draw a page later than it scrolls


def test_the_mouse_pulls_a_string_in_the_notebook(lab: Lab) -> None:
    """A drag of the mouse in the cell moves the spindle in the kernel; the hand follows, and the take has it."""
    browser = lab.browser
    lab.open(next(path for path in NOTEBOOKS if path.stem.startswith("animator")))
    frame = next(frame for frame in lab.frames() if frame.get_attribute("title") == "marionette22")
    x, y = lab.enter(frame)
    browser.wait("bunraku.driving && bunraku.samples > 3")
    browser.js("bunraku.fixQuality(4)")
    browser.picture(PICTURES / "before_the_pull.png")
    before = browser.js("bunraku.place('lhand')"), browser.js("bunraku.place('rhand')")
    browser.js("bunraku.act('record')")
    browser.wait("document.querySelector('#record').textContent === 'Stop'")
    u, v = browser.js("bunraku.screen('left_arm', 'spindle')")
    browser.drag((x + u, y + v), (90, -40), steps=16, release=False)
    browser.wait(f"Math.hypot(...bunraku.place('lhand').map((c, i) => c - {before[0]}[i])) > 0.05")
    browser.picture(PICTURES / "pulled.png")
    browser.mouse("mouseReleased", x + u + 90, y + v - 40)
    browser.js("bunraku.act('record')")
    browser.wait("document.querySelector('.entry-list, .list')?.textContent.includes('Take 1')")
    browser.picture(PICTURES / "taken.png")
    browser.driver.switch_to.default_content()
    told = lab.run(
        "import json; take = live.takes[-1]; k = puppet.names.index('left_arm_x')\n"
        "hands = [[float(c) for c in bunraku.pose(puppet, q).point(h)] for h in ('lhand', 'rhand') for q in take.q[[0, -1]]]\n"
        "print(json.dumps([len(take), float(abs(take.q[-1, k] - take.q[0, k])), hands]))"
    )
    samples, spindle, (left, left_end, right, right_end) = json.loads(told)
    assert samples > 10
    assert spindle > 0.05, "the spindle has moved in the kernel"
    moved = np.linalg.norm(np.subtract(left_end, left)), np.linalg.norm(np.subtract(right_end, right))
    assert moved[0] > 0.03, "its hand has followed"
    assert moved[0] > 2 * moved[1], "and it was that hand"
