"""Figures on strings, wires and closures that can be asked for the impossible, each in its own way."""

from __future__ import annotations

from collections.abc import Callable

from bunraku.figure import Figure
from bunraku.figure.build import (
    ball,
    body,
    capsule,
    closure,
    contact,
    drum,
    eyelet,
    figure,
    fixed,
    free,
    pulley,
    rx,
    ry,
    rz,
    spindle,
    string,
    tx,
    ty,
    tz,
    wire,
)
from bunraku.figure.build.items import FrameNode

Where = tuple[float, float, float]


def bob(name: str, mass: float, at: Where) -> FrameNode:
    """A point that may be anywhere."""
    return tx(f"{name}_x", ty(f"{name}_y", tz(name, body(mass), start=at[2]), start=at[1]), start=at[0])


def puppet(name: str, at: Where, mass: float = 1.0) -> FrameNode:
    """A trunk with a head and two arms of two links each."""

    def arm(side: str, x: float) -> FrameNode:
        lower = rx(f"{name}_{side}_elbow", capsule(0.02, to=(0, 0, -0.2), mass=0.1 * mass),
                   fixed(f"{name}_{side}_hand", at=(0, 0, -0.2)), at=(0, 0, -0.2))  # fmt: skip
        return ball(f"{name}_{side}", capsule(0.02, to=(0, 0, -0.2), mass=0.1 * mass), lower, at=(x, 0, 0))

    return free(
        name, capsule(0.06, to=(0, 0, -0.3), mass=0.6 * mass), fixed(f"{name}_head", at=(0, 0, 0.1)),
        arm("left", -0.15), arm("right", 0.15), start=(*at, 0, 0, 0),
    )  # fmt: skip


def two_on_a_spindle() -> Figure:
    """Two puppets, all of whose strings are wound on the same two spindles."""
    return figure(
        "two_on_a_spindle", puppet("one", (0, 0, 0)), puppet("two", (0.5, 0, 0.1), 0.5),
        spindle("left", at=(0, 0, 1.2), moves="xyz"), spindle("right", at=(0.5, 0, 1.2), moves="xyz"),
        strings=[
            string(f"{who}_{part}_{side}", f"{who}_{part}", f"{side}_spindle")
            for who in ("one", "two") for part in ("head", "left_hand", "right_hand") for side in ("left", "right")
        ],
    )  # fmt: skip


def two_on_a_bar() -> Figure:
    """Two puppets on strings of fixed length below one bar that travels and rocks."""
    ends = (("one", -0.4), ("two", 0.4))
    ties = [fixed(f"tie_{who}_{k}", at=(x + y, 0, 0)) for who, x in ends for k, y in (("left", -0.15), ("mid", 0), ("right", 0.15))]
    bar = tx(
        "bar_x",
        ty("bar_y", tz("bar_z", ry("bar", *ties, kinematic=True), kinematic=True, start=1.0), kinematic=True),
        kinematic=True,
    )
    strings = [string(f"{who}_head", f"{who}_head", f"tie_{who}_mid", 0.9) for who, _ in ends]
    strings += [
        string(f"{who}_{side}", f"{who}_{side}_hand", f"tie_{who}_{side}", 1.41) for who, _ in ends for side in ("left", "right")
    ]
    return figure("two_on_a_bar", *(puppet(who, (x, 0, 0)) for who, x in ends), bar, strings=strings)


def tug_of_war() -> Figure:
    """One length pays out one string and winds in another; a third string ties the two bobs."""
    return figure(
        "tug_of_war", bob("a", 0.4, (-0.3, 0, -0.5)), bob("b", 0.2, (0.3, 0, -0.5)),
        spindle("left", at=(-0.3, 0, 0)), spindle("right", at=(0.3, 0, 0)), tx("winch", kinematic=True),
        strings=[
            string("one", "a", "left_spindle", 0.5, variable="winch", ratio=1.0),
            string("other", "b", "right_spindle", 0.5, variable="winch", ratio=-0.5),
            string("between", "a", "b", 0.7), string("leash", "b", ("world", (0.3, 0, -1.0)), 0.8),
        ],
    )  # fmt: skip


