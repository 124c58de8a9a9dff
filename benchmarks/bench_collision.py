"""The mannequin in a room of 90,000 triangles, against coal driven by Pinocchio's C++ loops on the same pairs."""

from __future__ import annotations

import functools
import math
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import trimesh
from numpy.typing import NDArray

from benchmarks.bench_kinematics import pinocchio_model
from benchmarks.table import Ratio, best_of, interleaved
from bunraku.collision import World
from bunraku.collision.things import Thing
from bunraku.figure import Figure, Mesh, library
from bunraku.scene import Obstacle, Scene

Array = NDArray[np.float64]

RATIOS = {
    "collision.check_ratio": Ratio("mannequin.collision_check_us", "coal.collision_check_us", at_most=1.2),
    "collision.free_check_ratio": Ratio("mannequin.free_check_us", "coal.free_check_us", at_most=1.2),
    "collision.tree_check_ratio": Ratio("mannequin.free_check_us", "coal.free_tree_check_us", at_most=1.2),
    "collision.distance_ratio": Ratio("mannequin.distance_us", "coal.distance_us", at_most=1.2),
    "collision.motion_ratio": Ratio("mannequin.motion_check_us", "collision.one_second_us", at_most=1.0),
}
NOTES = {
    "mannequin.collision_check_us": "world.collides(q), 100 configurations of which half collide",
    "coal.collision_check_us": "computeCollisions(…, stop at first) on the same pairs",
    "mannequin.free_check_us": "the same on 50 free ones",
    "coal.free_check_us": "the same on 50 free ones",
    "coal.free_tree_check_us": "the same with coal's dynamic tree of boxes",
    "mannequin.distance_us": "world.distance(q), the nearest of all pairs with its points",
    "coal.distance_us": "computeDistances of all pairs",
    "mannequin.motion_check_us": "world.check of 530 samples: clearance at each, and every overlap",
    "mannequin.motion_proof_us": "the same, and between the samples",
    "mannequin.clearances_us": "world.clearances(q, within=5 cm) with gradients",
    "gecko.clearances_us": "the same for a sample of 1000, capsules only",
}


def clutter(triangles: int, folder: str) -> Mesh:
    """Balls, rings and bricks lying about, in one file."""
    rng = np.random.default_rng(0)
    parts: list[Any] = []
    while sum(len(part.faces) for part in parts) < triangles:
        ball = trimesh.creation.icosphere(subdivisions=3, radius=rng.uniform(0.05, 0.25))
        ring = trimesh.creation.torus(rng.uniform(0.1, 0.3), rng.uniform(0.02, 0.05))
        brick = trimesh.creation.box(rng.uniform(0.1, 0.5, 3)).subdivide().subdivide().subdivide()
        for part in (ball, ring, brick):
            part.apply_transform(trimesh.transformations.random_rotation_matrix(rng.random(3)))
            part.apply_translation(rng.uniform([-3.0, -3.0, 0.0], [3.0, 3.0, 2.5]))
            parts.append(part)
    path = str(Path(folder) / "clutter.stl")
    trimesh.util.concatenate(parts).export(path)
    return Mesh(path)


@functools.cache
def room() -> World:
    figure = library.named("mannequin")
    touching = World(figure, Scene("floor")).touching_at()
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene("room", (Obstacle("clutter", clutter(90_000, folder)),))
        return World(figure, scene, allowed=touching)


def crossing(figure: Figure, samples: int) -> Array:
    """The figure crosses the room, every variable swaying about its start."""
    rng = np.random.default_rng(1)
    s = np.linspace(0.0, 1.0, samples)[:, None]
    Q = figure.start + 0.05 * np.sin(2 * np.pi * (3 * s + rng.random(figure.n_q)))
    Q[:, 0] += 4.0 * (s[:, 0] - 0.5)
    Q[:, 1] += np.sin(5.0 * s[:, 0])
    return np.asarray(Q)


