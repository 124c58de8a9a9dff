"""The tree-sparse linear system of a step: [K, −A₀ᵀ; A₁, B], eliminated from the leaves to the root.

A dynamic variable is coupled only to its ancestors and to the links that it moves (`elimination`), so there is no fill-in. What
remains is a small dense block over the links. A step solves it as a complementarity problem (bunraku.dynamics.complementarity).
Derivatives factor it with complete pivoting, since aligned or redundant strings make it singular; links beyond the rank are
ignored.

Rows are processed eight numbers at a time (bunraku.kernels.blocks), which is faster than skipping the zeros between them.
"""

from __future__ import annotations

from bunraku.kernels.blocks import add_row, clear, copy_row, padded, scale_row
from bunraku.kernels.compile import bare, woven
from bunraku.kernels.products import substitute_row


@woven
def only_alive(elimination, n, alive, out):
    """The elimination lists without the links that do not act."""
    for j in range(n):
        count = 0
        for s in range(1, elimination[j, 0] + 1):
            k = elimination[j, s]
            if k < n or alive[k - n]:
                count += 1
                out[j, count] = k
        out[j, 0] = count


@woven
def border(tree, alive, sign, A0, A1, K):
    """The links that act, in a clear K: sign·A₀ᵀ beside the dynamic variables, A₁ beneath them."""
    n, joints = tree.n_dynamic, tree.joints
    for c in range(tree.links.shape[0]):
        if not alive[c]:
            continue
        for j in range(n):
            K[n + c, j] = A1[c, j]
        for a in range(1, tree.support[c, 0] + 1):
            j = joints[tree.support[c, a]].variable
            if j < n:
                K[j, n + c] = sign * A0[c, j]
        j = tree.links[c].variable
        if 0 <= j < n:
            K[j, n + c] = sign * A0[c, j]


@bare
def reduce(elimination, K, L, n):
    """Eliminates the dynamic variables, leaves first, in place; the small block of the links is left in K[n:, n:].

    L[j, i] is the multiple of row j that was subtracted from row i. Eliminated columns are not cleared: nothing reads them, and a
    single number written into a row makes the processor wait when it then loads that row in eights.
    """
    width = K.shape[1]
    for j in range(n - 1, -1, -1):
        inverse = 1.0 / K[j, j]
        for s in range(1, elimination[j, 0] + 1):
            i = elimination[j, s]
            f = K[i, j] * inverse
            L[j, i] = f
            if width <= 40:  # so few numbers that leaving out zeros takes longer than it saves
                add_row(K, i, -f, K, j, 0, width)
            else:  # without the zeros between j and the links
                add_row(K, i, -f, K, j, 0, j)
                add_row(K, i, -f, K, j, max(n, padded(j)), width)
        K[j, j] = inverse


@woven
def down(elimination, L, n, b):
    """The same elimination of a right side b, in place; the part of the links is behind the first n."""
    for j in range(n - 1, -1, -1):
        x = b[j]
        if x != 0.0:
            for s in range(1, elimination[j, 0] + 1):
                i = elimination[j, s]
                b[i] -= L[j, i] * x


@woven
def up(elimination, K, n, b):
    """Back substitution: b holds the solution of the links behind the first n; that of the dynamic variables is filled in."""
    for j in range(n):
        x = b[j]
        for s in range(1, elimination[j, 0] + 1):
            k = elimination[j, s]
            x -= K[j, k] * b[k]
        b[j] = x * K[j, j]


@bare
def factor(elimination, K, L, n, rows, cols, alive):
    """Factors the whole system in place; `rows` and `cols` take the pivot order of the small block. Returns its rank.

    Only links with alive[c] take part (`only_alive`).
    """
    reduce(elimination, K, L, n)
    total = 0
    for c in range(K.shape[0] - n):
        if alive[c]:
            rows[total] = cols[total] = n + c
            total += 1
    largest = 0.0
    for step in range(total):
        a, b, best = step, step, -1.0
        for r in range(step, total):
            for c in range(step, total):
                x = abs(K[rows[r], cols[c]])
                if x > best:
                    a, b, best = r, c, x
        largest = max(largest, best)
        if not best > 1e-11 * largest:  # the rest is rounding
            return step
        rows[step], rows[a] = rows[a], rows[step]
        cols[step], cols[b] = cols[b], cols[step]
        k, l = rows[step], cols[step]
        inverse = 1.0 / K[k, l]
        K[k, l] = inverse
        for r in range(step + 1, total):
            i = rows[r]
            f = K[i, l] * inverse
            K[i, l] = f
            for c in range(step + 1, total):
                K[i, cols[c]] -= f * K[k, cols[c]]
    return total


