"""Small figures, each of which has something that the library's have not."""

from __future__ import annotations

from collections.abc import Callable

from bunraku.figure import Figure
from bunraku.figure.build import (
    ball,
    body,
    box,
    branch,
    capsule,
    closure,
    contact,
    drum,
    effort,
    figure,
    fixed,
    free,
    pulley,
    push,
    rotate,
    rx,
    ry,
    rz,
    screw,
    spindle,
    spring,
    string,
    tx,
    tz,
    wire,
)


def springy() -> Figure:
    """Two arms joined by a spring, tied to a carriage by another; a wind and a jet push."""
    return figure(
        "springy",
        ball(
            "left", capsule(0.03, to=(0, 0, -0.3), mass=0.4),
            rx(
                "left_elbow", capsule(0.02, to=(0.05, 0, -0.2), mass=0.3), fixed("left_hand", at=(0.05, 0, -0.2)),
                at=(0, 0, -0.3),
            ),
            at=(-0.2, 0, 0),
        ),
        rotate(
            (0.3, 1.0, 0.2), "right", capsule(0.03, to=(0, 0, -0.4), mass=0.5), fixed("right_hand", at=(0, 0, -0.4)),
            at=(0.2, 0, 0),
        ),
        spindle("hook", at=(0.1, 0.2, 0.3), moves="xyz"),
        springs=[
            spring("band", "left_hand", "right_hand", 30.0, 0.2, 0.7),
            spring("rubber", ("left", (0.01, 0.02, -0.1)), "hook_spindle", 20.0, 0.1, 0.4),
            spring("tie", "right_hand", ("world", (0.3, 0.1, -0.6)), 15.0, 0.05, 0.0),
        ],
        forces=[
            effort("left_elbow", gain=1.5), push("wind", ("left_hand", (0.01, 0, 0)), (1.0, 2.0, 0.5)),
            push("jet", ("left_hand", (0, 0.02, 0)), (0.3, 0.1, 1.0), turns=True),
            push("gust", ("right_hand", (0, 0.02, 0)), (0.3, -1.0, 0.4), turns=True),
        ],
    )  # fmt: skip


def reeved() -> Figure:
    """Strings through eyelets on bodies and in the world, a rod, and two drums: one dynamic, one the puppeteer's."""
    return figure(
        "reeved",
        ball(
            "shoulder", capsule(0.03, to=(0, 0, -0.3), mass=0.4), fixed("ring", at=(0.03, 0.02, -0.15)),
            ry(
                "elbow", capsule(0.02, to=(0.1, 0.05, -0.2), mass=0.3), fixed("wrist", at=(0.1, 0.05, -0.2)),
                at=(0, 0, -0.3),
            ),
            at=(0, 0.1, 1.0),
        ),
        rx("drum", body(0.5, inertia=(2e-3, 1e-3, 1e-3)), at=(0.4, 0, 1.2), damping=0.05),
        tz("weight", body(0.6, inertia=(1e-3, 1e-3, 1e-3)), at=(0.4, 0.05, 0.4), start=0.1),
        rx("winch", kinematic=True),
        spindle("hand", at=(0.1, 0.2, 1.8)),
        strings=[
            string("long", "wrist", "hand_spindle", through=["ring", ("world", (0.05, 0.15, 1.4))]),
            string("wound", "weight", ("world", (0.4, 0.05, 1.2)), 0.7, variable="drum", ratio=0.05),
            string("winched", "ring", ("world", (-0.3, 0.2, 1.5)), 0.8, variable="winch", ratio=-0.06),
            wire("rod", ("shoulder", (0.0, 0.03, -0.2)), ("world", (0.2, 0.5, 0.9))),
        ],
    )  # fmt: skip


