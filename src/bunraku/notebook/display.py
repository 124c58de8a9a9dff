"""bundle: a thing as HTML and plain text. Motions get a player; everything has a picture and a table that need no scripts."""

from __future__ import annotations

import base64
from collections.abc import Iterable
from html import escape
from typing import Any

import numpy as np

from bunraku.errors import BunrakuError
from bunraku.figure import Figure
from bunraku.kinematics import Pose
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.motion.motion_columns import motion_columns
from bunraku.notebook.motion_player import player
from bunraku.render.image import Pixels, image
from bunraku.render.png import png
from bunraku.render.video import sheet
from bunraku.result import Result
from bunraku.scene import Scene

Lines = Iterable[tuple[str, str]]
"""Titles and texts."""
_CELL = "text-align:left;vertical-align:top;padding:1px 12px 1px 0;white-space:pre-wrap;border:0;background:none"


def bundle(thing: Any) -> dict[str, str]:
    """What a notebook needs to show a Figure, Pose, Motion or Result (`thing`), by MIME type."""
    try:
        html = _html(thing)
    except BunrakuError as error:  # something cannot be drawn: its text is still worth showing
        html = f"<pre>{escape(repr(thing))}\n{escape(str(error))}</pre>"
    return {"text/html": html, "text/plain": str(thing) if isinstance(thing, Result) else repr(thing)}


def _html(thing: Any) -> str:
    if isinstance(thing, Motion):
        return _moving(thing, Scene("stage")) + _table(motion_lines(thing))
    if isinstance(thing, Result):
        shown = "" if thing.motion is None else _moving(thing.motion, thing.scene or Scene("stage"))
        return shown + _table(thing.report())
    if isinstance(thing, Pose):
        return _still(image(thing.figure, thing.frames, size=(420, 360))) + _table(_pose_lines(thing))
    assert isinstance(thing, Figure)
    return _still(image(thing, size=(420, 360))) + _table(_figure_lines(thing))


def _moving(motion: Motion, scene: Scene) -> str:
    """A player of a motion; where scripts do not run, four moments of it."""
    return player(motion, scene, fallback=_still(_moments(motion, scene)))


def _moments(motion: Motion, scene: Scene, count: int = 4) -> Pixels:
    chosen = np.unique(np.linspace(0, len(motion) - 1, count).round().astype(int)).tolist()
    pictures = []
    for k in chosen:
        frames = [frames_along(track.figure, track.q[[k]])[0] for track in motion.tracks]
        around = scene if scene.obstacles else None
        pictures.append(image([track.figure for track in motion.tracks], frames, scene=around, size=(240, 240)))
    return sheet(pictures, len(pictures), motion.t[chosen])


def _still(pixels: Pixels) -> str:
    """A picture as HTML."""
    return f'<img alt="" style="max-width:100%" src="data:image/png;base64,{base64.b64encode(png(pixels)).decode()}">'


def _table(lines: Lines) -> str:
    def row(title: str, text: str) -> str:
        return f'<tr><th style="{_CELL}">{escape(title)}</th><td style="{_CELL}">{escape(text)}</td></tr>'

    return f'<table style="border:0;font-size:90%">{"".join(row(title, text) for title, text in lines)}</table>'


def motion_lines(motion: Motion) -> Lines:
    """Titles and texts about a `motion`."""
    yield "motion", f"{motion.duration:.4g} s of {', '.join(motion.names)}, {len(motion)} samples"
    for name, value in motion_columns(motion).items():
        if name not in ("duration", "samples"):
            yield name, f"{value:.4g}"


def _figure_lines(figure: Figure) -> Lines:
    yield "figure", figure.name
    yield "variables", f"{figure.n_dynamic} moved by physics, {len(figure.kinematic)} set by the puppeteer"
    yield "bodies", f"{len(figure.bodies)}, {figure.mass:.4g} kg"
    for kind in ("strings", "wires", "springs", "forces", "contacts", "closures"):
        if members := getattr(figure, kind):
            names = ", ".join(member.name for member in members[:8])
            yield kind, f"{len(members)}: {names}{' …' if len(members) > 8 else ''}"


def _pose_lines(pose: Pose) -> Lines:
    yield "pose", f"of {pose.figure.name}"
    yield "centre of mass", " ".join(f"{x:.4g}" for x in pose.com) + " m"
    for name, value in list(zip(pose.figure.names, pose.q, strict=True))[:12]:
        yield name, f"{value:.4g}"
    if len(pose.q) > 12:
        yield "…", f"{len(pose.q)} variables"
