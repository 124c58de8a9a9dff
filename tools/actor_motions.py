"""Makes the library of motions of the actor: python tools/actor_motions.py [NAME …]

A gesture is a row of stances. From stance to stance the body follows smoothly, and inverse dynamics finds hands that make it do so
(string_pulls.py). The simulation with these hands is kept, small, in src/bunraku/choreography/motions/.
"""

from __future__ import annotations

import sys

import numpy as np
from gestures import GESTURES, Gesture
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter1d
from stances import Stance, angles
from string_pulls import Footing, PullOptions, hung, slopes_of

from bunraku import Motion, library
from bunraku.choreography.company import BoardOptions
from bunraku.choreography.motion_library import MOTION_FOLDER, SAMPLE_RATE, repertoire_of, save_pieces
from bunraku.choreography.puppet import Puppet
from bunraku.choreography.rehearse import Hung, RehearsalOptions
from bunraku.choreography.repertoire import MotionPiece
from bunraku.choreography.soles import feet_of
from bunraku.collision.manifold.touch_rules import Matter, Touch
from bunraku.dynamics.touch.touch_simulation import TouchSimulation
from bunraku.kinematics.ways import lengths_along
from bunraku.scene import Scene
from bunraku.spatial.rest_to_rest import eased

Array = NDArray[np.float64]
FIGURE = library.actor()
DT = 0.02  # [s]
MAKING = RehearsalOptions(swings_held=True)
# Slopes of the right strings along x and y: at rest, and the ranges that keep them clear of head and trunk.
SLOPES = {
    "shoulder": ((0.2, 0.05), (0.14, -0.2), (0.35, 0.3)),
    "back": ((0.0, -0.35), (-0.15, -0.7), (0.15, 0.05)),
    "head": ((0.08, 0.02), (0.02, -0.3), (0.3, 0.3)),
    "arm": ((0.07, 0.15), (-0.25, -0.3), (0.5, 0.5)),
    "arm_elbow": ((0.18, 0.0), (0.1, -0.4), (0.4, 0.4)),
    "leg": ((0.05, 0.2), (0.02, 0.1), (0.3, 0.6)),
    "leg_shin": ((0.05, 0.2), (-0.05, 0.1), (0.3, 0.6)),
}


def _leaning(which: int) -> Array:
    """Slopes of all strings at rest (0), or their smallest (1) or largest ones (2), (strings, 2)."""
    out = []
    for string in FIGURE.strings:
        kind = "_".join(word for word in string.name.split("_") if word not in ("left", "right"))
        x, y = SLOPES[kind][which]
        out.append((-SLOPES[kind][(0, 2, 1)[which]][0], y) if "left" in string.name else (x, y))
    return np.array(out)


def footing() -> Footing:
    """The feet of the actor, and the boards at z = 0, just below them."""
    return Footing(FIGURE, feet_of(Puppet(FIGURE, FIGURE.start)), 0.0)


def standing() -> Array:
    """The actor at rest, on its feet."""
    still = np.repeat(Stance().row[None], 3, 0)
    q = hung(
        FIGURE, angles(FIGURE, FIGURE.start, still), DT, _leaning(0), np.stack([_leaning(1), _leaning(2)]), np.zeros(3), footing()
    )
    out = _settled(q[0][1])
    for foot in footing().strings:  # with strings of legs that are slack by as much as in all motions
        for k in foot:
            name = FIGURE.index(f"{FIGURE.strings[k].name}_length")
            out[name] += PullOptions().slack + lengths_along(FIGURE, out[None])[0, k] - out[name]
    return _settled(out)


def _settled(q: Array) -> Array:
    """Where the actor comes to rest on the boards, with these hands."""
    touch = Touch(matter=Matter(friction=BoardOptions().friction))
    run = TouchSimulation(FIGURE, q, scene=Scene("boards", floor=-BoardOptions().gap), touch=touch, dt=DT)
    hands = np.repeat(q[None, FIGURE.n_dynamic :], round(8.0 / DT), 0)
    return np.asarray(run.run(hands).q[-1])


def stances_over(gesture: Gesture, t: Array) -> Array:
    """From key to key: gently out of rest and into it, and to and fro between as a swing goes."""
    times = np.array([at for at, _ in gesture.keys])
    keys = np.array([stance.row for _, stance in gesture.keys])
    k = np.clip(np.searchsorted(times, t, side="right") - 1, 0, len(times) - 2)
    s = np.clip((t - times[k]) / (times[k + 1] - times[k]), 0.0, 1.0)
    ends = (k == 0) | (k == len(times) - 2)
    part = np.where(ends, s**3 * (10.0 - 15.0 * s + 6.0 * s**2), 0.5 - 0.5 * np.cos(np.pi * s))[:, None]
    rows = (1.0 - part) * keys[k] + part * keys[k + 1]
    smooth = gaussian_filter1d(rows, 0.05 / DT, axis=0, mode="nearest")
    calm = np.minimum(1.0, np.minimum(t, t[-1] - t) / 0.2)[:, None]
    return calm * smooth + (1 - calm) * rows


