"""Shows that a person wrote."""

from __future__ import annotations

from bunraku.choreography.theatre import in_theatre
from bunraku.stage import Entry, Recorded

TITLE = "Shows"


def entries() -> list[Entry]:
    return [
        Entry("The meeting", _meeting, "One minute from a script of twenty-nine cues, rehearsed by optimal control"),
    ]


def _meeting() -> Recorded:
    """Performed beforehand by tools/shows.py: rehearsing it takes some ten seconds."""
    from bunraku.io.shipped import shipped_motion

    return in_theatre(shipped_motion("the_meeting"))
