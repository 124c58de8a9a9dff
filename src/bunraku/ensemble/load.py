"""Load: how the weight of the object is shared by those who carry it, and whether they stay upright under it.

Hands push upward where they hold, and resist tipping by a moment. Weight and moments about the centre of mass are in balance; of
all such forces, those are taken for which the largest share of what an agent bears is smallest (a linear program).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import uniform_filter1d
from scipy.optimize import linprog

from bunraku.ensemble.footing import Heights, standing_points
from bunraku.ensemble.members import Agent
from bunraku.ensemble.team import OBJECT, Team
from bunraku.kinematics.balance import margin, support_polygon
from bunraku.kinematics.forward import frames_along
from bunraku.motion import Motion
from bunraku.spatial import so3

Array = NDArray[np.float64]


@dataclass(frozen=True)
class LoadOptions:
    """How loads are shared and balance is tested."""

    lever: float = 0.2
    """A hand resists tipping by a moment of up to this length times the weight that its agent bears [m]."""
    interval: float = 0.25
    """Time between two samples at which load and balance are tested [s]."""
    stride: float = 1.2
    """A walker is in balance if, on average over this time, the centre of mass is over where the feet stood meanwhile [s]."""
    overload: float = 1e-6
    """Tolerance of what an agent bears, as a share."""


@dataclass(frozen=True)
class Load:
    """Who bears what."""

    use: float
    """The largest share of what an agent bears; above 1 it is too much. 0 if nobody's strength is limited."""
    bears: dict[str, float]
    """Mass that each agent bears, by name [kg]."""


def shared(team: Team, pitch: float = 0.0, roll: float = 0.0, *, options: LoadOptions = LoadOptions()) -> Load:
    """How a `team` shares the weight of the object at this `pitch` and `roll` [rad]; `options` say how hands resist tipping."""
    agents = [agent for agent in team.agents for _ in agent.holds]
    points = np.array([hold.X_OT[:3, 3] for agent in team.agents for hold in agent.holds]) - np.array(team.carried.centre)
    R = so3.about(1, np.array([pitch]))[0] @ so3.about(0, np.array([roll]))[0]
    x, y, _ = R @ points.T
    n, mass = len(agents), team.carried.mass
    # Unknowns: masses borne by hands (n), moments about x and y (2 n) as mass × length, and the largest share (1).
    A_eq = np.zeros((3, 3 * n + 1))
    A_eq[0, :n], A_eq[1, :n], A_eq[2, :n] = 1.0, y, -x
    A_eq[1, n : 2 * n] = A_eq[2, 2 * n : 3 * n] = 1.0
    limited = [agent for agent in team.agents if math.isfinite(agent.bears)]
    rows = [np.array([*(float(own is agent) for own in agents), *(0.0,) * (2 * n), -agent.bears]) for agent in limited]
    for k, agent in enumerate(agents):
        if math.isfinite(agent.bears):
            for column in (n + k, 2 * n + k):
                for sign in (1.0, -1.0):
                    row = np.zeros(3 * n + 1)
                    row[column], row[-1] = sign, -options.lever * agent.bears
                    rows.append(row)
    cost = np.append(np.full(n, 1e-9), np.append(np.zeros(2 * n), 1.0))
    limits = [(0.0, None)] * n + [(None, None)] * (2 * n) + [(0.0, None)]
    found = linprog(
        cost, A_ub=np.array(rows) if rows else None, b_ub=np.zeros(len(rows)) if rows else None, A_eq=A_eq, b_eq=[mass, 0.0, 0.0],
        bounds=limits,
    )  # fmt: skip
    if found.x is None:
        return Load(math.inf, {})
    own = {agent.name: float(sum(found.x[k] for k, other in enumerate(agents) if other is agent)) for agent in team.agents}
    return Load(float(found.x[-1]), own)


