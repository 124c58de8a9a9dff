"""The contact of a motion again in MuJoCo: bodies of a figure move as they did, and a free prop meets them and the floor there."""

from __future__ import annotations

import mujoco
import numpy as np
from numpy.typing import NDArray
from scipy.spatial.transform import Rotation, Slerp

from bunraku.figure import Figure
from bunraku.figure.shape import Box, Capsule, Cylinder, Shape, Sphere
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion

Array = NDArray[np.float64]
STIFF = 'solref="0.002 1" solimp="0.99 0.999 0.0001"'


def _geom(shape: Shape, friction: float, rolling: float, mass: float) -> str:
    x, y, z = shape.position
    w, i, j, k = Rotation.from_matrix(_matrix(shape)).as_quat(scalar_first=True)
    match shape.geometry:
        case Sphere(radius):
            size = f'type="sphere" size="{radius}"'
        case Capsule(radius, length):
            size = f'type="capsule" size="{radius} {length / 2}"'
        case Cylinder(radius, length):
            size = f'type="cylinder" size="{radius} {length / 2}"'
        case Box(edges):
            size = f'type="box" size="{edges[0] / 2} {edges[1] / 2} {edges[2] / 2}"'
        case other:
            raise NotImplementedError(other)
    return (
        f'<geom {size} pos="{x} {y} {z}" quat="{w} {i} {j} {k}" mass="{mass}" condim="6" '
        f'friction="{friction} 0 {rolling}" {STIFF}/>'
    )


def _matrix(shape: Shape) -> Array:
    from bunraku.spatial import se3

    return np.asarray(se3.pose(shape.position, shape.rotation)[:3, :3])


def pushed_in_mujoco(
    motion: Motion, prop: str, pushers: tuple[str, ...], *, friction: float, rolling: float = 0.0, step: float = 2.5e-4
) -> Array:
    """Where the frame `prop` is at every sample of `motion`, (T, 3) [m], if the frames `pushers` move as in `motion`.

    friction, rolling: between all bodies
    step: time step of MuJoCo [s]
    """
    figure: Figure = motion.only.figure
    X = frames_along(figure, motion.only.q)
    bodies = []
    for name in pushers:
        own = "".join(_geom(s, friction, rolling, 1e4) for s in figure.shapes if s.frame == name and s.collides)
        bodies.append(f'<body name="{name}" gravcomp="1"><freejoint/>{own}</body>')
    mass = sum(b.mass for b in figure.bodies if b.frame == prop)
    own = "".join(_geom(s, friction, rolling, mass) for s in figure.shapes if s.frame == prop)
    bodies.append(f'<body name="{prop}"><freejoint/>{own}</body>')
    pairs = "".join(f'<exclude body1="{a}" body2="{b}"/>' for k, a in enumerate(pushers) for b in pushers[:k])
    floor = f'<geom name="floor" type="plane" size="9 9 1" condim="6" friction="{friction} 0 {rolling}" {STIFF}/>'
    model = mujoco.MjModel.from_xml_string(
        f'<mujoco><option timestep="{step}" cone="elliptic" impratio="20" integrator="implicitfast"/>'
        f"<worldbody>{floor}{''.join(bodies)}</worldbody><contact>{pairs}</contact></mujoco>"
    )
    data = mujoco.MjData(model)
    index = [figure.frame_index[name] for name in (*pushers, prop)]
    turns = [Slerp(motion.t, Rotation.from_matrix(X[:, k, :3, :3])) for k in index]

    def put(k: int, t: float) -> None:
        t = min(t, float(motion.t[-1]))
        at = min(int(np.searchsorted(motion.t, t, side="right")), len(motion.t) - 1)
        h = motion.t[at] - motion.t[at - 1]
        p, n = X[:, index[k], :3, 3], (t - motion.t[at - 1]) / h
        data.qpos[7 * k : 7 * k + 3] = (1 - n) * p[at - 1] + n * p[at]
        data.qpos[7 * k + 3 : 7 * k + 7] = turns[k](t).as_quat(scalar_first=True)
        data.qvel[6 * k : 6 * k + 3] = (p[at] - p[at - 1]) / h
        a, b = (Rotation.from_matrix(X[i, index[k], :3, :3]) for i in (at - 1, at))
        data.qvel[6 * k + 3 : 6 * k + 6] = (a.inv() * b).as_rotvec() / h

    put(len(pushers), 0.0)
    data.qvel[6 * len(pushers) :] = 0.0
    out = [data.qpos[-7:-4].copy()]
    each = round(float(motion.t[1] - motion.t[0]) / step)
    for sample in range(len(motion.t) - 1):
        for s in range(each):
            for k in range(len(pushers)):
                put(k, float(motion.t[sample]) + s * step)
            mujoco.mj_step(model, data)
        out.append(data.qpos[-7:-4].copy())
    return np.array(out)
