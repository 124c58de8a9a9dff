"""Marionettes: one with 22 dynamic and 18 kinematic variables, whose dimensions are published, and a wooden one with 25 and 21.

Both face +y with their left side at −x, and hang from spindles that the puppeteer moves in a plane and winds.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from bunraku.figure.build import Attached, FrameNode, PointLike, ball, body, effort, figure, fixed, free, rx, spindle, string
from bunraku.figure.figure import Figure
from bunraku.figure.library.costume import face, forearm, rod, scaled, shin, sleeve, spool, thigh, trunk

# -- 22 dynamic + 18 kinematic variables ----------------------------------------------------------------


class _Limb(NamedTuple):
    """Where a limb's first joint is along x, and the lengths of its upper and lower part [m]."""

    x: float
    upper: float
    lower: float


class _Person:
    """Dimensions, measured from a person [m]."""

    left_leg: _Limb = _Limb(-0.10000000633343277, 0.4000000143639284, 0.4000000081268073)
    right_leg: _Limb = _Limb(0.10000000072551045, 0.4000000149386187, 0.4000000104867095)
    left_arm: _Limb = _Limb(-0.15811387592769632, 0.2499999961002339, 0.2576590090580679)
    right_arm: _Limb = _Limb(0.15811388178161004, 0.2500000129383001, 0.2576590057781951)
    shoulders: float = 0.49134332092915983
    """Height above the hips."""
    neck: float = 0.04500002226970809 + 0.04499999114416735


def _leg22(side: str) -> FrameNode:
    x, upper, lower = _Person.left_leg if side == "l" else _Person.right_leg
    inertia, bend = (0.3, 0.3, 0.1), 0.9707963267948966
    return ball(
        f"{side}hip", *thigh(upper), body(1.5, (0, 0, -upper / 2), inertia, f"{side}femur"),
        rx(
            f"{side}knee_rx", *shin(lower), body(1.5, (0, 0, -lower / 2), inertia, f"{side}tibia"),
            fixed(f"{side}foot", at=(0, 0, -lower)), at=(0, 0, -upper), start=-bend,
        ),
        at=(x, 0, 0), start=(0, 0, bend),
    )  # fmt: skip


def _arm22(side: str) -> FrameNode:
    x, upper, lower = _Person.left_arm if side == "l" else _Person.right_arm
    inertia = (0.05, 0.05, 0.01)
    return ball(
        f"{side}shoulder", *sleeve(upper), body(0.5, (0, 0, -upper / 2), inertia, f"{side}humerus"),
        rx(
            f"{side}elbow_rx", *forearm(lower), body(0.5, (0, 0, -lower / 2), inertia, f"{side}radius"),
            fixed(f"{side}hand", at=(0, 0, -lower)), at=(0, 0, -upper), start=1.57,
        ),
        at=(x, 0, _Person.shoulders),
    )  # fmt: skip


def marionette22(*, damping: float = 0.2) -> Figure:
    """Marionette of the trep paper, as tall as a man.

    Besides its strings it has 12 torques. `damping` is that of all dynamic variables [N·m·s/rad or N·s/m].
    """
    hooks = {
        "upper_torso": ("torso", (-0.1, 0, _Person.shoulders)),
        "lower_torso": ("torso", (0.1, 0, _Person.shoulders)),
        "left_arm": ("lhand", (0, 0.1, 0)),
        "right_arm": ("rhand", (0, 0.1, 0)),
        "left_leg": ("lhip", (0, 0.1, -_Person.left_leg.upper)),
        "right_leg": ("rhip", (0, 0.1, -_Person.right_leg.upper)),
    }
    spindles = {  # x, y in the plane z = 2
        "upper_torso": (-0.1, 0.024556931006735706),
        "lower_torso": (0.1, 0.024556931006735706),
        "left_arm": (_Person.left_arm.x, 0.2744662534103201),
        "right_arm": (_Person.right_arm.x, 0.27446624929312535),
        "left_leg": (_Person.left_leg.x, 0.37895217142811705),
        "right_leg": (_Person.right_leg.x, 0.37895217188561864),
    }
    driven = (
        *(s + joint for s in "lr" for joint in ("shoulder_rz", "shoulder_ry", "shoulder_rx", "elbow_rx")),
        *(s + joint for s in "lr" for joint in ("hip_rx", "knee_rx")),
    )
    head = body(0.75, (0, 0, 0.09000001186557935), (0.08, 0.08, 0.08), "head")
    return figure(
        "marionette22",
        free(
            "torso", *trunk(_Person.shoulders, 0.158, 0.1), body(10.0, inertia=(1, 1, 1), name="pelvis"),
            _leg22("l"), _leg22("r"),
            fixed("spine_top", at=(0, 0, _Person.shoulders)),
            fixed("head", *face(), head, at=(0, 0, _Person.shoulders + _Person.neck)),
            _arm22("l"), _arm22("r"),
            start=(0, 0, 0, 0, 0, -0.05),
        ),
        *(spindle(name, *spool(2.0), at=(x, y, 2.0)) for name, (x, y) in spindles.items()),
        strings=[string(name, hook, f"{name}_spindle") for name, hook in hooks.items()],
        forces=[effort(name, f"{name}_torque") for name in driven],
        damping=damping, gravity=(0, 0, -9.8),
    )  # fmt: skip


