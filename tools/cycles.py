"""Makes the library of walking: python tools/cycles.py

The knots below are typical of healthy adults, rounded to about a degree. They follow the shapes and peaks that gait analysis
publishes, and transcribe no single table:

- hip, knee and ankle in the sagittal plane over a stride, at slow, comfortable and fast walking, and the share of stance: Winter,
  *Biomechanics and Motor Control of Human Gait* (1991), and Murray, "Gait as a total pattern of movement" (1967); peaks of the
  knee (loading 8°–22°, swing 50°–64°) and push-off of the ankle (10°–22°) by speed: Schwartz, Rozumalski and Trost (2008).
- height of the pelvis, twice a stride: 15 mm to 60 mm from lowest to highest, growing with speed (Saunders, Inman and Eberhart
  1953; Gard and Childress 2001); list of the pelvis up to 5°, highest at loading on the side that stands; tilt within 2°.
- thorax against pelvis, ±3°–6°, and arms: shoulder 8°–25° about a few degrees behind, elbow 15°–35° (Murray 1967).
- clearance: lowest point of the toes 13 mm at mid-swing, after a first peak (Winter 1992).
- turns: trunk and head lean and turn into the curve by a few degrees (Imai and others 2001; Courtine and Schieppati 2003).
- backward walking is nearly the forward stride played backward (Thorstensson 1986), with less arm swing.

Feet of the mannequin have no joint at the toes: where the heel rises, they roll about the tip instead of the ball, and pitch less
(ROLL) so that the ankle rises as much as it does in people.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.interpolate import CubicSpline

from bunraku.locomotion.walk.cycles import CYCLE_CHANNELS, STANCE_PHASE, Cycle, Cycles, save_cycles, series, shipped_cycles

Array = NDArray[np.float64]
SAMPLES = 128
PHASE = np.arange(SAMPLES) / SAMPLES
ROLL = 0.75
DEG = np.pi / 180.0


@dataclass(frozen=True)
class Gait:
    """What is typical of one speed: knots (percent of the stride, degrees) from touchdown to touchdown."""

    speed: float
    stance: float
    hip: dict[int, float]
    """Of the thigh against the vertical, forward."""
    knee: dict[int, float]
    ankle: dict[int, float]
    """Toes up."""
    rise: float
    """Of the pelvis, from lowest to highest [m]."""
    list: float
    thorax: float
    shoulder: tuple[float, float]
    """Mean, backward, and amplitude."""
    elbow: tuple[float, float]


SLOW = Gait(
    0.4, 0.69,
    {0: 17, 10: 15, 20: 10, 30: 4, 40: -2, 50: -7, 60: -8, 70: 0, 80: 12, 90: 18},
    {0: 5, 8: 8, 15: 9, 30: 6, 42: 5, 52: 9, 60: 18, 68: 34, 75: 48, 80: 49, 86: 38, 93: 15, 97: 7},
    {0: -1, 8: -4, 15: 0, 30: 5, 45: 9, 55: 10, 62: 4, 69: -9, 76: -3, 85: 1, 93: 1},
    0.016, 2.0, 2.5, (2.0, 7.0), (14.0, 3.0),
)  # fmt: skip
COMFORTABLE = Gait(
    1.2, 0.62,
    {0: 23, 10: 20, 20: 12, 30: 3, 40: -7, 50: -13, 57: -11, 65: 1, 75: 17, 85: 25, 93: 25},
    {0: 4, 6: 11, 13: 18, 20: 15, 30: 8, 40: 5, 48: 10, 55: 23, 62: 42, 68: 56, 72: 60, 77: 57, 84: 38, 91: 14, 96: 4},
    {0: 0, 7: -6, 14: -1, 25: 5, 35: 8, 45: 10, 51: 6, 56: -6, 62: -18, 68: -10, 76: 0, 85: 3, 93: 1},
    0.042, 4.5, 4.0, (5.0, 16.0), (23.0, 8.0),
)  # fmt: skip
FAST = Gait(
    1.6, 0.59,
    {0: 28, 10: 24, 20: 14, 30: 3, 40: -8, 50: -15, 56: -13, 63: 1, 73: 20, 83: 30, 92: 31},
    {0: 5, 6: 14, 13: 22, 20: 18, 30: 9, 38: 6, 46: 12, 53: 26, 59: 43, 66: 59, 70: 63, 75: 60, 83: 38, 90: 14, 96: 5},
    {0: -1, 6: -6, 13: 0, 22: 6, 30: 8, 40: 7, 48: 1, 52: -6, 56: -15, 60: -20, 66: -14, 74: -3, 83: 3, 92: 1},
    0.058, 5.0, 5.5, (6.0, 22.0), (32.0, 11.0),
)  # fmt: skip
TURNING = 1.0  # [rad/s] of the turns in the library
LEAN, LOOK = 4.0, 5.0  # [deg] into a turn of that rate, at 1.2 m/s
CLEARANCE = {0: 0.0, 15: 0.012, 30: 0.026, 50: 0.018, 68: 0.024, 85: 0.014, 100: 0.0}  # [m] over percent of the swing


def curve(knots: dict[int, float]) -> CubicSpline:
    """Periodic, of phase."""
    x, y = np.array([*knots, 100]) / 100.0, np.array([*knots.values(), knots[0]])
    return CubicSpline(x, y, bc_type="periodic")


def on_foot(phase: ArrayLike, stance: float) -> Array:
    """The stride's phase at the foot's own."""
    phase = np.asarray(phase, float)
    return np.where(
        phase < STANCE_PHASE, phase * stance / STANCE_PHASE, stance + (phase - STANCE_PHASE) * (1.0 - stance) / (1.0 - STANCE_PHASE)
    )


def leg(gait: Gait) -> dict[str, Array]:
    """Of one leg, on the foot's own phase."""
    own = on_foot(PHASE, gait.stance)
    hip, knee, ankle = (curve(knots)(own) * DEG for knots in (gait.hip, gait.knee, gait.ankle))
    foot = -hip + knee - ankle
    flat = np.interp(PHASE, [0.0, 0.04, 0.1, 0.36, 0.45, 0.52, STANCE_PHASE, 1.0], [0.0, 0.3, 1.0, 1.0, 0.7, 0.35, 0.0, 0.0])
    foot = foot * (1.0 - flat)
    foot = np.where(foot > 0.0, ROLL * foot, foot)
    s = np.clip((PHASE - STANCE_PHASE) / (1.0 - STANCE_PHASE), 0.0, 1.0)
    lift = CubicSpline(np.array([*CLEARANCE]) / 100.0, [*CLEARANCE.values()], bc_type="clamped")(s)
    return {"foot": foot, "lift": lift, "hip_ry": -hip, "knee_ry": knee, "ankle_ry": -ankle}


