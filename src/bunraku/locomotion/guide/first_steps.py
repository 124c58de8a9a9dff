"""What a humanoid can do, tried without physics: a step, a turn, a hand that reaches."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.locomotion.guide.guide_command import Command
from bunraku.locomotion.guide.humanoid import Humanoid
from bunraku.locomotion.guide.humanoid_file import guide_of
from bunraku.locomotion.guide.performer import Performer
from bunraku.locomotion.guide.session import Session
from bunraku.scene import Scene


def first_steps(humanoid: Humanoid) -> Iterator[str]:
    """One line for each thing that a `humanoid` tries from its home: how it went, and which joint limits it."""
    yield from humanoid.notes
    session = Session(Performer(guide_of(humanoid, Scene("floor"))), prompt=True)
    judge, motors = session.performer.judge, [humanoid.figure.names[k] for k in session.performer.body.motors]
    tried = {
        "a step forward": Command("trunk", (1.0, 0.0, 0.0)), "a step to the side": Command("trunk", (0.0, 1.0, 0.0)),
        "a turn": Command("trunk", turn=(0.0, 0.0, 1.0)), "reaching": Command("left_hand", (0.5, 0.0, 0.3)),
    }  # fmt: skip
    for name, command in tried.items():
        if humanoid.armless and "hand" in command.guided:
            continue
        done = session.obey(command)
        if done.refused:
            yield f"{name}: refused, {done.notice}"
            continue
        assert done.efforts is not None
        shares = np.abs(done.efforts).max(0) / judge.effort
        worst = int(shares.argmax())
        limits = f"{motors[worst]} needs {100.0 * shares[worst]:.0f} % of its effort" if shares[worst] > 0.0 else "no effort limits"
        yield f"{name}: {done.move.segment.duration:.2g} s, {limits}{'; ' + done.notice if done.notice else ''}"
        session.obey(Command())
