"""SearchTree: the nodes of a search, as data."""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.brief import brief
from bunraku.planning.strings.tree_nodes import Nodes
from bunraku.writing import writing

if TYPE_CHECKING:
    from bunraku.planning.strings.search_space import SearchSpace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class SearchTree:
    """Nodes of a search, parents before children; the parent of the root is −1."""

    parent: NDArray[np.int64]
    cost: Array
    distance: Array
    """Distance from the goal [m]."""
    points: Array
    """Positions of the points that show where the figure is [m], (nodes, points, 3)."""
    names: tuple[str, ...]
    """Frames of these points."""
    q: Array
    """Configurations, (nodes, n_q)."""
    speeds: Array
    """Hand speeds at the end of the segment that leads to each node."""

    __repr__ = brief

    @classmethod
    def of(cls, nodes: Nodes, space: SearchSpace) -> SearchTree:
        """A copy of the `nodes` of a search in `space`."""
        n, nq = int(nodes.count[0]), space.problem.figure.n_q
        q = nodes.state[:n, 2 * nq : 3 * nq].copy()
        names = tuple(at.frame for at in space.points)
        arrays = (nodes.parent, nodes.cost, nodes.far, nodes.X)
        parent, cost, far, X = (array[:n].copy() for array in arrays)
        return cls(parent, cost, far, X, names, q, nodes.speeds[:n].copy())

    def __len__(self) -> int:
        return len(self.parent)

    def first(self, count: int) -> SearchTree:
        """The first `count` nodes. They form a tree, because parents come before their children."""
        fields = ("parent", "cost", "distance", "points", "q", "speeds")
        return replace(self, **{name: getattr(self, name)[:count] for name in fields})

    def edges(self, point: int = 0) -> Array:
        """Lines from the parent of every node to the node, for point `point`, (nodes − 1, 2, 3) [m]."""
        X = self.points[:, point]
        return np.stack([X[self.parent[1:]], X[1:]], 1)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes an NPZ file of plain arrays to `path`; raises FileError if it cannot be written."""
        fields = {name: getattr(self, name) for name in ("parent", "cost", "distance", "points", "q", "speeds")}
        with writing(path) as temporary, open(temporary, "wb") as file:  # noqa: PTH123 (a file object keeps the name as it is)
            np.savez_compressed(file, names=np.array(self.names), **fields)
