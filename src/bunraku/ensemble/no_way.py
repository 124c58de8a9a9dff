"""Why no path was found: each part of the team searches for one alone."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import World
from bunraku.ensemble.errand import Errand
from bunraku.ensemble.team import OBJECT
from bunraku.figure import Figure
from bunraku.figure.build import Attached, figure, rx, ry, rz, tx, ty, tz
from bunraku.figure.shape import Shape
from bunraku.planning.ways.free_space import FreeSpace
from bunraku.planning.ways.rrt_connect import connect

Array = NDArray[np.float64]


@dataclass(frozen=True)
class WhyNotOptions:
    """Budget of each part of a team that searches alone."""

    seconds: float = 1.5
    """Processor time [s]."""
    nodes: int = 4000
    """Maximum number of nodes of its trees."""


def why_not(
    errand: Errand, start: Array, goal: Array, *, seed: int = 0, options: WhyNotOptions = WhyNotOptions()
) -> str:  # fmt: skip
    """Which part of the team of an `errand` cannot get from `start` to `goal` (configurations) even alone, in words.

    `seed` is that of the random numbers; `options` are the budget of each part.
    """
    (bases_a, held_a), (bases_b, held_b) = (errand.team.in_world(q) for q in (start, goal))
    for agent in errand.team.agents:
        shape = Attached(shapes=(Shape("world", agent.shape, agent.at, name=agent.name),))
        body = figure(agent.name, tx("x", ty("y", rz("turn", shape))))
        ends, leads = (bases_a[agent.name][:3], bases_b[agent.name][:3]), agent is errand.team.leader
        got = _alone(errand, body, *ends, seed, options, beyond=0.0 if leads else _reach(errand))
        if got:
            where = " in the area" if leads else ""
            return (
                f"{agent.name} alone finds no path{where}: its start and goal are not connected, or every passage is too narrow; "
                f"alone it got as far as {got}"
            )
    shapes = Attached(shapes=errand.team.carried.shapes)
    body = figure(OBJECT, tx("x", ty("y", tz("z", rz("turn", ry("pitch", rx("roll", shapes)))))))
    # Whoever carries it goes where it goes, so outside of the area it has a way only beside them.
    got = _alone(errand, body, held_a, held_b, seed, options, beyond=0.0)
    if got:
        return (
            f"the {OBJECT} alone finds no path in the area: it is wider than every passage at the allowed heights and tilts; "
            f"alone it got as far as {got}"
        )
    return "each alone finds a path, but not together: every passage is too narrow for the team, or the search needs more time"


def _reach(errand: Errand) -> float:
    """How far a follower may be outside of the area [m]: the leader is inside, and holds what the follower holds."""
    return 2.0 * max(errand.team.arm_span(agent) for agent in errand.team.agents)


def in_reach(errand: Errand, q: Array, *, grid: float = 0.02) -> str:
    """For agents of an `errand` whose arms do not reach at a configuration `q`: where they would have to stand, with the same
    heading.

    Positions on a `grid` of this spacing [m], or a wider one for long arms, are tried. Empty if all reach.
    """
    team = errand.team
    bases, held = team.in_world(q)
    out = ""
    for agent in team.agents:
        if team.reaches(q, who=agent.name)[0]:
            continue
        here, span = bases[agent.name][:3], team.arm_span(agent)
        steps = np.arange(-span, span, max(grid, span / 60.0))
        x, y = (own.ravel() for own in np.meshgrid(held[0] + steps, held[1] + steps))
        places = np.stack([x, y, np.full(len(x), here[2])], 1)
        ok = team.reaches(team.configuration(bases | {agent.name: places}, held), who=agent.name)
        if not ok.any():
            out += f"; with this heading, {agent.name} cannot reach it from anywhere: lift it, lower it, or turn {agent.name}"
            continue
        near = places[ok][np.argmin(np.linalg.norm((places[ok] - here)[:, :2], axis=1))]
        out += f"; {agent.name} would reach it from ({near[0]:.2f}, {near[1]:.2f})"
    return out


def _alone(
    errand: Errand, body: Figure, start: Array, goal: Array, seed: int, options: WhyNotOptions, *, beyond: float
) -> str:  # fmt: skip
    """Where one body alone gets stuck, if it may leave the area by `beyond` [m]; empty if it finds a path."""
    team, scene = errand.team, errand.scene
    x, y = (
        (min(low - beyond, a, b), max(high + beyond, a, b))
        for (low, high), a, b in zip(errand.area, start[:2].tolist(), goal[:2].tolist(), strict=True)
    )
    bounds = {"x": x, "y": y}
    if body.n_q == 6:
        tilt = (-team.carried.tilt, team.carried.tilt)
        bounds |= {"z": team.heights, "pitch": tilt, "roll": tilt}
    floor = [] if scene.floor is None else [(body.name, "floor")]
    allowed = floor if body.n_q == 3 else []
    space = FreeSpace(World(body, scene, allowed=allowed), bounds=bounds, margin=errand.margin)
    ends = [space.configuration(q, "an end") for q in (start, goal)]
    if not space.free(np.array(ends)).all():
        return ""  # the problem is elsewhere
    growth = connect(space, *ends, seed=seed, seconds=options.seconds, nodes=options.nodes)
    if growth.path is not None:
        return ""
    nodes = growth.trees[0].nodes
    there = nodes[int(np.argmin(np.linalg.norm(nodes[:, :2] - goal[:2], axis=1)))]
    return f"({there[0]:.2f}, {there[1]:.2f})"