def wire_loop() -> Figure:
    """A tetrahedron of wires, one more than it needs, that hangs from a hand by a wire of variable length and from a nail."""
    corners = {"p": (0, 0, -0.5), "q": (0.3, 0, -0.8), "r": (-0.15, 0.26, -0.8), "s": (-0.15, -0.26, -0.8)}
    names = list(corners)
    return figure(
        "wire_loop", *(bob(name, 0.2, at) for name, at in corners.items()), spindle("hand", moves="xyz"),
        strings=[
            *(wire(f"{a}{b}", a, b, sum((x - y) ** 2 for x, y in zip(corners[a], corners[b], strict=True)) ** 0.5)
              for k, a in enumerate(names) for b in names[k + 1 :]),
            wire("stem", "p", "hand_spindle"), string("nail", "q", ("world", (0.3, 0, 0.4)), 1.4),
        ],
    )  # fmt: skip


def linkage() -> Figure:
    """A four-bar linkage whose crank, the puppeteer's, cannot go round; its rocker hangs a bob on a string."""
    return figure(
        "linkage",
        ry("rocker", body(0.3, (0, 0, 0.15), (2e-3, 2e-3, 2e-4)), fixed("horn", at=(0, 0, 0.3)), at=(0.3, 0, 0)),
        bob("weight", 0.3, (0.3, 0, -0.1)),
        ry("crank", ry("coupler", body(0.2, (0.15, 0, 0), (1e-4, 2e-3, 2e-3)), at=(0, 0, 0.3)), kinematic=True),
        strings=[string("plumb", "weight", "horn", 0.4)],
        closures=[closure("pin", ("coupler", (0.3, 0, 0)), "horn")],
    )  # fmt: skip


def light_and_heavy() -> Figure:
    """Beads of 0.1 g and weights of 100 kg, by turns, on strings and wires one below the other."""
    masses = (1e-4, 1e2, 1e-2, 1e2, 1e-4)
    beads = [bob(f"m{k}", mass, (0.05 * k, 0, -0.3 * (k + 1))) for k, mass in enumerate(masses)]
    step = (0.05**2 + 0.3**2) ** 0.5
    return figure(
        "light_and_heavy", *beads, spindle("hand", moves="xyz"), spindle("side", at=(0.8, 0, -1.0), moves="xz"),
        strings=[
            string("top", "m0", "hand_spindle"), string("s1", "m1", "m0", step), wire("w2", "m2", "m1", step),
            string("s3", "m3", "m2", step), string("s4", "m4", "m3", step), string("pull", "m4", "side_spindle"),
        ],
    )  # fmt: skip


def hopper() -> Figure:
    """A puppet with feet on a floor that the puppeteer lifts, under three strings."""
    soles = [("sole", (0.05, 0.04, -0.3)), ("heel", (-0.05, 0.04, -0.3)), ("toe", (0.0, -0.06, -0.3))]
    return figure(
        "hopper", puppet("one", (0, 0, 0.3)), tz("floor", kinematic=True),
        spindle("head", at=(0, 0, 1.5), moves="xyz"), spindle("left", at=(-0.15, 0, 1.5)), spindle("right", at=(0.15, 0, 1.5)),
        strings=[
            string("head", "one_head", "head_spindle"), string("left", "one_left_hand", "left_spindle"),
            string("right", "one_right_hand", "right_spindle"),
        ],
        contacts=[
            *(contact(name, ("one", at), "floor", friction=f) for (name, at), f in zip(soles, (0.5, 0.3, 0.0), strict=True)),
            *(contact(f"{side}_palm", f"one_{side}_hand", ("floor", (0, 0, -0.2))) for side in ("left", "right")),
        ],
    )  # fmt: skip


