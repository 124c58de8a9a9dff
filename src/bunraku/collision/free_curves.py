"""Ways: proofs that samples and whole curves of configurations are free of collisions."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision.between_samples import Passage
from bunraku.collision.convex_bodies import bodies
from bunraku.collision.curve_proofs import PROOF, Links, free_along, free_samples
from bunraku.collision.way_curve import WayCurve
from bunraku.collision.world import World
from bunraku.errors import BunrakuError, NotFinite, UnknownName
from bunraku.figure import WORLD, Point
from bunraku.spatial import se3

Array = NDArray[np.float64]
Bools = NDArray[np.bool_]


@dataclass(frozen=True)
class ReachLink:
    """Two points whose distance must stay between `least` and `most` [m], such as an arm's shoulder and its grasp."""

    a: Point
    b: Point
    least: float
    most: float
    name: str = "link"

    def __post_init__(self) -> None:
        if not 0.0 <= self.least < self.most < math.inf:
            raise BunrakuError(
                f"{self.name}: from {self.least:.4g} m to {self.most:.4g} m\n  advice: give least and most in metres, least < most"
            )


class Ways:
    """Whether samples and curves in a world are free. What is called free is certain to be: answers use lower bounds of distances.

    world: figures and their scene.
    links: pairs of points whose distance has limits.
    margin: the least distance that must be kept [m].
    resolution: a curve that comes nearer to the margin than this is not called free [m].
    Raises BunrakuError for negative numbers, UnknownName for a link to a frame that does not exist.
    """

    def __init__(self, world: World, *, links: Iterable[ReachLink] = (), margin: float = 0.0, resolution: float = 5e-4) -> None:
        if not (0.0 <= margin < math.inf and 0.0 < resolution < math.inf):
            raise BunrakuError(
                f"a margin of {margin} m with a resolution of {resolution} m is not possible\n  advice: give metres, zero or more"
            )
        self.world, self.margin, self.resolution = world, float(margin), float(resolution)
        self.links = tuple(links)
        self.bodies = bodies(list(world.things))
        self.flat_links = _laid_out(world, self.links)

    def free(self, Q: ArrayLike) -> Bools:
        """Whether each of the configurations `Q` (T, n_q) keeps the margin and the links."""
        samples = self.world.samples(Q)
        out = np.zeros(len(samples), np.bool_)
        free_samples(self.world.flat, self.bodies, self.flat_links, samples, self.margin, True, out)
        return out

    def free_along(self, curve: WayCurve) -> bool:
        """Whether the whole `curve` is certain to keep the margin and the links."""
        return bool(self._along(curve, np.empty(4)) == PROOF.free)

    def along(self, curve: WayCurve) -> Passage:
        """Whether the whole `curve` is free; if not, where and why. `value` [m]: the distance there, or a link's to its limit."""
        out = np.empty(4)
        status = self._along(curve, out)
        if status == PROOF.free:
            return Passage(True)
        a, b = int(out[2]), int(out[3])
        if status == PROOF.link:
            link = self.links[a]
            return Passage(False, float(out[0]), link.name, "reach", float(out[1]))
        other = self.world.names[b] if b >= 0 else ""
        return Passage(False, float(out[0]), self.world.names[a], other, float(out[1]))

    def _along(self, curve: WayCurve, out: Array) -> int:
        if not (np.isfinite(curve.Q).all() and np.isfinite(curve.control).all()):
            raise NotFinite("the curve is not finite")
        flat = self.world.flat
        return int(free_along(flat, self.bodies, self.flat_links, curve, self.margin, self.resolution, out))


def _laid_out(world: World, links: tuple[ReachLink, ...]) -> Links:
    ends = [[_place(world, point) for point in (link.a, link.b)] for link in links]
    joint = np.array([[j for j, _ in pair] for pair in ends], np.int64).reshape(-1, 2)
    point = np.array([[x for _, x in pair] for pair in ends], float).reshape(-1, 2, 3)
    chain = world.flat.chain
    above = [[list(chain[j, 1 : 1 + chain[j, 0]]) if j >= 0 else [] for j in pair] for pair in joint]
    shared = [len(set(a) & set(b)) for a, b in above]
    below = [[len(a) - n, len(b) - n] for (a, b), n in zip(above, shared, strict=True)]
    return Links(
        joint_a=joint[:, 0].copy(), point_a=point[:, 0].copy(), joint_b=joint[:, 1].copy(), point_b=point[:, 1].copy(),
        least=np.array([link.least for link in links], float), most=np.array([link.most for link in links], float),
        below=np.array(below, np.int64).reshape(-1, 2),
    )  # fmt: skip


def _place(world: World, point: Point) -> tuple[int, Array]:
    """The joint that carries a point, as numbered in the world (−1: none), and the point in the frame of that joint."""
    if point.frame == WORLD:
        return -1, np.array(point.position)
    first = 0
    for figure in world.figures:
        if point.frame in figure.frame_index:
            f = figure.frame_index[point.frame]
            joint, X = int(figure.compiled.frame_joint[f]), figure.compiled.frame_X[f]
            return (first + joint if joint >= 0 else -1), se3.transform(X, point.position)
        first += len(figure.compiled.tree.joints)
    raise UnknownName("frame", point.frame, tuple(name for figure in world.figures for name in figure.frame_index))
