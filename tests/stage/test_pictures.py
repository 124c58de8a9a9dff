"""How the page looks: no control lies on another, and pictures are what they were.

Pictures are kept in out/stage for whoever wants to look. When a change of looks is wanted, look at them, then
    cp out/stage/{light,dark,phone}.png tests/stage/pictures/
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from bunraku.stage import Serving
from tests.stage.browser import Browser
from tests.stage.test_page import PICTURES

EXPECTED = Path(__file__).parent / "pictures"


@pytest.mark.parametrize(
    ("name", "scheme", "size", "mobile"),
    [
        ("light", "light", (1280, 720), False),
        pytest.param("dark", "dark", (1280, 720), False, marks=pytest.mark.slow),
        ("phone", "dark", (390, 844), True),
    ],
)
def test_it_looks_as_it_should(
    browser: Browser, serving: Serving, name: str, scheme: str, size: tuple[int, int], mobile: bool
) -> None:
    browser.size(*size, mobile=mobile)
    browser.scheme(scheme)
    browser.forget(serving.origin)
    browser.go(serving.address, quality=0)
    browser.js("bunraku.act('play')")
    browser.js("bunraku.seek(0.7)")
    assert browser.js("document.documentElement.dataset.theme") == scheme
    assert browser.js("document.documentElement.scrollWidth <= innerWidth")
    assert overlapping(browser) == []
    shown = Image.open(browser.still(PICTURES / f"{name}.png")).convert("RGB")
    expected = Image.open(EXPECTED / f"{name}.png").convert("RGB")
    # Rasterisers differ at edges: compare a coarse picture, and let few parts of it differ.
    coarse = [np.asarray(p.resize((size[0] // 8, size[1] // 8), Image.Resampling.BOX), float) for p in (shown, expected)]
    difference = np.abs(coarse[0] - coarse[1]).max(2)
    assert np.mean(difference > 24) < 0.01
    assert difference.mean() < 2.0


def overlapping(browser: Browser) -> list[str]:
    """Pairs of controls that lie on each other, and texts that run out of the window."""
    found = browser.js("""(() => {
      const shown = [...document.querySelectorAll('.topbar > *, .tools summary, .tools .button, .tension, .warnings span, ' +
        '.timeline .button, .timeline select, .bar, .clock, .export')].filter(e => e.offsetParent !== null)
      const boxes = shown.map(e => [e, e.getBoundingClientRect()]).filter(([, r]) => r.width > 0 && r.height > 0)
      const name = e => e.id || e.className
      const out = []
      boxes.forEach(([a, r], i) => {
        const inside = r.left > -1 && r.top > -1 && r.right < innerWidth + 1 && r.bottom < innerHeight + 1
        if (!inside) out.push('outside: ' + name(a))
        boxes.slice(i + 1).forEach(([b, s]) => {
          const w = Math.min(r.right, s.right) - Math.max(r.left, s.left)
          const h = Math.min(r.bottom, s.bottom) - Math.max(r.top, s.top)
          if (w > 1 && h > 1 && !a.contains(b) && !b.contains(a)) out.push(name(a) + ' on ' + name(b))
        })
      })
      return JSON.stringify(out)
    })()""")
    return json.loads(found)  # type: ignore[no-any-return]
