"""Robots by name (`robot:talos`), from the package example-robot-data where it is installed."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from math import atan2
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.errors import MissingExtra, UnknownName
from bunraku.figure import Figure
from bunraku.io.sdf.sdf_reader import load_sdf
from bunraku.io.urdf import urdf_reader
from bunraku.io.xml_text import Element, read
from bunraku.spatial import so3


def load_robot(name: str, **options: Any) -> Figure:
    """The robot called `name`, with or without "robot:", in the posture in which its package presents it.

    options: of the reader of its URDF or SDF file. Its base is free if that posture says so, unless `floating_base` is given.
    Raises MissingExtra if the package is not installed, and UnknownName, with the names that exist.
    """
    robots = robot_files()
    key = name.removeprefix("robot:").strip()
    if key not in robots:
        raise UnknownName("robot", key, tuple(robots), whole=True)
    path = robots[key]
    posture = _posture(path)
    if path.suffix == ".sdf":
        figure = load_sdf(path, **options)
    else:
        free = len(posture.get("root_joint", ())) == 7
        figure = urdf_reader.load(path, **({"floating_base": free} | options))
    return _placed(figure, posture).replace(name=key)


@cache
def robot_files() -> dict[str, Path]:
    """The files of the robots that are installed, by name. Raises MissingExtra if the package is not installed."""
    try:
        files = importlib.metadata.files("example-robot-data") or []
    except importlib.metadata.PackageNotFoundError:
        raise MissingExtra("example-robot-data", "robots", "a robot by name") from None
    found = sorted(Path(str(file.locate())) for file in files if file.suffix in (".urdf", ".sdf"))
    out: dict[str, Path] = {}
    for path in sorted(found, key=lambda path: not path.stem.endswith("_robot")):  # ur3.urdf is only a template of ur3_robot.urdf
        out.setdefault(path.stem.removesuffix("_robot"), path)
    for key in sorted(out, key=lambda key: (len(key), key)):  # the name of a folder means the robot in it with the shortest name
        path = out[key]
        out.setdefault(path.parents[1].name.removesuffix("_description").removesuffix("_data"), path)
    return dict(sorted(out.items()))


def _posture(path: Path) -> dict[str, tuple[float, ...]]:
    """The values of the joints in the first group state of the robot's SRDF file; none where there is no such file."""
    states = [state for file in _srdf(path) for state in read(file, root="robot").all("group_state")]
    words = ("half_sitting", "standing", "reference")
    states.sort(key=lambda state: words.index(name) if (name := state.attributes.get("name", "")) in words else len(words))
    return {} if not states else dict(_values(states[0]))


def _srdf(path: Path) -> Iterator[Path]:
    """The SRDF files that fit a robot: of its own name, or one that its name begins with."""
    files = list((path.parents[1] / "srdf").glob("*.srdf"))
    own = path.stem.removesuffix("_robot")
    yield from sorted((f for f in files if own.startswith(f.stem)), key=lambda f: -len(f.stem))


def _values(state: Element) -> Iterator[tuple[str, tuple[float, ...]]]:
    for joint in state.all("joint"):
        count = len(joint.word("value").split())
        yield joint.word("name"), joint.numbers("value", count)


def _placed(figure: Figure, posture: dict[str, tuple[float, ...]]) -> Figure:
    """The figure with this posture as its start; joints that it does not have are left out."""
    start: dict[str, float] = {}
    for name, values in posture.items():
        if len(values) == 7 and figure.groups and figure.groups[0].kind == "free":
            base = [figure.frame(frame).variable for frame in figure.groups[0].frames]
            z, y, x = so3.angles_zyx(so3.matrix(np.array(values)[[6, 3, 4, 5]])).tolist()
            moved = (*values[:3], z, y, x)
            start |= {variable.name: value for variable, value in zip(base, moved, strict=True) if variable is not None}
        elif len(values) in (1, 2):  # a joint without limits is written as its cosine and sine
            start[name] = values[0] if len(values) == 1 else atan2(values[1], values[0])
    frames = [
        replace(frame, variable=replace(variable, start=min(max(start[variable.name], variable.lower), variable.upper)))
        if (variable := frame.variable) is not None and variable.name in start else frame
        for frame in figure.frames
    ]  # fmt: skip
    return figure.replace(frames=tuple(frames))
