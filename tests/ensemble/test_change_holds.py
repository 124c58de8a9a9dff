"""Holds that change on the way: handed through a window, put down and taken up again; and what the rechecker says of wrong ones."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from bunraku.ensemble.carry import Carry, carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.grips import grips, names_of
from bunraku.ensemble.recheck_holds import recheck_holds
from bunraku.ensemble.resting import lies
from bunraku.ensemble.team import OBJECT, Carried
from bunraku.errors import FileError
from bunraku.figure.shape import Box, Shape
from bunraku.motion import Motion, Track
from bunraku.scene import Obstacle, Scene
from tests.ensemble.trials import errands


@pytest.fixture(scope="module")
def handed() -> Carry:
    return carry(load_errand(errands()["window"]), seed=2)


def said(done: Carry, motion: Motion | None = None, **parts: object) -> set[str]:
    """What the rechecker objects to, after one part was replaced or the motion changed."""
    own = [replace(part, **parts) if part.what == "outside goes" else part for part in done.parts]
    assert done.motion is not None
    return {o.what for o in recheck_holds(done.errand, motion or done.motion, own).objections}


def changed(motion: Motion, name: str, column: int, by: np.ndarray) -> Motion:
    tracks = []
    for track in motion.tracks:
        q = track.q.copy()
        if track.name == name:
            q[:, column] += by
        tracks.append(Track(track.figure, q, name=track.name))
    return Motion(motion.t, tuple(tracks))


def test_a_plank_is_handed_through_a_window(handed):
    assert handed.outcome.ok
    assert said(handed) == set()
    holders = [tuple(part.holding) for part in handed.parts]
    assert holders[0] == ("inside",)
    assert holders[-1] == ("outside",)
    assert all(part.holding for part in handed.parts)
    x = [handed.motion.track(name).q[:, 0] for name in ("inside", "outside")]
    assert x[0].max() < 0.0 < x[1].min()  # nobody passes the wall


def test_the_rechecker_refuses_what_nobody_holds(handed):
    assert "holds" in said(handed, holding={})
    other = handed.errand.team.agents[1].holds
    assert "closure" in said(handed, holding={"outside": other})


def test_the_rechecker_refuses_hands_that_slip_or_touch_too_early(handed):
    t = handed.motion.t
    slipped = changed(handed.motion, OBJECT, 2, 0.003 * np.clip(t - 2.0, 0.0, 1.0))
    assert "closure" in said(handed, slipped)
    taken = next(part for part in handed.parts if part.taking is not None)
    early = [replace(part, taking=None) if part is taken else part for part in handed.parts]
    assert "collision" in {o.what for o in recheck_holds(handed.errand, handed.motion, early).objections}


def test_the_rechecker_refuses_parts_that_leave_something_out(handed):
    assert "holds" in {o.what for o in recheck_holds(handed.errand, handed.motion, handed.parts[:-1]).objections}


def test_an_object_lies_only_where_something_bears_its_middle():
    table = Scene("room", (Obstacle("table", Box((0.6, 0.6, 0.7)), (0.0, 0.0, 0.35)),))
    plank = Carried((Shape("world", Box((1.2, 0.2, 0.04)), name="plank"),))
    assert lies(plank, np.array([0.0, 0.0, 0.72, 0.0, 0.0, 0.0]), table) == (("table",), "")
    assert "tips over" in lies(plank, np.array([0.45, 0.0, 0.72, 0.0, 0.0, 0.0]), table)[1]
    assert "nothing" in lies(plank, np.array([0.0, 0.0, 0.73, 0.0, 0.0, 0.0]), table)[1]
    assert "deep" in lies(plank, np.array([0.0, 0.0, 0.71, 0.0, 0.0, 0.0]), table)[1]


def test_grips_are_who_may_hold_together():
    team = load_errand(errands()["window"]).team
    assert {names_of(grip) for grip in grips(team)} == {("inside", "outside"), ("inside",), ("outside",)}
    assert len(grips(load_errand(errands()["regrasp"]).team)) == 2


def test_a_file_without_holds_is_refused(tmp_path):
    text = errands()["regrasp"].read_text()
    start, end = text.index("    holds:"), text.index("area:")
    (tmp_path / "none.yaml").write_text(text[:start] + "    holds: []\n" + text[end:])
    with pytest.raises(FileError, match="no holds"):
        load_errand(tmp_path / "none.yaml")


@pytest.mark.slow
@pytest.mark.parametrize("seed", [31, 32])
def test_a_plank_is_put_down_and_taken_up_at_its_other_end(seed):
    done = carry(load_errand(errands()["regrasp"]), seed=seed)
    assert done.outcome.ok
    assert said(done) == set()
    rests = [part for part in done.parts if not part.holding]
    assert rests
    assert all(part.rests == ("table",) for part in rests)
    lifted = changed(done.motion, OBJECT, 2, np.where(np.arange(len(done.motion)) == rests[0].first + 1, 1e-3, 0.0))
    assert "rest" in said(done, lifted)
