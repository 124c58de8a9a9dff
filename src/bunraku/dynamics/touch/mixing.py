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
from bunraku.kernels.compile import bare, inline, unit, woven
from bunraku.spatial.linalg import pivoted_solve


class Mixer(NamedTuple):
    """What is known of the last iterations of n numbers, of which the first m count. The others follow these, linearly."""

    x: Any
    """(n,) where the iteration has come; where it should go on, after `mix_sweeps`."""
    f: Any
    """(n,) by which it has just changed."""
    weight: Any
    """(m,) by which squares of changes count."""
    last_x: Any
    last_f: Any
    dx: Any
    """(depth, n) differences of the last results."""
    df: Any
    """(depth, m) differences of the last changes."""
    A: Any
    """(depth, depth) products of `df`."""
    B: Any
    """(depth, depth + 1) scratch."""
    best: Any
    """(n,) the result whose change was least."""
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
    """How many differences are kept; `_learn` and `_mix` name five."""
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


@woven
def mixer_size(n, m):
    """How many numbers a Mixer of n numbers keeps, of which the first m count."""
    return (3 + MIXING.depth) * n + (2 + MIXING.depth) * m + MIXING.depth * (2 * MIXING.depth + 1) + 3


@inline
def mixer(x, m, numbers):
    """A Mixer of the numbers `x`, at its start, of which the first m count; it keeps `mixer_size` numbers, all finite."""
    depth, n, counts = MIXING.depth, x.shape[0], np.zeros(3, np.int64)
    own, first = (3 + depth) * n, (3 + depth) * n + (2 + depth) * m
    out = Mixer(
        x=x, f=lend(numbers, 0, (n,)), last_x=lend(numbers, n, (n,)), best=lend(numbers, 2 * n, (n,)),
        dx=lend(numbers, 3 * n, (depth, n)), weight=lend(numbers, own, (m,)), last_f=lend(numbers, own + m, (m,)),
        df=lend(numbers, own + 2 * m, (depth, m)), A=lend(numbers, first, (depth, depth)),
        B=lend(numbers, first + depth * depth, (depth, depth + 1)), least=lend(numbers, numbers.shape[0] - 3, (1,)),
        way=lend(numbers, numbers.shape[0] - 2, (2,)), count=lend(counts, 0, (1,)), plain=lend(counts, 1, (2,)), numbers=numbers,
        counts=counts,
    )  # fmt: skip
    out.least[0], out.plain[1], out.way[0], out.way[1] = math.inf, MIXING.plain, 0.0, 0.0
    return out


@unit("none", hot=True)
def mix_sweeps(mix, careful):
    """Sets mix.x to where the iteration should go on, from its result x and its change f.

    Where changes grow, it goes back if it is `careful`, and else only forgets. With all of LLVM's optimisations, which only a unit
    can have, it takes half the time.
    """
    m, n, size = mix.weight.shape[0], mix.x.shape[0], 0.0
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
        for k in range(n):
            mix.x[k] = mix.best[k]
        mix.plain[1] *= 2
        mix.count[0], mix.least[0], mix.plain[0] = 0, math.inf, mix.plain[1]
        mix.way[0], mix.way[1] = MIXING.first_way, 0.0
        return
    if size < mix.least[0]:
        mix.least[0] = size
        for k in range(n):
            mix.best[k] = mix.x[k]
    used, at = min(mix.count[0], MIXING.depth), (mix.count[0] - 1) % MIXING.depth
    for k in range(n):
        if used > 0:
            mix.dx[at, k] = mix.x[k] - mix.last_x[k]
        mix.last_x[k] = mix.x[k]
    for k in range(m):
        if used > 0:
            mix.df[at, k] = mix.f[k] - mix.last_f[k]
        mix.last_f[k] = mix.f[k]
    mix.count[0] += 1
    if used > 0 and _shares(mix, at, used):
        _mix(mix, used)


@bare
def _go_on(mix, size):
    """Goes further along a change of this size, if it is like the last."""
    along = 0.0
    for k in range(mix.weight.shape[0]):
        along += mix.weight[k] * mix.f[k] * mix.last_f[k]
        mix.last_f[k] = mix.f[k]
    alike = mix.way[1] > 0.0 and along > MIXING.alike * size * mix.way[1] and 0.5 * mix.way[1] < size < 2.0 * mix.way[1]
    mix.way[0], mix.way[1] = min(2.0 * mix.way[0], MIXING.max_way) if alike else MIXING.first_way, size
    if alike:
        for k in range(mix.x.shape[0]):
            mix.x[k] += mix.way[0] * mix.f[k]


@bare
def _shares(mix, at, used):
    """γ, in column `used` of mix.B, after difference number `at` is new. Returns whether there are any."""
    products, rest = _learn(mix, at)
    for i in range(used):
        mix.A[i, at] = mix.A[at, i] = products[i]
    trace = 0.0
    for i in range(used):
        trace += mix.A[i, i]
    for i in range(used):
        for j in range(used):
            mix.B[i, j] = mix.A[i, j]
        mix.B[i, i] += MIXING.ridge * trace
        mix.B[i, used] = rest[i]
    return trace > 0.0 and pivoted_solve(mix.B, used)


@bare
def _learn(mix, at):
    """Products of all differences with number `at` of them, and with the change. One pass: reading takes longer than summing."""
    a0 = a1 = a2 = a3 = a4 = b0 = b1 = b2 = b3 = b4 = 0.0
    for k in range(mix.weight.shape[0]):
        d, f = mix.weight[k] * mix.df[at, k], mix.weight[k] * mix.f[k]
        d0, d1, d2, d3, d4 = mix.df[0, k], mix.df[1, k], mix.df[2, k], mix.df[3, k], mix.df[4, k]
        a0, a1, a2, a3, a4 = a0 + d * d0, a1 + d * d1, a2 + d * d2, a3 + d * d3, a4 + d * d4
        b0, b1, b2, b3, b4 = b0 + f * d0, b1 + f * d1, b2 + f * d2, b3 + f * d3, b4 + f * d4
    return (a0, a1, a2, a3, a4), (b0, b1, b2, b3, b4)


@bare
def _mix(mix, used):
    """x − Σ γ_i Δx_i."""
    for i in range(MIXING.depth):
        if i >= used:
            mix.B[i, used] = 0.0
    s0, s1, s2, s3, s4 = mix.B[0, used], mix.B[1, used], mix.B[2, used], mix.B[3, used], mix.B[4, used]
    for k in range(mix.x.shape[0]):
        mix.x[k] -= s0 * mix.dx[0, k] + s1 * mix.dx[1, k] + s2 * mix.dx[2, k] + s3 * mix.dx[3, k] + s4 * mix.dx[4, k]
