"""Carrying files: team, object, start, goal and scene. The documentation page on carrying explains one line by line."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import replace
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.collision import triangle_meshes
from bunraku.ensemble.agents import AGENT_KINDS, hold
from bunraku.ensemble.errand import Errand, require_area
from bunraku.ensemble.load import too_heavy
from bunraku.ensemble.robot_agent import robot_agent
from bunraku.ensemble.scenes import OBJECTS, SCENES, named, object_named
from bunraku.ensemble.team import OBJECT, Agent, Area, Carried, Grasp, Team
from bunraku.ensemble.terrain import Terrain
from bunraku.errors import UnknownName
from bunraku.figure.mass import Body
from bunraku.figure.shape import Box, Capsule, Cylinder, Mesh, Shape, Sphere
from bunraku.io.shipped import found, shipped_orders
from bunraku.io.yaml import yaml_reader
from bunraku.io.yaml.named_figure import figure_named
from bunraku.io.yaml.node import Node
from bunraku.io.yaml.quantity import Quantity
from bunraku.io.yaml.scene_file import scene_in
from bunraku.io.yaml.shape_words import shape
from bunraku.planning.ways.steer import Bezier, Differential, Holonomic
from bunraku.scene import Scene
from bunraku.spatial import se3

Array = NDArray[np.float64]
CARRY_WORDS = ("carry", "scene", "ground", "object", "agents", "area", "start", "goal", "rests", "margin", "samples", "speed",
               "acceleration", "budget", "seed", "output")  # fmt: skip
"""All keys at the top level of a carrying file."""


def load_errand(path: str | os.PathLike[str]) -> Errand:
    """The errand in the file at `path`, or the one of that name that comes with bunraku.

    Raises FileError if the file is wrong, UnknownName if there is neither a file nor an order of that name.
    """
    file = found(Path(path))
    if not file.suffix and not file.exists():
        raise UnknownName("file or order", str(path), shipped_orders())
    return errand_of(yaml_reader.read(file), file.parent)


def errand_of(root: Node, folder: Path) -> Errand:
    """The errand in a document with this `root`; files in it are relative to `folder`. Raises FileError if it is wrong."""
    root.words(CARRY_WORDS, "an errand")
    name = root.need("carry", "the file").name("the errand")
    scene = _scene(root.get("scene"), folder)
    area = _area(root.need("area", "the errand"))
    team = _team(root, folder, _terrain(root.get("ground"), scene, area))
    everybody = root.need("agents", "the errand").keys
    start, goal = (_configuration(root.need(word, "the errand"), team, everybody) for word in ("start", "goal"))
    options = root.given(
        margin=_margin, speed=lambda n: n.positive(Quantity.SPEED), acceleration=lambda n: n.positive(Quantity.ACCELERATION),
        budget=lambda n: n.positive(Quantity.TIME), samples=lambda n: n.whole(2, 100_000), seed=lambda n: n.whole(0, 2**32 - 1),
    )  # fmt: skip
    rests = () if (node := root.get("rests")) is None else tuple(_rest(own) for own in node.items("places of the object"))
    with root.blamed():
        return Errand(team, scene, area, start, goal, name=name, rests=rests, **options)


# -- scene and team --------------------------------------------------------------------------------------------------


def _scene(node: Node | None, folder: Path) -> Scene:
    if node is None:
        return Scene("floor")
    if isinstance(node.value, str):
        if node.value in SCENES:
            return named(node.value)
        if Path(node.value).suffix:
            return scene_in(node, folder)
        node.choice(SCENES, "the scene")
    if node.get("scene") is not None:
        return scene_in(node, folder)
    name, words = node.head(SCENES, "the scene")
    node.words((name,), "the scene")
    own = {} if words.is_nothing else words.words(("door",), f"the {name}")
    try:
        return named(name, **{word: value.number(Quantity.LENGTH) for word, value in own.items()})
    except TypeError:
        raise words.error(f"the {name} does not take {', '.join(own)}", advice="remove it") from None


def _terrain(node: Node | None, scene: Scene, area: Area) -> Terrain | None:
    """The ground besides the floor, up to 3 m around the area."""
    if node is None:
        return None
    names = [own.choice([o.name for o in scene.obstacles], "the obstacle") for own in node.items("names of obstacles")]
    (a, b), (c, d) = area
    return Terrain.of(scene, names, ((a - 3.0, b + 3.0), (c - 3.0, d + 3.0)))


def _team(root: Node, folder: Path, terrain: Terrain | None) -> Team:
    node = root.need("agents", "the errand")
    if not isinstance(node.value, dict) or not node.value:
        raise node.unwanted("agents by their names", advice="write agents: {robot: {kind: rover, holds: {tool: {at: [0, 0, 0]}}}}")
    agents = tuple(_agent(name, own, folder, terrain) for name, own in node.value.items())
    carried = _carried(root.need("object", "the errand"), folder)
    helpers = [name for name, own in node.value.items() if own.given(helps=Node.flag).get("helps", False)]
    with node.blamed():
        team = _enough(Team(agents, carried, terrain), helpers)
        _ = team.heights
    return team


def _enough(team: Team, helpers: list[str]) -> Team:
    """The `team` with as few of its `helpers` as can bear the object with the others; with all of them, if that is not enough."""
    for count in range(len(helpers)):
        for joined in combinations(helpers, count):
            few = tuple(agent for agent in team.agents if agent.name not in helpers or agent.name in joined)
            if few and not too_heavy(smaller := Team(few, team.carried, team.terrain)):
                return smaller
    return team


def _carried(node: Node, folder: Path) -> Carried:
    node.words(("shapes", "tilt", "heights", "mass"), "the object")
    shapes: list[Shape] = []
    bodies: list[Body] = []
    said = node.need("shapes", "the object")
    if isinstance(said.value, str):
        shapes += object_named(said.choice(OBJECTS, "the object"))
    else:
        for own in said.items("shapes"):
            made = shape(own, folder, words=("collides", "visible", "mass"))
            shapes += made.shapes
            bodies += made.bodies
    if not shapes:
        raise node.place_of("shapes").error("the object has no shape", advice="write shapes: [{box: [1.5, 0.8, 0.06]}]")
    total = sum(body.mass for body in bodies)
    options: dict[str, Any] = {"mass": total} | node.given(mass=lambda n: n.positive(Quantity.MASS))
    if total:
        options["centre"] = tuple(
            (np.array([body.mass for body in bodies]) @ np.array([body.com for body in bodies]) / total).tolist()
        )
    elif options["mass"]:
        options["centre"] = tuple(_middle(shapes).tolist())
    options |= node.given(tilt=lambda n: n.number(Quantity.ANGLE), heights=lambda n: n.numbers(2, Quantity.LENGTH))
    with node.place_of("tilt").blamed():
        return Carried(tuple(shapes), **options)


def _agent(name: str, node: Node, folder: Path, terrain: Terrain | None) -> Agent:
    node.words(("kind", "figure", "base", "posture", "moves", "holds", "bears", "helps", "lets_go"), "an agent")
    said = node.need("holds", name)
    sets = said.items("sets of holds") if isinstance(said.value, tuple) else (said,)
    if not sets:
        raise said.error("no holds", advice="write holds: {tool: {at: [0.6, 0, 0.05]}}")
    made = [_agent_with(name, node, holds, folder, terrain) for holds in sets]
    lets_go = node.given(lets_go=Node.flag).get("lets_go", False)
    return replace(made[0], regrasps=tuple(own.holds for own in made[1:]), lets_go=lets_go)


def _agent_with(name: str, node: Node, holds: Node, folder: Path, terrain: Terrain | None) -> Agent:
    """The agent with one set of holds."""
    if not isinstance(holds.value, dict) or not holds.value:
        raise holds.unwanted("tools and where they hold", advice="write holds: {tool: {at: [0.6, 0, 0.05]}}")
    steering = {"walk": Bezier, "holonomic": Holonomic, "differential": Differential}
    moves = node.given(moves=lambda n: steering[n.choice(steering, "the way it moves")])
    bears = node.given(bears=lambda n: n.positive(Quantity.MASS))
    if node.get("figure") is not None:
        return replace(_robot(name, node, holds, folder, terrain, moves), **bears)
    kind = node.need("kind", name).choice(AGENT_KINDS, "the kind of agent")
    node.words(("kind", "moves", "holds", "bears", "helps", "lets_go"), f"a {kind}")
    holds.words(AGENT_KINDS[kind].tools, f"the holds of a {kind}")
    made = [_hold(tool, own) for tool, own in holds.value.items()]
    rides = {"rides": True} if terrain is not None and kind == "rover" else {}
    return replace(AGENT_KINDS[kind].make(name, *made, **moves, **rides), **bears)


def _robot(name: str, node: Node, holds: Node, folder: Path, terrain: Terrain | None, moves: dict[str, Any]) -> Agent:
    """An agent from the description of a robot."""
    node.words(("figure", "base", "posture", "moves", "holds", "bears", "helps", "lets_go"), "an agent with a figure")
    if terrain is not None:
        raise node.place_of("figure").error("a robot from a file rolls on level floors only", advice="remove `ground`")
    if moves.get("moves") is Bezier:
        raise node.place_of("moves").error("this robot does not walk", advice="moves: holonomic, or differential")
    figure = figure_named(node.need("figure", name), folder)
    variables = {variable.name: variable for variable in figure.variables}
    tools = holds.words([frame.name for frame in figure.frames], f"the holds of {name}, by frames of its figure,")
    made = [_hold(tool, own, variables) for tool, own in tools.items()]
    base = node.get("base")
    named = () if base is None else tuple(n.choice(variables, "the variable") for n in base.items("names (x, y, heading)", 3))
    posture = {} if (given := node.get("posture")) is None else given.words(variables, "a posture")
    units = {"translate": Quantity.LENGTH}
    values = {word: own.number(units.get(variables[word].motion, Quantity.ANGLE)) for word, own in posture.items()}
    with node.place_of("holds").blamed():
        return robot_agent(name, figure, *made, base=named, posture=values, **moves)


def _middle(shapes: list[Shape]) -> Array:
    """The centre of mass of solid shapes, all of the same density; meshes count as the boxes around them [m]."""
    total, moment = 0.0, np.zeros(3)
    for own in shapes:
        middle = np.zeros(3)
        match own.geometry:
            case Box(size):
                volume = float(np.prod(size))
            case Sphere(radius):
                volume = 4.0 / 3.0 * np.pi * radius**3
            case Cylinder(radius, length) | Capsule(radius, length):
                volume = np.pi * radius**2 * length
            case Mesh():
                corners = np.asarray(triangle_meshes.load(own.geometry).vertices)
                low, high = corners.min(0), corners.max(0)
                volume, middle = float(np.prod(high - low)), 0.5 * (low + high)
        total += volume
        moment += volume * se3.transform(se3.pose(own.position, own.rotation), middle)
    return np.asarray(moment / total)


def _hold(tool: str, node: Node, variables: Iterable[str] = ()) -> Grasp:
    """Where a tool holds; its arm may begin with one of the `variables`."""
    node.words(("at", "z", "x", "arm") if variables else ("at", "z", "x"), "a hold")
    axes = node.given(z=Node.vector, x=Node.vector)
    z, x = np.array(axes.get("z", (0, 0, -1)), float), np.array(axes.get("x", (1, 0, 0)), float)
    if np.linalg.norm(np.cross(z, x)) < 1e-6:
        raise node.error("the axes z and x of the tool are parallel, or zero", advice="z: [0, 0, -1], x: [1, 0, 0]")
    arm = node.given(arm=lambda n: n.choice(variables, "the first joint of the arm,"))
    return hold(tool, node.need("at", "the hold").lengths(), z=z, x=x, **arm)


# -- places and numbers ----------------------------------------------------------------------------------------------


def _area(node: Node) -> Area:
    spans = [own.numbers(2, Quantity.LENGTH) for own in node.items("spans, of x and of y,", 2)]
    for own, (low, high) in zip(node.items("spans", 2), spans, strict=True):
        if not low < high:
            raise own.error(f"from {low:g} to {high:g}", advice="give [lower, upper]")
        with own.blamed():
            require_area(((low, high), (low, high)))
    (a, b), (c, d) = spans
    return (a, b), (c, d)


def _configuration(node: Node, team: Team, everybody: Iterable[str]) -> Array:
    agents = [agent.name for agent in team.agents]
    node.words((OBJECT, "yaw", "pitch", "roll", *everybody), "a place of the team")
    x, y, z = node.need(OBJECT, "the place").lengths()
    turns = node.given(**dict.fromkeys(("yaw", "pitch", "roll"), lambda n: n.number(Quantity.ANGLE)))
    bases = {}
    for name in agents:
        place = node.need(name, "the place").items("numbers (x, y, heading)", 3)
        bases[name] = np.array([place[0].length(), place[1].length(), place[2].number(Quantity.ANGLE)])
    return team.configuration(bases, (x, y, z, turns.get("yaw", 0.0), turns.get("pitch", 0.0), turns.get("roll", 0.0)))


def _rest(node: Node) -> Array:
    """A pose at which the object can be put down."""
    node.words((OBJECT, "yaw", "pitch", "roll"), "a place of the object")
    turns = node.given(**dict.fromkeys(("yaw", "pitch", "roll"), lambda n: n.number(Quantity.ANGLE)))
    return np.array([*node.need(OBJECT, "the place").lengths(), *(turns.get(word, 0.0) for word in ("yaw", "pitch", "roll"))])


def _margin(node: Node) -> float:
    value = node.length()
    if not 0.0 <= value < 1.0:
        raise node.error(f"a margin of {value:g} m", advice="give at least 0 m and less than 1 m")
    return value
