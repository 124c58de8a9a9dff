"""Shows written as scripts."""

from __future__ import annotations

from dataclasses import replace

from bunraku.stage import Entry, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FACE_Y, on_floor


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
            Entry(
                "Gestures",
                _gestures,
                "A puppet on thirteen strings bows, waves, claps, kicks, … The marks on the time line name each gesture",
                front=FACE_Y,
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


def _gestures() -> Recorded:
    """Motions of the actor that begin and end where it stands, one after the other."""
    from bunraku.choreography.motion_library import repertoire_of
    from bunraku.figure import library
    from bunraku.motion import Mark

    known = repertoire_of(library.named("actor"))
    names = ("bow", "wave", "nod", "salute", "point", "shrug", "beckon", "clap", "cheer", "kick", "hop", "march", "polka")
    motion, marks = known[names[0]].motion, [Mark(0.0, names[0])]
    for name in names[1:]:
        marks.append(Mark(motion.duration, name))
        motion = motion.join(known[name].motion)
    return on_floor(motion.replace(marks=tuple(marks)))