def too_heavy(team: Team, *, options: LoadOptions = LoadOptions()) -> str:
    """Why a `team` cannot bear the object, in words; empty if it can. `options` say how hands resist tipping."""
    if not team.carried.mass:
        return ""
    load = shared(team, options=options)
    if load.use <= 1.0 + options.overload:
        return ""
    mass, limits = team.carried.mass, {agent.name: agent.bears for agent in team.agents}
    names, total = " and ".join(limits), sum(limits.values())
    if total < mass:
        more = math.ceil((mass - total) / max(limits.values()) - 1e-9)
        together = "bears" if len(limits) == 1 else "together bear"
        return f"the {OBJECT} of {mass:g} kg is too heavy for {names}, who {together} {total:g} kg: needs {more} more"
    worst = max(limits, key=lambda name: load.bears.get(name, 0.0) / limits[name])
    return (
        f"the {OBJECT} of {mass:g} kg is held too unevenly: {worst} would bear {load.bears.get(worst, 0.0):.3g} kg of "
        f"{limits[worst]:g} kg, and hands would tip"
    )


def overloads(team: Team, motion: Motion, *, options: LoadOptions = LoadOptions()) -> Iterator[tuple[int, str, float]]:
    """Where agents of a `team` bear too much in a `motion`: first sample, description, excess [share]. `options` as above."""
    if not team.carried.mass or not any(agent.holds for agent in team.agents):
        return
    known = lru_cache(maxsize=None)(lambda pitch, roll: shared(team, pitch, roll, options=options).use)
    for k in _samples(motion, options):
        pitch, roll = (round(float(a), 2) for a in motion.track(OBJECT).q[k, 4:])
        use = known(pitch, roll)
        if use > 1.0 + options.overload:
            yield k, f"somebody bears {use:.3g} times as much as possible", use - 1.0
            return


def unbalanced(
    team: Team, motion: Motion, heights: Heights, *, options: LoadOptions = LoadOptions()
) -> Iterator[tuple[int, str, float]]:  # fmt: skip
    """Agents of a `team` that fall over under their load in a `motion`: first sample, description, distance [m].

    `heights` are those of the ground, `options` say how often to look. An agent that walks is tested on average over a stride, one
    that rolls at every moment.

    """
    if not team.carried.mass or not any(agent.holds for agent in team.agents):
        return
    load = shared(team, options=options)
    held = motion.track(OBJECT).q
    R = so3.about(2, held[:, 3]) @ so3.about(1, held[:, 4]) @ so3.about(0, held[:, 5])
    dt = float(np.diff(motion.t).mean())
    for agent in (agent for agent in team.agents if agent.holds):
        mass, com = _centre(agent, motion)
        hands = np.mean([R @ hold.X_OT[:3, 3] + held[:, :3] for hold in agent.holds], axis=0)
        borne = load.bears.get(agent.name, 0.0)
        both = (mass * com + borne * hands) / (mass + borne)
        points, stands = standing_points(agent, motion, heights)
        walks = bool((stands.any(0) & ~stands.all(0)).any())
        half = round(0.5 * options.stride / dt) if walks else 0
        mean = uniform_filter1d(both, 2 * half + 1, axis=0, mode="nearest") if half else both
        for k in _samples(motion, options):
            near = slice(max(k - half, 0), k + half + 1)
            feet = points[near][stands[near]]
            inside = -math.inf if len(feet) < 3 else float(margin(support_polygon(feet[:, :2]), mean[k, :2]))
            if inside < 0.0:
                yield k, f"{agent.name} falls over: the centre of mass is {-inside:.3g} m beyond the feet or wheels", -inside
                break


def _samples(motion: Motion, options: LoadOptions) -> range:
    step = max(round(options.interval / float(np.diff(motion.t).mean())), 1) if len(motion) > 1 else 1
    return range(0, len(motion), step)


def _centre(agent: Agent, motion: Motion) -> tuple[float, Array]:
    """Mass [kg] of an agent, and its centre of mass (T, 3) [m]."""
    X, index = frames_along(agent.figure, motion.track(agent.name).q), agent.figure.frame_index
    total, moment = 0.0, np.zeros((len(motion), 3))
    for body in agent.figure.bodies:
        at = X[:, index[body.frame]]
        total += body.mass
        moment += body.mass * (at[:, :3, :3] @ np.array(body.com) + at[:, :3, 3])
    return total, moment / max(total, 1e-9)
