"""A person and a robot with a tray: who stand and lift it, and who glide along with it."""

from __future__ import annotations

import functools

import numpy as np

from bunraku.ensemble.agents import hold, porter, rover
from bunraku.ensemble.closed_loops import Loops
from bunraku.ensemble.rolling import rolled
from bunraku.ensemble.team import OBJECT, Carried, Team
from bunraku.ensemble.whole_team import WholeTeam
from bunraku.figure import Box, Shape
from bunraku.kinematics import pose
from bunraku.scene import Scene

HIGH = 1.05  # [m] of the tray


@functools.cache
def waiters() -> Team:
    palms = {"left_palm": (-0.32, 0.25, -0.06), "right_palm": (-0.32, -0.25, -0.06)}
    person = porter("person", *(hold(palm, at, z=(-1, 0, 0), x=(0, 0, 1)) for palm, at in palms.items()))
    robot = rover("robot", hold("tool", (0.36, 0.0, 0.0), z=(-1, 0, 0), x=(0, 0, 1)))
    tray = Shape("world", Box((0.7, 0.5, 0.04)), name="tray")
    return Team((person, robot), Carried((tray,), tilt=0.3, heights=(0.75, 1.3)))


@functools.cache
def _ready():
    """The whole team with the tray at the origin, hands on it."""
    whole = WholeTeam(waiters(), Scene("nowhere"))
    q = np.concatenate([figure.start for figure in whole.figures])
    for agent, base in zip(whole.team.agents, ((-0.66, 0.0, 0.0), (1.15, 0.0, np.pi)), strict=True):
        q[whole.columns[agent.name].start + agent.figure.indices(agent.base)] = base
    q[whole.columns[OBJECT]] = 0.0, 0.0, HIGH, 0.0, 0.0, 0.0
    X_WO = pose(whole.figures[-1], q[whole.columns[OBJECT]]).X(OBJECT)
    for loop in Loops(whole).loops:
        own = q[whole.columns[loop.agent.name]]
        swivels = np.linspace(-np.pi, np.pi, 25)
        found = np.vstack([loop.arm.solutions(X_WO @ loop.hold.X_OT, own, swivel=s, within_limits=True) for s in swivels])
        room = np.minimum(found - loop.arm.limits[0], loop.arm.limits[1] - found).min(1)
        q[loop.columns] = found[np.argmax(room)]
    return whole, q


def moved(x, z=None, *, y=None, duration: float = 8.0):
    """The motion in which all glide to each x, the tray at each height z and everybody's y."""
    whole, q = _ready()
    x = np.asarray(x, float)
    z = np.full(len(x), HIGH) if z is None else np.asarray(z, float)
    Q = np.repeat(q[None], len(x), 0)
    for agent in whole.team.agents:
        first, second = whole.columns[agent.name].start + agent.figure.indices(agent.base[:2])
        Q[:, first] += x
        Q[:, second] += 0.0 if y is None else y
    held = whole.columns[OBJECT].start
    Q[:, held] += x
    Q[:, held + 1] += 0.0 if y is None else y
    Q[:, held + 2] = z
    return closed(Q, duration=duration)


def closed(Q, *, duration: float = 8.0):
    """Whole configurations as a motion, arms closed."""
    from bunraku.motion import Motion, Track

    whole, _ = _ready()
    loops = Loops(whole)
    Q, ok = loops.changed(np.asarray(Q), np.zeros((1, len(loops.active))))
    assert ok.all()
    names = whole.columns
    for agent in whole.team.agents:
        wheels = [k for k, name in enumerate(agent.figure.names) if "wheel" in name]
        own = Q[:, names[agent.name]]  # a view
        own[:, wheels] = rolled(agent, own[:, agent.figure.indices(agent.base)])[:, wheels]
    figures = [*(agent.figure for agent in whole.team.agents), whole.figures[-1]]
    tracks = tuple(Track(figure, Q[:, names[name]], name=name) for figure, name in zip(figures, names, strict=True))
    return Motion(np.linspace(0.0, duration, len(Q)), tracks)


def gliding(samples: int = 120):
    return moved(np.linspace(-2.0, 2.0, samples))


def lifting(samples: int = 40):
    """Nobody steps anywhere; the tray goes up and down."""
    return moved(np.zeros(samples), HIGH + 0.08 * np.sin(np.linspace(0.0, 2.0 * np.pi, samples)))


def altered(motion, name, variable, values, *, samples=slice(None)):
    """The same motion with one variable set, or moved, as a function of what it was."""
    from dataclasses import replace

    track = motion.track(name)
    q = track.q.copy()
    k = track.figure.index(variable)
    q[samples, k] = values(q[samples, k])
    return motion.replace(tracks=tuple(replace(t, q=q) if t is track else t for t in motion.tracks))
