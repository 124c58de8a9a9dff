"""Shows written as scripts."""

from __future__ import annotations

from dataclasses import replace

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
                "Anna and Bert meet, by a script of 29 cues: press C to drag them. Click one puppet to follow it",
            ),
        ],
    )


def _meeting() -> Recorded:
    """Performed in advance by tools/shows.py, because its rehearsal takes about ten seconds."""
    from bunraku.choreography import load_script
    from bunraku.choreography.show_book import ShowBook
    from bunraku.choreography.theatre import in_theatre
    from bunraku.io.shipped import found, shipped_motion

    motion = shipped_motion("the_meeting")
    return replace(in_theatre(motion), book=ShowBook.of_motion(load_script(found("the_meeting")), motion))
