"""Weighted sums of the rows of a matrix, eight columns at a time (see `blocks`).

The matrix is stored in blocks of eight columns: entry (t, q) is V[q // 8, t, q % 8]. So all rows of a block are close together in
memory, at offsets that the compiler knows.
"""

from __future__ import annotations

from functools import reduce
from typing import Any

from llvmlite import ir
from numba.core import cgutils, types
from numba.extending import intrinsic

from bunraku.kernels.blocks import WIDE
from bunraku.kernels.compile import INTERPRETED, woven

WORD, EIGHT = ir.IntType(64), ir.VectorType(ir.DoubleType(), WIDE)
NOTHING = ir.Constant(EIGHT, ir.Undefined)


@woven
def put_column(V, q, row, a):
    """Writes the six numbers a into column q, from `row` on."""
    b, c = q >> 3, q & 7
    V[b, row, c], V[b, row + 1, c], V[b, row + 2, c] = a[0], a[1], a[2]
    V[b, row + 3, c], V[b, row + 4, c], V[b, row + 5, c] = a[3], a[4], a[5]


class Vectors:
    """Builds LLVM code that loads, stores and adds vectors of eight numbers.

    context: numba's target
    builder: of the function that the code is part of

    Addresses (`at`) are whole numbers of bytes. An array is given by its numba type `kind` and its `value`.
    """

    def __init__(self, context: Any, builder: Any) -> None:
        self.context, self.builder = context, builder

    def start(self, kind: Any, value: Any, *index: Any) -> Any:
        """The address of an array of type `kind` and this `value`, or of its part at `index`."""
        array = self.context.make_array(kind)(self.context, self.builder, value)
        at = self.builder.ptrtoint(array.data, WORD)
        for k, i in enumerate(index):
            at = self.builder.add(at, self.builder.mul(i, self.builder.extract_value(array.strides, k)))
        return at

    def stride(self, kind: Any, value: Any, axis: int) -> Any:
        """How many bytes are between neighbours along an `axis` of an array of type `kind` and this `value`."""
        if kind.layout == "C" and axis == kind.ndim - 1:
            return ir.Constant(WORD, 8)
        return self.builder.extract_value(self.context.make_array(kind)(self.context, self.builder, value).strides, axis)

    def column(self, kind: Any, value: Any, j: Any) -> tuple[Any, Any, Any]:
        """The address of the top of column j of a matrix of type `kind` and this `value`, and its strides."""
        down, across = self.stride(kind, value, 0), self.stride(kind, value, 1)
        return self.builder.add(self.start(kind, value), self.builder.mul(j, across)), down, across

    def rows_of_block(self, kind: Any, value: Any, i: Any, j: Any) -> list[Any]:
        """The addresses of the eight rows of the block at (i, j) of a matrix of type `kind` and this `value`."""
        at, stride = self.start(kind, value, i), self.stride(kind, value, 0)
        at = self.builder.add(at, self.builder.shl(j, ir.Constant(WORD, 3)))
        return [self.builder.add(at, self.builder.mul(stride, ir.Constant(WORD, k))) for k in range(WIDE)]

    def _pointer(self, at: Any, offset: int, kind: Any) -> Any:
        return self.builder.inttoptr(self.builder.add(at, ir.Constant(WORD, offset)), kind.as_pointer())

    def load(self, at: Any, offset: int = 0) -> Any:
        """Eight numbers, `offset` bytes behind the address `at`."""
        return self.builder.load(self._pointer(at, offset, EIGHT), align=8)

    def store(self, value: Any, at: Any, offset: int = 0) -> None:
        """Writes the eight numbers of `value`, `offset` bytes behind the address `at`."""
        self.builder.store(value, self._pointer(at, offset, EIGHT), align=8)

    def store_first(self, count: int, value: Any, at: Any) -> None:
        """Writes the first `count` of the eight numbers of `value` to the address `at`."""
        few = self.builder.shuffle_vector(value, NOTHING, ir.Constant(ir.VectorType(ir.IntType(32), count), list(range(count))))
        self.builder.store(few, self._pointer(at, 0, few.type), align=8)

    def everywhere(self, number: Any) -> Any:
        """A vector of eight times the same `number`."""
        index = ir.IntType(32)
        one = self.builder.insert_element(NOTHING, number, ir.Constant(index, 0))
        return self.builder.shuffle_vector(one, NOTHING, ir.Constant(ir.VectorType(index, WIDE), [0] * WIDE))

    def number(self, at: Any, offset: int = 0) -> Any:
        """One number, `offset` bytes behind the address `at`."""
        return self.builder.load(self._pointer(at, offset, ir.DoubleType()), align=8)

    def load_everywhere(self, at: Any, offset: int) -> Any:
        """Eight times the number that is `offset` bytes behind the address `at`."""
        return self.everywhere(self.number(at, offset))

    def store_number(self, value: Any, at: Any) -> None:
        """Writes the number `value` to the address `at`."""
        self.builder.store(value, self._pointer(at, 0, ir.DoubleType()), align=8)

    def entry(self, at: Any, index: Any) -> Any:
        """The whole number with this `index` in the list at the address `at`."""
        return self.builder.load(
            self._pointer(self.builder.add(at, self.builder.mul(index, ir.Constant(WORD, 8))), 0, WORD), align=8
        )

    def add(self, a: Any, b: Any) -> Any:
        """a + b, which may become one operation with a product."""
        return self.builder.fadd(a, b, flags=("contract",))

    def multiply(self, a: Any, b: Any) -> Any:
        """The product of a and b, likewise."""
        return self.builder.fmul(a, b, flags=("contract",))

    def sum(self, parts: list[Any], few: int) -> Any:
        """The sum of the parts, by independent sums of `few` each: one long sum would wait for each addition."""
        sums = [reduce(self.add, parts[first : first + few]) for first in range(0, len(parts), few)]
        return sums[0] if len(sums) == 1 else self.sum(sums, 2)

    def eights(self, last: Any) -> Any:
        """A loop over the columns before `last`, in steps of eight."""
        return cgutils.for_range_slice(self.builder, ir.Constant(WORD, 0), last, ir.Constant(WORD, WIDE), WORD)


