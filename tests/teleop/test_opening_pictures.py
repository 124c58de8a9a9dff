"""The opening show, seen through once: every entry opens in a browser and looks as it did when somebody last looked at it.

Pictures that were seen are tiles of one file. When a change of looks is wanted, look at out/stage/opening.png after
    pytest -m slow tests/teleop/test_opening_pictures.py
and copy it to tests/teleop/pictures/. A live entry is seen paused at its start, a recorded one at two fifths of its time.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from PIL import Image
from PIL.PngImagePlugin import PngInfo

from bunraku.stage import serve
from bunraku.teleop import opening_show
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES

SIZE = (800, 450)
TILE = (160, 90)
SEEN = Path(__file__).parent / "pictures" / "opening.png"
SHOW = opening_show()
SOME = ("The meeting", "Pull the strings")
SEEK = """(() => {
  if (bunraku.playing) bunraku.act('play')
  bunraku.seek(1e9)
  bunraku.seek(Math.min(0.4 * bunraku.time, %g))
})()"""
Pixels = NDArray[np.float64]


@pytest.fixture(scope="module")
def page(browser: Browser) -> Iterator[Browser]:
    browser.size(*SIZE)
    browser.scheme("light")
    browser.leave()
    with serve(SHOW) as serving:
        browser.forget(serving.origin)
        browser.go(serving.address, quality=4)
        browser.js("bunraku.act('onlyStage')")
        yield browser
        browser.leave()


def look(page: Browser, k: int) -> Image.Image:
    """A tile of the stage with entry number `k`."""
    page.js(f"void bunraku.open('e{k}')")
    page.wait(f"bunraku.entry == 'e{k}' && bunraku.ready")
    if page.js("document.body.classList.contains('live')"):
        page.wait("bunraku.driving && bunraku.samples > 0")
        page.js("document.querySelector('#live-pause').click()")
        page.js("document.querySelector('#reset').click()")
        page.wait("bunraku.time == 0")
    else:
        # Chains are chaotic: rounding on another processor is seen after some seconds.
        page.js(SEEK % (3.0 if SHOW[k].group == "Physics" else 1e9))
    picture = Image.open(page.still(PICTURES / "entry.png")).convert("RGB").resize(TILE, Image.Resampling.BOX)
    assert page.console() == [], SHOW[k].title
    return picture


def tiles() -> dict[str, Image.Image]:
    """The pictures that were seen, by chapter and title."""
    sheet = Image.open(SEEN)
    titles: list[str] = json.loads(sheet.info["titles"])
    columns = sheet.width // TILE[0]
    places = [(TILE[0] * (k % columns), TILE[1] * (k // columns)) for k in range(len(titles))]
    boxes = [(x, y, x + TILE[0], y + TILE[1]) for x, y in places]
    return {title: sheet.crop(box).convert("RGB") for title, box in zip(titles, boxes, strict=True)}


def key(k: int) -> str:
    return f"{SHOW[k].group}: {SHOW[k].title}"


def differ(a: Image.Image, b: Image.Image) -> float:
    """Share of the coarse picture that differs. Rasterisers differ at edges, which a coarse picture does not show."""
    coarse = [np.asarray(p.resize((TILE[0] // 2, TILE[1] // 2), Image.Resampling.BOX), float) for p in (a, b)]
    return float(np.mean(np.abs(coarse[0] - coarse[1]).max(2) > 20))


LARGEST = 0.005
"""The largest share that may differ: a fifth of what a pendulum fills."""


@pytest.mark.parametrize("title", SOME)
def test_some_entries_look_as_they_did(page: Browser, title: str) -> None:
    k = next(k for k, entry in enumerate(SHOW) if entry.title == title)
    assert differ(look(page, k), tiles()[key(k)]) < LARGEST


@pytest.mark.slow
def test_the_whole_show_looks_as_it_did(page: Browser) -> None:
    seen = tiles() if SEEN.exists() else {}
    columns = 6
    sheet = Image.new("RGB", (columns * TILE[0], -(-len(SHOW) // columns) * TILE[1]))
    wrong = {}
    for k in range(len(SHOW)):
        tile = look(page, k)
        sheet.paste(tile, (TILE[0] * (k % columns), TILE[1] * (k // columns)))
        if key(k) not in seen or differ(tile, seen[key(k)]) >= LARGEST:
            wrong[key(k)] = differ(tile, seen[key(k)]) if key(k) in seen else 1.0
    info = PngInfo()
    info.add_text("titles", json.dumps([key(k) for k in range(len(SHOW))]))
    sheet.save(PICTURES / "opening.png", pnginfo=info)
    assert wrong == {}


def test_pictures_of_different_entries_are_told_apart() -> None:
    """Else nothing above could fail. Figures of the library that other chapters show too are left out."""
    found = [tile for title, tile in tiles().items() if not title.startswith("Library")]
    assert len(found) == len([entry for entry in SHOW if entry.group != "Library"])
    alike = [(a, b) for a in range(len(found)) for b in range(a) if differ(found[a], found[b]) < 2 * LARGEST]
    assert alike == []
