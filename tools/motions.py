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

from bunraku import Motion, library, settle
from bunraku.choreography.motion_library import MOTION_FOLDER, SAMPLE_RATE, save_pieces
from bunraku.choreography.puppet import Puppet
from bunraku.choreography.rehearse import Hung, RehearsalOptions
from bunraku.choreography.repertoire import MotionPiece

Array = NDArray[np.float64]
Hands = dict[str, float]

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
    hands: float = 0.2
    """Weight of where the hands are: a light one lets them do what they must, a heavy one keeps strings out of a partner's way."""


def both(**hands: float) -> Hands:
    """The same for left and right; x is outward."""
    out = {}
    for name, value in hands.items():
        out[f"left_{name}"] = -value if name.endswith("_x") else value
        out[f"right_{name}"] = value
    return out


def torso(x: float = 0.0, y: float = 0.0, length: float = 0.0, turn: float = 0.0, wide: float = 0.0) -> Hands:
    """Both strings of the torso, shifted, let out, taken apart, and turned about the vertical [rad]."""
    out = {}
    for name, side in (("upper_torso", -1.0), ("lower_torso", 1.0)):
        out[f"{name}_x"] = x + side * ((0.1 + wide) * np.cos(turn) - 0.1)
        out[f"{name}_y"] = y + side * (0.1 + wide) * np.sin(turn)
        out[f"{name}_length"] = length
    return out


def right_arm(x: float = 0.0, y: float = 0.0, up: float = 0.0) -> Hands:
    return {"right_arm_x": x, "right_arm_y": y, "right_arm_length": -up}


def leg(side: str, up: float, y: float = 0.0) -> Hands:
    return {f"{side}_leg_length": -up, f"{side}_leg_y": y}


REST: Hands = {}
TORSO = slice(0, 6)
ARM, ARMS, LEGS, ALL = ("right_arm",), ("left_arm", "right_arm"), ("left_leg", "right_leg"), (
    "torso", "left_arm", "right_arm", "left_leg", "right_leg",
)  # fmt: skip
# Hands swing on their strings when these are carried to and fro, but follow at once when they are pulled: so waves are pulled.
UP, HIGH = right_arm(0.14, -0.03, 0.34), right_arm(0.2, -0.03, 0.64)
HAT, THERE = right_arm(0.0, -0.08, 0.5), right_arm(0.5, 0.12, 0.34)
OUT, HERE = right_arm(0.03, 0.15, 0.18), right_arm(0.03, 0.08, 0.46)
BOTH = both(arm_length=-0.2, arm_x=-0.12)
BEAT = both(arm_length=-0.2, arm_x=-0.12) | {"right_arm_length": -0.42, "left_arm_length": -0.14}
OPEN = both(arm_length=-0.26, arm_x=0.3, arm_y=-0.1)
# Hips go back as they go down, so that feet stay where they are.
LOW = torso(length=0.2, y=-0.12) | both(leg_length=-0.06, leg_y=-0.04, arm_length=-0.02, arm_x=0.18, arm_y=-0.12)
DIP, LIFT = torso(length=0.1) | both(leg_length=-0.045) | {"torso_rx": -0.25}, {"torso_rx": 0.2}
CROUCH = torso(length=0.06) | both(leg_length=-0.02, leg_y=0.06)
JUMP = torso(length=-0.16) | both(arm_length=-0.36, leg_length=-0.26)
LIFTED, KICK = leg("right", 0.3, 0.04), leg("right", 0.38, 0.3)
LEFT, RIGHT = leg("left", 0.34, 0.1), leg("right", 0.34, 0.1)
STEP, OTHER = leg("left", 0.2, 0.14) | leg("right", 0.0, -0.16), leg("right", 0.2, 0.14) | leg("left", 0.0, -0.16)
LEAN = {"upper_torso_length": 0.04, "lower_torso_length": -0.04, "upper_torso_x": 0.03, "lower_torso_x": 0.03}
POLKA = leg("left", 0.3, 0.1) | right_arm(0.06, 0.0, 0.42)