# -- a row ---------------------------------------------------------------------------------------------------------


def _row_sum(Z, factors, V, last):
    for c in range((last + 7) // 8 * 8):
        Z[c] = 0.0
        for t in range(len(factors)):
            Z[c] += factors[t] * V[c // 8, t, c % 8]


def _row_sum_compiled(_context: Any, Z: Any, factors: Any, V: Any, last: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        v = Vectors(context, builder)
        into, of = v.start(Z, values[0]), v.start(V, values[2])
        terms = [v.everywhere(factor) for factor in cgutils.unpack_tuple(builder, values[1], len(factors))]
        size = builder.extract_value(context.make_array(V)(context, builder, values[2]).strides, 0)
        with v.eights(values[3]) as (c, _):
            rows = builder.add(of, builder.mul(size, builder.lshr(c, ir.Constant(WORD, 3))))
            parts = [v.multiply(factor, v.load(rows, 8 * WIDE * t)) for t, factor in enumerate(terms)]
            v.store(v.sum(parts, 3), builder.add(into, builder.shl(c, ir.Constant(WORD, 3))))
        return context.get_dummy_value()

    return types.void(Z, factors, V, last), code


row_sum: Any = _row_sum if INTERPRETED else intrinsic(_row_sum_compiled)
"""Z = Σ factors[t] V[:, t] in the columns before `last`."""


def _put_sum(A, i, a, B, k, b, C, l, c, count):
    for x in range(count):
        A[i, a + x] = B[k, b + x] + C[l, c + x]


def _put_sum_compiled(_context: Any, A: Any, i: Any, a: Any, B: Any, k: Any, b: Any, C: Any, l: Any, c: Any, count: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        v = Vectors(context, builder)
        places = [
            builder.add(v.start(kind, values[at], values[at + 1]), builder.mul(values[at + 2], ir.Constant(WORD, 8)))
            for kind, at in ((A, 0), (B, 3), (C, 6))
        ]
        whole = builder.and_(values[9], ir.Constant(WORD, -WIDE))
        with v.eights(whole) as (x, _):
            into, one, other = (builder.add(at, builder.mul(x, ir.Constant(WORD, 8))) for at in places)
            v.store(v.add(v.load(one), v.load(other)), into)
        with cgutils.for_range_slice(builder, whole, values[9], ir.Constant(WORD, 1), WORD) as (x, _):
            into, one, other = (builder.add(at, builder.mul(x, ir.Constant(WORD, 8))) for at in places)
            v.store_number(v.add(v.number(one), v.number(other)), into)
        return context.get_dummy_value()

    return types.void(A, i, a, B, k, b, C, l, c, count), code


put_sum: Any = _put_sum if INTERPRETED else intrinsic(_put_sum_compiled)
"""A[i, a + x] = B[k, b + x] + C[l, c + x] for every x before `count`."""


# -- pairs of joints -------------------------------------------------------------------------------------------------
# S, T, F, G, γ and ω as in `dynamics.lagrangian`; a tangent is a derivative along a direction. c₀, c₁, c₂ below are `scale`.
# Rows of V: S, T, then their tangents; entries in a row of f: F, G, γ, then their tangents.

F, G, GAMMA, TANGENT, NUMBERS = 0, 6, 12, 16, 32


def _products(tangent: bool) -> tuple[tuple[tuple[int, int], ...], ...]:
    """The pairs (entry of f, row of V) whose products sum to T·G + ω·γ, S·F, T·F, S·G, or to their tangents."""
    qq = [(G + k, 6 + k) for k in range(6)] + [(GAMMA + k, k) for k in range(3)]
    vv, qv, vq = ([(f + k, row + k) for k in range(6)] for f, row in ((F, 0), (F, 6), (G, 0)))
    if not tangent:
        return tuple(qq), tuple(vv), tuple(qv), tuple(vq)
    return tuple(tuple((f, r + 12) for f, r in p) + tuple((f + TANGENT, r) for f, r in p) for p in (qq, vv, qv, vq))


def _pairs(tangent: bool) -> Any:
    products = _products(tangent)

    def plain(Y, f, j, scale, V, last):
        for c in range((last + 7) // 8 * 8):
            qq = vv = qv = vq = 0.0
            for k, r in products[0]:
                qq += f[j, k] * V[c // 8, r, c % 8]
            for k, r in products[1]:
                vv += f[j, k] * V[c // 8, r, c % 8]
            for k, r in products[2]:
                qv += f[j, k] * V[c // 8, r, c % 8]
            for k, r in products[3]:
                vq += f[j, k] * V[c // 8, r, c % 8]
            qq, vv, qv, vq = scale[0] * qq, scale[1] * vv, scale[2] * qv, scale[2] * vq
            sd, ds = 0.5 * qq + qv, 0.5 * qq + vq
            Y[c // 8, 0, c % 8], Y[c // 8, 1, c % 8] = vv + 0.5 * (qv + ds), sd
            Y[c // 8, 2, c % 8], Y[c // 8, 3, c % 8] = ds, qq

    def compiled(_context: Any, Y: Any, f: Any, j: Any, scale: Any, V: Any, last: Any) -> Any:
        def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
            v = Vectors(context, builder)
            into, by, of = v.start(Y, values[0]), v.start(f, values[1], values[2]), v.start(V, values[4])
            scales = [v.everywhere(number) for number in cgutils.unpack_tuple(builder, values[3], 3)]
            with v.eights(values[5]) as (c, _):
                to = builder.add(into, builder.mul(c, ir.Constant(WORD, 8 * 4)))
                rows = builder.add(of, builder.mul(c, ir.Constant(WORD, 8 * (24 if tangent else 12))))
                sums = []
                for product, scale in zip(products, (*scales, scales[-1]), strict=True):
                    parts = [v.multiply(v.load_everywhere(by, 8 * f), v.load(rows, 8 * WIDE * row)) for f, row in product]
                    sums.append(v.multiply(v.sum(parts, 6), scale))
                qq, vv, qv, vq = sums
                half = v.everywhere(ir.Constant(ir.DoubleType(), 0.5))
                sd, ds = v.add(qv, v.multiply(half, qq)), v.add(vq, v.multiply(half, qq))
                for k, total in enumerate((v.add(vv, v.multiply(half, v.add(qv, ds))), sd, ds, qq)):
                    v.store(total, to, 8 * WIDE * k)
            return context.get_dummy_value()

        return types.void(Y, f, j, scale, V, last), code

    return plain if INTERPRETED else intrinsic(compiled)


pair_rows, pair_tangents = _pairs(False), _pairs(True)
"""Four rows of Y from row j of f: with qq = c₀ (T·G + ω·γ), vv = c₁ S·F, qv = c₂ T·F, vq = c₂ S·G of every column before `last`,

    vv + ½ (qv + ds),   sd = ½ qq + qv,   ds = ½ qq + vq,   qq;   or the tangents of the products."""


# -- a matrix and its transpose --------------------------------------------------------------------------------------


def _fold_block(H, x, y):
    for i in range(8):
        for j in range(8 if x != y else i + 1):
            H[x + i, y + j] = H[y + j, x + i] = H[x + i, y + j] + H[y + j, x + i]


def transposed(v: Vectors, rows: list[Any]) -> list[Any]:
    """The transpose of eight `rows` of eight, by code that `v` builds: swaps blocks of size 1, 2, then 4."""
    for s in (1, 2, 4):
        for i in range(WIDE):
            if i & s:
                continue
            a, b = rows[i], rows[i + s]
            kind = ir.VectorType(ir.IntType(32), WIDE)
            low = ir.Constant(kind, [WIDE + j - s if j & s else j for j in range(WIDE)])
            high = ir.Constant(kind, [WIDE + j if j & s else j + s for j in range(WIDE)])
            rows[i], rows[i + s] = v.builder.shuffle_vector(a, b, low), v.builder.shuffle_vector(a, b, high)
    return rows


def _fold_block_compiled(_context: Any, H: Any, x: Any, y: Any) -> Any:
    def code(context: Any, builder: Any, _signature: Any, values: Any) -> Any:
        v = Vectors(context, builder)
        here, there = (v.rows_of_block(H, values[0], i, j) for i, j in ((values[1], values[2]), (values[2], values[1])))
        across = transposed(v, [v.load(at) for at in there])
        total = [v.add(v.load(at), row) for at, row in zip(here, across, strict=True)]
        for at, row in zip(here, total, strict=True):
            v.store(row, at)
        for at, row in zip(there, transposed(v, total), strict=True):
            v.store(row, at)
        return context.get_dummy_value()

    return types.void(H, x, y), code


fold_block: Any = _fold_block if INTERPRETED else intrinsic(_fold_block_compiled)
"""H + Hᵀ in place, in the eight by eight from (x, y) on and its mirror."""


@woven
def fold(H):
    """H + Hᵀ in place."""
    size = H.shape[0]
    whole = size // 8 * 8
    for x in range(0, whole, 8):
        for y in range(0, x + 8, 8):
            fold_block(H, x, y)
    for x in range(whole, size):
        for y in range(x):
            H[x, y] = H[y, x] = H[x, y] + H[y, x]
        H[x, x] *= 2.0
