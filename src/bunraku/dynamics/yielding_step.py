"""A step when the puppeteer asks for the impossible: the figure goes as near as it can, and what cannot be reached is held back.

Without links the figure would fly to q*, with the kinematic variables where they were asked for. It ends instead at

    min (q − q*)ᵀ W (q − q*)/2    with gap(q) ≤ 0 (gap(q) = 0 for wires and closures)        W = (M/dt, weight)

where the weight of the kinematic variables is so large that they give way only where nothing else can. Since q0 is admissible,
so is all that follows: a round goes from an admissible q toward q*, not further than links are nearly straight, and projects its
target onto the linearised links (a complementarity problem with A W⁻¹ Aᵀ); corrections of the same kind then close what curvature
has left open. A round that cannot be closed, or comes no nearer, is made shorter; where it would be too short, it was the last. So
this always ends, and with closed links: at worst nothing moves.

Links that stretch are no constraints: their pull belongs to the flight, and all that they ask for is a wound length ≥ 0. (For the
others gap ≤ 0 says that too.) The momentum is that of the way that the step went.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from bunraku.dynamics.complementarity import complementarity
from bunraku.dynamics.elastic import has_elastic, mean_length, softness
from bunraku.dynamics.lagrangian import fill_mass, slopes
from bunraku.dynamics.variational import midpoint
from bunraku.figure.records import LinkKind
from bunraku.kernels.compile import bare, unit, woven
from bunraku.kinematics.gaps import gaps, wound
from bunraku.kinematics.tree import place
from bunraku.spatial.algebra import cross, dot3, get3
from bunraku.spatial.linalg import cholesky, cholesky_solve


class YieldingOptions(NamedTuple):
    """Numbers that tune a step that gives way."""

    weight: float = 1e4
    """Of a kinematic variable, relative to its figure's mass over dt."""
    max_rounds: int = 16
    """Rounds toward what was asked for."""
    max_turns: int = 8
    """Projections in a round."""
    max_restoring: int = 100
    """Projections that close links which are open where the step starts."""
    first_way: float = 0.5
    """The most that a variable moves in the first round [rad or m]: twice as much after a success, half after a failure."""
    least_way: float = 1e-4
    """A round that moves no variable further is the last [rad or m]."""
    stiffening: float = 20.0
    """How many times more M counts after a failure, down to 1 again after successes."""
    sweeps: int = 30
    """Over the links that stretch, for their pull in the flight."""
    max_flight: float = 1.0
    """How far a figure flies in such a step; what is faster is lost [rad or m]."""
    max_leap: float = 2.0
    """How far a kinematic variable goes in such a step [rad or m]."""
    max_correction: float = 10.0
    """Largest correction of a variable; a round that needs a larger one has failed [rad or m]."""
    near: float = 0.05
    """How far a link may hang through and still take part in a projection [m]."""
    closed: float = 1e-12
    """How far open a link may be at the end [m]."""
    softness: float = 1e-3
    """Of a link, where impulses are found, relative to its own: impulses of strings that pull against each other stay finite."""
    touching: float = 1e-10
    """How far a link that pulls may hang through at the end [m]."""


YIELDING = YieldingOptions()


class Metric(NamedTuple):
    """W, and scratch for projections in it."""

    M: Any
    """(variables, variables) mass matrix."""
    L: Any
    """(n, n) Cholesky factor of M/dt over the dynamic variables."""
    weight: float
    """Of the kinematic variables [kg/s]."""
    Y: Any
    """(links, n) L⁻¹ Aᵀ, a row for each link."""
    S: Any
    """(links, links) −A W⁻¹ Aᵀ."""
    g: Any
    """(links,) gaps that a way would leave."""
    zero: Any
    """(links,) zeros: impulses before a projection."""
    aim: Any
    """(variables,) q*."""
    way: Any
    """(variables,) from q to where a round would go."""
    last: Any
    """(variables,) q before the round."""