def wanted_of(gesture: Gesture, rest: Array) -> Array:
    """The dynamic variables of a gesture from rest to rest every `DT`, with a moment at the end to come to rest."""
    t = np.arange(round(gesture.keys[-1][0] / DT) + 1) * DT
    rows = gesture.steps.rows(t) if gesture.steps else stances_over(gesture, t)
    q = angles(FIGURE, rest, rows)
    q[:, : FIGURE.n_dynamic] += rest[: FIGURE.n_dynamic] - q[0, : FIGURE.n_dynamic]
    return np.concatenate([q, np.repeat(q[-1:], round(0.6 / DT), 0)])


def with_hands(q: Array, rest: Array, gesture: Gesture, heading: Array) -> Array:
    """`q` with hands that begin and end as at `rest`, wherever steps with this `heading` (T,) [rad] have led."""
    ranges, rested = np.stack([_leaning(1), _leaning(2)]), slopes_of(FIGURE, rest)
    for k, string in enumerate(FIGURE.strings):
        if "leg" in string.name and gesture.steps is not None:
            side = (1, -1.0) if "left" in string.name else (0, 1.0)
            outward, ahead = gesture.shins if "shin" in string.name else gesture.legs
            ranges[side[0], k, 0], ranges[0, k, 1] = side[1] * outward, ahead
        if string.name.endswith("arm_elbow"):
            ranges[1, k, 1] = gesture.elbows
        if string.name.endswith("_arm"):
            ranges[1, k, 1] = gesture.hands_ahead
        if string.name == "left_arm":
            ranges[:, k, 0] = -gesture.arms_out, -gesture.arms_in
        if string.name == "right_arm":
            ranges[:, k, 0] = gesture.arms_in, gesture.arms_out
    loose = rested.copy()
    if gesture.aside is not None:
        for k, string in enumerate(FIGURE.strings):
            if "leg" in string.name:
                loose[k] = gesture.aside[0] * (-1 if "left" in string.name else 1), gesture.aside[1]
    ranges[0], ranges[1] = np.minimum(ranges[0], loose), np.maximum(ranges[1], loose)
    if gesture.back is not None:
        ranges[:, [string.name for string in FIGURE.strings].index("back"), 1] = gesture.back
    for k, string in enumerate(FIGURE.strings):
        if gesture.held and string.name.startswith(gesture.held):
            ranges[:, k] = rested[k]
    return hung(FIGURE, q, DT, rested, ranges, heading, footing(), loose, PullOptions(around=gesture.around))[0]


def arrived(made: Array, rest: Array) -> Array:
    """`made` (T, n_q), sampled for the library, from `rest` on, and with what is left of swings at its end removed over the last
    second, so that pieces join."""
    share = eased(1.0 - (np.arange(len(made))[::-1] / SAMPLE_RATE))[:, None]
    return np.concatenate([rest[None], (made + share * (rest - made[-1]))[1:]])


def made_of(gesture: Gesture, puppet: Puppet) -> tuple[Array, Array | None]:
    """The motion of a gesture every `DT` as seen by someone who goes along, and how far its steps lead."""
    wanted = wanted_of(gesture, puppet.rest)
    t = np.arange(len(wanted)) * DT
    way = None if gesture.steps is None else gesture.steps.way(t)
    heading = way if gesture.steps is not None and gesture.steps.turns and way is not None else np.zeros(len(t))
    made = wanted
    if gesture.parts:
        run = Hung(puppet, MAKING).followed(with_hands(wanted, puppet.rest, gesture, heading))
        assert run is not None, "it cannot be simulated"
        made = run.x[:, : FIGURE.n_q]
        away = np.abs(made - wanted)[:, : FIGURE.n_dynamic]
        print(f"  off by {np.sqrt(np.mean(away**2)):.3f} rad rms, {np.mean(run.impulse <= 0):.1%} slack", flush=True)
    if way is not None:
        ahead = np.zeros(len(t)) if heading is way else way
        made = puppet.placed(made, np.zeros(len(t)), -ahead, -heading)
    return made, way


def main(names: list[str]) -> None:
    puppet = Puppet(FIGURE, standing())
    known = dict(repertoire_of(FIGURE).pieces)
    every = round(1.0 / (SAMPLE_RATE * DT))
    for name in names or GESTURES:
        print(name, flush=True)
        gesture = GESTURES[name]
        made, way = made_of(gesture, puppet)
        motion = Motion.of(FIGURE, DT * np.arange(len(made))[::every], arrived(made[::every], puppet.rest))
        steps = None if way is None else way[::every]
        turns = gesture.steps is not None and gesture.steps.turns
        known[name] = MotionPiece(
            name, motion, gesture.parts, gesture.loop, gesture.travels, gesture.text, steps, turns, loose=bool(gesture.parts)
        )
        save_pieces(MOTION_FOLDER / f"{FIGURE.name}.npz", {key: known[key] for key in GESTURES if key in known})


if __name__ == "__main__":
    main(sys.argv[1:])
