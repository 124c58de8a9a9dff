"""World: figures and a scene, and all queries about distances and collisions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from bunraku.collision.between_samples import Passage, denser, passage
from bunraku.collision.coal_pairs import NarrowPhase
from bunraku.collision.collision_report import CollisionReport
from bunraku.collision.distance import Clearances, Distance, clearances, distances
from bunraku.collision.motion_check import check
from bunraku.collision.pair_rows import PairRows, nearest, rows, settled
from bunraku.collision.things import PairRules, things_of, unique
from bunraku.collision.world_arrays import MODE, STATUS
from bunraku.collision.world_layout import flat
from bunraku.errors import BunrakuError, MotionError, NotFinite
from bunraku.figure import Figure
from bunraku.motion import Motion
from bunraku.scene import Scene

Array = NDArray[np.float64]


class World:
    """Figures and their scene, built once; every query takes a configuration.

    With several figures, q holds their configurations one after another. Shapes on one body, and on bodies that a joint
    connects, may always touch. So may the pairs of frames that a figure allows, and the `allowed` pairs given here, by the
    names of shapes, frames, figures, obstacles, or groups of obstacles.

    Distances are exact between spheres and capsules, and from those to planes, boxes and meshes. Between all other shapes
    coal computes them, to 1e-6 m. A closed mesh is solid: a shape wholly inside of it overlaps it.

    figures: one or several. scene: obstacles and floor; None: none. allowed: pairs of names that may touch.
    Raises UnknownName for a name that nothing has, BunrakuError where there is no figure.
    """

    def __init__(
        self, figures: Figure | Sequence[Figure], scene: Scene | None = None, *, allowed: Iterable[tuple[str, str]] = ()
    ) -> None:
        self.figures = (figures,) if isinstance(figures, Figure) else tuple(figures)
        if not self.figures:
            raise BunrakuError("a world needs at least one figure\n  advice: World(figure, scene)")
        self.scene = scene = scene or Scene("nothing", floor=None)
        self.allowed = tuple((a, b) for a, b in allowed)
        moving, static = things_of(self.figures, scene)
        self.things = (*moving, *static)
        """All things that can touch: first the shapes that move, then what does not."""
        self.flat = flat(self.figures, moving, static, PairRules(self.figures, self.things, self.allowed))
        """The same things as flat arrays, for kernels."""
        self.narrow = NarrowPhase.of(self.flat, moving, static)
        """The same things as coal's geometries, for pairs that the kernels cannot decide."""
        self.names = tuple(thing.name for thing in self.things)
        self.n_q = sum(figure.n_q for figure in self.figures)

    def allowing(self, pairs: Iterable[tuple[str, str]]) -> World:
        """The same world in which these `pairs` of names may touch as well."""
        return World(self.figures, self.scene, allowed=(*self.allowed, *pairs))

    @property
    def start(self) -> Array:
        """The figures' start configurations."""
        return np.concatenate([figure.start for figure in self.figures])

    @property
    def pairs(self) -> tuple[tuple[str, str], ...]:
        """Every pair that is tested."""
        n = len(self.flat.joint)
        moving = self.flat.pairs[:, :2].tolist()
        static = [(i, n + s) for i, s in np.argwhere(self.flat.tested).tolist()]
        return tuple((self.names[i], self.names[j]) for i, j in [*moving, *static])

    # -- one configuration -------------------------------------------------------------------------------------------

    def collides(self, q: ArrayLike, *, margin: float = 0.0) -> bool:
        """Whether any pair is nearer than `margin` [m] at the configuration `q`."""
        Q = self._one(q)
        found = rows(self.flat, Q, within=_positive(margin, "margin"), mode=MODE.first)
        if not len(found):
            return False
        if (found.ints[:, 3] != STATUS.bound).any():
            return True
        return self.narrow.at(Q[0]).any_nearer(found.ints[:, 1:3].tolist(), margin)

    def contacts(self, q: ArrayLike) -> tuple[Distance, ...]:
        """The pairs that overlap at the configuration `q`, deepest first."""
        return distances(self.names, self._near(self._one(q), 0.0))

    def touching_at(self, q: ArrayLike | None = None) -> tuple[tuple[str, str], ...]:
        """The pairs of frames and obstacles that overlap at `q` (None: at the start), in the form that `allowing` takes."""
        found = self._near(self._one(self.start if q is None else q), 0.0)
        parts = [thing.part for thing in self.things]
        return tuple(dict.fromkeys((parts[i], parts[j]) for i, j in found.ints[:, 1:3].tolist()))

    def distance(self, q: ArrayLike) -> Distance:
        """The nearest pair at the configuration `q`; infinitely far where nothing can touch."""
        Q = self._one(q)
        found = nearest(self.narrow, Q, rows(self.flat, Q, within=math.inf, mode=MODE.nearest))
        if not len(found):
            return Distance(math.inf, "", "", np.zeros(3), np.zeros(3), np.zeros(3))
        return distances(self.names, found)[0]

    def clearances(self, q: ArrayLike, *, within: float) -> Clearances:
        """Every pair nearer than `within` [m] at the configuration `q`, with gradients."""
        return self.clearances_along(self._one(q), within=within)

    # -- many configurations -----------------------------------------------------------------------------------------

    def clearances_along(self, motion: Motion | ArrayLike, *, within: float) -> Clearances:
        """Every pair nearer than `within` [m] at each sample of a `motion`, or of configurations (T, n_q), with gradients."""
        Q = self.samples(motion)
        return clearances(self.names, self.flat, Q, self._near(Q, within))

    def check(self, motion: Motion | ArrayLike, *, between: bool = False) -> CollisionReport:
        """Clearance and overlaps of a `motion` or of configurations (T, n_q); with `between`, also on the lines between them."""
        return check(self.narrow, self.names, self.samples(motion), between=between)

    def denser(self, motion: Motion | ArrayLike, *, step: float = 0.005) -> Array:
        """A `motion` or configurations (T, n_q) with more samples: no point of a shape moves more than `step` [m] between two."""
        return denser(self.flat, self.samples(motion), step=_positive(step, "step", zero=False))[1]

    # -- between two configurations ----------------------------------------------------------------------------------

    def free_between(self, q_a: ArrayLike, q_b: ArrayLike, *, margin: float = 0.0, resolution: float = 1e-4) -> bool:
        """Whether the line from `q_a` to `q_b` is certain to keep `margin` [m]; `resolution` [m] as in `between`."""
        return self.between(q_a, q_b, margin=margin, resolution=resolution).free

    def between(self, q_a: ArrayLike, q_b: ArrayLike, *, margin: float = 0.0, resolution: float = 1e-4) -> Passage:
        """Whether the straight line from `q_a` to `q_b` is certain to be free; if not, where a pair comes nearer than `margin` [m].

        A pair that comes nearer to the margin than about `resolution` [m] is not called free, even if it keeps the margin.
        """
        margin, resolution = _positive(margin, "margin"), _positive(resolution, "resolution", zero=False)
        (start,), (end,) = self._one(q_a), self._one(q_b)
        return passage(self.narrow, self.names, start, end, margin=margin, resolution=resolution)

    # -- checks of arguments -----------------------------------------------------------------------------------------

    def _near(self, Q: Array, within: float) -> PairRows:
        if math.isnan(within):
            raise NotFinite("within is not a number")
        return settled(self.narrow, Q, rows(self.flat, Q, within=within, mode=MODE.all))

    def samples(self, motion: Motion | ArrayLike) -> Array:
        """The configurations (T, n_q) of a `motion`; raises MotionError if it is of other figures, NotFinite for NaN."""
        return self._checked(self._of_motion(motion) if isinstance(motion, Motion) else motion, 2)

    def _one(self, q: ArrayLike) -> Array:
        return self._checked(q, 1)

    def _checked(self, q: ArrayLike, dimensions: int) -> Array:
        Q = np.array(q, float)
        if Q.ndim != dimensions or Q.shape[-1] != self.n_q:
            who = " and ".join(figure.name for figure in self.figures)
            wanted = f"({self.n_q},)" if dimensions == 1 else f"(samples, {self.n_q})"
            raise BunrakuError(f"{who}: {self.n_q} variables, but q has shape {Q.shape}; give it the shape {wanted}")
        if not np.isfinite(Q).all():
            names = [name for figure in self.figures for name in figure.names]
            raise NotFinite(f"q is not finite at {names[int(np.argwhere(~np.isfinite(Q))[0, -1])]}")
        return Q.reshape(-1, self.n_q)

    def _of_motion(self, motion: Motion) -> Array:
        """The tracks of this world's figures, found by name; else by order, if there are as many."""
        tracks = {track.name: track for track in motion.tracks}
        wanted = unique(figure.name for figure in self.figures)
        if all(name in tracks for name in wanted):
            found = [tracks[name] for name in wanted]
        elif len(motion.tracks) == len(wanted):
            found = list(motion.tracks)
        else:
            raise MotionError(f"the motion has no tracks of {', '.join(wanted)}", advice=f"its tracks are {', '.join(tracks)}")
        for figure, track in zip(self.figures, found, strict=True):
            if track.figure.names != figure.names:
                raise MotionError(
                    f"the track {track.name} is not of {figure.name}", advice="build the world of the motion's figure"
                )
        return np.hstack([track.q for track in found])

    def __repr__(self) -> str:
        n, s = len(self.flat.joint), len(self.flat.kind)
        return f"<World: {n} shapes that move, {s} that do not, {len(self.flat.triangles):,} triangles>"


def _positive(length: float, what: str, *, zero: bool = True) -> float:
    """A length, checked to be positive (or zero, if allowed) and finite."""
    if not (0.0 < length < math.inf or (zero and length == 0.0)):
        advice = "give metres, zero or more" if zero else "give a positive length in metres"
        raise BunrakuError(f"a {what} of {length} m is not possible\n  advice: {advice}")
    return float(length)