def both_legs(gait: Gait, *, foot: float = 1.0, rest: float = 1.0) -> dict[str, Array]:
    """The same for left and right; the pitch of the feet and the rest may be scaled."""
    own = leg(gait)
    return {f"{side}_{key}": (foot if key == "foot" else rest) * value for side in ("left", "right") for key, value in own.items()}


def body(gait: Gait, *, turn: float = 0.0, arms: float = 1.0) -> dict[str, Array]:
    """Trunk and arms on the stride's phase. `turn` is −1, 0 or 1."""
    once, twice = 2.0 * np.pi * PHASE, 4.0 * np.pi * PHASE
    lean, look = turn * LEAN * gait.speed / 1.2 * DEG, turn * LOOK * DEG
    sway = gait.list * DEG * np.cos(once - 2.0 * np.pi * 0.13)
    twist = gait.thorax * DEG * np.cos(once)
    # Highest where one leg stands upright: a third and five sixths into the stride; always a little lower than in standing.
    height = gait.rise * (-0.62 - 0.5 * np.cos(twice - 4.0 * np.pi * 0.05)) / 0.85
    nod = 1.0 * DEG * np.cos(twice)
    out = {
        "pelvis_tz": height, "pelvis_ry": 1.0 * DEG + 0.5 * nod, "pelvis_rx": sway - 0.4 * lean,
        "waist_rz": 0.5 * twist + 0.3 * look, "waist_ry": 1.5 * DEG - nod, "waist_rx": -0.55 * sway - 0.3 * lean,
        "chest_rz": 0.5 * twist + 0.5 * look, "chest_ry": 0.5 * DEG + 0.5 * nod, "chest_rx": -0.35 * sway - 0.3 * lean,
    }  # fmt: skip
    for side, s in (("left", 1.0), ("right", -1.0)):
        swing = s * np.cos(once - 2.0 * np.pi * 0.03)
        mean, amplitude = gait.shoulder
        elbow, bend = gait.elbow
        out |= {
            f"{side}_clavicle_rz": -s * 0.03 * swing * arms, f"{side}_clavicle_ry": 0.0, f"{side}_clavicle_rx": -0.02 * s,
            f"{side}_shoulder_rz": -0.1 * s, f"{side}_shoulder_ry": (mean + amplitude * arms * swing) * DEG,
            f"{side}_shoulder_rx": (7.0 - 1.0 * swing) * s * DEG,
            f"{side}_elbow": -(elbow - bend * arms * swing) * DEG, f"{side}_wrist_rz": 0.0, f"{side}_wrist_ry": -0.08,
            f"{side}_wrist_rx": 0.0,
        }  # fmt: skip
    return out


