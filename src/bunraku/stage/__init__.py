"""The stage: figures shown live in the browser.

from bunraku.stage import Entry, play

play([Entry("A swing", motion)])
"""

from bunraku.stage.entry import Entry, Recorded, Series, still
from bunraku.stage.hand_commands import Command, Device, Planned, Pull, Release, Reset, Sticks, Untangle, Winch
from bunraku.stage.live import Live, Sample
from bunraku.stage.page_export import standalone
from bunraku.stage.posing import Posing
from bunraku.stage.serving import Serving, play, serve

__all__ = [
    "Command", "Device", "Entry", "Live", "Planned", "Posing", "Pull", "Recorded", "Release", "Reset", "Sample", "Series",
    "Serving", "Sticks", "Untangle", "Winch", "play", "serve", "standalone", "still",
]  # fmt: skip
