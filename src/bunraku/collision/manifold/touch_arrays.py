"""The arrays of bodies that may touch, and of the contacts that a step takes into account.

A body is a convex core with a radius: a point (sphere), a segment (capsule), a polytope (box, convex mesh), a half-space, or a
cylinder. Cores are given by vertices, edges and faces in the axes of the joint that carries them; joint −1 is the world.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any, NamedTuple

import numpy as np

from bunraku.kernels.compile import inline


class BodyKind(NamedTuple):
    """Kinds of bodies, and numbers of their features."""

    point: int = 0
    segment: int = 1
    polytope: int = 2
    half_space: int = 3
    """One face without a boundary."""
    cylinder: int = 4
    """Vertices: the centres of both ends; one edge between them; faces: both ends; the radius is that of the mantle."""
    edge: int = 1 << 32
    """Numbers of features in the key of a contact: vertices as they are numbered, edges from this on, …"""
    face: int = 2 << 32
    rim: int = 3 << 32
    corner: int = 1 << 16
    """Corners that clipping makes: the vertex before them, and a multiple of this for each side that cut."""


BODY = BodyKind()


class TouchWorld(NamedTuple):
    """All bodies; `bodies`, `vertices`, … are numbers of them."""

    kind: Any
    """(bodies,) one of BODY."""
    joint: Any
    """(bodies,)"""
    radius: Any
    """(bodies,) [m]."""
    first: Any
    """(bodies, 4) the first vertex, edge, face and edge direction of each."""
    count: Any
    """(bodies, 4) how many of each it has."""
    centre: Any
    """(bodies, 3) of a ball around each."""
    bound: Any
    """(bodies,) radius of that ball [m]; infinite for a half-space."""
    inner: Any
    """(bodies,) radius of a ball inside each [m]; infinite for a half-space."""
    vertices: Any
    """(vertices, 3)"""
    edges: Any
    """(edges, 2) vertices."""
    axes: Any
    """(directions, 3) directions of edges, one of those that are parallel."""
    faces: Any
    """(faces, 3) outward normals."""
    loop: Any
    """(faces, 2) the first entry of each in `loops`, and how many vertices it has."""
    loops: Any
    """Vertices around each face, counterclockwise from outside."""
    may: Any
    """(bodies, bodies) which may touch."""
    matter: Any
    """(bodies, bodies, 4) friction, restitution, adhesion [N], rolling resistance [m]."""


class Placed(NamedTuple):
    """Where bodies are at one configuration, relative to the origin of a step."""

    R: Any
    """(joints, 3, 3) axes, by rows."""
    p: Any
    """(joints, 3)"""
    S: Any
    """(joints, 6)"""
    x: Any
    """(vertices, 3)"""
    n: Any
    """(faces, 3)"""
    c: Any
    """(bodies, 3) centres."""


class KnownStart(IntEnum):
    """What a step leaves for the next, which begins where it ends."""

    JOINTS = 0
    """Where joints are."""
    GAPS = 1
    """Gaps of links, in the workspace of steps with contacts."""
    GAPS_ALONE = 2
    """The same in the workspace of steps without contacts."""


class WatchedPairs(NamedTuple):
    """How far bodies have travelled since each pair that may touch was last looked at. All of it is kept between calls."""

    watched: Any
    """(pairs, 2) all that may touch, where these are few; else none."""
    concerned: Any
    """(bodies,) whether each is in one of these."""
    until: Any
    """(pairs,) how far the two bodies of each may have travelled together before they can be near [m]."""
    travelled: Any
    """(bodies, 2) how far the segment in each has come at the start of the step, and will have come at its end, at most [m]."""
    last_c: Any
    """(bodies, 3) centres when that was last looked at."""
    last_R: Any
    """(joints, 3, 3) axes then."""


class NearBodies(NamedTuple):
    """Scratch of the broad phase."""

    order: Any
    """(bodies,) sorted by `low`."""
    low: Any
    """(bodies, 3) of the box around each while it moves."""
    high: Any
    """(bodies, 3)"""
    pairs: Any
    """(capacity, 2) near pairs."""
    count: Any
    """(2,) how many there are, and of how many no features were found that may meet, although these may."""
    put: Any
    """(bodies, 2) whether features of each are placed at the start and at the end of the step."""
    turned: Any
    """(bodies,) how far turning moves the surface of each outward, at most [m]."""
    known_turn: Any
    """(bodies,) whether that is known."""
    known: Any
    """(3,) what is already known of the start of the next step, by KnownStart."""
    polygon: Any
    """(2, 64, 4) vertices and where they come from: scratch of clipping."""
    watched: Any
    """This and the others are those of WatchedPairs."""
    concerned: Any
    until: Any
    travelled: Any
    last_c: Any
    last_R: Any


class Contacts(NamedTuple):
    """Contacts of a step: rows of links and points behind those of the figure itself."""

    links: Any
    points: Any
    support: Any
    elimination: Any
    key: Any
    """(capacity, 4) bodies a and b, features of a and b."""
    head: Any
    """(capacity + 1,) the row of the normal of each contact, and the end of the last."""
    number: Any
    """(6,) contacts, links, points, 1 where there were more than there is room for, strings that may lie on bodies, and the first
    point behind those of the figure and its strings."""
    speed: Any
    """(capacity,) at which each met, for restitution [m/s]."""
    stick: Any
    """(links,) impulse of adhesion of each normal [N·s]."""
    normal: Any
    """(capacity, 3) from b to a, where each was found."""
    plane: Any
    """(capacity,) the contact of the same bodies in whose plane slips of each are measured; −1: in its own; or MANIFOLD.is_away."""
    height: Any
    """(capacity,) above that plane at the start of the step [m]."""


class ManifoldOptions(NamedTuple):
    """Numbers that tune which contacts a step takes into account, and steps with them."""

    reach: float = 2e-3
    """How far apart features may be, besides what they move, and still be taken into account [m]."""
    watched: int = 16
    """Pairs that may touch for each body, up to which all are watched one by one; with more, bodies are sorted."""
    few_variables: int = 64
    """Variables of a figure whose matrix is filled eight at a time: with more, most of the eight are of other parts."""
    max_depth: float = 2e-7
    """How deep bodies may be in each other at the end of a step [m]; deeper ones get more contacts."""
    parallel: float = 1e-3
    """Sine of an angle below which edges are parallel."""
    grazing: float = 0.05
    """Sine of an angle below which a rim runs along what it crosses."""
    standing: float = 0.995
    """Cosine of the angle between axis and normal above which a cylinder stands on its end."""
    one_plane: float = 0.999
    """Cosine of the angle between normals of contacts of two bodies above which their slips are measured in one plane."""
    lowest: float = 5e-4
    """σ: how much higher than the lowest a contact may be and still count for the height of that plane [m]."""
    beside: float = 1e-3
    """How far beside its face a point may be and still touch it [m]."""
    away: float = 1e3
    """By which a contact that is none is moved away [m]."""
    is_away: int = -2
    """Its mark in Contacts.plane."""
    max_rounds: int = 12
    """Times that a step is solved with more contacts, at most."""
    parts: int = 256
    """Parts of a step that cannot be taken at once, at most; a power of two."""
    firm: int = 16
    """How many of these make a part that is not divided any more, unless bodies that touch whirl in it; a power of two."""
    unlike: float = 1e-4
    """How much deeper than the shallowest contact of a cylinder another of the same pair may be, and count [m]."""
    overtaken: float = 1e-5
    """How deep a contact that acts may have been at the start of a step [m]; a step that needs deeper ones is taken in parts."""
    false: float = 1e-6
    """How far two bodies may overlap along the normal of a contact that acts [m]; else it is none."""
    as_guessed: float = 1e-4
    """How far a step may end from its guess, and need no second look at bodies that stayed apart [rad or m]."""
    slow: float = 2.5
    """A contact that meets more slowly than gravity makes it in so many steps does not bounce."""
    max_open: float = 1e-7
    """How far open a row may be at the end of a step [m or rad]."""
    closed: float = 1e-7
    """How far open a contact may be and still be held by adhesion [m]."""
    face_bias: float = 1e-6
    """How much further apart edges must be than faces, to be chosen [m]."""


MANIFOLD = ManifoldOptions()


@inline
def place_room(n_joints, world):
    """Room for bodies at one configuration."""
    return Placed(
        R=np.empty((n_joints, 3, 3)), p=np.empty((n_joints, 3)), S=np.empty((n_joints, 6)),
        x=np.empty((world.vertices.shape[0], 3)),
        n=np.empty((world.faces.shape[0], 3)), c=np.empty((world.kind.shape[0], 3)),
    )  # fmt: skip


def watched_pairs(n_joints: int, world: TouchWorld) -> WatchedPairs:
    """All pairs of the bodies of `world` that may touch, none of which was looked at yet; none where they are many.

    n_joints: number of joints of the figure
    """
    m, pairs = len(world.kind), np.argwhere(np.triu(world.may, 1))
    if len(pairs) > MANIFOLD.watched * m:
        pairs = pairs[:0]
    concerned = np.zeros(m, np.bool_)
    concerned[pairs.ravel()] = True
    return WatchedPairs(
        np.ascontiguousarray(pairs, np.int64), concerned, np.full(len(pairs), -np.inf), np.zeros((m, 2)), np.zeros((m, 3)),
        np.zeros((n_joints, 3, 3)),
    )  # fmt: skip


@inline
def near_room(world, watch, capacity):
    """Room for the broad phase."""
    m = world.kind.shape[0]
    return NearBodies(
        order=np.arange(m), low=np.empty((m, 3)), high=np.empty((m, 3)), pairs=np.empty((capacity, 2), np.int64),
        count=np.zeros(2, np.int64), put=np.zeros((m, 2), np.bool_), turned=np.empty(m), known_turn=np.zeros(m, np.bool_),
        known=np.zeros(3, np.bool_), polygon=np.empty((2, 64, 4)), watched=watch.watched, concerned=watch.concerned,
        until=watch.until, travelled=watch.travelled, last_c=watch.last_c, last_R=watch.last_R,
    )  # fmt: skip
