"""Recordings of markers as motions: of the skeleton that they show, or of the markers themselves."""

from __future__ import annotations

import warnings
from os import PathLike
from pathlib import Path

import numpy as np

from bunraku.errors import BunrakuWarning, FileError
from bunraku.figure import WORLD, Figure, Frame, Shape, Sphere, Variable
from bunraku.figure.frame import AXES
from bunraku.io.markers.c3d_file import read_c3d
from bunraku.io.markers.marker_cloud import MarkerCloud
from bunraku.io.markers.marker_skeleton import Array, BodyOptions, body_rig, upright
from bunraku.io.markers.trc_text import read_trc
from bunraku.io.rig import rig_motion
from bunraku.motion import Motion


def load_c3d(
    path: str | PathLike[str], *, markers: bool = False, up: str | None = None, options: BodyOptions = BodyOptions()
) -> Motion:
    """The motion of the person in the C3D file at `path`.

    markers: read the markers themselves, as points that move, instead of a skeleton
    up: the axis that points up, x, y or z; by default the one along which the trunk is above the legs
    options: measures of a person

    Names of markers tell where they are on the body; where too few of them are known, the markers themselves are read, with a
    warning. Gaps are filled by straight lines. Raises FileError if the file is no C3D, or is cut off.
    """
    return _motion(read_c3d(Path(path)), Path(path), markers, up, options)


def load_trc(
    path: str | PathLike[str], *, markers: bool = False, up: str | None = None, options: BodyOptions = BodyOptions()
) -> Motion:
    """The motion of the person in the TRC file at `path`.

    markers: read the markers themselves, as points that move, instead of a skeleton
    up: the axis that points up, x, y or z; by default the one along which the trunk is above the legs
    options: measures of a person

    Names of markers tell where they are on the body; where too few of them are known, the markers themselves are read, with a
    warning. Gaps are filled by straight lines. Raises FileError if the file is no TRC, or is cut off.
    """
    return _motion(read_trc(Path(path)), Path(path), markers, up, options)


def _motion(cloud: MarkerCloud, path: Path, markers: bool, up: str | None, options: BodyOptions) -> Motion:
    if up not in ("x", "y", "z", None):
        raise FileError(f"unknown axis up={up!r}", path=str(path), advice="the axis that points up is x, y or z")
    gaps = [name for k, name in enumerate(cloud.names) if np.isnan(cloud.points[:, k]).any()]
    if gaps:
        listed = ", ".join(gaps[:6]) + " …" * (len(gaps) > 6)
        part = 100.0 * float(np.isnan(cloud.points[..., 0]).mean())
        warnings.warn(BunrakuWarning(f"{path}: {part:.1f} % of the samples have gaps, filled by lines: {listed}"), stacklevel=3)
    _, points = upright(cloud, up)
    rig = None if markers else body_rig(cloud, points, path.stem or "person", options)
    if rig is not None:
        return rig_motion([rig], cloud.t, path)
    if not markers:
        listed = ", ".join(cloud.names[:6])
        warnings.warn(BunrakuWarning(f"{path}: no body is known by the markers {listed} …; they are read as points"), stacklevel=3)
    return _cloud_motion(cloud, points, path)


def _cloud_motion(cloud: MarkerCloud, points: Array, path: Path) -> Motion:
    """Every marker as a little ball that the puppeteer moves."""
    frames: list[Frame] = []
    shapes: list[Shape] = []
    for k, name in enumerate(cloud.names):
        parent = WORLD
        for axis in "xyz":
            variable = Variable(
                f"{name}_t{axis}", "translate", AXES[axis], kinematic=True, start=float(points[0, k, "xyz".index(axis)])
            )
            frames.append(Frame(name if axis == "z" else variable.name, parent, variable=variable))
            parent = frames[-1].name
        shapes.append(Shape(name, Sphere(0.012), collides=False))
    figure = Figure(path.stem or "markers", tuple(frames), shapes=tuple(shapes))
    return Motion.of(figure, cloud.t, points.reshape(len(points), -1))
