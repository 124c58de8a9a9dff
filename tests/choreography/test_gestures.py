"""What makes each motion of the actor that gesture, measured from the places of its parts."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.signal import find_peaks

from bunraku.choreography.motion_library import repertoire_of
from bunraku.choreography.repertoire import Repertoire
from bunraku.figure import library, plain_kinematics
from bunraku.kinematics import frames_along

Array = NDArray[np.float64]
KNOWN = repertoire_of(library.actor())
NAMES = (
    "rest", "wave", "salute", "point", "beckon", "cheer", "clap", "shake", "shrug", "bow", "nod", "kick", "march", "walk", "turn",
    "sway", "twist", "hop", "polka",
)  # fmt: skip
DT = 0.04


class Seen:
    """A motion as an audience sees it: where the parts are [m], and how they lean [degrees]."""

    def __init__(self, known: Repertoire, name: str) -> None:
        figure, piece = known.puppet.figure, known[name]
        way = np.zeros(len(piece.motion)) if piece.way is None else piece.way
        none = np.zeros(len(way))
        self.figure, self.piece = figure, piece
        self.q = known.puppet.placed(piece.motion.q, none, none if name == "turn" else way, way if name == "turn" else none)
        self.X = frames_along(figure, np.ascontiguousarray(self.q))

    def at(self, frame: str, point: tuple[float, float, float] = (0.0, 0.0, 0.0)) -> Array:
        """Places of a point of a frame, (T, 3)."""
        X = self.X[:, self.figure.frame_index[frame]]
        return np.asarray(X[:, :3, :3] @ np.array(point) + X[:, :3, 3])

    def axis(self, frame: str, k: int) -> Array:
        return self.X[:, self.figure.frame_index[frame], :3, k]

    def bent(self, frame: str) -> Array:
        """How far a frame's vertical leans toward where the actor faces."""
        up, ahead = self.axis(frame, 2), np.cross([0, 0, 1.0], self.axis("torso", 0))
        return np.degrees(np.arctan2((up * ahead).sum(1), up[:, 2]))

    def tipped(self, frame: str) -> Array:
        """How far a frame's vertical leans to its right."""
        up = self.axis(frame, 2)
        return np.degrees(np.arctan2((up * self.axis("torso", 0) * [1, 1, 0]).sum(1), up[:, 2]))

    def heading(self, frame: str) -> Array:
        """Which way a frame faces, to its left."""
        x = self.axis(frame, 0)
        return np.degrees(np.unwrap(np.arctan2(x[:, 1], x[:, 0])))

    def palm(self, side: str) -> Array:
        return self.at(f"{side}hand", (0, 0, -0.03))

    def sole(self, side: str) -> Array:
        """Height of the lowest point of a shoe above where it stands."""
        low = self.corners(side)[:, :, 2].min(1)
        return low - low[0]

    def corners(self, side: str) -> Array:
        """Places of the corners of a sole, (T, 4, 3)."""
        return np.stack([self.at(f"{side}foot", (x, y, -0.067)) for x in (-0.045, 0.045) for y in (-0.055, 0.115)], 1)

    def slides(self) -> Array:
        """How far each corner of a sole gets, each time that it is within 1 mm of the boards, from where it came there [m]."""
        out = []
        for p in np.concatenate([self.corners("l"), self.corners("r")], 1).transpose(1, 0, 2):
            low = np.concatenate([[False], p[:, 2] < p[0, 2] + 1e-3, [False]]).astype(int)
            for a, b in np.flatnonzero(np.diff(low)).reshape(-1, 2):
                out.append(np.linalg.norm(p[a:b, :2] - p[a, :2], axis=1).max())
        return np.array(out)


def swings(values: Array, least: float) -> int:
    """How often a curve goes from one side to the other and by at least this much."""
    tops = len(find_peaks(values, prominence=least)[0])
    return tops + len(find_peaks(-values, prominence=least)[0])


def of(name: str) -> Seen:
    return Seen(KNOWN, name)


def still(seen: Seen, frame: str, within: float) -> bool:
    return bool(np.linalg.norm(seen.at(frame) - seen.at(frame)[0], axis=1).max() < within)


def test_all_nineteen_are_there() -> None:
    assert set(KNOWN.pieces) == set(NAMES)


def test_rest_stands_still() -> None:
    assert np.ptp(of("rest").q, axis=0).max() < 1e-6


def test_wave_swings_a_hand_above_the_head() -> None:
    seen = of("wave")
    hand, head = seen.palm("r"), seen.at("neck", (0, 0, 0.1))
    up = hand[:, 2] > head[:, 2]
    assert up.sum() * DT > 2.5
    assert swings(hand[up, 0], 0.15) >= 4  # to and fro
    assert still(seen, "lhand", 0.06)
    assert np.ptp(seen.bent("torso")) < 5


