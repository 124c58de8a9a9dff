"""Shows written as scripts."""

from __future__ import annotations

from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Shows",
        [
            Entry(
                "The meeting",
                _meeting,
                "Anna and Bert meet, by a script of 29 cues: the marks on the time line. Click one puppet to follow it",
            ),
        ],
    )


def _meeting() -> Recorded:
    """Performed in advance by tools/shows.py, because its rehearsal takes about ten seconds."""
    from bunraku.choreography.theatre import in_theatre
    from bunraku.io.shipped import shipped_motion

    return in_theatre(shipped_motion("the_meeting"))
