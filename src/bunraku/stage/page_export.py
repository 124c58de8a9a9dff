"""Entries as files: a web page that works without a server, and the formats of the exporters."""

from __future__ import annotations

import base64
import functools
import gzip
import hashlib
import inspect
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.cleanup import TemporaryFolder
from bunraku.errors import BunrakuError
from bunraku.render.camera import Camera
from bunraku.stage import describe
from bunraku.stage.entry import Entry, Recorded, called
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.messages import EntryJson, StandaloneDataJson, StandaloneEntryJson
from bunraku.stage.wire import CloseCode, Refusal
from bunraku.writing import safe_name

if TYPE_CHECKING:
    from bunraku.stage.stage import Stage


def export(stage: Stage, key: str, suffix: str, *, camera: Camera | None = None) -> tuple[str, bytes]:
    """File name and content of the entry `key` of a `stage`, in the format `suffix`. Blocks: do not call it in the event loop.

    A film is taken by the `camera` of the page; by one that sees the whole motion if None.
    Raises BunrakuError if the entry is live, or there is no such format.
    """
    piece = stage.opened(key)
    if not isinstance(piece, Recorded):
        raise BunrakuError("a live entry cannot be exported\n  advice: record a take, then export that")
    entry = stage.entries[key]
    name = f"{safe_name(entry.title.lower().replace(' ', '-'))}.{suffix}"
    if suffix == "html":
        return name, standalone([replace(entry, shows=piece, group="")]).encode()
    if suffix not in stage.exporters:
        raise BunrakuError(f"cannot export to {suffix!r}\n  advice: there are: {', '.join([*stage.exporters, 'html'])}")
    try:
        with TemporaryFolder() as folder:
            path = Path(folder) / name
            exporter = stage.exporters[suffix]
            if camera is not None and "camera" in inspect.signature(exporter).parameters:
                exporter = functools.partial(exporter, camera=camera)
            called(exporter, piece, path, progress=lambda word: stage.tell_progress(key, word))
            return name, path.read_bytes()
    except OSError as problem:
        raise BunrakuError(f"the stage cannot make the file: {problem.strerror}\n  advice: free some space there") from None


def camera_of(wish: Mapping[str, Any]) -> Camera | None:
    """The camera that the `wish` of a page (ExportWishJson) names; None if it names none. Raises Refusal if it is malformed."""
    match wish:
        case {"eye": [*eye], "target": [*target], "field": int(field) | float(field), **rest} if not rest:
            numbers = [float(x) if isinstance(x, int | float) else math.nan for x in (*eye, *target, field)]
            if len(eye) == len(target) == 3 and all(abs(x) < 1e6 for x in numbers):
                camera = Camera(tuple(numbers[:3]), tuple(numbers[3:6]), field=numbers[6])  # type: ignore[arg-type]
                if math.dist(camera.eye, camera.target) > 1e-6 and 0.01 < camera.field < 3.0:
                    return camera
        case {**rest} if not rest:
            return None
    raise Refusal(CloseCode.MALFORMED, "no such camera")


def standalone(entries: Sequence[Entry]) -> str:
    """The text of one HTML file that contains the page and the recorded `entries`. It needs no server and no network.

    Live entries are left out. Its content security policy allows only its own script, by hash, and no connections.
    """
    data = json.dumps(_inlined(entries), separators=(",", ":")).replace("<", "\\u003c")
    title = entries[0].title if len(entries) == 1 else "bunraku"
    return _page(title, "", f'<script type="application/json" id="stage-data">{data}</script>\n')


def framed() -> str:
    """The text of one HTML file that contains the page, for the frame of a widget, which passes its requests on to a stage."""
    return _page("bunraku", '<meta name="bunraku-frame" content="">\n', "")


def _page(title: str, head: str, body: str) -> str:
    """The page in one file, with these lines in its `head` and before its script."""
    web = files("bunraku.stage") / "web"
    script, style = ((web / name).read_text("utf-8") for name in ("stage.js", "stage.css"))
    font = base64.b64encode((web / "inter.woff2").read_bytes()).decode()
    style = style.replace("url(./inter.woff2)", f"url(data:font/woff2;base64,{font})")
    # The text "</script" inside a script would end it.
    script = script.replace("</script", "<\\/script")
    policy = (
        f"default-src 'none'; script-src '{_hash(script)}'; style-src '{_hash(style)}'; "
        "img-src data: blob:; font-src data:; media-src blob:; connect-src data:; base-uri 'none'; form-action 'none'"
    )
    shown = title.replace("&", "&amp;").replace("<", "&lt;")
    return f"""<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="{policy}">
<meta name="viewport" content="width=device-width, initial-scale=1">
{head}<title>{shown}</title>
<style>{style}</style>
</head>
<body>
{body}<script type="module">{script}</script>
</body>
</html>
"""


def _inlined(entries: Sequence[Entry]) -> StandaloneDataJson:
    meshes = Meshes()
    out: list[StandaloneEntryJson] = []
    for k, entry in enumerate(entries):
        piece = entry.open()
        if isinstance(piece, Recorded):
            content, samples = describe.recorded(piece, meshes)
            head: EntryJson = {"id": f"e{k}", "title": entry.title, "about": entry.about, "group": entry.group}
            shown = describe.piece(f"e{k}", entry, content)
            out.append({"entry": head, "piece": shown, "samples": _packed(samples)})
            if piece.sound is not None:
                out[-1]["sound"] = _packed(piece.sound.wav())
    if not out:
        raise BunrakuError("nothing recorded to export\n  advice: record a take first")
    return {"entries": out, "meshes": {key: _packed(data) for key, data in meshes.data.items()}}


def _packed(data: bytes) -> str:
    return base64.b64encode(gzip.compress(data, mtime=0)).decode()


def _hash(text: str) -> str:
    return f"sha256-{base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()}"