def test_salute_holds_a_hand_at_the_brim() -> None:
    seen = of("salute")
    away = np.linalg.norm(seen.palm("r") - seen.at("neck", (0.1, 0.05, 0.16)), axis=1)
    assert (away < 0.13).sum() * DT > 0.7
    assert still(seen, "lhand", 0.05)


def test_point_stretches_an_arm_out_and_looks_there() -> None:
    seen = of("point")
    arm = seen.palm("r") - seen.at("rshoulder")
    out = (arm[:, 0] > 0.45) & (np.abs(arm[:, 2]) < 0.15)
    assert out.sum() * DT > 0.7
    assert seen.heading("neck")[out].min() < -30  # to its right


def test_beckon_draws_the_hand_in_again_and_again() -> None:
    seen = of("beckon")
    away = np.linalg.norm(seen.palm("r") - seen.at("rshoulder"), axis=1)
    ahead = seen.palm("r")[:, 1] - seen.at("torso")[:, 1]
    assert swings(away, 0.15) >= 4
    assert swings(ahead, 0.15) >= 4
    assert (seen.palm("r") - seen.at("neck", (0, 0, 0.2)))[:, 2].max() < 0  # lower than a wave


def test_cheer_throws_both_hands_up() -> None:
    seen = of("cheer")
    for side in "lr":
        high = seen.palm(side)[:, 2] - seen.at("neck", (0, 0, 0.25))[:, 2]
        assert high.max() > 0.08
        assert swings(high, 0.1) >= 4


def test_clap_brings_the_palms_together_on_the_beat() -> None:
    seen = of("clap")
    gap = np.linalg.norm(seen.palm("l") - seen.palm("r"), axis=1)
    beats = find_peaks(-gap, prominence=0.2)[0]
    assert len(beats) >= 3
    assert gap[beats].max() < 0.12  # hands have a radius of 4 cm
    assert gap.min() > 0.05
    assert np.ptp(np.diff(beats)) <= 3
    assert np.abs(np.diff(beats) * DT - 1.4).max() < 0.13


def test_shake_moves_a_hand_up_and_down_ahead() -> None:
    seen = of("shake")
    hand = seen.palm("r") - seen.at("rshoulder")
    out = hand[:, 1] > 0.3
    assert out.sum() * DT > 2.0
    assert swings(hand[out, 2], 0.05) >= 4
    assert still(seen, "lhand", 0.06)


def test_shrug_opens_both_hands_and_tips_the_head() -> None:
    seen = of("shrug")
    open_ = np.ones(len(seen.q), bool)
    for side, s in (("l", -1), ("r", 1)):
        hand = seen.palm(side) - seen.at(f"{side}shoulder")
        open_ &= (s * hand[:, 0] > 0.25) & (hand[:, 2] < 0.05)
    assert open_.sum() * DT > 0.7
    assert seen.tipped("neck")[open_].max() > 22


def test_bow_takes_trunk_and_head_down_over_still_feet() -> None:
    seen = of("bow")
    assert seen.bent("torso").max() > 50
    assert seen.bent("neck").max() > 65
    assert (seen.bent("torso") > 40).sum() * DT > 0.6
    assert still(seen, "lfoot", 0.03)
    assert still(seen, "rfoot", 0.03)


def test_nod_pitches_the_head_while_the_trunk_is_still() -> None:
    seen = of("nod")
    assert len(find_peaks(seen.bent("neck"), prominence=30)[0]) >= 2
    assert np.ptp(seen.bent("torso")) < 4
    assert still(seen, "torso", 0.03)


def test_kick_swings_the_shank_ahead_of_the_knee() -> None:
    seen = of("kick")
    foot, knee = seen.at("rfoot"), seen.at("rknee_rx")
    top = int(np.argmax(foot[:, 2]))
    assert foot[top, 1] - knee[top, 1] > 0.25
    assert foot[top, 1] - seen.at("torso")[top, 1] > 0.6
    assert seen.sole("r").max() > 0.4
    assert still(seen, "lfoot", 0.03)


def _steps(seen: Seen, least: float) -> list[str]:
    """Which foot is lifted by at least this much [m], one after the other."""
    tops = [(k, side) for side in "lr" for k in find_peaks(seen.sole(side), height=least, prominence=least)[0]]
    return [side for _, side in sorted(tops)]


def _alternate(steps: list[str]) -> bool:
    return all(a != b for a, b in pairwise(steps))


def test_march_lifts_knees_in_turn_on_the_spot() -> None:
    seen = of("march")
    steps = _steps(seen, 0.2)
    assert len(steps) >= 4
    assert _alternate(steps)
    for side in "lr":
        assert (seen.at(f"{side}knee_rx") - seen.at("torso"))[:, 2].max() > -0.15  # nearly as high as the hip
    assert still(seen, "torso", 0.12)


