"""Makes the film that opens the README, three marionettes that dance one dance in canon, and the picture that opens the
documentation: the same dance of one of them, at five moments side by side.

python docs/opening.py
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy.interpolate import PchipInterpolator

from bunraku import Motion, library, simulate
from bunraku.kinematics import frames_along
from bunraku.render.image import Camera, image, strands

STATIC = Path(__file__).parent / "_static"
DURATION, RATE, DANCERS = 11.0, 15, 3  # of the film: [s], pictures a second, marionettes
MOMENTS = (0.62, 2.92, 6.6, 4.5, 8.9)
APART = 0.54

Points = list[tuple[float, float]]
RIGHT_WAVES: dict[str, Points] = {
    "right_arm_length": [(0, 0), (0.6, -0.2), (0.9, -0.14), (1.2, -0.2), (2.2, 0)],
    "right_arm_x": [(0, 0), (0.6, 0.08), (0.9, 0), (1.2, 0.08), (2.2, 0)],
}
LEFT_STEPS: dict[str, Points] = {
    "left_leg_length": [(2.4, 0), (3.0, -0.16), (3.5, -0.16), (4.0, 0)],
    "left_leg_y": [(2.4, 0), (3.0, 0.15), (3.5, 0.15), (4.0, 0)],
    "left_arm_length": [(2.4, 0), (3.0, -0.16), (3.5, -0.16), (4.0, 0)],
}
RIGHT_STEPS: dict[str, Points] = {
    "right_leg_length": [(4, 0), (4.6, -0.16), (5.0, -0.16), (5.5, 0)],
    "right_leg_y": [(4, 0), (4.6, 0.15), (5.0, 0.15), (5.5, 0)],
    "right_arm_length": [(4, 0), (4.6, -0.12), (5.0, -0.12), (5.5, 0)],
}
BOW = {
    "head_length": 0.07, "head_y": 0.1, "left_arm_x": -0.12, "left_arm_length": -0.08, "right_arm_y": -0.1,
    "left_shoulder_y": -0.04, "right_shoulder_y": -0.04,
}  # fmt: skip
BOWS: dict[str, Points] = {name: [(7.8, 0), (8.8, by), (9.2, by), (10.3, 0)] for name, by in BOW.items()}


def leaps() -> dict[str, Points]:
    shape = {"arm_length": -0.22, "arm_x": 0.1, "leg_length": -0.1, "leg_x": 0.08}
    sides = {"left": -1, "right": 1}
    return {
        f"{side}_{what}": [(5.6, 0), (6.3, by), (7.0, by), (7.6, 0)]
        for side, sign in sides.items()
        for what, size in shape.items()
        for by in [size * sign if what.endswith("x") else size]
    }


def hands(rest: dict[str, float]) -> dict[str, Callable[[float], float]]:
    """All of it as one puppeteer: how far each variable is from where it rests."""
    points: dict[str, Points] = {}
    for part in (RIGHT_WAVES, LEFT_STEPS, RIGHT_STEPS, leaps(), BOWS):
        for name, more in part.items():
            points.setdefault(name, []).extend(more)

    def way(name: str) -> Callable[[float], float]:
        t, by = zip(*points[name], strict=True)
        curve = PchipInterpolator(t, by)
        return lambda now: rest[name] + float(curve(np.clip(now, t[0], t[-1])))

    return {name: way(name) for name in points}


def side_by_side(motion: Motion, moments: Sequence[float], camera: Camera, size: tuple[int, int]) -> NDArray[np.uint8]:
    """The dancer at several moments, beside itself."""
    figure = motion.figure
    stands, ropes = [], []
    for place, moment in enumerate(moments):
        now = motion.resample(times=[moment])
        X = frames_along(figure, now.q)[0]
        X[:, 0, 3] -= APART * (place - (len(moments) - 1) / 2)  # they face us: left to right is toward −x
        stands.append(X)
        ropes += strands(figure, X, now.q[0], now.tension[0])
    return image([figure] * len(moments), stands, camera=camera, size=size, strings=ropes, samples=3)


def main() -> None:
    figure = library.marionette25()
    rest = dict(zip(figure.names, figure.start.tolist(), strict=True))
    motion = simulate(figure, hands(rest), duration=DURATION, dt=0.005)
    STATIC.mkdir(exist_ok=True)
    camera = Camera(eye=(0.95, 5.6, 0.9), target=(0.05, 0, 0.66), field=0.272)
    # Half the levels are enough for the eye, and for the file.
    Image.fromarray(side_by_side(motion, MOMENTS, camera, (1200, 630)) & 0xFE).save(STATIC / "opening.png", optimize=True)
    camera = Camera(eye=(0.6, 5.6, 0.9), target=(0.0, 0, 0.66), field=0.268)
    pictures = []
    for k in range(round(DURATION * RATE)):
        moments = [(k / RATE + DURATION * d / DANCERS) % DURATION for d in range(DANCERS)]
        pictures.append(Image.fromarray(side_by_side(motion, moments, camera, (540, 450))))
    lasts = round(1000 / RATE)  # [ms]
    pictures[0].save(
        STATIC / "opening.webp", save_all=True, append_images=pictures[1:], duration=lasts, loop=0, quality=50, method=6
    )


if __name__ == "__main__":
    main()
