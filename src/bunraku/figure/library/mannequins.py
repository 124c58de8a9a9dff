"""A mannequin of human proportions: 20 bodies, 18 joints, 53 variables (*carrying*, Section III)."""

from __future__ import annotations

from bunraku.figure.build import Attached, FrameNode, ball, box, capsule, cylinder, figure, fixed, free, ry, sphere
from bunraku.figure.figure import Figure
from bunraku.figure.shape import Color


class _Paint:
    """Colours of a person."""

    skin: Color = (0.86, 0.67, 0.53)
    hair: Color = (0.22, 0.14, 0.09)
    shirt: Color = (0.2, 0.43, 0.46)
    trousers: Color = (0.25, 0.27, 0.33)
    shoe: Color = (0.36, 0.2, 0.12)
    sole: Color = (0.12, 0.1, 0.09)
    belt: Color = (0.2, 0.13, 0.08)
    white: Color = (0.97, 0.96, 0.94)
    lips: Color = (0.66, 0.36, 0.3)
    dark: Color = (0.1, 0.09, 0.09)


# Masses are fractions of the whole mass; lengths are in metres, for a person of 1.75 m (anthropometric means).


def _head(mass: float) -> list[Attached]:
    return [
        capsule(0.082, start=(0.012, 0, 0.12), to=(0.01, 0, 0.175), mass=0.0694 * mass, color=_Paint.skin, name="head"),
        cylinder(0.055, start=(-0.01, 0, -0.06), to=(0.0, 0, 0.07), color=_Paint.skin, name="neck"),
        sphere(0.045, at=(0.05, 0, 0.072), color=_Paint.skin, name="chin"),
        sphere(0.0875, at=(-0.012, 0, 0.19), color=_Paint.hair, name="hair"),
        sphere(0.075, at=(-0.026, 0, 0.14), color=_Paint.hair, name="nape"),
        capsule(0.011, start=(0.093, 0, 0.15), to=(0.104, 0, 0.128), color=_Paint.skin, name="nose"),
        *(sphere(0.0145, at=(0.083, y, 0.16), color=_Paint.white, name="eye") for y in (-0.03, 0.03)),
        *(sphere(0.0075, at=(0.0935, y, 0.16), color=_Paint.dark, name="pupil") for y in (-0.03, 0.03)),
        *(sphere(0.02, at=(0.005, y, 0.14), color=_Paint.skin, name="ear") for y in (-0.082, 0.082)),
        capsule(0.007, start=(0.088, -0.02, 0.093), to=(0.088, 0.02, 0.093), color=_Paint.lips, name="mouth"),
    ]  # fmt: skip


def _arm(side: str, s: int, mass: float) -> FrameNode:
    """Clavicle, then seven variables: ball shoulder, elbow, ball wrist."""
    upper, forearm = 0.29, 0.265
    hand = [
        capsule(0.032, to=(0, 0, -0.06), mass=0.0061 * mass, color=_Paint.skin, name="hand"),
        capsule(0.022, start=(0.012, 0, -0.08), to=(0.02, 0, -0.14), color=_Paint.skin, name="fingers"),
        capsule(0.022, start=(-0.014, 0, -0.08), to=(-0.01, 0, -0.135), color=_Paint.skin, name="fingers"),
        capsule(0.012, start=(0.025, 0, -0.03), to=(0.05, -0.012 * s, -0.075), color=_Paint.skin, name="thumb"),
    ]
    wrist = ball(
        f"{side}_wrist", *hand, fixed(f"{side}_palm", at=(0, 0, -0.09)), at=(0, 0, -forearm),
        limits=((-1.5, 1.5), (-1.2, 1.2), (-0.6, 0.6)),
    )  # fmt: skip
    elbow = ry(
        f"{side}_elbow",
        capsule(0.037, start=(0, 0, -0.02), to=(0, 0, 0.02 - forearm), mass=0.0162 * mass, color=_Paint.skin, name="forearm"),
        wrist, at=(0, 0, -upper), start=-0.35, limits=(-2.5, 0.0),
    )  # fmt: skip
    shoulder = ball(
        f"{side}_shoulder",
        capsule(0.044, start=(0, 0, -0.02), to=(0, 0, 0.03 - upper), mass=0.0271 * mass, color=_Paint.skin, name="upper_arm"),
        capsule(0.057, to=(0, 0, -0.15), color=_Paint.shirt, name="sleeve"),
        elbow, at=(0, 0.15 * s, 0), start=(0, 0.05, 0.16 * s),
        limits=((-1.6, 1.6), (-3.1, 1.0), (-0.4, 2.8) if s > 0 else (-2.8, 0.4)),
    )  # fmt: skip
    return ball(
        f"{side}_clavicle", capsule(0.055, to=(0, 0.11 * s, 0.0), mass=0.02 * mass, color=_Paint.shirt, name="clavicle"), shoulder,
        at=(0, 0.035 * s, 0.2), limits=(-0.4, 0.4),
    )  # fmt: skip


