"""Figures, scenes and motions as the page reads them: JSON for what they are, float32 for how they move."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Box, Capsule, Cylinder, Figure, Mesh, Point, Sphere
from bunraku.figure.string import String
from bunraku.motion import Motion
from bunraku.scene import Heightfield, Plane, Scene
from bunraku.stage import motion_series
from bunraku.stage.entry import Recorded
from bunraku.stage.live import Live
from bunraku.stage.mesh_store import Meshes

Plain = dict[str, Any]
UNITS = {"rotate": "rad", "screw": "rad", "translate": "m", "length": "m"}


def recorded(piece: Recorded, meshes: Meshes) -> tuple[Plain, bytes]:
    """A motion: its description, and the samples that `blocks` of the description lays out."""
    motion, blocks = piece.motion, Blocks()
    blocks.add("t", motion.t, dtype="<f8")
    tracks = [blocks.track(track.name, track, ghost=False) for track in motion.tracks]
    reference = piece.reference
    if reference is not None:
        blocks.add("t", reference.t, dtype="<f8", ghost=True)
        tracks += [blocks.track(track.name, track, ghost=True) for track in reference.tracks]
    extra = (*piece.series, *motion_series.of(motion))
    for one in extra:
        blocks.add("series", one.values)
    names = _figures(piece)
    out: Plain = {
        "live": False,
        "scene": scene(piece.scene, meshes),
        "figures": [figure(f, meshes) for f in names],
        "tracks": [{**plain, "figure": names.index(f)} for plain, f in zip(tracks, _tracked(piece), strict=True)],
        "series": [{"name": s.name, "unit": s.unit} for s in extra],
        "marks": [{"t": m.t, "text": m.text, "kind": m.kind} for m in motion.marks],
        "blocks": blocks.layout,
    }
    return out, b"".join(blocks.data)


def live(thing: Live, meshes: Meshes) -> Plain:
    return {
        "live": True,
        "dt": thing.dt,
        "scene": scene(thing.scene, meshes),
        "figures": [figure(f, meshes) for f in thing.figures],
        "tracks": [{"name": f.name, "ghost": False, "figure": k} for k, f in enumerate(thing.figures)],
        "series": [{"name": name, "unit": unit} for name, unit in thing.series],
        "pulls": sorted(thing.pulls),
        "sticks": list(thing.sticks),
        "marks": [],
        "blocks": [],
    }


def _tracked(piece: Recorded) -> list[Figure]:
    motions: Iterable[Motion] = (piece.motion,) if piece.reference is None else (piece.motion, piece.reference)
    return [track.figure for motion in motions for track in motion.tracks]


def _figures(piece: Recorded) -> list[Figure]:
    """Each figure once, though a troupe may share it."""
    out: list[Figure] = []
    for f in _tracked(piece):
        if f not in out:
            out.append(f)
    return out


class Blocks:
    """Arrays one after the other, and where each is."""

    def __init__(self) -> None:
        self.layout: list[Plain] = []
        self.data: list[bytes] = []

    def add(self, field: str, values: NDArray[Any], *, dtype: str = "<f4", ghost: bool = False, track: int = -1) -> None:
        columns = values.shape[1] if values.ndim > 1 else 1
        self.layout.append(
            {"field": field, "type": dtype[1:], "rows": len(values), "columns": columns, "ghost": ghost, "track": track}
        )
        self.data.append(np.ascontiguousarray(values, dtype).tobytes())

    def track(self, name: str, track: Any, *, ghost: bool) -> Plain:
        number = 1 + max((block["track"] for block in self.layout), default=-1)
        for field in ("q", "tension", "contact"):
            values = getattr(track, field)
            if values is not None:
                self.add(field, values, ghost=ghost, track=number)
        return {"name": name, "ghost": ghost}


# -- figures -----------------------------------------------------------------------------------------------------


def figure(f: Figure, meshes: Meshes) -> Plain:
    index = {WORLD: -1} | {frame.name: k for k, frame in enumerate(f.frames)}

    def at(point: Point) -> Plain:
        return {"frame": index[point.frame], "position": point.position}

    def rope(string: String) -> Plain:
        return {
            "name": string.name, "path": [at(p) for p in string.path], "length": string.length, "ratio": string.ratio,
            "q": -1 if string.variable is None else f.index(string.variable), "rigid": not string.pulls_only,
        }  # fmt: skip

    return {
        "name": f.name,
        "variables": [
            {
                "name": v.name, "unit": UNITS[v.motion], "lower": _finite(v.lower), "upper": _finite(v.upper),
                "kinematic": v.kinematic, "start": v.start,
            }
            for v in f.variables
        ],
        "frames": [
            {
                "name": frame.name, "parent": index[frame.parent], "position": frame.position, "rotation": frame.rotation,
                **(
                    {}
                    if frame.variable is None
                    else {
                        "motion": frame.variable.motion, "axis": frame.variable.axis, "pitch": frame.variable.pitch,
                        "q": f.index(frame.variable.name),
                    }
                ),
            }
            for frame in f.frames
        ],
        "bodies": [{"name": b.name, "frame": index[b.frame], "mass": b.mass, "com": b.com} for b in f.bodies],
        "ropes": [rope(s) for s in (*f.strings, *f.wires)],
        "springs": [{"name": s.name, "a": at(s.a), "b": at(s.b), "length": s.length} for s in f.springs],
        "contacts": [
            {"name": c.name, "point": at(c.point), "plane": at(c.plane), "normal": c.normal} for c in f.contacts
        ],
        "shapes": [
            {
                "frame": index[s.frame], "name": s.name, "position": s.position, "rotation": s.rotation, "color": s.color,
                "geometry": geometry(s.geometry, meshes),
            }
            for s in f.shapes
        ],
    }  # fmt: skip


def scene(s: Scene, meshes: Meshes) -> Plain:
    return {
        "name": s.name,
        "floor": s.floor,
        "obstacles": [
            {
                "name": o.name, "position": o.position, "rotation": o.rotation, "color": o.color,
                "geometry": geometry(o.geometry, meshes),
            }
            for o in s.obstacles
        ],
    }  # fmt: skip


def geometry(g: Any, meshes: Meshes) -> Plain:
    match g:
        case Sphere(radius):
            return {"kind": "sphere", "radius": radius}
        case Capsule(radius, length):
            return {"kind": "capsule", "radius": radius, "length": length}
        case Cylinder(radius, length):
            return {"kind": "cylinder", "radius": radius, "length": length}
        case Box(size):
            return {"kind": "box", "size": size}
        case Mesh(file, scale):
            return {"kind": "mesh", "mesh": meshes.add_file(file), "scale": scale}
        case Plane(normal):
            return {"kind": "plane", "normal": normal}
        case Heightfield():
            return {"kind": "mesh", "mesh": meshes.add(g.vertices, g.faces, source="heightfield"), "scale": (1.0, 1.0, 1.0)}
    return {"kind": "none"}


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
