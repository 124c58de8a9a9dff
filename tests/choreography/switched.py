"""Switched systems that tests share."""

from __future__ import annotations

import numpy as np

from bunraku.choreography.mode_flow import Field, Flow

PUSHES = (1.0, 0.0, -1.0)


def cart(pushes: tuple[float, ...] = PUSHES, *, steps: int = 10) -> Flow:
    """ẍ = u from rest at 0; wanted at rest at 1 after 4 s. With +1, 0, −1 this is met with τ = 2 ∓ √3 at no cost."""
    fields = [Field.linear([[0, 1], [0, 0]], [0, u]) for u in pushes]
    return Flow(fields, np.zeros(2), 4.0, np.array([1.0, 0.0]), np.zeros((2, 2)), np.eye(2), steps=steps)


def pendulum(u: float) -> Field:
    return Field(
        lambda x: np.array([x[1], u - np.sin(x[0])]),
        lambda x: np.array([[0.0, 1.0], [-np.cos(x[0]), 0.0]]),
        lambda x, c: np.array([[c[1] * np.sin(x[0]), 0.0], [0.0, 0.0]]),
    )


def pushed_pendulum(*, steps: int = 12) -> Flow:
    """Dynamics that are not linear, and a cost all along."""
    fields = [pendulum(u) for u in PUSHES]
    return Flow(fields, np.array([0.1, 0.3]), 4.0, np.array([1.0, 0.0]), np.diag([1.0, 0.5]), np.eye(2), steps=steps)