def carried() -> Figure:
    """Mass on kinematic joints, above and below the dynamic ones; a screw, a rotor, a joint spring."""
    return figure(
        "carried",
        tx(
            "crane", body(3.0, inertia=(0.1, 0.2, 0.3)),
            rz(
                "boom", body(1.0, (0.3, 0, 0), (0.02, 0.05, 0.05)),
                ball(
                    "load", capsule(0.04, to=(0, 0, -0.5), mass=0.7),
                    rx(
                        "wrist", body(0.3, (0, 0.05, -0.1), (1e-3, 2e-3, 1e-3)),
                        ry(
                            "flap", body(0.2, (0.05, 0, -0.05), (1e-3, 1e-3, 2e-3)), at=(0, 0.1, -0.1),
                            stiffness=0.5, rest=0.3, damping=0.02,
                        ),
                        at=(0, 0, -0.5), kinematic=True,
                    ),
                    at=(0.6, 0, 0),
                ),
                kinematic=True, at=(0, 0, 0.5),
            ),
            kinematic=True,
        ),
        screw(
            (1.0, 1.0, 0.3), 0.05, "bolt", body(0.5, (0.1, 0, 0), (1e-3, 2e-3, 3e-3)), at=(0, 1, 0),
            armature=0.02, damping=0.1,
        ),
        springs=[spring("band", ("flap", (0.1, 0, 0)), ("boom", (0.2, 0.1, 0.0)), 10.0, 0.3, 0.2)],
    )  # fmt: skip


def looped() -> Figure:
    """A four-bar linkage closed by a point although it moves in a plane: a row too many. A stick with its end on a plane."""
    link = {"inertia": (2e-3, 2e-3, 2e-4)}
    return figure(
        "looped",
        ry(
            "crank", body(0.3, (0, 0, 0.1), **link),
            ry("coupler", body(0.4, (0.2, 0, 0), **link), at=(0, 0, 0.2), start=0.0), start=0.0,
        ),
        ry("rocker", body(0.3, (0, 0, 0.1), **link), at=(0.4, 0, 0)),
        ball("stick", capsule(0.02, to=(0, 0, -0.4), mass=0.4), at=(1, 0, 0.3), start=(0.1, 0.2, 0.72273425)),
        closures=[
            closure("pin", ("coupler", (0.4, 0, 0)), ("rocker", (0, 0, 0.2))),
            closure("floor", ("stick", (0, 0, -0.4)), ("world", (1, 0, 0.3 - 0.4 * 0.735138)), "plane"),
        ],
    )  # fmt: skip


def welded() -> Figure:
    """A free body that hangs from a moving holder by a point, a second by a hinge, a third by a weld."""
    block = {"inertia": (0.01, 0.02, 0.03)}
    return figure(
        "welded",
        free("one", body(0.5, (0.05, 0, -0.1), **block), start=(0.1, 0, 0.8, 0.1, 0.2, 0.3)),
        free("two", body(0.6, (0, 0.05, -0.1), **block), start=(0.3, 0, 0.8, 0, 0, 0)),
        free("three", body(0.7, (0, 0, -0.1), **block), start=(0.5, 0, 0.8, 0, 0, 0)),
        tx("rail", ry("tilt", fixed("holder", at=(0, 0, 0.8)), kinematic=True, at=(0, 0, 0)), kinematic=True),
        closures=[
            closure("point", "one", ("holder", (0.1, 0, 0)), "point"),
            closure("hinge", "two", ("holder", (0.3, 0, 0)), "hinge"),
            closure("weld", "three", ("holder", (0.5, 0, 0)), "weld"),
        ],
    )  # fmt: skip


def stretched() -> Figure:
    """An arm on strings that stretch: soft and damped through an eyelet, stiff, and one on a drum that turns; and a springy rod."""
    return figure(
        "stretched",
        ball(
            "shoulder", capsule(0.03, to=(0.3, 0, 0), mass=0.4),
            ry("elbow", capsule(0.02, to=(0.3, 0, 0), mass=0.3), fixed("hand", at=(0.3, 0, 0)), at=(0.3, 0, 0)),
        ),
        rx("drum", body(0.2, inertia=(1e-3, 1e-3, 1e-3)), at=(0.6, 0.3, 0.5)),
        spindle("bar", at=(0.2, 0, 0.6), moves="xyz"),
        strings=[
            string(
                "soft", "hand", "bar_spindle", through=[("world", (0.5, 0.1, 0.4))], start=0.7, stiffness=20.0, damping=0.02
            ),
            string("stiff", ("elbow", (0.1, 0, 0)), "bar_spindle", start=0.62, stiffness=3e4, damping=5.0),
            string("wound", "hand", "drum", 0.5, variable="drum", ratio=0.05, stiffness=200.0),
            string("rigid", ("shoulder", (0.2, 0, 0)), "bar_spindle"),
            wire("rod", "hand", ("world", (0.5, -0.4, -0.2)), 0.5, stiffness=50.0, damping=0.1),
        ],
    )  # fmt: skip


