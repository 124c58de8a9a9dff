"""Puppets and props of a show, simulated together: measured from the motion alone, by support functions of the shapes."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.choreography import Performance, load_script, perform
from bunraku.choreography.company import Company
from bunraku.choreography.part import heavier, random_blows
from bunraku.errors import FileError
from bunraku.kinematics import frames_along
from bunraku.spatial import se3
from tests.choreography.show_judge import slides
from tests.dynamics.touch.judge import Solid, signed_distance, solid_of

Array = NDArray[np.float64]
SHOW = """
perform: The ball
tempo: 90
figures:
  anna: {figure: actor, at: [0, -0.4]}
props:
  ball: {is: football, at: [0.1, -0.1, 0.06]}
script:
  - {anna: kick, size: 0.6}
  - {anna: march, counts: 6}
"""


@pytest.fixture(scope="module")
def show(tmp_path_factory: pytest.TempPathFactory) -> Performance:
    folder = tmp_path_factory.mktemp("show")
    (folder / "show.yaml").write_text(SHOW)
    return perform(load_script(folder / "show.yaml"), folder=folder)


def _solids(show: Performance, track: int, k: int) -> dict[str, Solid]:
    one = show.motion.tracks[track]  # type: ignore[union-attr]
    X = frames_along(one.figure, np.ascontiguousarray(one.q[k : k + 1]))[0]
    out = {}
    for shape in one.figure.shapes:
        X_WS = X[one.figure.frame_index[shape.frame]] @ se3.pose(shape.position, shape.rotation)
        out[f"{shape.frame}.{shape.name}"] = solid_of(shape.geometry).moved(X_WS[:3, :3], X_WS[:3, 3])
    return out


def test_nothing_is_below_the_boards(show: Performance) -> None:
    """Without boards, soles were up to 18 mm below where they stand."""
    assert isinstance(show.company, Company)
    down = np.array([0.0, 0.0, -1.0])
    for k in range(0, len(show.motion.t), 5):  # type: ignore[union-attr]
        for track in (0, 1):
            deepest = max(solid.support(down)[0] for solid in _solids(show, track, k).values())
            assert -deepest > show.company.boards - 1e-6


def test_limbs_stop_at_limbs(show: Performance) -> None:
    """In the march of the library, a hand passes through a thigh by 3 cm."""
    pairs = [(f"{a}.{hand}", f"{b}.thigh") for a, b in (("lelbow_rx", "lhip"), ("relbow_rx", "rhip")) for hand in ("hand", "cuff")]
    for k in range(0, len(show.motion.t), 5):  # type: ignore[union-attr]
        solids = _solids(show, 0, k)
        assert min(signed_distance(solids[a], solids[b]) for a, b in pairs) > -1e-6


def test_a_foot_kicks_the_ball(show: Performance) -> None:
    ball = show.motion.track("ball").q  # type: ignore[union-attr]
    assert np.ptp(ball[:5], axis=0).max() < 1e-6  # it lies still
    assert np.linalg.norm(ball[-1, :2] - ball[0, :2]) > 0.3


def test_pushes_are_survived_together(show: Performance) -> None:
    """A push in the middle of a march: feet come down elsewhere, trunk, arms and head are led back."""
    assert show.company is not None
    part = show.parts["anna"]
    blows = {"anna": random_blows(part, np.random.default_rng(0))}
    pushed = show.company.play(figures={"anna": heavier(part.figure, 1.03)}, blows=blows).puppets["anna"]
    names = part.figure.names[: part.figure.n_dynamic]
    upper = [k for k, name in enumerate(names) if not name[1:].startswith(("hip", "knee", "ankle"))]
    away = (pushed.q - part.x[:, : part.figure.n_q])[:, upper]
    assert np.sqrt(np.mean(away**2)) < 0.08
    assert pushed.tension.min() >= 0.0


def test_a_prop_needs_a_name_of_its_own(tmp_path: Path) -> None:
    (tmp_path / "show.yaml").write_text(SHOW.replace("ball:", "anna:"))
    with pytest.raises(FileError, match="also called 'anna'"):
        load_script(tmp_path / "show.yaml")


def test_feet_stand_through_gestures(tmp_path: Path) -> None:
    """Feet of a puppet whose strings carried its legs slid by 20 mm (median)."""
    cues = "".join(f"  - {{anna: {name}}}\n" for name in ("wave", "shrug", "clap"))
    (tmp_path / "show.yaml").write_text(f"perform: Standing\ntempo: 90\nfigures: {{anna: actor}}\nscript:\n{cues}")
    show = perform(load_script(tmp_path / "show.yaml"), folder=tmp_path)
    assert show.motion is not None
    assert show.company is not None
    found = slides(show.motion, show.company.boards)
    assert {one.frame for one in found} == {"anna.lfoot", "anna.rfoot"}
    assert max(one.way for one in found) < 0.001
