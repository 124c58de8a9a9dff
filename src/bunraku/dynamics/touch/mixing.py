"""Anderson's mixing of an iteration x ↦ x + f(x) (J. ACM 12, 1965): faster where f is nearly linear.

With Δx_i, Δf_i the differences of the last few results x and changes f, the shares γ are those for which |f − Σ γ_i Δf_i| is least.
The iteration goes on from x − Σ γ_i Δx_i. Where changes grow instead, what was learnt is forgotten; a careful iteration also goes
on from where its change was least, for a while without mixing: so it ends wherever the plain iteration does. Meanwhile it goes
further along a change that stays as it was, each time twice as far, up to where the change turns: impulses of bodies that are about
to slip grow slowly and steadily, and mixing would lead back to where they began.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.blocks import lend
from bunraku.kernels.compile import bare, inline
from bunraku.spatial.linalg import pivoted_solve


class Mixer(NamedTuple):
    """What is known of the last iterations of m numbers."""

    x: Any
    """(m,) where the iteration has come; where it should go on, after `mix_sweeps`."""
    f: Any
    """(m,) by which it has just changed."""
    weight: Any
    """(m,) by which squares of changes count."""
    last_x: Any
    last_f: Any
    dx: Any
    """(depth, m) differences of the last results."""
    df: Any
    """(depth, m) differences of the last changes."""
    A: Any
    """(depth, depth) products of `df`."""
    B: Any
    """(depth, depth + 1) scratch."""
    best: Any
    """(m,) the result whose change was least."""
    least: Any
    """(1,) that change, |f|."""
    count: Any
    """(1,) iterations."""
    way: Any
    """(2,) where it is not mixed: how many changes it goes further, and the size |f| of the last."""
    plain: Any
    """(2,) iterations that are not mixed: how many still, and how many after the last time that changes grew."""
    numbers: Any
    """What holds all these."""
    counts: Any


class MixingOptions(NamedTuple):
    """Numbers that tune the mixing."""

    depth: int = 5
    """How many differences are kept."""
    growth: float = 2.0
    """How much larger than the least a change may be before what was learnt is forgotten."""
    careful_growth: float = 1.3
    """The same where the iteration is careful."""
    alike: float = 0.8
    """Cosine between two changes above which they are along one line."""
    first_way: float = 0.5
    """Half of how many changes it goes further the first time."""
    max_way: float = 64.0
    """How many changes it goes further, at most."""
    plain: int = 4
    """Half as many iterations as are not mixed after changes grew for the first time; twice as many each further time."""
    ridge: float = 1e-10
    """Added to the diagonal of A, relative to its trace: differences that are nearly parallel share."""


MIXING = MixingOptions()


@inline
def mixer(m):
    """A Mixer of m numbers, at its start."""
    depth = MIXING.depth
    first = (6 + 2 * depth) * m
    numbers, counts = np.zeros(first + depth * (2 * depth + 1) + 3), np.zeros(3, np.int64)  # few allocations
    out = Mixer(
        x=lend(numbers, 0, (m,)), f=lend(numbers, m, (m,)), weight=lend(numbers, 2 * m, (m,)), last_x=lend(numbers, 3 * m, (m,)),
        last_f=lend(numbers, 4 * m, (m,)), best=lend(numbers, 5 * m, (m,)), dx=lend(numbers, 6 * m, (depth, m)),
        df=lend(numbers, (6 + depth) * m, (depth, m)), A=lend(numbers, first, (depth, depth)),
        B=lend(numbers, first + depth * depth, (depth, depth + 1)), least=lend(numbers, numbers.shape[0] - 3, (1,)),
        way=lend(numbers, numbers.shape[0] - 2, (2,)), count=lend(counts, 0, (1,)), plain=lend(counts, 1, (2,)), numbers=numbers,
        counts=counts,
    )  # fmt: skip
    out.least[0], out.plain[1] = math.inf, MIXING.plain
    return out


@bare
def mix_sweeps(mix, careful):
    """Sets mix.x to where the iteration should go on, from its result x and its change f.

    Where changes grow, it goes back if it is `careful`, and else only forgets.
    """
    m, depth = mix.x.shape[0], mix.dx.shape[0]
    size = 0.0
    for k in range(m):
        size += mix.weight[k] * mix.f[k] * mix.f[k]
    size = math.sqrt(size)
    if mix.plain[0] > 0:
        mix.plain[0] -= 1
        _go_on(mix, size)
        return
    if size > MIXING.growth * mix.least[0] and not careful:
        mix.count[0], mix.least[0] = 0, size
    if size > MIXING.careful_growth * mix.least[0] and careful:
        for k in range(m):
            mix.x[k] = mix.best[k]
        mix.plain[1] *= 2
        mix.count[0], mix.least[0], mix.plain[0] = 0, math.inf, mix.plain[1]
        mix.way[0], mix.way[1] = MIXING.first_way, 0.0
        return
    if size < mix.least[0]:
        mix.least[0] = size
        for k in range(m):
            mix.best[k] = mix.x[k]
    used = min(mix.count[0], depth)
    if used > 0:
        _learn(mix, (mix.count[0] - 1) % depth, used)
    for k in range(m):
        mix.last_x[k], mix.last_f[k] = mix.x[k], mix.f[k]
    mix.count[0] += 1
    if used > 0 and _shares(mix, used):
        for i in range(used):
            for k in range(m):
                mix.x[k] -= mix.B[i, used] * mix.dx[i, k]


@bare
def _go_on(mix, size):
    """Goes further along a change of this size, if it is like the last."""
    along = 0.0
    for k in range(mix.x.shape[0]):
        along += mix.weight[k] * mix.f[k] * mix.last_f[k]
    alike = mix.way[1] > 0.0 and along > MIXING.alike * size * mix.way[1] and 0.5 * mix.way[1] < size < 2.0 * mix.way[1]
    mix.way[0], mix.way[1] = min(2.0 * mix.way[0], MIXING.max_way) if alike else MIXING.first_way, size
    for k in range(mix.x.shape[0]):
        mix.last_f[k] = mix.f[k]
        if alike:
            mix.x[k] += mix.way[0] * mix.f[k]


@bare
def _learn(mix, at, used):
    """The newest difference, in place `at`, and its products with the others."""
    m = mix.x.shape[0]
    for k in range(m):
        mix.dx[at, k], mix.df[at, k] = mix.x[k] - mix.last_x[k], mix.f[k] - mix.last_f[k]
    for i in range(used):
        total = 0.0
        for k in range(m):
            total += mix.weight[k] * mix.df[i, k] * mix.df[at, k]
        mix.A[i, at] = mix.A[at, i] = total


@bare
def _shares(mix, used):
    """γ, in column `used` of mix.B. Returns whether there are any."""
    trace = 0.0
    for i in range(used):
        trace += mix.A[i, i]
    for i in range(used):
        total = 0.0
        for k in range(mix.x.shape[0]):
            total += mix.weight[k] * mix.df[i, k] * mix.f[k]
        for j in range(used):
            mix.B[i, j] = mix.A[i, j]
        mix.B[i, i] += MIXING.ridge * trace
        mix.B[i, used] = total
    return trace > 0.0 and pivoted_solve(mix.B, used)