@bare
def solve(elimination, K, L, n, rows, cols, rank, b, y):
    """b becomes K⁻¹ b from `factor`'s factors; links beyond the rank get 0. `y` is scratch over the links."""
    down(elimination, L, n, b)
    for s in range(rank):
        x = b[rows[s]]
        for t in range(s):
            x -= K[rows[s], cols[t]] * y[t]
        y[s] = x
    for s in range(rank - 1, -1, -1):
        x = y[s]
        for t in range(s + 1, rank):
            x -= K[rows[s], cols[t]] * y[t]
        y[s] = x * K[rows[s], cols[s]]
    for c in range(n, K.shape[0]):
        b[c] = 0.0
    for s in range(rank):
        b[cols[s]] = y[s]
    up(elimination, K, n, b)


@bare
def solve_rows(elimination, K, L, n, rows, cols, rank, B, last, block):
    """B becomes K⁻¹ B from the factors, by rows; rows of links beyond the rank get 0. `block` is scratch like B[n:].

    The rows of the dynamic variables in B are zero from column `last` on.
    """
    width = B.shape[1]
    for j in range(n - 1, -1, -1):
        for s in range(1, elimination[j, 0] + 1):
            i = elimination[j, s]
            add_row(B, i, -L[j, i], B, j, 0, last)
    for s in range(rank):
        i = rows[s]
        for t in range(s):
            add_row(B, i, -K[i, cols[t]], B, rows[t], 0, width)
    for s in range(rank - 1, -1, -1):
        i = rows[s]
        for t in range(s + 1, rank):
            add_row(B, i, -K[i, cols[t]], B, rows[t], 0, width)
        scale_row(B, i, K[i, cols[s]])
    _permute(n, K.shape[0], rows, cols, rank, B, block)
    for j in range(n):
        substitute_row(B, j, K, elimination)


@bare
def solve_transposed(elimination, K, L, n, rows, cols, rank, b, y):
    """b becomes K⁻ᵀ b: `solve` backward, each of its steps transposed. `y` is scratch over the links."""
    for j in range(n - 1, -1, -1):
        x = b[j] * K[j, j]
        b[j] = x
        for s in range(1, elimination[j, 0] + 1):
            k = elimination[j, s]
            b[k] -= K[j, k] * x
    for s in range(rank):
        x = b[cols[s]]
        for t in range(s):
            x -= K[rows[t], cols[s]] * y[t]
        y[s] = x * K[rows[s], cols[s]]
    for s in range(rank - 1, -1, -1):
        for t in range(s + 1, rank):
            y[s] -= K[rows[t], cols[s]] * y[t]
    for c in range(n, K.shape[0]):
        b[c] = 0.0
    for s in range(rank):
        b[rows[s]] = y[s]
    for j in range(n):
        x, y1, count, s = b[j], 0.0, elimination[j, 0], 1
        while s < count:  # two sums side by side: each waits for itself
            i, k = elimination[j, s], elimination[j, s + 1]
            x -= L[j, i] * b[i]
            y1 -= L[j, k] * b[k]
            s += 2
        if s == count:
            i = elimination[j, s]
            x -= L[j, i] * b[i]
        b[j] = x + y1


@bare
def inverse(elimination, K, L, n, rows, cols, rank, N, block):
    """N = K⁻¹ by rows, from the factors. Rows and columns of links beyond the rank are zero. `block` is scratch like K[n:]."""
    m, width = K.shape
    clear(N)
    for j in range(n):
        N[j, j] = 1.0
    for j in range(n - 1, -1, -1):
        for s in range(1, elimination[j, 0] + 1):
            i = elimination[j, s]
            if L[j, i] != 0.0:
                add_row(N, i, -L[j, i], N, j, j, n)  # a row so far has entries only from its own leaves
    for s in range(rank):  # the small block, from rows (equations) to columns (multipliers)
        i = rows[s]
        N[i, i] = 1.0
        for t in range(s):
            add_row(N, i, -K[i, cols[t]], N, rows[t], 0, width)
    for s in range(rank - 1, -1, -1):
        i = rows[s]
        for t in range(s + 1, rank):
            add_row(N, i, -K[i, cols[t]], N, rows[t], 0, width)
        scale_row(N, i, K[i, cols[s]])
    _permute(n, m, rows, cols, rank, N, block)
    for j in range(n):
        substitute_row(N, j, K, elimination)


@woven
def _permute(n, m, rows, cols, rank, N, block):
    """Row rows[s] holds the solution of multiplier cols[s]: put it there; the others are zero."""
    for s in range(rank):
        copy_row(block, s, N, rows[s])
    for k in range(n, m):
        for c in range(N.shape[1]):
            N[k, c] = 0.0
    for s in range(rank):
        copy_row(N, cols[s], block, s)
