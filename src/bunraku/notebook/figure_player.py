"""play_figure: a figure that moves and can be pulled: in a cell of a notebook, or else on the stage."""

from __future__ import annotations

import importlib.util
import sys
from typing import Any

from bunraku.errors import MissingExtra
from bunraku.figure import Figure
from bunraku.notebook.display import bundle
from bunraku.notebook.motion_player import in_notebook
from bunraku.scene import Scene
from bunraku.stage import Entry, Live
from bunraku.stage.serving import play as serve_until_stopped


def play_figure(
    figure: Figure, scene: Scene | None = None, *, dt: float = 0.005, touch: object = None, height: int = 460, **options: Any
) -> Any:
    """Simulates a `figure` in a `scene` while the mouse pulls its strings and limbs: in a cell of a notebook, or else on the stage,
    in the browser, until Ctrl-C.

    dt: time step [s]
    touch: what of the figure and the scene touches, as in `simulate`
    height: of the cell [pixels]
    options: of `bunraku.stage.serving.play`, outside notebooks

    Returns what a notebook displays: a widget, whose `takes` are the motions that were recorded; where anywidget is not installed,
    a picture. None outside notebooks.
    """
    if in_notebook() and importlib.util.find_spec("anywidget") is None:
        told = str(MissingExtra("anywidget", "notebook", "Pulling strings in a notebook")).replace("\n", "<br>")
        return sys.modules["IPython"].display.HTML(f"{bundle(figure)['text/html']}<p>{told}</p>")
    from bunraku.teleop import Simulated

    live = Simulated(figure, scene=scene or Scene("stage"), dt=dt, touch=touch)
    if in_notebook():
        return live_widget(live, title=figure.name, height=height)
    serve_until_stopped([Entry(figure.name, live)], **options)
    return None


def live_widget(live: Live, *, title: str, height: int = 460) -> Any:
    """A `live` thing, such as `teleop.Simulated` or `stage.Posing`, as a widget of notebooks with a `title`.

    height: of the cell [pixels]

    Raises MissingExtra if anywidget is not installed.
    """
    if importlib.util.find_spec("anywidget") is None:
        raise MissingExtra("anywidget", "notebook", "A widget")
    from bunraku.notebook.live_widget import LiveWidget

    return LiveWidget(live, title=title, still=bundle(live.figures[0])["text/html"], height=height)
