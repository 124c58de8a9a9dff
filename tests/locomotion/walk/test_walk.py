from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BunrakuError
from bunraku.figure import library
from bunraku.kinematics.forward import frames_along
from bunraku.locomotion.walk import walk
from bunraku.locomotion.walk.legs import legs_of

PERSON = library.named("mannequin")


def along(length, seconds, samples):
    """From rest to rest, with a speed that rises and falls over an eighth of the time."""
    t = np.linspace(0.0, seconds, samples)
    speed = np.minimum(1.0, 8.0 * np.minimum(t, seconds - t) / seconds)
    s = np.concatenate([[0.0], np.cumsum(0.5 * (speed[1:] + speed[:-1]))])
    return t, length * s / s[-1]


def way(kind, length=6.0, seconds=12.0, samples=268):
    t, s = along(length, seconds, samples)
    zero = 0.0 * s
    return t, {
        "straight": np.stack([s, zero, zero], 1),
        "backward": np.stack([-s, zero, zero], 1),
        "sideways": np.stack([zero, 0.5 * s, zero], 1),
        "curve": np.stack([1.5 * np.sin(s / 1.5), 1.5 * (1.0 - np.cos(s / 1.5)), s / 1.5], 1),
        "on the spot": np.stack([zero, zero, -s], 1),
        "askew": np.stack([0.6 * s, -0.4 * s, 0.4 * np.sin(s)], 1),
    }[kind]  # fmt: skip


KINDS = ("straight", "backward", "sideways", "curve", "on the spot", "askew")


@pytest.mark.parametrize("kind", KINDS)
def test_base_is_followed_and_soles_do_not_slide(kind):
    t, base = way(kind)
    walked = walk(PERSON, t, base, gentle=0.19)
    assert np.array_equal(walked.Q[:, PERSON.indices(("pelvis_tx", "pelvis_ty", "pelvis_rz"))], base)
    assert walked.slide < 1e-6
    lower, upper = PERSON.limits
    assert (lower <= walked.Q).all()
    assert (upper >= walked.Q).all()
    assert walked.jump < 0.2


def corners(walked):
    """Ends of both soles over time, by forward kinematics: foot, end, sample."""
    frames = frames_along(walked.figure, walked.Q)
    out = []
    for leg in legs_of(walked.figure):
        X = frames[:, walked.figure.frame_index[f"{leg.side}_ankle"]]
        out.append([X[:, :3, :3] @ [x, 0.0, -leg.ankle] + X[:, :3, 3] for x in (leg.heel, leg.toe)])
    return np.array(out)


@pytest.mark.parametrize("kind", KINDS)
def test_feet_stay_above_the_ground_and_one_is_always_on_it(kind):
    t, base = way(kind)
    ends = corners(walk(PERSON, t, base))
    assert ends[..., 2].min() > -1e-6
    assert ends[..., 2].min((0, 1)).max() < 1e-6


def test_bad_input_is_refused():
    t, base = way("straight")
    with pytest.raises(BunrakuError, match="do not increase"):
        walk(PERSON, t[::-1], base)
    with pytest.raises(BunrakuError, match=r"base \(T, 3\)"):
        walk(PERSON, t, base[:-1])
    with pytest.raises(BunrakuError, match="not finite"):
        walk(PERSON, t, np.where(np.arange(3) == 1, np.nan, base))
    with pytest.raises(BunrakuError, match="cannot walk: it has no pelvis_tx"):
        walk(library.named("mobile_manipulator"), t, base)
