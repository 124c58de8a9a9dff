from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import UnknownName
from bunraku.figure import library
from bunraku.kinematics import pose
from bunraku.kinematics.loci import frame_along, point_along
from bunraku.motion import Motion


def test_a_point_along_a_motion_is_where_each_pose_has_it() -> None:
    figure = library.named("marionette22")
    q = figure.start + 0.3 * np.random.default_rng(0).normal(size=(5, figure.n_q))
    motion = Motion.of(figure, np.arange(5.0), q)
    at = (0.1, 0.2, 0.3)
    for k in range(5):
        assert np.allclose(point_along(motion, "lhand", at)[k], pose(figure, q[k]).point("lhand", at), atol=1e-12)
        assert np.allclose(frame_along(motion.only, "lhand")[k], pose(figure, q[k]).X("lhand"), atol=1e-12)
    assert np.allclose(point_along(motion, "world", at), at)
    with pytest.raises(UnknownName, match="did you mean lhand"):
        point_along(motion, "lhnd")