def mirrored(hands: Hands) -> Hands:
    """Left for right."""
    out = {}
    for name, value in hands.items():
        other = {"left": "right", "right": "left", "upper": "lower", "lower": "upper"}.get(side := name.split("_")[0], side)
        out[name.replace(side, other, 1)] = -value if name.endswith(("_x", "_rz", "_ry")) else value
    return out


GESTURES = {
    "rest": Gesture(((0, REST), (0.6, REST), (1.2, REST), (1.8, REST)), (), "hangs still", (0.6, 1.2)),
    "wave": Gesture(
        ((0, REST), (0.92, UP), (1.32, HIGH), (1.8, UP), (2.28, HIGH), (2.68, UP), (3.6, REST)),
        ARM, "waves with the right hand", (1.32, 2.28),
    ),
    "salute": Gesture(((0, REST), (0.8, HAT), (1.6, HAT), (2.4, REST)), ARM, "hand to the hat"),
    "point": Gesture(((0, REST), (0.9, THERE), (1.7, THERE), (2.8, REST)), ARM, "points over there, to its right"),
    "beckon": Gesture(((0, REST), (0.8, OUT), (1.2, HERE), (1.6, OUT), (2.4, REST)), ARM, "come here", (0.8, 1.6)),
    "cheer": Gesture(
        ((0, REST), (0.8, both(arm_length=-0.42, arm_x=0.1)), (1.2, both(arm_length=-0.58, arm_x=0.18)),
         (1.6, both(arm_length=-0.42, arm_x=0.1)), (2.6, REST)), ARMS, "both hands up", (0.8, 1.6),
    ),
    "clap": Gesture(
        ((0, REST), (1.2, BOTH), (1.52, BEAT), (1.84, BOTH), (2.16, BEAT), (2.48, BOTH), (3.6, REST)),
        ARMS, "claps its hands", (1.2, 2.48),
    ),
    "shrug": Gesture(((0, REST), (0.8, OPEN), (1.4, OPEN), (2.2, REST)), ARMS, "who knows"),
    "bow": Gesture(((0, REST), (1.1, LOW), (1.5, LOW), (2.6, REST)), ALL, "bends its knees and opens its arms", hands=1.0),
    "nod": Gesture(((0, REST), (0.6, DIP), (1.2, LIFT), (1.8, DIP), (2.6, REST)), ("torso",), "says yes"),
    "kick": Gesture(((0, REST), (0.8, LIFTED), (1.28, KICK), (2.4, REST)), ("right_leg",), "kicks a leg"),
    "march": Gesture(
        ((0, REST), (0.48, LEFT), (0.96, RIGHT), (1.44, LEFT), (1.92, REST)), LEGS, "steps on the spot", (0.48, 1.44),
    ),
    "walk": Gesture(
        ((0, REST), (0.64, STEP), (1.28, OTHER), (1.92, STEP), (2.56, REST)), LEGS, "walks to a place", (0.64, 1.92), travels=True,
    ),
    "turn": Gesture(
        ((0, REST), (0.4, leg("left", 0.12, 0.03)), (0.8, leg("right", 0.12, 0.03)), (1.2, leg("left", 0.12, 0.03)), (1.6, REST)),
        LEGS, "turns to face another way", (0.4, 1.2), travels=True,
    ),
    "sway": Gesture(
        ((0, REST), (0.72, LEAN), (1.44, mirrored(LEAN)), (2.16, LEAN), (2.88, REST)),
        ("torso",), "sways from side to side", (0.72, 2.16),
    ),
    "twist": Gesture(
        ((0, REST), (1.0, torso(turn=0.5, wide=0.1)), (2.0, torso(turn=-0.5, wide=0.1)), (3.0, torso(turn=0.5, wide=0.1)),
         (4.0, REST)), ("torso",), "turns its shoulders to and fro", (1.0, 3.0),
    ),
    "hop": Gesture(
        ((0, REST), (0.4, CROUCH), (0.84, JUMP), (1.28, CROUCH), (1.72, JUMP), (2.16, CROUCH), (2.6, REST)), ALL, "hops twice",
    ),
    "polka": Gesture(
        ((0, REST), (0.6, POLKA), (1.2, mirrored(POLKA)), (1.8, POLKA), (2.4, REST)),
        (*ARMS, *LEGS), "a dance step", (0.6, 1.8),
    ),
}  # fmt: skip


