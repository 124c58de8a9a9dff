"""Inverse dynamics of a climb: forces, moments and the work of the motors, by other ways."""

from __future__ import annotations

import math

import numpy as np
import pytest

from bunraku.figure import library
from bunraku.locomotion.climb.climb import climb
from bunraku.locomotion.climb.climb_dynamics import loads, needed_forces, shared_forces, torques
from bunraku.locomotion.climb.gecko import Gecko
from bunraku.locomotion.climb.path_segments import Slope, Straight
from tests.locomotion.climb.judge import frames_of

GECKO = Gecko(library.named("gecko"))


def test_at_rest_feet_give_the_weight_and_no_moment():
    needed = needed_forces(GECKO, np.tile(GECKO.start, (5, 1)), 0.005)
    np.testing.assert_allclose(loads(needed), np.tile([0, 0, 1, 0, 0, 0], (5, 1)), atol=1e-12)


def test_a_body_that_spins_and_falls():
    """All joints are fixed: gravity accelerates the centre of mass, a constant spin about a principal axis needs no moment."""
    t = 0.001 * np.arange(400)
    Q = np.tile(GECKO.start, (len(t), 1))
    Q[:, 2] -= 9.81 / 2 * t**2
    inside = loads(needed_forces(GECKO, Q, 0.001))[2:-2]
    np.testing.assert_allclose(inside, 0.0, atol=1e-9)
    Q = np.tile(GECKO.start, (len(t), 1))
    Q[:, 3] += 0.5 * 3.0 * t**2  # the chest turns about z with 3 rad/s²
    moment = loads(needed_forces(GECKO, Q, 0.001))[2:-2, 5]
    frames = frames_of(GECKO.figure, Q[:1])
    about = 0.0  # the moment of inertia about the centre of mass, by hand
    bodies = [b for b in GECKO.figure.bodies if b.mass > 0.0]
    places = [frames[b.frame][1][0] + frames[b.frame][0][0] @ b.com for b in bodies]
    centre = sum(b.mass * p for b, p in zip(bodies, places, strict=True)) / sum(b.mass for b in bodies)
    for b, p in zip(bodies, places, strict=True):
        xx, yy, zz, xy, xz, yz = b.inertia
        R = frames[b.frame][0][0]
        about += (R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T)[2, 2] + b.mass * ((p - centre)[:2] ** 2).sum()
    weight = 9.81 * sum(b.mass for b in bodies)
    np.testing.assert_allclose(moment * weight, 3.0 * about, rtol=1e-5)


def test_the_motors_do_the_work_of_lifting_the_body():
    done = climb([Straight(0.04), Slope(math.pi / 3), Straight(0.08)])
    assert done.outcome.ok, str(done)
    gecko, Q, p = Gecko(done.motion.figure), done.motion.q, done.feet.p[: len(done.motion)]
    needed = needed_forces(gecko, Q, done.motion.t[1])
    shared = shared_forces(needed, p, done.feet.aloft[: len(p)])
    for forces in (shared, done.moving.forces):  # they balance the same loads
        arm = p - np.einsum("b,tbi->ti", needed.mass, needed.place)[:, None] / needed.mass.sum()
        total = np.concatenate([forces.sum(1), np.cross(arm, forces).sum(1)], 1)
        np.testing.assert_allclose(total, loads(needed), atol=1e-7)
    assert (shared**2).sum() < (done.moving.forces**2).sum()
    found = torques(gecko, needed, p, shared)
    np.testing.assert_allclose(found, done.torques)
    motors = [*gecko.active.tolist(), *gecko.tail.tolist()]
    work = float(((found[1:] + found[:-1]) / 2 * np.diff(Q[:, motors], axis=0)).sum())
    height = np.einsum("b,tbi->ti", needed.mass, needed.place)[:, 2]
    assert work == pytest.approx(9.81 * (height[-1] - height[0]), rel=0.05)
    assert abs(9.81 * (height[-1] - height[0])) > 0.05  # J
    assert done.moving.adhesion.max() > done.adhesion.adhesion.max()
