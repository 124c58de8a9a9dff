"""The tree-sparse linear system of a step: [K, −A₀ᵀ; A₁, B], eliminated from the leaves to the root.

A dynamic variable meets only its ancestors and the links that it moves (`elimination`), so there is no fill-in. What
remains is a small dense block over the links. A step solves it as a complementarity problem (`tension`); derivatives factor it
with complete pivoting, since aligned or redundant strings make it singular: a link beyond the rank then has no say.
"""

from __future__ import annotations

from bunraku.spatial.kernel import inline

RANK = 1e-11  # of the largest pivot


@inline
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


@inline
def reduce(elimination, K, n):
    """Eliminates the dynamic variables, leaves first, in place; the small block of the links is left as S."""
    for j in range(n - 1, -1, -1):
        inverse = 1.0 / K[j, j]
        K[j, j] = inverse
        count = elimination[j, 0]
        for s in range(1, count + 1):
            i = elimination[j, s]
            f = K[i, j] * inverse
            K[i, j] = f
            if f != 0.0:
                for t in range(1, count + 1):
                    k = elimination[j, t]
                    K[i, k] -= f * K[j, k]


@inline
def down(elimination, K, n, b):
    """The same elimination of a right side: what reaches the links is behind the first n."""
    for j in range(n - 1, -1, -1):
        x = b[j]
        if x != 0.0:
            for s in range(1, elimination[j, 0] + 1):
                i = elimination[j, s]
                b[i] -= K[i, j] * x


@inline
def up(elimination, K, n, b):
    """Back substitution: b holds the links' solution behind the first n, and takes that of the dynamic variables."""
    for j in range(n):
        x = b[j]
        for s in range(1, elimination[j, 0] + 1):
            k = elimination[j, s]
            x -= K[j, k] * b[k]
        b[j] = x * K[j, j]


@inline
def factor(elimination, K, n, rows, cols, alive):
    """All of it, in place; `rows` and `cols` take the pivot order of the small block. Returns its rank.

    Only links with alive[c] take part (`only_alive`).
    """
    reduce(elimination, K, n)
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
        if not best > RANK * largest:
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


@inline
def solve(elimination, K, n, rows, cols, rank, b, y):
    """b becomes K⁻¹ b from `factor`'s factors; links beyond the rank get 0. `y` is scratch over the links."""
    down(elimination, K, n, b)
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


@inline
def inverse(elimination, K, n, rows, cols, rank, N):
    """N = K⁻¹ by rows, from the factors. Rows and columns of links beyond the rank are zero."""
    m = K.shape[0]
    for i in range(m):
        for c in range(m):
            N[i, c] = 0.0
    for j in range(n):
        N[j, j] = 1.0
    for j in range(n - 1, -1, -1):
        for s in range(1, elimination[j, 0] + 1):
            i = elimination[j, s]
            f = K[i, j]
            if f != 0.0:
                for c in range(j, n):  # a row so far has entries only from its own leaves
                    N[i, c] -= f * N[j, c]
    if m > n:  # from rows (equations) to columns (multipliers) of the small block
        for s in range(rank):
            N[rows[s], rows[s]] = 1.0
        for s in range(rank):
            i = rows[s]
            for t in range(s):
                f = K[i, cols[t]]
                k = rows[t]
                for c in range(m):
                    N[i, c] -= f * N[k, c]
        for s in range(rank - 1, -1, -1):
            i = rows[s]
            for t in range(s + 1, rank):
                f = K[i, cols[t]]
                k = rows[t]
                for c in range(m):
                    N[i, c] -= f * N[k, c]
            f = K[i, cols[s]]
            for c in range(m):
                N[i, c] *= f
        _permute(n, m, rows, cols, rank, N)
    for j in range(n):
        for s in range(1, elimination[j, 0] + 1):
            k = elimination[j, s]
            f = K[j, k]
            if f != 0.0:
                for c in range(m):
                    N[j, c] -= f * N[k, c]
        f = K[j, j]
        for c in range(m):
            N[j, c] *= f


@inline
def _permute(n, m, rows, cols, rank, N):
    """Row rows[s] holds the solution of multiplier cols[s]: put it there; the others are zero."""
    block = N[n:m].copy()
    for k in range(n, m):
        for c in range(m):
            N[k, c] = 0.0
    for s in range(rank):
        for c in range(m):
            N[cols[s], c] = block[rows[s] - n, c]
