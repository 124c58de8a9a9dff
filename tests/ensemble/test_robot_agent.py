"""Robots from files as agents: a small one that is made up here, and three that are public."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.ensemble.carry import carry
from bunraku.ensemble.errand_file import load_errand
from bunraku.ensemble.holdable import Holdable
from bunraku.errors import FileError
from bunraku.kinematics import pose
from tests.ensemble.agreement import opinions
from tests.ensemble.made_up_robot import ERRAND, urdf, written

EXAMPLE = Path(__file__).parents[2] / "examples" / "three_robots.yaml"


@pytest.fixture(scope="module")
def errand(tmp_path_factory):
    return load_errand(written(tmp_path_factory.mktemp("robot")))


def test_a_robot_from_a_file_stands_on_the_floor(errand):
    robot = errand.team.agents[1]
    assert robot.base == ("base_x", "base_y", "base_turn")
    assert pose(robot.figure).X("caster")[2, 3] == pytest.approx(0.05)  # its radius
    assert robot.figure.start[robot.figure.index("lift")] == pytest.approx(0.2)
    np.testing.assert_allclose(robot.shape.size, (0.5, 0.5, 0.95), atol=1e-6)  # chassis, wheels and column, without the arm


def test_its_arm_holds_at_both_ends(errand):
    ends = np.stack([errand.start, errand.goal])
    assert [agent.name for agent in Holdable(errand.team, ends, np.ones(errand.team.figure.n_q))._agents] == ["person", "robot"]
    assert errand.team.reaches(ends).all()


@pytest.mark.parametrize(
    ("word", "wrong", "said"),
    [
        ("arm: arm_pan", "arm: arm_pann", "arm_pan"),
        ("arm: arm_pan,", "arm: arm_elbow,", "4 joints"),
        ("{hand: {", "{palm: {", "hand"),
        ("moves: differential", "moves: walk", "does not walk"),
        ("posture: {lift: 20 cm", "posture: {lifts: 20 cm", "lift"),
        ("    figure: helper.urdf", "    kind: rover\n    figure: helper.urdf", "kind"),
        ("margin: 1 cm", "margin: 1 cm\nground: [pillar]", "level floors"),
    ],
)
def test_mistakes_are_told(tmp_path, word, wrong, said):
    path = written(tmp_path)
    assert word in ERRAND
    path.write_text(ERRAND.replace(word, wrong))
    with pytest.raises(FileError, match=said):
        load_errand(path)


def test_legs_are_refused(tmp_path):
    """They would slide over the floor."""
    path = written(tmp_path)
    (tmp_path / "helper.urdf").write_text(urdf().replace("left_wheel", "left_knee"))
    with pytest.raises(FileError, match="legs do not walk"):
        load_errand(path)


@pytest.mark.slow
def test_it_carries_with_a_person(errand):
    done = carry(errand, seed=3)
    assert done.outcome.ok, done
    own = opinions(errand, done.motion)
    assert not own.mine
    assert not own.other


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore")
def test_three_public_robots_carry_with_a_person():
    pytest.importorskip("cmeel")
    errand = load_errand(EXAMPLE)
    done = carry(errand, seed=22)
    assert done.outcome.ok, done
    own = opinions(errand, done.motion, rate=8.0)
    assert not own.mine
    assert not own.other
    assert own.found.closure < 1e-3
