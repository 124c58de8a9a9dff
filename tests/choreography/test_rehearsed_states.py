"""States of a rehearsal: what feedback is computed from fits what the hands do."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np

from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.part import heavier
from bunraku.choreography.puppet import Puppet
from bunraku.choreography.rehearse import Hung, rehearse
from bunraku.dynamics import momentum
from bunraku.figure import library

KNOWN = repertoire_of(library.actor())


def test_rates_of_hands_are_those_of_their_positions(tmp_path: Path) -> None:
    """At the end of a stretch hands are led to where the next one begins. Feedback took their old rates for errors, and led them
    on: strings of a leg that stood were taut after half a second."""
    hung, figure = Hung(KNOWN.puppet), KNOWN.puppet.figure
    wanted = KNOWN["nod"].curve(1)(np.linspace(0.0, 1.0, 120)) + KNOWN.puppet.rest
    wanted += np.linspace(0.0, 1.0, 120)[:, None] * 0.05 * (np.array(figure.names) == "left_arm_x")  # a hand ends elsewhere
    x = rehearse(hung, wanted, loose=True, folder=tmp_path).x
    n, n_q = figure.n_dynamic, figure.n_q
    np.testing.assert_allclose(x[1:, n_q + n :], np.diff(x[:, n:n_q], axis=0) / hung.options.dt, atol=1e-9)


def test_states_that_end_elsewhere_move_there() -> None:
    hung, figure, dt = Hung(KNOWN.puppet), KNOWN.puppet.figure, 0.02
    n, n_q = figure.n_dynamic, figure.n_q
    x = np.repeat(np.concatenate([KNOWN.puppet.rest, hung.momentum, np.zeros(n_q - n)])[None], 60, 0)
    end = KNOWN.puppet.rest.copy()
    end[figure.index("neck_rz")] += 0.3
    found = hung.ended(x, end)
    v = (found[50, :n_q] - found[48, :n_q]) / (2.0 * dt)
    assert v[figure.index("neck_rz")] > 0.3
    np.testing.assert_allclose(found[49, n_q : n_q + n] - hung.momentum, momentum(figure, found[49, :n_q], v), atol=1e-6)


def test_a_heavier_puppet_rehearses_anew() -> None:
    """The cache of rehearsals knew a figure by its short description, which has no masses."""
    wanted = np.repeat(KNOWN.puppet.rest[None], 3, 0)
    heavy = Puppet(heavier(KNOWN.puppet.figure, 1.0001), KNOWN.puppet.rest)
    prints = {Hung(puppet).fingerprint(wanted, True) for puppet in (KNOWN.puppet, replace(KNOWN.puppet), heavy)}
    assert len(prints) == 2
