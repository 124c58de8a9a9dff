"""player: the page of the stage inside a cell of a notebook. It needs no server and no network."""

from __future__ import annotations

import base64
import gzip
import itertools
import sys
from typing import Any

from bunraku.motion import Motion
from bunraku.scene import Scene
from bunraku.stage import Entry, Recorded
from bunraku.stage.page_export import standalone
from bunraku.stage.serving import play as serve_until_stopped

_numbers = itertools.count()

# The page is unpacked into a frame of its own. Where scripts do not run, or the browser cannot unpack, the fallback stays.
_FRAME = """<div id="{name}" style="max-width:{width}px"><div>{fallback}</div></div>
<script>(async () => {{
  const box = document.getElementById("{name}");
  if (!box || typeof DecompressionStream === "undefined") return;
  const packed = Uint8Array.from(atob("{packed}"), (c) => c.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("gzip"));
  const frame = document.createElement("iframe");
  frame.style.cssText = "width:100%;height:{height}px;border:0";
  frame.title = "bunraku";
  frame.srcdoc = await new Response(stream).text();
  box.replaceChildren(frame);
}})();</script>
"""


def player(
    motion: Motion, scene: Scene = Scene("stage"), *, fallback: str = "", width: int = 900, height: int = 460
) -> str:  # fmt: skip
    """HTML that plays a `motion` in a `scene`, without a server.

    fallback: HTML that is shown where scripts do not run.
    width, height: its largest width, and its height [pixels].
    """
    page = standalone([Entry(", ".join(motion.names), Recorded(motion, scene))])
    packed = base64.b64encode(gzip.compress(page.encode(), 9, mtime=0)).decode()
    name = f"bunraku-{id(motion):x}-{next(_numbers)}"
    return _FRAME.format(name=name, width=width, height=height, fallback=fallback, packed=packed)


def in_notebook() -> bool:
    """Whether this process runs the cells of a notebook."""
    shell = sys.modules.get("IPython")
    running: Any = None if shell is None else shell.get_ipython()
    return running is not None and hasattr(running, "kernel")


def play_motion(motion: Motion, scene: Scene | None = None, **options: Any) -> Any:
    """Plays a `motion` in a `scene`: in the cell of a notebook, or else on the stage, in the browser, until Ctrl-C.

    options: of `bunraku.stage.serving.play`, outside notebooks.
    Returns what a notebook displays; None outside.
    """
    around = scene or Scene("stage")
    if in_notebook():
        html = player(motion, around)
        return sys.modules["IPython"].display.HTML(html)
    serve_until_stopped([Entry(", ".join(motion.names), Recorded(motion, around))], **options)
    return None
