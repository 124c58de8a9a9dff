"""What makes each gesture of the actor: its stances, in order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from stances import REST_HIPS, SIZE, Stance, reach

from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]
ARM, ARMS, LEGS = ("right_arm",), ("left_arm", "right_arm"), ("left_leg", "right_leg")
ALL = ("torso", "head", *ARMS, *LEGS)


@dataclass(frozen=True)
class Steps:
    """Steps ahead or about the vertical, left foot first; the last brings the feet together."""

    length: float
    """Of one step [m ahead, or rad to the left]."""
    turns: bool
    lift: float
    """Height of a step [m]."""
    time: float
    """Duration of one step [s]."""
    count: int = 5
    both: float = 0.1
    """Share of a step in which both feet stand, at its beginning, and as long at its end."""
    rise: float = 0.08
    """Share of a swing in which the foot only rises, at its beginning, and as long only sinks, at its end."""
    early: float = 1.0
    """Below 1, a foot is fastest before the middle of its swing: strings can pull a leg ahead, but only its weight brakes it."""
    hips: tuple[float, float] = (-0.02, -0.01)
    """Where the hips are meanwhile, ahead of and above where they are at rest [m]."""

    @property
    def duration(self) -> float:
        """Of all steps [s]."""
        return self.count * self.time

    @property
    def loop(self) -> tuple[float, float]:
        """Two steps at full speed, from one middle of a step to the other [s]."""
        return 1.5 * self.time, 3.5 * self.time

    def way(self, t: Array) -> Array:
        """How far the hips are at times `t` [s]."""
        speed = self.length / self.time
        return np.asarray(speed * (_ramp(t - self.time, self.time) - _ramp(t - self.duration + self.time / 2, self.time)))

    def place(self, k: int) -> float:
        """Where step number `k` should land along the way."""
        return self.length * (min(k, self.count - 2) + 0.5)

    def foot(self, t: Array, first: int) -> tuple[Array, Array]:
        """Where a foot is at times `t` [s] along the way, and how high [m]; `first` is its first step, 0 or 1."""
        at, high = np.zeros(len(t)), np.zeros(len(t))
        here = 0.0
        for k in range(first, self.count, 2):
            there = self.place(k)
            s = np.clip((t / self.time - k - self.both) / (1.0 - 2.0 * self.both), 0.0, 1.0)
            at += (there - here) * eased(np.clip((s - self.rise) / (1.0 - 2.0 * self.rise), 0.0, 1.0) ** self.early)
            high += self.lift * 16.0 * (s * (1.0 - s)) ** 2
            here = there
        return at, high

    def rows(self, t: Array) -> Array:
        """Stances over time, where the steps lead."""
        rows = np.repeat(Stance().row[None], len(t), 0)
        way = self.way(t)
        begun = eased(np.minimum(t, self.duration - t) / self.time)
        rows[:, 2] = begun * self.hips[1]
        if self.turns:
            rows[:, 5] = np.degrees(way)
            x, y = REST_HIPS[:2]
            rows[:, 0], rows[:, 1] = np.cos(way) * x - np.sin(way) * y - x, np.sin(way) * x + np.cos(way) * y - y
        else:
            rows[:, 1] = way + begun * self.hips[0]
            swing = 18.0 * np.sin(np.pi * (t / self.time - 0.5)) * np.clip(np.minimum(t, self.duration - t) / self.time, 0, 1)
            rows[:, 18] -= swing
            rows[:, 22] += swing
        for first, own, side in ((0, 9, -1.0), (1, 13, 1.0)):
            at, rows[:, own + 2] = self.foot(t, first)
            if self.turns:
                hip = side * SIZE.hips
                rows[:, own], rows[:, own + 1], rows[:, own + 3] = hip * (np.cos(at) - 1.0), hip * np.sin(at), np.degrees(at)
            else:
                rows[:, own + 1] = at
        return rows


def _ramp(t: Array, width: float) -> Array:
    """Smooth max(t, 0): its slope goes from 0 to 1 over `width` about t = 0."""
    s = np.clip(t / width + 0.5, 0.0, 1.0)
    return np.asarray(width * (s**4 * (2.5 - 3.0 * s + s**2)) + np.maximum(t - width / 2, 0.0))


@dataclass(frozen=True)
class Gesture:
    """Stances at times [s]; the parts that move; a line of text; a loop that may be repeated."""

    keys: tuple[tuple[float, Stance], ...]
    parts: tuple[str, ...]
    text: str
    loop: tuple[float, float] | None = None
    travels: bool = False
    arms_in: float = -0.25
    """Smallest slope outward of the strings of the hands: a negative one lets them cross the face."""
    arms_out: float = 0.5
    """Largest slope outward of these strings: a small one keeps them away from those of a partner."""
    legs: tuple[float, float] = (-0.06, 0.0)
    """Smallest slopes outward and ahead of the strings of the knees, where steps are taken."""
    shins: tuple[float, float] = (0.03, 0.05)
    """The same for the strings of the shins, which pass the trunk at its side."""
    elbows: float = 0.4
    """Largest slope ahead of the strings of the elbows: a negative one keeps them behind forearms that are raised."""
    hands_ahead: float = 0.6
    """Largest slope ahead of the strings of the hands: a small one keeps them away from someone who faces the actor."""
    held: str = ""
    """Part whose strings lean as at rest all the time."""
    aside: tuple[float, float] | None = None
    """Slopes outward and ahead of the strings of legs that stand, where those at rest would meet the trunk or an arm."""
    back: tuple[float, float] | None = None
    """Smallest and largest slope ahead of the string of the back, where that at rest would pull the actor back."""
    around: float = 0.03
    """How much longer these strings are, to lead around what leans over them [m]."""
    steps: Steps | None = None
    """Steps that carry the actor, instead of keys."""


def keyed(*stances: Stance, step: float, lead: float | None = None) -> tuple[tuple[float, Stance], ...]:
    """Rest, these stances one `step` [s] apart, and rest again; `lead` [s] is the way from rest and back."""
    lead = step if lead is None else lead
    times = [0.0, *(lead + step * k for k in range(len(stances))), 2 * lead + step * (len(stances) - 1)]
    return tuple(zip((round(t, 2) for t in times), (REST, *stances, REST), strict=True))


def marching(rounds: int = 2, rise: float = 0.6, sink: float = 1.2, step: float = 1.7) -> tuple[tuple[float, Stance], ...]:
    """Steps on the spot: knees rise in turn, and each foot is above its place before it comes down."""
    keys, t = [(0.0, REST)], 0.0
    for _ in range(rounds):
        for high, low in ((STEP, ABOVE), (mirrored(STEP), mirrored(ABOVE))):
            keys += [(t + rise, high), (t + sink, low), (t + step, REST)]
            t += step
    return tuple((round(t, 2), stance) for t, stance in keys)


def mirrored(stance: Stance) -> Stance:
    """Left for right."""

    def flip(v: tuple[float, ...], *signs: float) -> tuple[float, ...]:
        return tuple(s * a for s, a in zip(signs, v, strict=True))

    return Stance(
        flip(stance.hips, -1, 1, 1), flip(stance.lean, 1, -1, -1), flip(stance.head, 1, -1, -1),
        flip(stance.right_foot, -1, 1, 1, -1), flip(stance.left_foot, -1, 1, 1, -1), stance.right_arm, stance.left_arm,
    )  # type: ignore[arg-type]  # fmt: skip


REST = Stance()
LEFTWARD, RIGHTWARD = Stance(right_arm=reach(0.06, 0.22, 0.4)), Stance(right_arm=reach(0.38, 0.2, 0.3))
HAT = Stance(right_arm=reach(-0.01, 0.13, 0.215, 30))
THERE = Stance(right_arm=reach(0.52, 0.08, 0.06), head=(0, 0, -50))
OUT, HERE = Stance(right_arm=reach(0.25, 0.42, 0.05)), Stance(right_arm=reach(0.04, 0.16, 0.12), head=(8, 0, 0))
UP = reach(0.2, 0.06, 0.47)
HIGH, LOWER = (
    Stance(left_arm=UP, right_arm=UP, head=(-8, 0, 0)),
    Stance(left_arm=reach(0.3, 0.2, 0.2), right_arm=reach(0.3, 0.2, 0.2)),
)
APART, TOGETHER = (
    Stance(left_arm=reach(0.13, 0.3, 0.0), right_arm=reach(0.13, 0.3, 0.0)),
    Stance(left_arm=reach(-0.175, 0.3, 0.0), right_arm=reach(-0.175, 0.3, 0.0)),
)
DEEP, HIGHER = Stance(right_arm=reach(0.28, 0.36, -0.22)), Stance(right_arm=reach(0.28, 0.36, -0.1))
OPEN = Stance(left_arm=reach(0.33, 0.16, -0.12), right_arm=reach(0.33, 0.16, -0.12), head=(0, 26, 0))
DOWN = Stance(hips=(0, -0.03, -0.022), lean=(62, 0, 0), head=(22, 0, 0), left_arm=(30, 80, 14, 20), right_arm=(30, 80, 14, 20))
YES, NO = Stance(head=(31, 0, 0)), Stance(head=(-12, 0, 0))
OVER = Stance(right_foot=(0, 0.02, 0.1, 0))  # where it will stand
RAISE, KICK = Stance(right_foot=(0, 0.33, 0.2, 0)), Stance(right_foot=(0, 0.66, 0.5, 0), lean=(-8, 0, 0))
STEP = Stance(left_foot=(0, 0.15, 0.27, 0), right_arm=(38, 50, 0, 40), left_arm=(45, 0, 0, 30))
ABOVE = Stance(left_foot=(0, -0.05, 0.07, 0))  # where it will stand: legs lag behind
LEAN = Stance(hips=(0.015, -0.02, -0.025), lean=(0, 16, 0), head=(0, 8, 0))
TURN = Stance(
    lean=(0, 0, 40),
    head=(0, 0, -20),
    left_foot=(0, 0, 0, 25),
    right_foot=(0, 0, 0, 25),
    left_arm=reach(0.4, 0.06, -0.15),
    right_arm=reach(0.4, 0.06, -0.15),
)
CROUCH = Stance(hips=(0, -0.1, -0.04), lean=(12, 0, 0))
AIR = Stance(
    hips=(0, 0.0, 0.28), left_foot=(0, 0.02, 0.28, 0), right_foot=(0, 0.02, 0.28, 0), left_arm=reach(0.36, 0.15, -0.1),
    right_arm=reach(0.36, 0.15, -0.1),
)  # fmt: skip
DANCE = Stance(right_arm=reach(0.22, 0.2, 0.4), left_arm=reach(0.3, 0.1, -0.25))
HEEL = replace(DANCE, hips=(0, 0, 0.04), left_foot=(-0.06, 0.5, 0.28, 0), right_foot=(0, 0, 0.04, 0), lean=(-4, 7, 0))
OTHER = replace(DANCE, hips=(0, 0, 0.04), right_foot=(0.06, 0.5, 0.28, 0), left_foot=(0, 0, 0.04, 0), lean=(-4, -7, 0))
BETWEEN = replace(DANCE, hips=(0, -0.02, -0.01))

WALK = Steps(0.22, False, 0.06, 1.0, 6, both=0.07, rise=0.1, early=0.7)
TURNING = Steps(0.32, True, 0.08, 1.2, 7, both=0.07, rise=0.15, early=0.6)


def walking(steps: Steps, text: str) -> Gesture:
    """A gesture of steps."""
    keys = ((0.0, REST), (steps.duration, REST))
    return Gesture(keys, ("torso", *LEGS), text, steps.loop, travels=True, steps=steps, hands_ahead=0.15, arms_out=0.07, around=0.0)


GESTURES = {
    "rest": Gesture(keyed(REST, REST, step=0.6), (), "stands still", (0.6, 1.2)),
    "wave": Gesture(
        keyed(RIGHTWARD, LEFTWARD, RIGHTWARD, LEFTWARD, RIGHTWARD, LEFTWARD, step=0.66, lead=1.0), ARM, "waves with the right hand",
        (1.66, 2.98), elbows=-0.1,
    ),
    "salute": Gesture(keyed(HAT, HAT, step=1.2, lead=1.0), ARM, "hand to the hat", held="left_arm"),
    "point": Gesture(keyed(THERE, THERE, step=0.9, lead=1.0), ("right_arm", "head"), "points to its right"),
    "beckon": Gesture(keyed(*(OUT, HERE) * 3, OUT, step=0.6, lead=0.9), ("right_arm", "head"), "come here", (0.9, 2.1)),
    "cheer": Gesture(
        keyed(HIGH, LOWER, HIGH, LOWER, HIGH, step=0.6, lead=0.9), (*ARMS, "head"), "both hands up", (0.9, 2.1), elbows=-0.3
    ),
    "clap": Gesture(
        keyed(*(APART, TOGETHER) * 3, APART, step=0.7, lead=1.0), ARMS, "claps its hands", (1.0, 2.4), aside=(0.05, 0.5)
    ),
    "shake": Gesture(
        keyed(*(DEEP, HIGHER) * 3, DEEP, step=0.4, lead=1.2), ARM, "shakes hands", (1.2, 2.0), arms_out=0.0,
        hands_ahead=0.05, elbows=0.0,
    ),
    "shrug": Gesture(keyed(OPEN, OPEN, step=0.7, lead=0.9), (*ARMS, "head"), "who knows"),
    "bow": Gesture(
        keyed(DOWN, DOWN, step=0.6, lead=1.2), ALL, "bends trunk and head down", aside=(0.075, 0.6), around=0.1, back=(-0.1, 0.1)
    ),
    "nod": Gesture(keyed(YES, NO, YES, NO, YES, step=0.5, lead=0.6), ("head",), "says yes", (0.6, 1.6)),
    "kick": Gesture(
        ((0, REST), (0.9, RAISE), (1.6, KICK), (1.9, KICK), (2.6, RAISE), (3.4, OVER), (4.0, REST)), ("right_leg",), "kicks a leg",
    ),
    "march": Gesture(
        marching(), ("torso", *ARMS, *LEGS), "steps on the spot", (0.6, 4.0), around=0.0,
    ),
    "walk": walking(WALK, "walks to a place"),
    "turn": walking(TURNING, "turns to face another way"),
    "sway": Gesture(
        keyed(*(LEAN, mirrored(LEAN)) * 2, step=1.2, lead=1.0), ("torso", "head"), "sways from side to side", (1.0, 3.4),
        arms_in=0.12,
    ),
    "twist": Gesture(
        keyed(*(TURN, mirrored(TURN)) * 2, step=1.3, lead=1.1), ("torso", "head", *ARMS),
        "turns its shoulders to and fro", (1.1, 3.7),
    ),
    "hop": Gesture(keyed(CROUCH, AIR, CROUCH, AIR, CROUCH, step=0.5, lead=0.6), ALL, "hops twice"),
    "polka": Gesture(
        keyed(*(BETWEEN, HEEL, BETWEEN, OTHER) * 2, BETWEEN, step=0.6, lead=0.9), ALL, "a dance step", (0.9, 3.3),
    ),
}  # fmt: skip
