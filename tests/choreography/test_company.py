"""Puppets and props of a show, simulated together: measured from the motion alone, by support functions of the shapes."""

from __future__ import annotations

from dataclasses import replace
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
from tests.choreography.show_judge import limbs_in_bodies, slides, strings_in_bodies
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
  - {anna: march, counts: 9}
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


def test_strings_lie_on_limbs_or_keep_clear_of_them(show: Performance) -> None:
    """Strings of shins ran through knees and thighs, 5 cm deep."""
    assert show.motion is not None
    assert [one for one in strings_in_bodies(show.motion) if one.depth > 0.005] == []
    assert [one for one in limbs_in_bodies(show.motion) if one.depth > 0.005] == []


def test_a_foot_kicks_the_ball(show: Performance) -> None:
    ball = show.motion.track("ball").q  # type: ignore[union-attr]
    assert np.ptp(ball[:5], axis=0).max() < 1e-6  # it lies still
    assert np.linalg.norm(ball[-1, :2] - ball[0, :2]) > 0.3


def test_feedback_helps_who_is_pushed_and_too_heavy(show: Performance) -> None:
    """Over all joints, feet too: they come down elsewhere, and are left where they stand."""
    assert show.company is not None
    assert show.motion is not None
    wanted = show.reference.track("anna").q[:, : show.parts["anna"].figure.n_dynamic]  # type: ignore[union-attr]
    calm = show.errors["anna"]
    for seed in (1, 2):
        part = show.parts["anna"]
        blows = {"anna": random_blows(part, np.random.default_rng(seed), every=1.5)}
        wrong = {"anna": heavier(part.figure, 1.05)}
        loose = replace(show.company, parts={"anna": replace(part, gains=0.0 * part.gains)})
        held, left = (one.play(figures=wrong, blows=blows).puppets["anna"] for one in (show.company, loose))
        away, far = (np.sqrt(np.mean((one.q[:, : wanted.shape[1]] - wanted) ** 2)) for one in (held, left))
        assert away < min(far, 2.0 * calm), seed
        upper = [k for k, name in enumerate(part.figure.dynamic) if not name[1:].startswith(("hip", "knee", "ankle"))]
        assert np.sqrt(np.mean((held.q - part.x[:, : part.figure.n_q])[:, upper] ** 2)) < 0.08
        assert held.tension.min() >= 0.0


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


STEPS = """
perform: Steps
tempo: 100
figures: {anna: {figure: actor, at: [0, -0.8]}}
script:
  - {anna: walk, counts: 12, to: [0, 0.1]}
  - {anna: kick, counts: 8}
  - {anna: turn, counts: 14, facing: 80 deg}
"""


def test_feet_that_step_do_not_slide(tmp_path: Path) -> None:
    """Of a walk, a kick and a turn, in which 29 % of the corners that stood slid by more than 5 mm, and one in ten by 21 mm."""
    (tmp_path / "show.yaml").write_text(STEPS)
    show = perform(load_script(tmp_path / "show.yaml"), folder=tmp_path)
    assert show.motion is not None
    assert show.company is not None
    ways = np.array([one.way for one in slides(show.motion, show.company.boards)])
    assert len(ways) > 40
    assert np.quantile(ways, 0.9) < 0.008
    assert ways.max() < 0.035
