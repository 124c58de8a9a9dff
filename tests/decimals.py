"""Arithmetic in 50 digits: functions, small matrices by rows, and CasADi's functions evaluated with decimals."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal, localcontext
from functools import cache
from typing import Any

import casadi
import numpy as np
from numpy.typing import NDArray

Decimals = list[Decimal]
DIGITS = 50


def sine(x: Decimal, *, first: int = 1) -> Decimal:
    """Its series; that of the cosine from the term 0 on."""
    term, total, k = x if first else Decimal(1), Decimal(0), first
    while True:
        after = total + term
        if after == total and k > abs(x):
            return total
        total, term, k = after, -term * x * x / ((k + 1) * (k + 2)), k + 2


def cosine(x: Decimal) -> Decimal:
    return sine(x, first=0)


def _arctangent(x: Decimal) -> Decimal:
    """By its series, of a quarter of the angle: tan(φ/2) = t/(1 + √(1 + t²))."""
    for _ in range(2):
        x /= 1 + (1 + x * x).sqrt()
    power, total, k = x, Decimal(0), 1
    while total + power / k != total:
        total, power, k = total + power / k, -power * x * x, k + 2
    return 4 * total


@cache
def pi() -> Decimal:
    with localcontext(prec=DIGITS + 10):
        return 4 * _arctangent(Decimal(1))


def angle(y: Decimal, x: Decimal) -> Decimal:
    """Of the point (x, y), between −π and π."""
    if abs(y) > abs(x):
        return pi() / 2 * (1 if y > 0 else -1) - _arctangent(x / y)
    return _arctangent(y / x) + (0 if x > 0 else pi() if y >= 0 else -pi())


def _one(function: Any) -> Any:
    return lambda x, _: function(x)


_OPERATIONS: dict[int, Any] = {
    casadi.OP_ASSIGN: _one(lambda x: x), casadi.OP_ADD: Decimal.__add__, casadi.OP_SUB: Decimal.__sub__,
    casadi.OP_MUL: Decimal.__mul__, casadi.OP_DIV: Decimal.__truediv__, casadi.OP_NEG: _one(Decimal.__neg__),
    casadi.OP_SQ: _one(lambda x: x * x), casadi.OP_TWICE: _one(lambda x: x + x), casadi.OP_INV: _one(lambda x: 1 / x),
    casadi.OP_SQRT: _one(Decimal.sqrt), casadi.OP_SIN: _one(sine), casadi.OP_COS: _one(cosine), casadi.OP_EXP: _one(Decimal.exp),
    casadi.OP_ATAN2: angle, casadi.OP_FABS: _one(abs), casadi.OP_SIGN: _one(lambda x: Decimal((x > 0) - (x < 0))),
}  # fmt: skip


class DecimalFunction:
    """A CasADi function of vectors, evaluated in decimals."""

    def __init__(self, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        f = casadi.Function("f", list(inputs), [casadi.densify(x) for x in outputs])
        self.sizes = [f.nnz_out(k) for k in range(f.n_out())]
        self.room = f.sz_w()
        self.lines: list[tuple[int, Any, int, int]] = []
        for k in range(f.n_instructions()):
            op, to, of = f.instruction_id(k), f.instruction_output(k), f.instruction_input(k)
            if op == casadi.OP_INPUT:
                self.lines.append((to[0], None, of[0], of[1]))
            elif op == casadi.OP_CONST:
                self.lines.append((to[0], Decimal(f.instruction_constant(k)), 0, 0))
            elif op == casadi.OP_OUTPUT:
                self.lines.append((-1, (to[0], to[1]), of[0], 0))
            else:
                self.lines.append((to[0], _OPERATIONS[op], of[0], of[-1]))

    def __call__(self, *values: Decimals) -> list[Decimals]:
        w = [Decimal(0)] * self.room
        out = [[Decimal(0)] * size for size in self.sizes]
        for to, what, a, b in self.lines:
            if what is None:
                w[to] = values[a][b]
            elif to < 0:
                out[what[0]][what[1]] = w[a]
            elif isinstance(what, Decimal):
                w[to] = what
            else:
                w[to] = what(w[a], w[b])
        return out


def solve(A: list[Decimals], B: list[Decimals]) -> list[Decimals]:
    """A⁻¹ B by rows, with row pivoting."""
    m, A, B = len(A), [row[:] for row in A], [row[:] for row in B]
    for j in range(m):
        k = max(range(j, m), key=lambda i: abs(A[i][j]))
        A[j], A[k], B[j], B[k] = A[k], A[j], B[k], B[j]
        inverse = 1 / A[j][j]
        for i in range(j + 1, m):
            f = A[i][j] * inverse
            if f:
                A[i] = [a - f * b if b else a for a, b in zip(A[i], A[j], strict=True)]
                B[i] = [a - f * b if b else a for a, b in zip(B[i], B[j], strict=True)]
    for j in range(m - 1, -1, -1):
        for k in range(j + 1, m):
            f = A[j][k]
            if f:
                B[j] = [a - f * b for a, b in zip(B[j], B[k], strict=True)]
        inverse = 1 / A[j][j]
        B[j] = [inverse * b for b in B[j]]
    return B


def product(A: list[Decimals], B: list[Decimals]) -> list[Decimals]:
    columns = list(zip(*B, strict=True))
    return [[sum((a * b for a, b in zip(row, column, strict=True) if a and b), Decimal(0)) for column in columns] for row in A]


def transposed(A: list[Decimals]) -> list[Decimals]:
    return [list(row) for row in zip(*A, strict=True)]


def unit(k: int, size: int) -> Decimals:
    out = [Decimal(0)] * size
    out[k] = Decimal(1)
    return out


def exact(x: Any) -> Decimals:
    return [Decimal(float(value)) for value in np.ravel(x)]


def rounded(A: list[Decimals]) -> NDArray[np.float64]:
    return np.array([[float(a) for a in row] for row in A])
