"""Roadmap: configurations, and free curves between them; can be searched, changed, saved and loaded."""

from __future__ import annotations

import hashlib
import itertools
import json
import math
import zipfile
from dataclasses import dataclass
from os import PathLike
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from scipy.sparse.csgraph import connected_components, dijkstra

from bunraku.collision.way_curve import WayCurve
from bunraku.errors import BunrakuError, FileError
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.path import Path
from bunraku.planning.ways.steer import length, reversed_curve
from bunraku.writing import writing

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Attachment:
    """A node that a configuration sees (the curve between them is proven free), and its distance."""

    node: int
    length: float


class Roadmap:
    """A graph of configurations in a free `space`. Edges are curves steered from their first node to their second."""

    version: ClassVar[int] = 1
    """Version of the file format."""

    def __init__(self, space: FreeSpace) -> None:
        self.space = space
        self._Q = np.empty((64, space.n))
        self._guard: list[bool] = []
        self._edges: dict[tuple[int, int], float] = {}
        self._barred: set[tuple[int, int]] = set()
        self._label: Ints | None = None

    # -- reading -----------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self._guard)

    @property
    def nodes(self) -> Array:
        """Configurations of the nodes (n, n_q)."""
        return self._Q[: len(self)]

    @property
    def guards(self) -> Ints:
        """Indices of the guards: nodes that no guard saw when they were added. All other nodes connect guards."""
        return np.flatnonzero(self._guard)

    @property
    def edges(self) -> tuple[tuple[int, int], ...]:
        """Pairs of nodes, in the direction in which their curve was steered."""
        return tuple(self._edges)

    @property
    def component(self) -> Ints:
        """The connected component of each node."""
        if self._label is None:
            _, label = connected_components(self._matrix(len(self)), directed=False)
            self._label = label.astype(np.int64)
        return self._label

    def _matrix(self, size: int, extra: tuple[tuple[int, int, float], ...] = ()) -> Any:
        rows = [*((i, j, d) for (i, j), d in self._edges.items()), *extra]
        i, j, d = (np.array(column) for column in zip(*rows, strict=True)) if rows else (np.zeros(0, int),) * 3
        return csr_matrix((np.maximum(d, 1e-12), (i, j)), shape=(size, size))

    # -- changing ----------------------------------------------------------------------------------------------------

    def add_node(self, q: Array, *, guard: bool) -> int:
        """Adds the free configuration `q`, as a `guard` or not, and returns its index."""
        n = len(self)
        if n == len(self._Q):
            self._Q = np.concatenate([self._Q, np.empty_like(self._Q)])
        self._Q[n] = q
        self._guard.append(guard)
        if self._label is not None:
            self._label = np.append(self._label, self._label.max(initial=-1) + 1)
        return n

    def add_edge(self, i: int, j: int) -> None:
        """Adds the edge from node `i` to node `j`, whose curve is known to be free."""
        self._edges[i, j] = length(self.space.curve(self.nodes[i], self.nodes[j]), self.space.weights)
        if self._label is not None and self._label[i] != self._label[j]:
            self._label[self._label == self._label[j]] = self._label[i]

    def remove_edge(self, i: int, j: int) -> None:
        """Removes the edge between nodes `i` and `j` permanently: it is never added again. Raises BunrakuError if there is none."""
        if (i, j) not in self._edges:
            i, j = j, i
        if (i, j) not in self._edges:
            raise BunrakuError(f"no edge from {i} to {j}\n  advice: roadmap.edges lists them")
        del self._edges[i, j]
        self._barred.add((i, j))
        self._label = None

    def barred(self, i: int, j: int) -> bool:
        """Whether the edge between nodes `i` and `j` was removed."""
        return (i, j) in self._barred or (j, i) in self._barred

    def add_path(self, path: Path) -> list[int]:
        """Adds a free `path`: its waypoints as nodes, if they are new, and its curves as edges. Returns its nodes."""
        out: list[int] = []
        for k, q in enumerate(path.waypoints):
            node = self._same(self.space.configuration(q, "waypoint"))
            if node is None:
                node = self.add_node(self.space.configuration(q, "waypoint"), guard=False)
            if k and out[-1] != node and not self._joined(out[-1], node) and not self.barred(out[-1], node):
                self._keep(out[-1], node, path.curves[k - 1])
            out.append(node)
        return out

    def _keep(self, i: int, j: int, known: WayCurve) -> None:
        """Adds an edge between two nodes that a free curve joins, if the steered curve between them is the same or also free."""
        if self.space.steering.straight:  # a straight curve is the same in both directions
            self.add_edge(i, j)
            return
        for a, b, curve in ((i, j, known), (j, i, reversed_curve(known))):
            if same_curve(self.space.curve(self.nodes[a], self.nodes[b]), curve) or self.space.sees(self.nodes[a], self.nodes[b]):
                self.add_edge(a, b)
                return

    def _same(self, q: Array) -> int | None:
        if not len(self):
            return None
        near = self.space.distances(q, self.nodes)
        k = int(np.argmin(near))
        return k if near[k] < 1e-9 else None

    def _joined(self, i: int, j: int) -> bool:
        return (i, j) in self._edges or (j, i) in self._edges

    # -- searching ---------------------------------------------------------------------------------------------------

    def seen_from(self, q: Array, *, tries: int = 40, enough: int = 2) -> list[Attachment]:
        """Nodes that `q` sees, near ones first: `enough` of them in each component, after at most `tries` curve checks."""
        if not len(self):
            return []
        away = self.space.distances(q, self.nodes)
        label, looks = self.component, 0
        count: dict[int, int] = {}
        out: list[Attachment] = []
        for k in np.argsort(away, kind="stable").tolist():
            component = int(label[k])
            if count.get(component, 0) >= enough:
                continue
            if looks == tries:
                break
            looks += 1
            if self.space.sees(q, self.nodes[k]):
                out.append(Attachment(k, float(away[k])))
                count[component] = count.get(component, 0) + 1
        return out

    def search(self, start: Array, goal: Array, *, tries: int = 40) -> Path | None:
        """The shortest path through the roadmap from `start` to `goal`, both free; None if it does not connect them.

        tries: maximum number of curve checks for each of the two.
        """
        direct = self.space.curve(start, goal)
        if self.space.free_along(direct):
            return Path(self.space, (direct,))
        ends = [self.seen_from(q, tries=tries) for q in (start, goal)]
        if not all(ends):
            return None
        n = len(self)
        extra = (*((n, a.node, a.length) for a in ends[0]), *((b.node, n + 1, b.length) for b in ends[1]))
        _, before = dijkstra(self._matrix(n + 2, extra), directed=False, indices=n, return_predecessors=True)
        if before[n + 1] < 0:
            return None
        chain = [n + 1]
        while chain[-1] != n:
            chain.append(int(before[chain[-1]]))
        inner = chain[-2:0:-1]
        curves = [self.space.curve(start, self.nodes[inner[0]])]
        curves += [self.edge_curve(i, j) for i, j in itertools.pairwise(inner)]
        curves.append(reversed_curve(self.space.curve(goal, self.nodes[inner[-1]])))
        return Path(self.space, tuple(curves))

    def edge_curve(self, i: int, j: int) -> WayCurve:
        """The curve of the edge from node `i` to `j`, in either direction; raises BunrakuError if there is none."""
        if (i, j) in self._edges:
            return self.space.curve(self.nodes[i], self.nodes[j])
        if (j, i) in self._edges:
            return reversed_curve(self.space.curve(self.nodes[j], self.nodes[i]))
        raise BunrakuError(f"no edge from {i} to {j}\n  advice: roadmap.edges lists them")

    # -- files -------------------------------------------------------------------------------------------------------

    def save(self, path: str | PathLike[str]) -> None:
        """Writes an NPZ file to `path`, atomically."""
        edges = np.array(list(self._edges), np.int64).reshape(-1, 2)
        barred = np.array(sorted(self._barred), np.int64).reshape(-1, 2)
        about = json.dumps({"version": self.version, "space": self.space.text, "scene": scene_hash(self.space)})
        with writing(path) as temporary:
            np.savez(
                temporary, about=np.array(about), nodes=self.nodes, guard=np.array(self._guard, np.bool_), edges=edges,
                lengths=np.array(list(self._edges.values()), float), barred=barred,
            )  # fmt: skip

    def __repr__(self) -> str:
        parts = len(set(self.component.tolist())) if len(self) else 0
        others = len(self) - len(self.guards)
        return f"<Roadmap: {len(self.guards)} guards, {others} others, {len(self._edges)} edges, {parts} components>"


