"""Loads: shared by statics, refused if too heavy, rechecked with the balance of everybody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.load import LoadOptions, shared, too_heavy
from bunraku.ensemble.recheck_team import recheck
from bunraku.ensemble.team import Carried, Team
from bunraku.errors import FileError
from bunraku.figure import Box, Shape
from tests.ensemble.trials import FOLDER

NO_GRIP = LoadOptions(lever=0.0)


def beam(places, mass, centre=0.0):
    made = [rover(f"r{k}", hold("tool", (x, y, 0.1))) for k, (x, y, _) in enumerate(places)]
    agents = tuple(replace(agent, bears=bears) for agent, (_, _, bears) in zip(made, places, strict=True))
    return Team(agents, Carried((Shape("world", Box((2.0, 0.2, 0.1))),), heights=(0.6, 1.3), mass=mass, centre=(centre, 0.0, 0.0)))


def test_two_share_a_beam_by_the_law_of_the_lever():
    load = shared(beam([(-0.5, 0.0, 100.0), (1.0, 0.0, 100.0)], 30.0, 0.25), options=NO_GRIP)
    assert load.bears == pytest.approx({"r0": 15.0, "r1": 15.0})
    load = shared(beam([(-0.5, 0.0, 100.0), (1.0, 0.0, 100.0)], 30.0), options=NO_GRIP)
    assert load.bears == pytest.approx({"r0": 20.0, "r1": 10.0})
    assert load.use == pytest.approx(0.2)


def test_shares_are_the_fairest_that_balance():
    """Beside a search over all shares of a load on four hands."""
    places = [(-0.8, 0.1, 20.0), (0.5, -0.1, 10.0), (0.9, 0.1, 15.0), (0.2, -0.1, 30.0)]
    own = shared(beam(places, 40.0), options=NO_GRIP)
    f = np.array(list(own.bears.values()))
    P, bears = np.array(places)[:, :2], np.array(places)[:, 2]
    assert f.sum() == pytest.approx(40.0)
    assert f @ P == pytest.approx([0.0, 0.0], abs=1e-6)
    assert f.min() >= 0.0
    # Four forces, three equations: all solutions are on a line.
    A = np.vstack([np.ones(4), P.T])
    one, free = np.linalg.lstsq(A, [40.0, 0.0, 0.0], rcond=None)[0], np.linalg.svd(A)[2][-1]
    every = one + np.linspace(-60.0, 60.0, 200_001)[:, None] * free
    every = every[every.min(1) >= 0.0]
    assert own.use == pytest.approx((every / bears).max(1).min(), abs=1e-3)


@pytest.mark.parametrize(("mass", "many", "more"), [(60.0, 1, 2), (45.0, 2, 1), (100.0, 1, 4)])
def test_too_heavy_says_how_many_more(mass, many, more):
    team = beam([(0.9 * (-1) ** k, 0.0, 20.0) for k in range(many)], mass)
    assert too_heavy(team).endswith(f"needs {more} more")
    around = np.linspace(0.0, 2.0 * np.pi, many + more, endpoint=False)
    assert not too_heavy(beam([(0.9 * np.cos(a), 0.1 * np.sin(a), 20.0) for a in around], mass))


def test_uneven_holds_are_told():
    assert "held too unevenly" in too_heavy(beam([(0.7, 0.0, 20.0), (0.9, 0.0, 20.0)], 30.0))


def test_as_many_helpers_join_as_are_needed(tmp_path):
    text = (FOLDER / "too_heavy.yaml").read_text()
    names = [
        [agent.name for agent in _loaded(tmp_path, text.replace("60 kg", f"{mass} kg")).team.agents] for mass in (40, 60, 80, 300)
    ]
    assert names == [["person", "front"], ["person", "front", "left"], [*(all_ := ["person", "front", "left", "right"])], all_]
    done = carry(_loaded(tmp_path, text.replace("60 kg", "300 kg")), seed=0)
    assert done.outcome.kind == "too heavy"
    assert "needs 9 more" in done.outcome.why
    for wrong in ("mass: -3 kg", "mass: heavy"):
        with pytest.raises(FileError):
            _loaded(tmp_path, text.replace("mass: 60 kg", wrong))


def _loaded(folder: Path, text: str):
    file = folder / "errand.yaml"
    file.write_text(text)
    return load_errand(file)


def test_the_rechecker_tests_load_and_balance():
    errand = load_errand(FOLDER / "too_heavy.yaml")
    done = carry(errand, seed=5)
    assert done.outcome.ok, done.outcome.why
    heavier = Team(errand.team.agents, replace(errand.team.carried, mass=200.0))
    verdict = recheck(heavier, done.motion, errand.scene, margin=errand.margin)
    assert {"load", "balance"} <= {objection.what for objection in verdict.objections}
    fallen = {objection.where.split()[0] for objection in verdict.objections if objection.what == "balance"}
    assert fallen == {"person", "front", "left"}
    stronger = Team(tuple(replace(agent, bears=1e3) for agent in errand.team.agents), heavier.carried)
    assert "load" not in {objection.what for objection in recheck(stronger, done.motion, errand.scene).objections}


def test_a_person_who_leans_too_far_falls():
    """A load of 40 kg at arm's length, of which a person of 75 kg bears all, is beyond the toes; near the body it is not."""
    from bunraku.ensemble.footing import floor
    from bunraku.ensemble.load import unbalanced
    from bunraku.motion import Motion, Track
    from bunraku.scene import Scene

    palms = (("left_palm", 0.2), ("right_palm", -0.2))
    person = porter("person", *(hold(palm, (0.0, y, 0.0), z=(-1, 0, 0), x=(0, 0, 1)) for palm, y in palms))
    team = Team((person,), Carried((Shape("world", Box((0.4, 0.4, 0.2))),), heights=(0.6, 1.3), mass=40.0))
    q = np.repeat(person.figure.start[None], 100, 0)
    for away, falls in ((0.25, False), (0.7, True)):
        held = np.repeat([[away, 0.0, 1.1, 0.0, 0.0, 0.0]], 100, 0)
        motion = Motion(
            np.linspace(0.0, 2.0, 100), (Track(person.figure, q, name="person"), Track(team.object_figure, held, name="object"))
        )
        assert bool(list(unbalanced(team, motion, floor(Scene("room"))))) == falls