class Peer:
    """The same shapes and pairs in Pinocchio's hands."""

    def __init__(self, world: World) -> None:
        import pinocchio as pin

        (figure,) = world.figures
        self.pin, self.model = pin, pinocchio_model(figure)
        self.data, self.geometry = self.model.createData(), pin.GeometryModel()
        index = {name: k for k, name in enumerate(figure.names)}
        self.order = [index[name] for name in list(self.model.names)[1:]]
        narrow = world.narrow
        for k, (thing, shape) in enumerate(zip(narrow.things, narrow.geometries, strict=True)):
            joint, X = self._place(figure, thing)
            self.geometry.addGeometryObject(pin.GeometryObject(str(k), joint, 0, X, shape))
        n = len(world.flat.joint)
        pairs = [*world.flat.pairs[:, :2].tolist(), *((i, n + s) for i, s in np.argwhere(world.flat.tested).tolist())]
        for i, j in pairs:
            self.geometry.addCollisionPair(pin.CollisionPair(i, j))
        self.found = self.geometry.createData()
        self.tree = pin.BroadPhaseManager_DynamicAABBTreeCollisionManager(self.model, self.geometry, self.found)

    def _place(self, figure: Figure, thing: Thing) -> tuple[int, Any]:
        X = self.pin.SE3(thing.X)
        if thing.joint < 0:
            return 0, X
        frame = self.model.frames[self.model.getFrameId(figure.compiled.joint_frame[thing.joint])]
        return frame.parentJoint, X  # the mannequin turns about x, y and z only, so that both have the same axes

    def collides(self, q: Array) -> bool:
        return bool(self.pin.computeCollisions(self.model, self.data, self.geometry, self.found, q[self.order], True))

    def collides_by_tree(self, q: Array) -> bool:
        return bool(self.pin.computeCollisions(self.model, self.data, self.tree, q[self.order], True))

    def distance(self, q: Array) -> float:
        k = self.pin.computeDistances(self.model, self.data, self.geometry, self.found, q[self.order])
        return float(self.found.distanceResults[k].min_distance)


def halves(world: World, peer: Peer) -> tuple[Array, Array]:
    """50 configurations that collide and 50 that do not, as both sides say."""
    Q = crossing(world.figures[0], 2000)
    ours, theirs = (np.array([side(q) for q in Q]) for side in (world.collides, peer.collides))
    if np.mean(ours == theirs) < 0.99:  # coal does not see what is wholly inside of a closed mesh
        raise AssertionError(f"only {np.mean(ours == theirs):.1%} agree")
    hit, free = np.flatnonzero(ours & theirs), np.flatnonzero(~ours & ~theirs)
    rng = np.random.default_rng(2)
    return Q[rng.choice(hit, 50, replace=False)], Q[rng.choice(free, 50, replace=False)]


def bench_checks() -> dict[str, float]:
    world = room()
    peer = Peer(world)
    hit, free = halves(world, peer)
    mixed = np.vstack([hit, free])
    for q in free[:10]:
        if not math.isclose(world.distance(q).value, peer.distance(q), abs_tol=1e-5):
            raise AssertionError("distances differ")

    sets = {"collision_check": mixed, "free_check": free}
    peers = {
        f"{who}.{name}_us": functools.partial(_each, side, Q)
        for name, Q in sets.items()
        for who, side in (("mannequin", world.collides), ("coal", peer.collides))
    }
    peers["coal.free_tree_check_us"] = functools.partial(_each, peer.collides_by_tree, free)
    times = interleaved(peers, repeat=7, number=1)
    out = {name: time / len(sets.get(name.split(".")[1].removesuffix("_us"), free)) for name, time in times.items()}
    distances = interleaved({
        "mannequin.distance_us": lambda: _each(world.distance, free[:10]),
        "coal.distance_us": lambda: _each(peer.distance, free[:10]),
    }, repeat=5, number=1)  # fmt: skip
    return out | {name: time / 10 for name, time in distances.items()}


def _each(question: Any, Q: Array) -> None:
    for q in Q:
        question(q)


def bench_motions() -> dict[str, float]:
    world = room()
    Q = crossing(world.figures[0], 530)
    gecko = library.named("gecko")
    climb = World(gecko, Scene("floor"))
    Q_gecko = gecko.start + np.random.default_rng(3).uniform(-0.2, 0.2, (1000, gecko.n_q))
    return {
        "mannequin.motion_check_us": best_of(lambda: world.check(Q), repeat=5, number=1),
        "mannequin.motion_proof_us": best_of(lambda: world.check(Q, between=True), repeat=3, number=1),
        "mannequin.clearances_us": best_of(lambda: world.clearances(Q[100], within=0.05)),
        "gecko.clearances_us": best_of(lambda: climb.clearances_along(Q_gecko, within=0.01), repeat=5, number=1) / 1000,
        "collision.one_second_us": 1e6,
    }