def same_curve(a: WayCurve, b: WayCurve) -> bool:
    """Whether curves `a` and `b` are the same, up to rounding and full turns."""
    if a.Q.shape != b.Q.shape or not np.array_equal(a.bends, b.bends) or np.abs(a.knots - b.knots).max() > 1e-12:
        return False
    off = a.Q - b.Q
    whole = math.tau * np.round(off[0] / math.tau)
    return bool(np.abs(off - whole).max() < 1e-12 and np.abs(a.control - b.control).max(initial=0.0) < 1e-12)


def load(path: str | PathLike[str], space: FreeSpace) -> Roadmap:
    """Loads the roadmap in the file `path` for a `space`.

    If the scene or the shapes have changed since it was saved, edges are proven again or dropped. Raises FileError for a broken
    file, or one of another figure or steering.
    """
    about, arrays = _read(path)
    if about.get("version") != Roadmap.version:
        raise FileError(f"version {about.get('version')}, expected {Roadmap.version}", path=str(path), advice="learn it again")
    if about.get("space") != space.text:
        advice = f"it is of {about.get('space')}"
        raise FileError(f"a roadmap of another figure or steering than {space.figure.name}'s", path=str(path), advice=advice)
    roadmap = Roadmap(space)
    nodes, guard, edges, lengths, barred = (arrays[key] for key in ("nodes", "guard", "edges", "lengths", "barred"))
    if nodes.shape != (len(guard), space.n) or edges.shape != (len(lengths), 2) or not np.isfinite(nodes).all():
        raise _bad_file(path, "its arrays have inconsistent shapes")
    if len(edges) and not (edges.min() >= 0 and edges.max() < len(nodes)):
        raise _bad_file(path, "an edge refers to a node that does not exist")
    for q, own in zip(nodes, guard, strict=True):
        roadmap.add_node(q, guard=bool(own))
    same = about.get("scene") == scene_hash(space)
    free = None if same else space.free(nodes)
    for (i, j), size in zip(edges.tolist(), lengths.tolist(), strict=True):
        if free is None or (free[i] and free[j] and space.sees(nodes[i], nodes[j])):
            roadmap._edges[i, j] = size
    roadmap._barred = {(i, j) for i, j in barred.tolist()}
    return roadmap


def _bad_file(path: str | PathLike[str], message: str) -> FileError:
    return FileError(message, path=str(path), advice="write roadmaps with roadmap.save('name.npz')")


def _read(path: str | PathLike[str]) -> tuple[dict[str, Any], dict[str, NDArray[Any]]]:
    try:
        with np.load(path, allow_pickle=False) as file:
            arrays = {key: file[key] for key in ("about", "nodes", "guard", "edges", "lengths", "barred")}
        about = json.loads(str(arrays.pop("about").item()))
    except OSError as error:
        raise FileError(f"cannot be read: {error.strerror or error}", path=str(path), advice="check the name") from None
    except (KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
        raise _bad_file(path, f"not a roadmap: {error}") from None
    if not isinstance(about, dict):
        raise _bad_file(path, "not a roadmap")
    return about, arrays


def scene_hash(space: FreeSpace) -> str:
    """A hash that changes when a shape, an obstacle, a link or the margin of a `space` does."""
    digest = hashlib.sha256(repr((space.ways.margin, space.ways.links, space.world.allowed)).encode())
    for name, array in space.world.flat._asdict().items():
        digest.update(name.encode() + np.ascontiguousarray(array).tobytes())
    return digest.hexdigest()[:32]
