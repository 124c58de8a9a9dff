"""Jet: values with first and second derivatives with respect to a few parameters, propagated by the chain rule."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Jet:
    """`value` of any shape; `first` and `second` have one and two more axes, over m parameters."""

    value: Array
    first: Array
    second: Array

    @staticmethod
    def constant(value: Array, m: int) -> Jet:
        """A `value` that depends on none of the `m` parameters."""
        return Jet(value, np.zeros((*value.shape, m)), np.zeros((*value.shape, m, m)))

    def __add__(self, other: Jet) -> Jet:
        return Jet(self.value + other.value, self.first + other.first, self.second + other.second)

    def __sub__(self, other: Jet) -> Jet:
        return Jet(self.value - other.value, self.first - other.first, self.second - other.second)

    def __mul__(self, other: Jet) -> Jet:
        cross = self.first[..., :, None] * other.first[..., None, :]
        return Jet(
            self.value * other.value,
            self.value[..., None] * other.first + other.value[..., None] * self.first,
            self.value[..., None, None] * other.second
            + other.value[..., None, None] * self.second
            + cross
            + cross.swapaxes(-1, -2),
        )

    def through(self, f: Array, f1: Array, f2: Array) -> Jet:
        """g(self) by the chain rule, where `f`, `f1`, `f2` are g and its first and second derivative at self.value.

        They may have more axes than the value: several functions of one argument.
        """
        extra = f.ndim - self.value.ndim
        first = self.first.reshape(*self.value.shape, *(1,) * extra, -1)
        second = self.second.reshape(*self.value.shape, *(1,) * extra, *self.second.shape[-2:])
        outer = first[..., :, None] * first[..., None, :]
        return Jet(f, f1[..., None] * first, f1[..., None, None] * second + f2[..., None, None] * outer)

    def cos(self) -> Jet:
        """The cosine, with derivatives."""
        c, s = np.cos(self.value), np.sin(self.value)
        return self.through(c, -s, -c)

    def sin(self) -> Jet:
        """The sine, with derivatives."""
        c, s = np.cos(self.value), np.sin(self.value)
        return self.through(s, c, -s)

    def column(self, k: int) -> Jet:
        """Column `k` of values (T, n)."""
        return Jet(self.value[:, k], self.first[:, k], self.second[:, k])

    def put(self, k: int, other: Jet) -> None:
        """Replaces column `k` of values (T, n) by `other`, in place."""
        self.value[:, k], self.first[:, k], self.second[:, k] = other.value, other.first, other.second
