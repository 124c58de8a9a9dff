"""A humanoid guided by one operator."""

from __future__ import annotations

from bunraku.stage import Entry, Live, Recorded
from bunraku.teleop.opening.chapter import Chapter
from bunraku.teleop.viewing_places import FROM_SIDE


def chapter() -> Chapter:
    """The entries of the chapter."""
    return Chapter(
        "Guiding",
        [
            Entry(
                "Guide a humanoid",
                _live,
                "W A S D walk it to the door, arrows turn it, Q E choose foot, trunk or hand; or drag one",
                front=FROM_SIDE,
            ),
            Entry(
                "Down the steps, to the door",
                _scenario,
                "One operator guided first the feet, then the trunk, then the left hand. Turn on Balance",
                front=FROM_SIDE,
            ),
        ],
    )


def _live() -> Live:
    from bunraku.locomotion.guide.guide import Guide
    from bunraku.locomotion.guide.humanoid import small_humanoid
    from bunraku.locomotion.guide.scenario import PAPER_ROOM
    from bunraku.teleop.guided_figure import GuidedLive

    return GuidedLive(Guide(small_humanoid(), PAPER_ROOM.scene), x=PAPER_ROOM.start)


def _scenario() -> Recorded:
    from bunraku.locomotion.guide.guide import Guide
    from bunraku.locomotion.guide.humanoid import small_humanoid
    from bunraku.locomotion.guide.performer import Performer
    from bunraku.locomotion.guide.scenario import PAPER_ROOM, operator
    from bunraku.locomotion.guide.session import Session

    performer = Performer(Guide(small_humanoid(), PAPER_ROOM.scene))
    session = Session(performer, performer.guide.start(x=PAPER_ROOM.start))
    return Recorded(session.run(operator(session)).resample(0.02), PAPER_ROOM.scene)