def standing() -> Cycle:
    still = Gait(0.0, 0.8, {0: 0}, {0: 0}, {0: 0}, 0.0, 0.0, 0.0, (2.0, 0.0), (12.0, 0.0))
    out = body(still) | {f"{side}_{name}": np.zeros(SAMPLES) for side in ("left", "right") for name in leg(SLOW)}
    out["pelvis_tz"] = np.full(SAMPLES, -0.004 / 0.85)
    return cycle("stand", (0.0, 0.0, 0.0), 0.8, out)


def cycle(name: str, going: tuple[float, float, float], stance: float, channels: dict[str, ArrayLike]) -> Cycle:
    table = np.stack([np.broadcast_to(channels[name], SAMPLES) for name in CYCLE_CHANNELS], 1)
    return Cycle(name, np.array(going), stance, series(table))


def forward(name: str, gait: Gait, turn: float) -> Cycle:
    legs = both_legs(gait)
    return cycle(name, (gait.speed, 0.0, turn * TURNING), gait.stance, body(gait, turn=turn) | legs)


def turning(name: str, turn: float) -> Cycle:
    """On the spot: small steps, the trunk ahead of the feet."""
    gait = Gait(0.3, 0.7, SLOW.hip, SLOW.knee, SLOW.ankle, 0.008, 1.0, 0.5, (2.0, 2.0), (14.0, 1.0))
    legs = both_legs(gait, foot=0.35, rest=0.8)
    return cycle(name, (0.0, 0.0, turn * TURNING), 0.7, body(gait, turn=turn) | legs)


def backward(speed: float) -> Cycle:
    """The slow stride played backward: toes touch first, the heel leaves last."""
    back = -np.arange(SAMPLES)
    legs, mirrored = (
        {},
        (STANCE_PHASE * SAMPLES - np.arange(SAMPLES)) / SAMPLES,
    )  # phase p of the new is STANCE_PHASE − p of the old
    for key, value in leg(SLOW).items():
        played = np.interp(mirrored % 1.0, np.arange(SAMPLES + 1) / SAMPLES, np.append(value, value[0]))
        legs |= {f"{side}_{key}": (0.55 if key == "foot" else 1.0) * played for side in ("left", "right")}
    trunk = {key: np.broadcast_to(value, SAMPLES)[back] for key, value in body(SLOW, arms=0.6).items()}
    trunk["waist_ry"] = trunk["waist_ry"] + 2.0 * DEG
    return cycle("backward", (-speed, 0.0, 0.0), 0.66, trunk | legs)


def sideways(name: str, speed: float) -> Cycle:
    """Feet stay nearly level, arms a little off the body."""
    gait = Gait(0.3, 0.66, SLOW.hip, SLOW.knee, SLOW.ankle, 0.012, 0.0, 0.0, (2.0, 0.0), (18.0, 0.0))
    legs = both_legs(gait, foot=0.25, rest=0.9)
    trunk = body(gait)
    for side, s in (("left", 1.0), ("right", -1.0)):
        trunk[f"{side}_shoulder_rx"] = 11.0 * s * DEG
    return cycle(name, (0.0, speed, 0.0), 0.66, trunk | legs)


def library() -> Cycles:
    out = [standing(), backward(0.5), sideways("left", 0.4), sideways("right", -0.4)]
    out += [turning("turn left", 1.0), turning("turn right", -1.0)]
    for name, gait in (("slow", SLOW), ("comfortable", COMFORTABLE), ("fast", FAST)):
        out += [forward(name + suffix, gait, turn) for suffix, turn in (("", 0.0), (" left", 1.0), (" right", -1.0))]
    return Cycles(tuple(out))


if __name__ == "__main__":
    save_cycles(library(), shipped_cycles())
    print(f"{shipped_cycles().name}: {shipped_cycles().stat().st_size} bytes, {', '.join(c.name for c in library().cycles)}")