def stance() -> Array:
    return settle(FIGURE, _shifted(FIGURE.start, STANCE))


def _shifted(q: Array, hands: Hands) -> Array:
    out = q.copy()
    for name, offset in hands.items():
        out[FIGURE.index(name)] += offset
    return out


def _way(gesture: Gesture, rest: Array, t: Array) -> Array:
    """From key to key, each a turning point: gently out of rest and into it, and to and fro between as a swing goes."""
    times = np.array([at for at, _ in gesture.keys])
    keys = np.array([_shifted(rest, hands) - rest for _, hands in gesture.keys])
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    s = np.clip((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
    ends = (k == 0) | (k == len(times) - 2)
    part = np.where(ends, s**3 * (10.0 - 15.0 * s + 6.0 * s**2), 0.5 - 0.5 * np.cos(np.pi * s))[:, None]
    return np.asarray((1.0 - part) * keys[k] + part * keys[k + 1])


def reference(gesture: Gesture, rest: Array) -> Motion:
    """The gesture done so slowly that nothing swings, and what is wished of the figure itself beside it."""
    n = FIGURE.n_dynamic
    t = np.arange(round(gesture.keys[-1][0] * SAMPLE_RATE) + 1) / SAMPLE_RATE
    q, samples = rest, []
    for away in _way(gesture, rest, t):
        q = settle(FIGURE, np.concatenate([q[:n], (rest + away)[n:]]), tolerance=1e-9)
        samples.append(q + np.where(np.arange(len(q)) < n, away, 0.0))
    wanted = np.array(samples)
    if "torso" not in gesture.parts:
        wanted[:, TORSO] = rest[TORSO]  # it need not turn because a limb pulls at it
    return Motion.of(FIGURE, t, wanted)


def optimal(wanted: Motion, hung: Hung) -> Motion:
    """The motion that strings can make, closest to what is wanted, with a moment at the end to come to rest."""
    n, dt = FIGURE.n_dynamic, hung.options.dt
    q = MotionPiece("", wanted, ()).curve(1)(np.linspace(0.0, 1.0, round(wanted.duration / dt) + 1)) + wanted.q[0]
    q = np.concatenate([q, np.repeat(q[-1:], round(hung.options.arrival_time / dt), 0)])
    best = hung.grown(q)
    made = best.run.x[:, : FIGURE.n_q]
    tension = best.run.impulse[:, : len(FIGURE.strings)].min() / dt
    off, end = np.sqrt(np.mean((made - q)[:, 3:n] ** 2)), np.abs(made[-1] - q[-1])[:n].max()
    print(f"  {best}; off by {off:.3f} rad rms, {end:.3f} at the end; tension at least {tension:.2f} N", flush=True)
    made = hung.arrived(made, made[0])  # so that pieces join
    every = round(1.0 / (SAMPLE_RATE * dt))
    return Motion.of(FIGURE, dt * np.arange(len(made))[::every], made[::every])


def main(names: list[str]) -> None:
    rest = stance()
    MOTION_FOLDER.mkdir(exist_ok=True)
    made = {}
    for name in names or GESTURES:
        gesture = GESTURES[name]
        wanted = reference(gesture, rest)
        print(f"{name}: {wanted.duration:.2f} s", flush=True)
        options = RehearsalOptions(hand_weight=gesture.hands, iterations=100)
        motion = optimal(wanted, Hung(Puppet(FIGURE, rest), options)) if gesture.parts else wanted
        made[name] = MotionPiece(name, motion, gesture.parts, gesture.loop, gesture.travels, gesture.text)
    if not names:
        save_pieces(MOTION_FOLDER / f"{FIGURE.name}.npz", made)


if __name__ == "__main__":
    main(sys.argv[1:])
