"""How figures, poses, motions and results are shown in notebooks."""

from __future__ import annotations

from bunraku.notebook.display import bundle
from bunraku.notebook.motion_player import in_notebook, play_motion, player

__all__ = ["bundle", "in_notebook", "play_motion", "player"]