def sliding() -> Figure:
    """A tray that the puppeteer tilts and moves, a block with three feet on it, and a second block on a cart that rolls."""
    feet = {"a": (0.1, 0.05, -0.05), "b": (-0.1, 0.06, -0.05), "c": (0.0, -0.08, -0.05)}
    return figure(
        "sliding",
        free("block", box((0.2, 0.16, 0.1), mass=1.0), start=(0, 0, 0.05, 0, 0, 0)),
        tx("cart", body(2.0), tz("lid", body(0.2, inertia=(1e-3, 1e-3, 1e-3)), stiffness=300.0), at=(1, 0, 0), damping=0.1),
        free("slab", box((0.2, 0.16, 0.1), mass=0.5), start=(1, 0, 0.06, 0, 0, 0)),
        tx("shift", rx("tray", kinematic=True), kinematic=True),
        contacts=[
            *(contact(f"foot_{k}", ("block", x), "tray", (0, 0, 1), 0.4) for k, x in feet.items()),
            *(contact(f"heel_{k}", ("slab", x), ("lid", (0, 0, 0.01)), (0.05, 0.02, 1), f)
              for (k, x), f in zip(feet.items(), (0.3, 0.2, 0.0), strict=True)),
        ],
    )  # fmt: skip


def rigged() -> Figure:
    """Strings over cylinders, a sphere and a ring, over two sheaves in a row, onto a drum that turns, and of two branches."""
    return figure(
        "rigged",
        ball(
            "jib", capsule(0.03, to=(0.6, 0, 0), mass=0.8), fixed("tip", at=(0.6, 0, 0)),
            ry("hand", capsule(0.02, to=(0.2, 0, 0.05), mass=0.3), fixed("nail", at=(0.2, 0, 0.05)), at=(0.6, 0, 0)),
            at=(0, 0, 1), start=(0.1, 0.05, 0.2),
        ),
        free("load", body(0.5, (0.02, 0, 0), (2e-3, 1e-3, 3e-3)), start=(0.7, 0.1, 0.3, 0.1, 0.2, 0.3)),
        ry("winch", body(0.4, inertia=(1e-3, 2e-3, 1e-3)), at=(-0.3, 0, 0.6), damping=0.02),
        spindle("post", at=(-0.2, 0.1, 1.2), moves="xyz"),
        strings=[
            string("hoist", ("load", (0.02, 0.01, 0.05)),
                drum(("world", (-0.3, 0, 0.6)), 0.08, "y", turn=-1, towards=(1, 0, 0.5)),
                through=[("jib", (0.65, 0.0, -0.1)), pulley(("jib", (0.5, 0, 0.1)), 0.06, "y", turn=-1),
                    pulley(("jib", (0.1, 0.02, 0.15)), 0.05, (0, -1, 0), turn=1), ("jib", (0.05, 0, -0.1))],
                variable="winch", length=2.0174),
            string("sinew", "nail", ("world", (0.0, 0.2, 0.9)),
                through=[pulley("hand", 0.05, (0.1, 1, 0.05), side=("hand", (0, 0, 0.2))), ("jib", (0.3, 0, 0.06)),
                    pulley(("jib", (0.1, 0.02, 0.01)), 0.07)]),
            string("ringed", ("load", (0.0, 0.03, 0.05)), "post_spindle",
                through=[pulley(("jib", (0.4, 0.1, -0.2)), 0.05, (0.2, 1, 0), side=("jib", (0.41, 0.1, -0.2)))]),
            string("forked", ("hand", (0.1, 0.02, 0)), "post_spindle",
                through=[("jib", (0.2, 0, 0.05)), branch(2.0), "nail", pulley("tip", 0.04, "z"), ("load", (0, 0, 0.06)),
                    ("jib", (0.3, 0.05, 0))]),
        ],
    )  # fmt: skip


ALL: tuple[Callable[[], Figure], ...] = (springy, reeved, carried, looped, welded, stretched, rigged, sliding)
