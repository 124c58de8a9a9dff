"""How figures, poses, motions and results are shown in notebooks, and how figures are pulled there."""

from __future__ import annotations

from bunraku.notebook.display import bundle
from bunraku.notebook.figure_player import live_widget, play_figure
from bunraku.notebook.motion_player import in_notebook, play_motion, player

__all__ = ["bundle", "in_notebook", "live_widget", "play_figure", "play_motion", "player"]