def eyelets() -> Figure:
    """One string from a hand through rings on two bodies and in the world to the other hand, another through a moving ring."""
    return figure(
        "eyelets",
        ball("upper", capsule(0.03, to=(0, 0, -0.3), mass=0.4), fixed("ring", at=(0.05, 0, -0.2)),
             rx("lower", capsule(0.02, to=(0, 0, -0.25), mass=0.2), fixed("tip", at=(0, 0, -0.25)), at=(0, 0, -0.3))),
        bob("pulley", 0.5, (0.4, 0, -0.4)),
        spindle("left", at=(-0.3, 0, 0.3), moves="xyz"), spindle("right", at=(0.8, 0, 0.3), moves="xz"),
        strings=[
            string("long", "tip", "left_spindle", through=["ring", ("world", (0.1, 0.1, 0.1))]),
            string("sling", "left_spindle", "right_spindle", through=["pulley"]),
            string("down", "pulley", "tip", 0.6),
        ],
    )  # fmt: skip


def drums() -> Figure:
    """A dynamic drum that winds one weight up and lets another down, hung from a hand; a second drum is the puppeteer's."""
    return figure(
        "drums",
        tx("frame_x", tz("frame", body(0.3), rx("drum", body(0.5, inertia=(2e-3, 1e-3, 1e-3)), damping=0.01), start=-0.4)),
        bob("one", 0.5, (-0.1, 0, -1.0)), bob("two", 0.6, (0.1, 0, -1.0)), rx("winch", kinematic=True), spindle("hand", moves="xz"),
        strings=[
            string("hang", "frame", "hand_spindle"),
            string("up", "one", ("frame", (-0.1, 0, 0)), 0.6, variable="drum", ratio=0.1),
            string("down", "two", ("frame", (0.1, 0, 0)), 0.6, variable="drum", ratio=-0.1),
            string("stay", "frame", ("world", (0.6, 0, 0.4)), 1.0, variable="winch", ratio=0.05),
        ],
    )  # fmt: skip


def stopped() -> Figure:
    """An arm between stops, welded at its wrist to a carriage that the puppeteer turns, with a finger on two strings."""
    return figure(
        "stopped",
        ry("shoulder", capsule(0.03, to=(0, 0, -0.3), mass=0.5),
           ry("elbow", capsule(0.03, to=(0, 0, -0.3), mass=0.4), fixed("wrist", at=(0, 0, -0.3)),
              rx("finger", capsule(0.01, to=(0, 0, -0.1), mass=0.02), fixed("nail", at=(0, 0, -0.1)), at=(0, 0, -0.3),
                 limits=(-0.4, 0.6)),
              at=(0, 0, -0.3), limits=(-0.1, 2.5), start=0.5),
           limits=(-1.0, 1.0), start=-0.2),
        free("sledge", body(0.3, inertia=(1e-3, 1e-3, 1e-3)), start=(0.2, 0, -0.7, 0, 0, 0)),
        tx("rail", ry("tilt", fixed("holder", at=(0.2, 0, -0.7)), kinematic=True), kinematic=True),
        spindle("hand", at=(0, 0.3, -0.4), moves="xyz"), spindle("other", at=(0, -0.3, -0.4), moves="xyz"),
        strings=[
            string("front", "nail", "hand_spindle"), string("back", "nail", "other_spindle"), string("tow", "sledge", "wrist", 0.5),
        ],
        closures=[closure("grip", "sledge", "holder", "hinge")],
    )  # fmt: skip


def bungee() -> Figure:
    """A bob between a string that stretches, one that does not, and a rod that does."""
    return figure(
        "bungee", bob("bob", 0.4, (0, 0, -0.5)), bob("tail", 0.1, (0, 0, -0.8)),
        spindle("hand", moves="xyz"), spindle("side", at=(0.6, 0, -0.5)),
        strings=[
            string("cord", "bob", "hand_spindle", stiffness=30.0, damping=0.2),
            string("leash", "bob", ("world", (0, 0, -1.2)), 0.75),
            wire("rod", "tail", "bob", 0.3, stiffness=200.0), string("pull", "tail", "side_spindle"),
        ],
    )  # fmt: skip