def _leg(side: str, s: int, mass: float) -> FrameNode:
    """All joints are ball joints, as in motion capture; limits make the middle one a knee."""
    thigh, shin, ankle_height = 0.425, 0.425, 0.075
    foot = [
        capsule(0.042, start=(-0.03, 0, -0.033), to=(0.09, 0, -0.033), mass=0.0107 * mass, color=_Paint.shoe, name="foot"),
        cylinder(0.05, start=(0, 0, -0.02), to=(0, 0, 0.05), color=_Paint.shoe, name="boot"),
        box((0.19, 0.072, 0.02), at=(0.022, 0, 0.01 - ankle_height), color=_Paint.sole, name="sole"),
    ]
    toe = [
        capsule(0.036, start=(0.0, 0, -0.004), to=(0.035, 0, -0.004), mass=0.003 * mass, color=_Paint.shoe, name="toe"),
        box((0.07, 0.07, 0.02), at=(0.02, 0, -0.03), color=_Paint.sole, name="toe_sole"),
    ]
    ankle = ball(
        f"{side}_ankle", *foot, fixed(f"{side}_toe", *toe, at=(0.13, 0, 0.04 - ankle_height)),
        fixed(f"{side}_sole", at=(0.04, 0, -ankle_height)), at=(0, 0, -shin), start=(0, -0.06, 0),
        limits=((-0.4, 0.4), (-0.8, 0.6), (-0.4, 0.4)),
    )  # fmt: skip
    knee = ball(
        f"{side}_knee",
        capsule(0.052, start=(0, 0, -0.02), to=(0, 0, 0.04 - shin), mass=0.0433 * mass, color=_Paint.trousers, name="shin"),
        ankle, at=(0, 0, -thigh), start=(0, 0.12, 0), limits=((-0.3, 0.3), (0.0, 2.5), (-0.1, 0.1)),
    )  # fmt: skip
    return ball(
        f"{side}_hip",
        capsule(0.073, start=(0, 0, -0.03), to=(0, 0, 0.04 - thigh), mass=0.1416 * mass, color=_Paint.trousers, name="thigh"),
        knee, at=(0, 0.092 * s, -0.02), start=(0, -0.06, 0), limits=((-0.8, 0.8), (-2.1, 0.6), (-0.8, 0.8)),
    )  # fmt: skip


def mannequin(*, mass: float = 75.0) -> Figure:
    """Person of 1.75 m, facing +x, with 18 joints.

    `mass` is that of the whole body [kg].
    """
    spine = ball(
        "chest",
        capsule(0.1, start=(0, -0.055, 0.1), to=(0, 0.055, 0.1), mass=0.166 * mass, color=_Paint.shirt, name="chest"),
        *(capsule(0.1, start=(0, 0.5 * y, -0.03), to=(0, y, 0.13), color=_Paint.shirt, name="ribs") for y in (-0.066, 0.066)),
        capsule(0.095, start=(0.004, 0, -0.03), to=(0.01, 0, 0.12), color=_Paint.shirt, name="breast"),
        capsule(0.062, start=(0, -0.1, 0.2), to=(0, 0.1, 0.2), color=_Paint.shirt, name="shoulders"),
        cylinder(0.066, start=(-0.006, 0, 0.22), to=(-0.004, 0, 0.262), color=_Paint.shirt, name="collar"),
        ball("neck", *_head(mass), at=(0, 0, 0.275), limits=((-1.2, 1.2), (-0.8, 0.8), (-0.6, 0.6))),
        _arm("left", 1, mass), _arm("right", -1, mass), at=(0, 0, 0.15), limits=((-0.6, 0.6), (-0.4, 0.8), (-0.5, 0.5)),
    )  # fmt: skip
    return figure(
        "mannequin",
        free(
            "pelvis",
            capsule(0.098, start=(0, -0.055, 0), to=(0, 0.055, 0), mass=0.12 * mass, color=_Paint.trousers, name="pelvis"),
            *(cylinder(0.097, start=(0, y, 0.055), to=(0, y, 0.085), color=_Paint.belt, name="belt") for y in (-0.045, 0.045)),
            ball(
                "waist",
                capsule(0.095, start=(0, -0.042, 0.04), to=(0, 0.042, 0.04), mass=0.1086 * mass, color=_Paint.shirt, name="waist"),
                *(capsule(0.094, start=(0, y, -0.02), to=(0, y, 0.12), color=_Paint.shirt, name="flank") for y in (-0.042, 0.042)),
                spine, at=(0, 0, 0.1), limits=((-0.6, 0.6), (-0.4, 0.9), (-0.5, 0.5)),
            ),
            _leg("left", 1, mass), _leg("right", -1, mass), start=(0, 0, 0.943, 0, 0, 0),
        ),
        allowed=_soft(),
    )  # fmt: skip


def _soft() -> list[tuple[str, str]]:
    """Pairs of frames whose shapes overlap though they are not neighbours: flesh and cloth."""
    sides = [
        pair for side in ("left", "right")
        for pair in (("chest", f"{side}_shoulder"), ("neck", f"{side}_clavicle"), ("waist", f"{side}_hip"))
    ]  # fmt: skip
    return [*sides, ("left_clavicle", "right_clavicle")]