def test_walk_travels_with_alternating_feet_that_stand() -> None:
    seen = of("walk")
    steps = _steps(seen, 0.03)
    assert len(steps) >= 4
    assert _alternate(steps)
    assert seen.at("torso")[-1, 1] - seen.at("torso")[0, 1] > 0.9
    for side in "lr":  # a foot that is low nearly stands, while the trunk goes on at 0.37 m/s
        low = seen.sole(side) < 0.006
        speed = np.abs(np.diff(seen.at(f"{side}foot")[:, 1]))[low[1:] & low[:-1]] / DT
        assert np.median(speed) < 0.15, side


def test_turn_changes_the_heading_by_steps() -> None:
    seen = of("turn")
    heading = seen.heading("torso")
    assert heading[-1] - heading[0] > 90
    assert np.diff(heading).min() > -2.5
    steps = _steps(seen, 0.03)
    assert len(steps) >= 4
    assert np.linalg.norm(seen.at("torso")[-1, :2] - seen.at("torso")[0, :2]) < 0.3


def test_sway_leans_to_both_sides() -> None:
    seen = of("sway")
    assert swings(seen.tipped("torso"), 25) >= 2  # besides the first and the last
    assert seen.tipped("neck").max() > 18
    assert seen.tipped("neck").min() < -18
    assert np.abs(seen.heading("torso")).max() < 8


def test_twist_turns_the_shoulders_to_and_fro() -> None:
    seen = of("twist")
    assert swings(seen.heading("torso"), 55) >= 2  # besides the first and the last
    assert abs(seen.heading("torso")[-1]) < 2
    assert np.abs(seen.tipped("torso")).max() < 6


def test_hop_takes_both_feet_off_the_boards_twice() -> None:
    seen = of("hop")
    low = np.minimum(seen.sole("l"), seen.sole("r"))
    assert len(find_peaks(low, height=0.2, prominence=0.2)[0]) == 2


def test_polka_kicks_in_turn_with_one_arm_high() -> None:
    seen = of("polka")
    steps = _steps(seen, 0.2)
    assert len(steps) >= 4
    assert _alternate(steps)
    high = seen.palm("r")[:, 2] > seen.at("neck", (0, 0, 0.25))[:, 2]
    assert high.sum() * DT > 2.5
    for side in "lr":
        assert (seen.at(f"{side}foot") - seen.at("torso"))[:, 1].max() > 0.45


@pytest.mark.parametrize(
    "name", ["wave", "salute", "point", "beckon", "cheer", "clap", "shake", "shrug", "bow", "nod", "twist", "rest"]
)  # fmt: skip
def test_feet_that_stand_do_not_slide(name: str) -> None:
    seen = of(name)
    assert len(seen.slides()) == 8  # every corner stands all the time
    assert seen.slides().max() < 0.002


# -- what all of them keep ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", NAMES)
def test_soles_stay_above_the_boards_and_knees_do_not_bend_back(name: str) -> None:
    seen = of(name)
    assert min(seen.sole(side).min() for side in "lr") > (-0.008 if seen.piece.way is not None else -0.004)
    backward = max(seen.q[:, seen.figure.index(f"{side}knee_rx")].max() for side in "lr")
    assert backward < 0.005  # leather stops them


def _clearance(a: Array, b: Array, c: Array, d: Array) -> Array:
    """Distance of segments ab and cd, (T, 3) each, by sampling both at 33 points."""
    s = np.linspace(0.0, 1.0, 33)[:, None, None]
    p, r = a + s * (b - a), c + s * (d - c)
    return np.linalg.norm(p[:, None] - r[None], axis=-1).min((0, 1))


@pytest.mark.parametrize("name", NAMES)
def test_strings_and_arms_keep_clear_of_head_and_trunk(name: str) -> None:
    seen = of(name)
    head = seen.at("neck", (0, 0, 0.104)), seen.at("neck", (0, 0, 0.23)), 0.106
    trunk = seen.at("torso", (0, 0, 0.17)), seen.at("torso", (0, 0, 0.36)), 0.108
    for string in seen.figure.strings:
        hook, spindle = (seen.at(p.frame, p.position) for p in (string.hook, string.spindle))
        for part, (low, high, radius) in {"neck": head, "torso": trunk}.items():
            if string.hook.frame != part:
                assert (_clearance(hook, spindle, low, high) - radius).min() > 0.0, (string.name, part)
    for side in "lr":
        elbow, hand = seen.at(f"{side}elbow_rx"), seen.at(f"{side}hand", (0, 0, -0.06))
        for part, (low, high, radius) in {"neck": head, "torso": trunk}.items():
            assert (_clearance(elbow, hand, low, high) - radius - 0.034).min() > -0.01, (side, part)


def test_strings_and_frames_agree_with_plain_kinematics() -> None:
    """The places measured above are those of slower, independent code."""
    seen = of("bow")
    for k in (10, 40):
        X_W = plain_kinematics.poses(seen.figure.frames, dict(zip(seen.figure.names, seen.q[k], strict=True)))
        for frame in ("neck", "rhand", "lfoot"):
            np.testing.assert_allclose(X_W[frame][:3, 3], seen.at(frame)[k], atol=1e-12)