@unit("boolean", allocates=True)
def yielding(tree, w, o, q0, p0, u, dt, kappa, q1, lam, p1):
    """q1 (its kinematic part is what was asked for), λ and p1 of a step that gives way; w.alive are the links that act.

    Returns whether links are closed; they are wherever they were at q0.
    """
    n, nq, nc = tree.n_dynamic, tree.n_q, tree.n_links
    m = Metric(
        M=np.zeros((nq, nq)), L=np.empty((n, n)), weight=YIELDING.weight * kappa, Y=np.zeros((nc, n)), S=np.empty((nc, nc)),
        g=np.empty(nc), zero=np.zeros(nc), aim=q0.copy(), way=np.zeros(nq), last=q0.copy(),
    )  # fmt: skip
    _fly(tree, w, o, q0, p0, u, dt, m, np.empty(n))
    for i in range(nq):
        if i >= n:
            m.aim[i] = max(q0[i] - YIELDING.max_leap, min(q0[i] + YIELDING.max_leap, q1[i]))
        q1[i] = q0[i]
    for c in range(nc):
        lam[c] = 0.0
    if has_elastic(tree):
        _stretch(tree, w, o, m, dt, q0)
        for c in range(nc):
            lam[c] = -w.delta[c]
    closed = _restore(tree, w, o, m, q1)
    if closed:
        _finish(tree, w, o, m, q1)
        _approach(tree, w, o, m, dt, q1)
        _finish(tree, w, o, m, q1)
    _impulses(tree, w, m, q1, lam)
    _mass(tree, w, o, q1, q1, u, dt, m.M)
    for i in range(n):
        p1[i] = 0.0
        for j in range(nq):
            p1[i] += m.M[i, j] * (q1[j] - q0[j]) / dt
    return closed


@bare
def _approach(tree, w, o, m, dt, q1):
    """Rounds from the admissible q1 toward q*, in place. Kinematic variables that are there already stay.

    A round is a step of Levenberg and Marquardt: where it fails, M counts for more, so that the kinematic variables give way before
    the figure moves. A string in line with the arm that it stretches needs that: the arm would turn far to give it a little.
    """
    n, nq, merit = tree.n_dynamic, tree.n_q, _merit(tree, m, dt, q1)
    size, inertia = YIELDING.first_way, 1.0
    for _ in range(YIELDING.max_rounds):
        reach, there = 0.0, True
        for i in range(nq):
            m.last[i], m.way[i] = q1[i], (m.aim[i] - q1[i]) / (inertia if i < n else 1.0)
            reach = max(reach, abs(m.way[i]))
            there &= i < n or m.way[i] == 0.0
        for i in range(nq):
            m.way[i] *= 1.0 if reach < size else size / reach
        closed = _project(tree, w, o, m, math.inf if there else m.weight / inertia, q1)
        new = _merit(tree, m, dt, q1)
        if closed and new < merit:
            moved = 0.0
            for i in range(nq):
                moved = max(moved, abs(q1[i] - m.last[i]))
            if moved < YIELDING.least_way:
                return
            merit, size, inertia = new, 2.0 * size, max(1.0, inertia / YIELDING.stiffening)
        else:
            _back(tree, w, o, m, q1)
            size, inertia = 0.5 * size, min(inertia * YIELDING.stiffening, YIELDING.weight)
            if size < YIELDING.least_way:
                return


@bare
def _restore(tree, w, o, m, q1):
    """Closes links that are open at q1, as they may be where a search for rest starts. Returns whether it could.

    Corrections are no longer than a round, and M counts for more and more; where they do not end, q1 is nearer all the same.
    """
    far, inertia = _measure(tree, w, o, q1), 1.0
    for turn in range(YIELDING.max_restoring):
        if far < YIELDING.closed:
            return True
        if turn % 20 == 19:
            inertia = min(inertia * YIELDING.stiffening, YIELDING.weight)
        size = _correct(tree, w, m, m.weight / inertia)
        if not size < math.inf:
            return False
        for i in range(tree.n_q):
            q1[i] += m.way[i] * (1.0 if size < YIELDING.first_way else YIELDING.first_way / size)
            m.way[i] = 0.0
        far = _measure(tree, w, o, q1)
    return far < YIELDING.closed


