"""Signed distances from a mesh that is climbed: exact ones, and a grid of them near its surface for planning and optimisation."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision import box_tree, triangle_meshes
from bunraku.errors import FileError
from bunraku.figure.shape import Mesh
from bunraku.locomotion.climb.ground_kernels import Ground, field_at, signed_distances

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class FieldOptions:
    """The grid of distances, in lengths of the climber's leg."""

    spacing: float = 1.0 / 12.0
    """Length of a cell."""
    band: float = 1.0
    """Distance from the surface up to which there are cells."""
    side: int = 8
    """Number of cells along each side of a block."""
    most: int = 40_000
    """Largest number of blocks; a larger mesh is refused."""


class SurfaceField:
    """Distances from the closed surface of a mesh, positive outside.

    mesh: the mesh
    leg: length of the climber's leg [m]
    options: how fine and how wide the grid is

    Raises FileError if the mesh is not closed, or too large for a climber of this size.
    """

    def __init__(self, mesh: Mesh, leg: float, options: FieldOptions = FieldOptions()) -> None:
        surface = triangle_meshes.load(mesh)
        if not surface.solid:
            advice = "fill its holes and turn its faces outward; several closed solids, which may overlap, can be in one file"
            raise FileError("the surface is not closed", path=mesh.file, advice=advice)
        self.mesh, self.options = mesh, options
        self.spacing, self.band = options.spacing * leg, options.band * leg
        corners = surface.corners()
        spans = np.ascontiguousarray(np.stack([corners.min(1), corners.max(1)]))
        n = len(corners)
        ints, boxes, order = np.empty((2 * n, 3), np.int64), np.empty((2 * n, 6)), np.empty(n, np.int64)
        size = box_tree.build(spans[0], spans[1], ints, boxes, order)
        self._tree = ints[:size].copy(), boxes[:size].copy(), np.ascontiguousarray(corners[order].reshape(-1, 9))
        self.low, self.high = spans[0].min(0), spans[1].max(0)
        self._several = not surface.convex

    def nearest(self, x: ArrayLike, within: float | None = None) -> tuple[Array, Array, Array]:
        """Exact distances of points `x` (…, 3) [m], the nearest places on the surface (…, 3), and its normals there (…, 3).

        within: distances are at most this [m], and places and normals are NaN beyond; by default there is no bound
        """
        x = np.ascontiguousarray(x, float)
        flat = x.reshape(-1, 3)
        bound = within if within is not None else float(np.linalg.norm(self.high - self.low) + np.abs(flat).max(initial=0.0) * 4.0)
        out, places, normals = np.empty(len(flat)), np.full(flat.shape, np.nan), np.full(flat.shape, np.nan)
        signed_distances(*self._tree, self._several, flat, bound, out, places, normals)
        return out.reshape(x.shape[:-1]), places.reshape(x.shape), normals.reshape(x.shape)

    def over(self, x: ArrayLike) -> Array:
        """Exact distances of points `x` (…, 3) [m], at most the width of the band."""
        return self.nearest(x, self.band)[0]

    @cached_property
    def ground(self) -> Ground:
        """The grid, for kernels."""
        corner = self.low - self.band - self.spacing
        side, size = self.options.side, self.options.side * self.spacing
        found = self._near_blocks(corner, size)
        blocks = np.full(found.max(0) + 1, -1, np.int64)
        blocks[tuple(found.T)] = np.arange(len(found))
        steps = np.stack(np.meshgrid(*[np.arange(side + 1)] * 3, indexing="ij"), -1)
        values = np.empty((len(found), side + 1, side + 1, side + 1))
        for k, own in enumerate(found):
            values[k] = self.nearest(corner + own * size + steps * self.spacing, 2.0 * (self.band + size))[0]
        none = np.empty(0, np.int64)
        return Ground(
            np.empty((0, 3)), np.empty(0), np.empty(0, np.bool_), none, none, corner, self.spacing, self.band, blocks, values,
            *self._tree,
        )  # fmt: skip

    def _near_blocks(self, corner: Array, size: float) -> Ints:
        """Indices (n, 3) of the blocks that are nearer to the surface than the band, found by halving cubes."""
        cubes = np.ceil((self.high + self.band - corner) / size).astype(np.int64)
        level = int(np.ceil(np.log2(max(int(cubes.max()), 1))))
        eight = np.array(list(itertools.product((0, 1), repeat=3)))
        found = np.zeros((1, 3), np.int64)
        for k in range(level, -1, -1):
            edge = size * 2**k
            reach = self.band + edge * np.sqrt(3.0) / 2.0
            near = np.abs(self.nearest(corner + (found + 0.5) * edge, 1.01 * reach)[0]) <= reach
            found = found[near]
            if len(found) > self.options.most:
                advice = "give a part of it, a scale, or a larger climber"
                raise FileError("too large for a climber of this size", path=self.mesh.file, advice=advice)
            found = (2 * found[:, None] + eight).reshape(-1, 3) if k else found
        return found

    def field(self, x: ArrayLike) -> tuple[Array, Array]:
        """Interpolated distances of points `x` (…, 3) [m], and their gradients (…, 3)."""
        x, g = np.ascontiguousarray(x, float), self.ground
        flat = x.reshape(-1, 3)
        out, slopes = np.empty(len(flat)), np.empty(flat.shape)
        field_at(g.origin, g.spacing, g.far, g.blocks, g.values, flat, out, slopes)
        return out.reshape(x.shape[:-1]), slopes.reshape(x.shape)

    def onto_level(self, x: Array, height: float, rounds: int = 6) -> Array:
        """Points `x` (…, 3) moved along the gradient of the field to where the distance is `height` [m], in this many `rounds`."""
        for _ in range(rounds):
            value, slope = self.field(x)
            size = np.maximum((slope**2).sum(-1), 0.25)
            x = x - ((value - height) / size)[..., None] * slope
        return x