# -- 25 dynamic + 21 kinematic variables ----------------------------------------------------------------

# It starts at the angles at which it hangs at rest.


def _wooden(clothes: Callable[..., list[Attached]], *sizes: float) -> list[Attached]:
    """The clothes of a person, scaled by 0.36, for limbs of these sizes [m]."""
    return scaled(clothes(*(size / 0.36 for size in sizes)), 0.36)


def _leg25(side: str, x: float) -> FrameNode:
    upper, lower, s = 0.14, 0.145, 1 if side == "l" else -1
    return ball(
        f"{side}hip", *_wooden(thigh, upper), rod(0.11, upper, 0.022),
        rx(
            f"{side}knee_rx", *_wooden(shin, lower), rod(0.13, lower, 0.02),
            fixed(f"{side}foot", at=(0, 0, -lower)), at=(0, 0, -upper), start=-0.2962, limits=(-2.4, 0.0),
        ),
        at=(x, 0, 0), start=(0.1251 * s, 0.0024 * s, 0.2774), limits=((-0.6, 0.6), (-0.8, 0.8), (-0.7, 2.2)),
    )  # fmt: skip


def _arm25(side: str, x: float) -> FrameNode:
    upper, lower, s = 0.09, 0.095, 1 if side == "l" else -1
    return ball(
        f"{side}shoulder", *_wooden(sleeve, upper), rod(0.055, upper, 0.015),
        rx(
            f"{side}elbow_rx", *_wooden(forearm, lower), rod(0.06, lower, 0.013),
            fixed(f"{side}hand", at=(0, 0, -lower)), at=(0, 0, -upper), start=1.2664, limits=(0.0, 2.5),
        ),
        at=(x, 0, 0.178), start=(0.5351 * s, 0.0096 * s, 0.0039), limits=((-1.6, 1.6), (-1.5, 1.5), (-1.2, 3.0)),
    )  # fmt: skip


def marionette25(*, damping: float = 2e-3) -> Figure:
    """Wooden marionette of 63 cm that hangs still.

    As in *marionettes*, Fig. 3. `damping` is that of all dynamic variables [N·m·s/rad or N·s/m].
    """
    strings: dict[str, tuple[PointLike, tuple[float, float]]] = {  # hook, and the spindle's x and y in the plane z = 1.3
        "head": ("crown", (0, 0.08)),
        "left_shoulder": (("torso", (-0.055, 0, 0.2)), (-0.08, -0.06)),
        "right_shoulder": (("torso", (0.055, 0, 0.2)), (0.08, -0.06)),
        "left_arm": (("lhand", (0, 0.012, 0)), (-0.13, 0.12)),
        "right_arm": (("rhand", (0, 0.012, 0)), (0.13, 0.12)),
        "left_leg": (("lhip", (0, 0.026, -0.125)), (-0.05, 0.12)),
        "right_leg": (("rhip", (0, 0.026, -0.125)), (0.05, 0.12)),
    }
    return figure(
        "marionette25",
        free(
            "torso", *_wooden(trunk, 0.178, 0.062, 0.036),
            rod(0.5, 0.16, 0.05, top=(0, 0, 0.16)),
            _leg25("l", -0.036), _leg25("r", 0.036), _arm25("l", -0.062), _arm25("r", 0.062),
            ball(
                "neck", *scaled(face(), 0.42), body(0.16, (0, 0, 0.04), (1.2e-4, 1.2e-4, 1.2e-4)),
                fixed("crown", at=(0, 0, 0.105)), at=(0, 0, 0.2), start=(0, 0, -0.1293),
                limits=((-1.0, 1.0), (-0.6, 0.6), (-0.7, 0.7)),
            ),
            start=(0, 0.0087, 0.33, 0, 0, 0.0189),
        ),
        *(spindle(name, *spool(0.8), at=(x, y, 1.3)) for name, (_, (x, y)) in strings.items()),
        strings=[string(name, hook, f"{name}_spindle") for name, (hook, _) in strings.items()],
        damping=damping,
    )  # fmt: skip