@bare
def _finish(tree, w, o, m, q1):
    """Gives the puppeteer all that he asked for, where little is left to go, and the figure can follow."""
    n, nq, reach = tree.n_dynamic, tree.n_q, 0.0
    for i in range(nq):
        m.last[i], m.way[i] = q1[i], m.aim[i] - q1[i] if i >= n else 0.0
        reach = max(reach, abs(m.way[i]))
    if reach == 0.0:
        return
    if reach < YIELDING.first_way and _project(tree, w, o, m, math.inf, q1):
        for k in range(n, nq):
            q1[k] = m.aim[k]  # to the last digit
    else:
        _back(tree, w, o, m, q1)


@bare
def _back(tree, w, o, m, q):
    """To where the round began."""
    for i in range(tree.n_q):
        q[i] = m.last[i]
        m.way[i] = 0.0
    _measure(tree, w, o, q)


@bare
def _project(tree, w, o, m, weight, q):
    """Moves q by m.way, or as near to that as links allow, in place. Links are measured before and after.

    Returns whether they are closed then.
    """
    last = math.inf
    for _ in range(YIELDING.max_turns):
        size = _correct(tree, w, m, weight)
        for i in range(tree.n_q):
            q[i] += m.way[i]
            m.way[i] = 0.0
        if not size < YIELDING.max_correction:
            return False
        far = _measure(tree, w, o, q)
        if far < YIELDING.closed:
            return True
        if not far < 0.5 * last:  # links are too crooked for so long a way
            return False
        last = far
    return False


@bare
def _correct(tree, w, m, weight):
    """Bends m.way so that it closes the linearised links. Returns its largest component; infinite where nothing closes them."""
    n, nq, way = tree.n_dynamic, tree.n_q, m.way
    _select(tree, w, m, math.inf, YIELDING.near)
    _linearize(tree, w, m, weight)
    if not complementarity(tree.links, m.S, m.g, m.zero, w.near, w.alive, w.delta, w.block, w.rows):
        return math.inf
    _add_pulls(tree, w, m, w.delta)
    for c in range(tree.n_links):
        if w.near[c] and w.delta[c] != 0.0:
            for k in range(n, nq):
                way[k] += w.A1[c, k] * w.delta[c] / weight
    size, total = 0.0, 0.0
    for i in range(nq):
        size = max(size, abs(way[i]))
        total += way[i]  # max() ignores NaN, a sum does not
    return size if abs(total) < math.inf else math.inf


@bare
def _select(tree, w, m, slack, margin):
    """Gaps after m.way in m.g, and the links that take part: those that hang through by less than `slack` now and `margin` then."""
    for c in range(tree.n_links):
        link, x = tree.links[c], w.h[c]
        for i in range(tree.n_q):
            x += w.A1[c, i] * m.way[i]
        m.g[c] = x
        if link.normal >= 0:  # friction
            w.near[c] = False
        elif link.stiffness > 0.0:
            w.near[c] = x > 0.0
        else:
            w.near[c] = link.pulls == 0 or (w.h[c] > -slack and x > -margin)
        w.alive[c] = w.near[c] and (link.pulls == 0 or x > 0.0)


@bare
def _linearize(tree, w, m, weight):
    """S of the links that take part."""
    n, nq, nc, L = tree.n_dynamic, tree.n_q, tree.n_links, m.L
    for c in range(nc):
        if w.near[c]:
            for i in range(n):
                x = w.A1[c, i]
                for k in range(i):
                    x -= L[i, k] * m.Y[c, k]
                m.Y[c, i] = x * L[i, i]
    for c in range(nc):
        for d in range(c + 1):
            x = 0.0
            if w.near[c] and w.near[d]:
                for k in range(n, nq):
                    x -= w.A1[c, k] * w.A1[d, k]
                x /= weight
                for i in range(n):
                    x -= m.Y[c, i] * m.Y[d, i]
            m.S[c, d] = m.S[d, c] = x


