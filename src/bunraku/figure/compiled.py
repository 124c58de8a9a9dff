"""Compiled: a figure as the flat arrays that kernels use, in which parts have numbers instead of names.

Joints (the frames that move) are ordered parents first: those that carry mass, then those that do not. Frames that do not
move are merged into the joint that carries them. A joint turns about, or slides along, one of its own three axes; for any
other axis the joint's axes are rotated once, here. The world is joint −1.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.figure.figure import Figure
from bunraku.figure.folding import Folding
from bunraku.figure.links import LinkRows
from bunraku.figure.records import WAY_LAYERS, FigureTree, LinkKind
from bunraku.kernels.compile import INTERPRETED

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Compiled:
    """The arrays of a figure, and which entries its names stand for."""

    tree: FigureTree
    frame_joint: Ints
    """The joint that carries each frame, in the figure's order; −1 for the world."""
    frame_X: Array
    """Each frame's pose in its joint's axes, (n, 4, 4)."""
    joint_frame: tuple[str, ...]
    """The name of the frame that each joint moves."""
    link_names: tuple[str, ...]
    """Strings, then wires, then contacts (each followed by its slips), then the rows of closures, then joint limits, then
    the places where strings rub."""


def _records(array: NDArray[np.void]) -> NDArray[np.void]:
    """Fields as attributes for interpreted kernels. Compiled ones need no record array, and take a plain one faster."""
    return array.view(np.recarray) if INTERPRETED else array


def _padded(lists: Sequence[Sequence[int]]) -> Ints:
    """Lists of different lengths as rows of one array: first the count, then the members, then padding."""
    widest = max((len(row) for row in lists), default=0)
    out = np.zeros((len(lists), 1 + widest), np.int64)
    for k, row in enumerate(lists):
        out[k, 0] = len(row)
        out[k, 1 : 1 + len(row)] = row
    return out


def compile_figure(figure: Figure) -> Compiled:
    """`figure` as flat arrays. Takes some milliseconds; `figure.compiled` keeps the result."""
    fold = Folding(figure)
    joints, rows, n = fold.joints, LinkRows(figure, fold), figure.n_dynamic
    chain = [_chain(joints, j) for j in range(len(joints))]
    variable = joints["variable"].tolist()
    supports, spring_supports = ([_support(rows.carriers(row), chain) for row in table] for table in (rows.links, rows.springs))
    moved = [{variable[j] for j in s} | {int(row["variable"])} for s, row in zip(supports, rows.links, strict=True)]
    joined = [{variable[j] for j in s} for s in spring_supports]
    above = {variable[j]: [variable[i] for i in chain[j][1:]] for j in range(len(joints))}
    dynamic = {f.name for f in figure.frames if f.variable is not None and not f.variable.kinematic}
    tree = FigureTree(
        n_dynamic=n,
        n_q=figure.n_q,
        n_massive=fold.n_massive,
        n_links=len(rows.links),
        way_rows=(len(rows.points) + 1) * (WAY_LAYERS if (rows.links["kind"] == LinkKind.WRAPPED).any() else 1),
        gravity=np.array(figure.gravity, float),
        joints=_records(joints),
        chain=_padded(chain),
        points=_records(rows.points),
        links=_records(rows.links),
        support=_padded(supports),
        elimination=_padded(_elimination(n, above, moved, joined)),
        springs=_records(rows.springs),
        spring_support=_padded(spring_supports),
        forces=_records(rows.forces),
        balls=np.array([fold.number[g.frames[-3]] for g in figure.groups if g.frames[-1] in dynamic], np.int64),
    )
    return Compiled(
        tree=tree,
        frame_joint=np.array([fold.carrier[f.name] for f in figure.frames], np.int64),
        frame_X=np.array([fold.X[f.name] for f in figure.frames]).reshape(-1, 4, 4),
        joint_frame=tuple(fold.order),
        link_names=rows.names,
    )


def _support(carriers: list[int], chain: list[list[int]]) -> list[int]:
    """All joints that move what the joints `carriers` carry."""
    return sorted(set().union(*(chain[j] for j in carriers)))


def _elimination(n: int, above: dict[int, list[int]], moved: list[set[int]], joined: list[set[int]]) -> list[list[int]]:
    """The unknowns that each dynamic variable is coupled to when it is eliminated, leaves first: its ancestors, the links that it
    moves (numbered from n on), the variables that a spring couples it to, and the fill-in of earlier eliminations."""
    meets: list[set[int]] = [{a for a in above.get(d, []) if a < n} for d in range(n)]
    for group in joined:
        for d in group:
            if d < n:
                meets[d] |= {k for k in group if k < d}
    for d in range(n):
        meets[d] |= {n + c for c, variables in enumerate(moved) if d in variables}
    for d in range(n - 1, -1, -1):
        for k in meets[d]:
            if k < n:
                meets[k] |= {i for i in meets[d] if i < k or i >= n}
    return [sorted(row, key=lambda k: (k >= n, -k if k < n else k)) for row in meets]


def _chain(joints: NDArray[np.void], j: int) -> list[int]:
    """The joints from j up to its root."""
    out = []
    while j >= 0:
        out.append(j)
        j = int(joints[j]["parent"])
    return out