def chafed() -> Figure:
    """Two bobs of very different mass on strings that rub: at eyelets that the hands move, and on each other's way to one hand."""
    return figure(
        "chafed", bob("light", 1e-3, (-0.3, 0, -0.6)), bob("heavy", 20.0, (0.3, 0.1, -0.6)),
        spindle("bar", at=(0, 0, 0.2), moves="xyz"), spindle("tail", at=(0.8, 0, -0.2)),
        strings=[
            string("rope", "light", "heavy",
                through=[eyelet(("bar_spindle", (-0.2, 0, 0)), 0.3), eyelet(("bar_spindle", (0.2, 0.05, 0)), 0.8)]),
            string("leash", "light", "tail_spindle", through=[eyelet(("world", (0.1, 0.1, -0.1)), 2.0)]),
            string("stay", "heavy", ("world", (0.3, 0, 0)), 1.5),
        ],
    )  # fmt: skip


def capstan() -> Figure:
    """A box on a rough floor, on a rope round a capstan that the puppeteer turns, over a sheave that the rope turns, to a hand."""
    return figure(
        "capstan",
        tx("box_x", tz("box", ry("tilt", body(2.0, inertia=(0.05, 0.05, 0.05)))), at=(-1, 0, 0.1)),
        rz("barrel", kinematic=True),
        ry("sheave", body(0.1, inertia=(1e-4, 1e-4, 1e-4)), at=(1.0, 0.1, 0.5)),
        spindle("hand", at=(1.5, 0.1, -0.1), moves="xz"),
        strings=[
            string("rope", ("tilt", (0.1, -0.1, 0)), "hand_spindle", through=[
                pulley("barrel", 0.1, "z", turn=1, turns=2, friction=0.3), ("world", (0.5, 0.1, 0.3)),
                pulley("sheave", 0.05, "y", turn=1, friction=0.5), eyelet(("world", (1.2, 0.1, 0.2)), 0.1)]),
            string("check", ("tilt", (-0.1, 0, 0)), ("world", (-2.0, 0, 0.1)), 1.5,
                through=[pulley(("world", (-1.5, 0.3, 0.1)), 0.05, "z", turn=-1, friction=0.2)]),
        ],
        contacts=[contact(f"runner{s}", ("tilt", (0.1 * s, 0, -0.1)), friction=0.4) for s in (-1, 1)],
    )  # fmt: skip


def hoists() -> Figure:
    """Loads on two drums that wind in layers: one turns freely on a boom that the puppeteer moves, one is his. A rope brakes it."""
    return figure(
        "hoists", bob("load", 2.0, (0.05, 0, -0.6)), bob("second", 0.1, (-0.54, 0, -0.7)),
        tx("boom_x", tz("boom", ry("reel", body(0.3, inertia=(1e-3, 2e-3, 1e-3)), damping=0.01), kinematic=True), kinematic=True),
        ry("winch", kinematic=True), spindle("tail", at=(0.8, 0, -0.5), moves="xz"),
        strings=[
            string("rope", "load", drum("boom", 0.05, "y", turn=-1, towards=(0, 0, -1), turns=1.5, thickness=0.01), 0.6,
                variable="reel"),
            string("brake", "load", "tail_spindle", through=[pulley(("boom", (0.4, 0, 0.1)), 0.06, "y", turn=1, friction=0.4)]),
            string("hoist", "second",
                drum(("world", (-0.5, 0, 0)), 0.04, "y", turn=1, towards=(0, 0, -1), turns=1.0, thickness=0.02), 0.7,
                variable="winch"),
            string("tie", "load", "second", 1.0),
        ],
    )  # fmt: skip


TROUPE: tuple[Callable[[], Figure], ...] = (
    two_on_a_spindle, two_on_a_bar, tug_of_war, wire_loop, linkage, light_and_heavy, hopper, eyelets, drums, stopped, bungee,
    chafed, capstan, hoists,
)  # fmt: skip
