from __future__ import annotations

import numpy as np
import pytest

from bunraku.choreography.puppet import Puppet
from bunraku.dynamics import Simulation
from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.kinematics import pose

PUPPETS = pytest.mark.parametrize("name", ["marionette22", "marionette25"])


@PUPPETS
def test_every_variable_has_its_part(name: str) -> None:
    puppet = Puppet.hanging(library.named(name))
    own = np.concatenate(list(puppet.parts.values()))
    assert sorted(own.tolist()) == list(range(puppet.figure.n_q))
    assert {"torso", "left_arm", "right_arm", "left_leg", "right_leg"} == set(puppet.parts)
    assert "lelbow_rx" in [puppet.figure.names[i] for i in puppet.parts["left_arm"]]


@PUPPETS
def test_taken_elsewhere_and_turned_it_hangs_as_before(name: str) -> None:
    puppet = Puppet.hanging(library.named(name))
    figure, turn = puppet.figure, 0.8
    q = puppet.placed(puppet.rest[None], np.array([1.3]), np.array([-0.4]), np.array([turn]))[0]
    np.testing.assert_allclose(pose(figure, q).gaps, pose(figure, puppet.rest).gaps, atol=1e-12)
    R = np.array([[np.cos(turn), -np.sin(turn), 0], [np.sin(turn), np.cos(turn), 0], [0, 0, 1]])
    for frame in ("rhand", "lfoot"):
        expected = R @ pose(figure, puppet.rest).X(frame)[:3, 3] + [1.3, -0.4, 0]
        np.testing.assert_allclose(pose(figure, q).X(frame)[:3, 3], expected, atol=1e-12)
    still = Simulation(figure, q).run(np.repeat(q[None, figure.n_dynamic :], 100, 0))
    assert np.abs(still.q[-1] - q).max() < 1e-9


def test_strings_of_one_limb_move_one_part() -> None:
    puppet = Puppet.hanging(library.actor())
    assert set(puppet.parts) == {"torso", "head", "left_arm", "right_arm", "left_leg", "right_leg"}
    own = np.concatenate(list(puppet.parts.values()))
    assert sorted(own.tolist()) == list(range(puppet.figure.n_q))
    names = {puppet.figure.names[i] for i in puppet.parts["left_leg"]}
    assert {"lknee_rx", "left_leg_length", "left_leg_shin_length", "left_leg_shin_x"} <= names
    assert puppet.part_of["back"] == "torso"
    assert len(puppet.legs) == 4


@PUPPETS
def test_it_stands_on_its_legs(name: str) -> None:
    assert Puppet.hanging(library.named(name)).legs == ("left_leg_length", "right_leg_length")


def test_who_has_no_strings_is_no_marionette() -> None:
    with pytest.raises(BunrakuError, match="not a marionette"):
        Puppet(library.pendulum(), library.pendulum().start)
    with pytest.raises(BunrakuError, match="not a marionette"):
        Puppet(library.arm3d(), library.arm3d().start)