@bare
def _add_pulls(tree, w, m, pulls):
    """m.way += W⁻¹ Aᵀ `pulls` of the dynamic variables, with W⁻¹ Aᵀ = L⁻ᵀ Yᵀ."""
    n = tree.n_dynamic
    for i in range(n):
        w.r[i] = 0.0
    for c in range(tree.n_links):
        if w.near[c] and pulls[c] != 0.0:
            for i in range(n):
                w.r[i] += m.Y[c, i] * pulls[c]
    for i in range(n - 1, -1, -1):
        x = w.r[i] * m.L[i, i]
        m.way[i] += x
        for k in range(i):
            w.r[k] -= m.L[i, k] * x


@bare
def _stretch(tree, w, o, m, dt, q0):
    """Adds to the flight what links that stretch pull in an implicit step from q0; leaves −λ in w.delta.

    gap − l λ/(k dt) ≤ 0, λ ≥ 0, linearised, by sweeps of Gauss and Seidel: few figures have such links, and few of them.
    """
    n, nc, pulls = tree.n_dynamic, tree.n_links, w.delta
    place(tree.joints, 0, tree.joints.shape[0], q0, o, w.R, w.p, w.S)
    gaps(tree, q0, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)
    for i in range(tree.n_q):
        m.way[i] = m.aim[i] - q0[i]
    _select(tree, w, m, math.inf, math.inf)
    for c in range(nc):
        w.near[c], pulls[c] = tree.links[c].stiffness > 0.0, 0.0
    _linearize(tree, w, m, math.inf)
    for _ in range(YIELDING.sweeps):
        for c in range(nc):
            if w.near[c]:
                link, x = tree.links[c], m.g[c]
                give = softness(link, dt).compliance * mean_length(link, q0, q0)
                for d in range(nc):
                    x -= m.S[c, d] * pulls[d]
                new = pulls[c] + (x + give * pulls[c]) / (m.S[c, c] - give)
                pulls[c] = new if link.pulls == 0 else min(new, 0.0)
    _add_pulls(tree, w, m, pulls)
    _shorten(m.way[:n], YIELDING.max_flight)
    for i in range(tree.n_q):
        if i < n:
            m.aim[i] = q0[i] + m.way[i]
        m.way[i] = 0.0


@bare
def _impulses(tree, w, m, q1, lam):
    """λ at q1, where links are measured: what keeps the figure from flying on to q*. That of links that stretch stays."""
    n, nc = tree.n_dynamic, tree.n_links
    for i in range(tree.n_q):
        m.way[i] = m.aim[i] - q1[i] if i < n else 0.0
    _select(tree, w, m, YIELDING.touching, math.inf)
    for c in range(nc):
        w.near[c] &= tree.links[c].stiffness == 0.0
        w.alive[c] &= w.near[c]
    _linearize(tree, w, m, math.inf)
    for c in range(nc):
        m.S[c, c] *= 1.0 + YIELDING.softness
    found = complementarity(tree.links, m.S, m.g, m.zero, w.near, w.alive, w.delta, w.block, w.rows)
    for c in range(nc):
        if tree.links[c].stiffness == 0.0:
            lam[c] = -w.delta[c] if found and w.alive[c] else 0.0
        w.alive[c], w.slides[c] = lam[c] != 0.0, False


@bare
def _merit(tree, m, dt, q):
    """Twice what is minimised."""
    n, total = tree.n_dynamic, 0.0
    for i in range(n):
        for j in range(n):
            total += (q[i] - m.aim[i]) * m.M[i, j] * (q[j] - m.aim[j]) / dt
    for k in range(n, tree.n_q):
        total += m.weight * (q[k] - m.aim[k]) ** 2
    return total


