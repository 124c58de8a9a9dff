"""The grid, the draw by weight, the random numbers, and the search for neighbours."""

from __future__ import annotations

import numpy as np

from bunraku.kernels.compile import kernel
from bunraku.kernels.xorshift import below, dice, normal, uniform
from bunraku.planning.strings.sst import look
from bunraku.planning.strings.weighted_cells import cell_of, cells, draw, join, mixed, weigh


@kernel
def _drawn(c, d, n, out):  # type: ignore[no-untyped-def]
    for _ in range(n):
        out[draw(c, d)] += 1


@kernel
def _thrown(d, x, y, z):  # type: ignore[no-untyped-def]
    for k in range(x.shape[0]):
        x[k], y[k], z[k] = uniform(d), normal(d), below(d, 7)


@kernel
def _looked(F, count, x, cost, radius):  # type: ignore[no-untyped-def]
    return look(F, count, x, cost, radius)


@kernel
def _filled(c, keys, out, weights, d):  # type: ignore[no-untyped-def]
    for k in range(keys.shape[0]):
        key = 17
        for i in range(keys.shape[1]):
            key = mixed(key, keys[k, i])
        out[k] = cell_of(c, key)
        if out[k] >= 0:
            join(c, out[k], k, float(k), d)
            weigh(c, out[k], weights[out[k]])


def test_cells_are_the_same_for_the_same_coordinates_only() -> None:
    rng = np.random.default_rng(0)
    keys = rng.integers(-6, 6, (3000, 3))
    grid, out = cells(4096), np.zeros(3000, np.int64)
    _filled(grid, keys, out, np.ones(4096), dice(0))
    _, first, inverse = np.unique(keys, axis=0, return_index=True, return_inverse=True)
    assert (out == out[first[inverse.ravel()]]).all()
    assert len(set(out.tolist())) == len(first) == grid.count[0]
    assert grid.inside.sum() == 3000
    assert (grid.best[: len(first)] == np.array([np.flatnonzero(out == c)[0] for c in range(len(first))])).all()


def test_no_room_is_said() -> None:
    grid, out = cells(4), np.zeros(9, np.int64)
    _filled(grid, np.arange(9)[:, None], out, np.ones(4), dice(0))
    assert out.tolist() == [0, 1, 2, 3, -1, -1, -1, -1, -1]


def test_cells_are_drawn_by_weight() -> None:
    grid, out = cells(5), np.zeros(5, np.int64)
    weights = np.array([1.0, 0.0, 3.0, 4.0, 2.0, 0.0, 0.0, 0.0])
    _filled(grid, np.arange(5)[:, None], out, weights, dice(0))
    counts = np.zeros(8, np.int64)
    _drawn(grid, dice(1), 20_000, counts)
    assert counts[1] == counts[5:].sum() == 0
    assert np.abs(counts[:5] / 2000 - weights[:5]).max() < 0.15


def test_dice_are_fair_and_repeat() -> None:
    x, y, z = np.empty(40_000), np.empty(40_000), np.empty(40_000)
    _thrown(dice(5), x, y, z)
    assert 0.0 <= x.min() < x.max() < 1.0
    assert abs(x.mean() - 0.5) < 0.01
    assert abs(y.mean()) < 0.02
    assert abs(y.std() - 1.0) < 0.02
    assert abs(np.corrcoef(x[1:], x[:-1])[0, 1]) < 0.02
    assert np.abs(np.bincount(z.astype(int), minlength=7) / 40_000 - 1 / 7).max() < 0.01
    again = np.empty(40_000)
    _thrown(dice(5), again, y, z)
    assert (x == again).all()
    _thrown(dice(5, stream=1), again, y, z)
    assert (x != again).any()


def test_neighbours_are_those_of_brute_force() -> None:
    rng = np.random.default_rng(2)
    F = rng.random((6, 2000)).astype(np.float32)
    cost = rng.random(2000)
    for k in range(50):
        x = rng.random(6).astype(np.float32)
        d = np.sqrt(((F[:, :1700] - x[:, None]) ** 2).sum(0))
        node, distance = _looked(F, 1700, x, np.empty(0), 0.0)
        assert node == d.argmin()
        assert abs(distance - d.min()) < 1e-5
        inside = np.flatnonzero(d < 0.35)
        node, _ = _looked(F, 1700, x, cost, 0.35)
        assert node == (inside[cost[inside].argmin()] if len(inside) else d.argmin()), k
