"""Motion from rest to rest: the quintic with zero velocity and acceleration at both ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

PEAK = 1.875
"""Its largest speed, over its mean speed."""


def eased(s: ArrayLike) -> NDArray[np.float64]:
    """Rises smoothly from 0 to 1 while s goes from 0 to 1; 0 before, 1 after."""
    s = np.clip(s, 0.0, 1.0)
    return np.asarray(s * s * s * (10.0 + s * (6.0 * s - 15.0)))
