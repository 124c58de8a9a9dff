"""Makes the library of motions of marionette22: python tools/motions.py [NAME …]

A gesture is a few positions of the puppeteer's hands. Hung there slowly, the puppet follows from rest to rest: that is the
reference. Played at full speed it would swing, so an optimal control is found that keeps the puppet as close to the
reference as its strings allow; this is the motion that is kept, small, in src/bunraku/choreography/motions/.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import PchipInterpolator

from bunraku import Motion, library, settle
from bunraku.choreography.library import FOLDER, RATE, save_pieces
from bunraku.choreography.puppet import Puppet
from bunraku.choreography.rehearse import DT, Hung
from bunraku.choreography.repertoire import Piece

Array = NDArray[np.float64]
Hands = dict[str, float]

ARRIVE = 0.4  # [s] to come to rest

FIGURE = library.marionette22()
# From where the figure starts, half seated, to where it stands: strings let out.
STANCE = {
    "left_leg_length": 0.12, "right_leg_length": 0.12, "left_leg_y": -0.12, "right_leg_y": -0.12,
    "left_arm_length": 0.12, "right_arm_length": 0.12, "left_arm_y": -0.10, "right_arm_y": -0.10,
}  # fmt: skip


@dataclass(frozen=True)
class Gesture:
    """Hands at times [s], as offsets from the stance; a loop that may be repeated; the parts that move; a line of text."""

    keys: tuple[tuple[float, Hands], ...]
    parts: tuple[str, ...]
    text: str
    loop: tuple[float, float] | None = None
    travels: bool = False


def both(**hands: float) -> Hands:
    """The same for left and right; x is outward."""
    out = {}
    for name, value in hands.items():
        out[f"left_{name}"] = -value if name.endswith("_x") else value
        out[f"right_{name}"] = value
    return out


def torso(x: float = 0.0, y: float = 0.0, length: float = 0.0, turn: float = 0.0) -> Hands:
    """Both strings of the torso, shifted, let out, and turned about the vertical [rad]."""
    out = {}
    for name, side in (("upper_torso", -0.1), ("lower_torso", 0.1)):
        out[f"{name}_x"] = x + side * (np.cos(turn) - 1.0)
        out[f"{name}_y"] = y + side * np.sin(turn)
        out[f"{name}_length"] = length
    return out


def right_arm(x: float = 0.0, y: float = 0.0, up: float = 0.0) -> Hands:
    return {"right_arm_x": x, "right_arm_y": y, "right_arm_length": -up}


def leg(side: str, up: float, y: float = 0.0) -> Hands:
    return {f"{side}_leg_length": -up, f"{side}_leg_y": y}


REST: Hands = {}
ARM, ARMS, LEGS, ALL = ("right_arm",), ("left_arm", "right_arm"), ("left_leg", "right_leg"), (
    "torso", "left_arm", "right_arm", "left_leg", "right_leg",
)  # fmt: skip
# Hands swing on their strings when these are carried to and fro, but follow at once when they are pulled: so waves are pulled.
UP, HIGH = right_arm(0.12, -0.03, 0.42), right_arm(0.18, -0.03, 0.60)
HAT, AHEAD = right_arm(0.0, -0.08, 0.5), right_arm(0.02, 0.35, 0.28)
OPEN = both(arm_length=-0.22, arm_x=0.16)
LOW = torso(y=-0.1, length=0.15) | both(leg_length=-0.1, leg_y=0.35, arm_length=0.05, arm_x=0.12, arm_y=-0.05)
DIP = torso(length=0.07)
LEFT, RIGHT, STEP = leg("left", 0.24, 0.1), leg("right", 0.24, 0.1), leg("left", 0.18, 0.14)

GESTURES = {
    "rest": Gesture(((0, REST), (0.6, REST), (1.2, REST), (1.8, REST)), (), "hangs still", (0.6, 1.2)),
    "wave": Gesture(
        ((0, REST), (0.92, UP), (1.32, HIGH), (1.8, UP), (2.28, HIGH), (2.68, UP), (3.6, REST)),
        ARM, "waves with the right hand", (1.32, 2.28),
    ),
    "salute": Gesture(((0, REST), (0.8, HAT), (1.6, HAT), (2.4, REST)), ARM, "hand to the hat"),
    "point": Gesture(((0, REST), (0.8, AHEAD), (1.8, AHEAD), (2.6, REST)), ARM, "points ahead"),
    "beckon": Gesture(
        ((0, REST), (0.8, right_arm(0.0, 0.12, 0.3)), (1.2, right_arm(0.0, -0.02, 0.36)), (1.6, right_arm(0.0, 0.12, 0.3)),
         (2.4, REST)), ARM, "come here", (0.8, 1.6),
    ),
    "cheer": Gesture(
        ((0, REST), (0.8, both(arm_length=-0.42, arm_x=0.1)), (1.2, both(arm_length=-0.58, arm_x=0.18)),
         (1.6, both(arm_length=-0.42, arm_x=0.1)), (2.6, REST)), ARMS, "both hands up", (0.8, 1.6),
    ),
    "clap": Gesture(
        ((0, REST), (0.7, both(arm_length=-0.18, arm_x=0.04)), (1.1, both(arm_length=-0.18, arm_x=-0.14)),
         (1.5, both(arm_length=-0.18, arm_x=0.04)), (2.3, REST)), ARMS, "claps its hands", (0.7, 1.5),
    ),
    "shrug": Gesture(((0, REST), (0.5, OPEN), (0.9, OPEN), (1.6, REST)), ARMS, "who knows"),
    "bow": Gesture(((0, REST), (1.0, LOW), (1.6, LOW), (2.6, REST)), ALL, "bends its knees and opens its arms"),
    "nod": Gesture(((0, REST), (0.6, DIP), (1.2, REST), (1.8, DIP), (2.4, REST)), ("torso",), "says yes"),
    "kick": Gesture(((0, REST), (0.7, leg("right", 0.27, 0.34)), (1.6, REST)), ("right_leg",), "kicks a leg"),
    "march": Gesture(
        ((0, REST), (0.48, LEFT), (0.96, RIGHT), (1.44, LEFT), (1.92, REST)), LEGS, "steps on the spot", (0.48, 1.44),
    ),
    "walk": Gesture(
        ((0, REST), (0.48, STEP), (0.96, leg("right", 0.18, 0.14)), (1.44, STEP), (1.92, REST)),
        LEGS, "walks to a place", (0.48, 1.44), travels=True,
    ),
    "turn": Gesture(
        ((0, REST), (0.4, leg("left", 0.07, 0.02)), (0.8, leg("right", 0.07, 0.02)), (1.2, leg("left", 0.07, 0.02)), (1.6, REST)),
        LEGS, "turns to face another way", (0.4, 1.2), travels=True,
    ),
    "sway": Gesture(
        ((0, REST), (0.72, torso(x=0.05)), (1.44, torso(x=-0.05)), (2.16, torso(x=0.05)), (2.88, REST)),
        ("torso",), "sways from side to side", (0.72, 2.16),
    ),
    "twist": Gesture(
        ((0, REST), (0.72, torso(turn=0.25)), (1.44, torso(turn=-0.25)), (2.16, torso(turn=0.25)), (2.88, REST)),
        ("torso",), "turns its shoulders to and fro", (0.72, 2.16),
    ),
    "hop": Gesture(
        ((0, REST), (0.32, torso(length=-0.08) | both(arm_length=-0.08, leg_length=-0.12)), (0.72, REST),
         (1.04, torso(length=-0.08) | both(arm_length=-0.08, leg_length=-0.12)), (1.6, REST)), ALL, "hops twice",
    ),
    "polka": Gesture(
        ((0, REST), (0.48, leg("left", 0.2, 0.1) | right_arm(0.05, 0.0, 0.25)),
         (0.96, leg("right", 0.2, 0.1) | {"left_arm_length": -0.25, "left_arm_x": -0.05}),
         (1.44, leg("left", 0.2, 0.1) | right_arm(0.05, 0.0, 0.25)), (1.92, REST)),
        (*ARMS, *LEGS), "a dance step", (0.48, 1.44),
    ),
}  # fmt: skip


def stance() -> Array:
    return settle(FIGURE, _shifted(FIGURE.start, STANCE))


def _shifted(q: Array, hands: Hands) -> Array:
    out = q.copy()
    for name, offset in hands.items():
        out[FIGURE.index(name)] += offset
    return out


def reference(gesture: Gesture, rest: Array) -> Motion:
    """The gesture done so slowly that nothing swings."""
    n = FIGURE.n_dynamic
    times = [t for t, _ in gesture.keys]
    hands = np.array([_shifted(rest, at)[n:] for _, at in gesture.keys])
    t = np.arange(round(times[-1] * RATE) + 1) / RATE
    way = PchipInterpolator(times, hands)(t)
    q, samples = rest, []
    for k in way:
        q = settle(FIGURE, np.concatenate([q[:n], k]), tolerance=1e-9)
        samples.append(q)
    return Motion.of(FIGURE, t, np.array(samples))


def optimal(wanted: Motion, hung: Hung) -> Motion:
    """The motion that strings can make, closest to what is wanted, with a moment at the end to come to rest."""
    q = Piece("", wanted, ()).curve(1)(np.linspace(0.0, 1.0, round(wanted.duration / DT) + 1)) + wanted.q[0]
    q = np.concatenate([q, np.repeat(q[-1:], round(ARRIVE / DT), 0)])
    best = hung.optimum(q, iterations=200)
    made, n = best.run.x[:, : FIGURE.n_q], FIGURE.n_dynamic
    tension = best.run.impulse[:, : len(FIGURE.strings)].min() / DT
    off, end = np.sqrt(np.mean((made - q)[:, :n] ** 2)), np.abs(made[-1] - q[-1])[:n].max()
    print(f"  {best}; off by {off:.3f} rms, {end:.3f} at the end; tension at least {tension:.2f} N")
    # What is left at the end is taken back over the moment of rest, so that pieces join.
    fade = np.clip((np.arange(len(made)) - len(made)) / (ARRIVE / DT) + 1.0, 0.0, 1.0)[:, None]
    made = made + fade**3 * (10.0 - 15.0 * fade + 6.0 * fade**2) * (made[0] - made[-1])
    every = round(1.0 / (RATE * DT))
    return Motion.of(FIGURE, DT * np.arange(len(made))[::every], made[::every])


def main(names: list[str]) -> None:
    rest = stance()
    hung = Hung(Puppet(FIGURE, rest))
    FOLDER.mkdir(exist_ok=True)
    made = {}
    for name in names or GESTURES:
        gesture = GESTURES[name]
        wanted = reference(gesture, rest)
        print(f"{name}: {wanted.duration:.2f} s", flush=True)
        motion = optimal(wanted, hung) if gesture.parts else wanted
        made[name] = Piece(name, motion, gesture.parts, gesture.loop, gesture.travels, gesture.text)
    if not names:
        save_pieces(FOLDER / f"{FIGURE.name}.npz", made)


if __name__ == "__main__":
    main(sys.argv[1:])