@bare
def _fly(tree, w, o, q0, p0, u, dt, m, v):
    """M with its factor, and where the dynamic variables would be at the end of the step if nothing pulled; v is scratch.

    The flight with p0 comes first, then forces and weight half-way.
    """
    n, joints = tree.n_dynamic, tree.joints
    g = (tree.gravity[0], tree.gravity[1], tree.gravity[2])
    for i in range(n):
        v[i] = p0[i]
    for half in range(2):
        _mass(tree, w, o, q0, m.aim, u, dt, m.M)
        for i in range(n):
            for j in range(n):
                m.L[i, j] = m.M[i, j] / dt
        cholesky(m.L, n)
        if half > 0:
            for j in range(tree.n_massive):
                i = joints[j].variable
                if i < n:
                    v[i] = dt * (slopes(joints[j], j, g, w.qm[i], w.v[j], w.S, w.T, w.I, w.P)[0] + w.Lq[i] + w.F[i])
        cholesky_solve(m.L, n, v)  # (M/dt)⁻¹: how far, not how fast
        for i in range(n):
            v[i] += m.aim[i] - q0[i]
        _shorten(v, YIELDING.max_flight)
        for i in range(n):
            m.aim[i] = q0[i] + v[i]


@bare
def _shorten(v, most):
    """Makes v shorter where a component is larger than `most`, and zero where it is no number."""
    size, total = 0.0, 0.0
    for i in range(v.shape[0]):
        size = max(size, abs(v[i]))
        total += v[i]
    part = (1.0 if size <= most else most / size) if abs(total) < math.inf else 0.0
    for i in range(v.shape[0]):
        v[i] = v[i] * part if part > 0.0 else 0.0


@bare
def _mass(tree, w, o, qa, qb, u, dt, M):
    """The mass matrix half-way from qa to qb, over all variables."""
    midpoint(tree, w, o, qa, qb, u, dt)
    fill_mass(tree.joints, tree.n_massive, w.S, w.T, w.I, w.P, M)


@bare
def _measure(tree, w, o, q):
    """Gaps at q and their gradients; of links that stretch, less the wound length. Returns how far the worst link is open."""
    place(tree.joints, 0, tree.joints.shape[0], q, o, w.R, w.p, w.S)
    gaps(tree, q, w.R, w.p, w.S, o, w.x, w.f, w.n, w.h, w.A1)
    for c in range(tree.n_links):
        link = tree.links[c]
        if link.stiffness > 0.0:
            w.h[c] = -wound(link, q)
            for i in range(tree.n_q):
                w.A1[c, i] = -link.ratio if i == link.variable else 0.0
    return openness(tree, q, w.h, w.x)


@bare
def openness(tree, q, h, x):
    """How far the worst link is open: wires and closures either way, strings, contacts and stops where they are too long. A link
    that stretches is open where its wound length is negative.

    Infinite where axes of a closure point the wrong way round: with u·m = 0 and v·n = 0 the rows of a hinge (u = v) or of a weld,
    u·(m × n) is 1 where they agree. `x` are the points of the links (`gaps`).
    """
    worst = 0.0
    for c in range(tree.links.shape[0]):
        link = tree.links[c]
        if link.normal < 0:
            far = -wound(link, q) if link.stiffness > 0.0 else abs(h[c]) if link.pulls == 0 else h[c]
            if not far < math.inf:
                return math.inf
            worst = max(worst, far)
        if c > 0 and _compares_axes(tree, link) and _compares_axes(tree, tree.links[c - 1]):
            k, l = tree.links[c - 1].first, link.first
            if not dot3(get3(x, k), cross(get3(x, k + 2), get3(x, l + 2))) > 0.0:
                return math.inf
    return worst


@woven
def _compares_axes(tree, link):
    return link.kind == LinkKind.PLANE and tree.points[link.first].is_point == 0.0
