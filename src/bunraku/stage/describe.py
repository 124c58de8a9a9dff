"""Figures, scenes and motions for the page: descriptions as JSON (`messages`), samples as float32."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.figure import WORLD, Box, Branch, Capsule, Cylinder, Drum, Figure, Frame, Mesh, Point, Pulley, Sphere
from bunraku.figure.string import String
from bunraku.motion import Motion, Track
from bunraku.scene import Heightfield, Plane, Scene
from bunraku.sound.soundtrack import Soundtrack
from bunraku.stage import motion_series
from bunraku.stage.entry import Entry, Recorded
from bunraku.stage.live import Live
from bunraku.stage.mesh_store import Meshes
from bunraku.stage.messages import (
    AtJson,
    BlockJson,
    ContentJson,
    FigureJson,
    FrameJson,
    GeometryJson,
    PieceJson,
    RopeJson,
    SceneJson,
    SoundJson,
    TrackJson,
    WayJson,
)

Field = Literal["t", "q", "tension", "contact", "series"]


def piece(key: str, entry: Entry, content: ContentJson) -> PieceJson:
    """The `content` of an `entry` with its `key`, title and text."""
    own: PieceJson = {**content, "id": key, "title": entry.title, "about": entry.about, "front": entry.front}  # type: ignore[typeddict-item]
    return own


def recorded(piece: Recorded, meshes: Meshes) -> tuple[ContentJson, bytes]:
    """A recorded `piece`: its description, and its samples, laid out by the description's `blocks`. Triangles go to `meshes`."""
    motion, blocks = piece.motion, Blocks()
    blocks.add("t", motion.t, dtype="f8")
    tracks = [blocks.track(track.name, track, ghost=False) for track in motion.tracks]
    reference = piece.reference
    if reference is not None:
        blocks.add("t", reference.t, dtype="f8", ghost=True)
        tracks += [blocks.track(track.name, track, ghost=True) for track in reference.tracks]
    known = {one.name for one in piece.series}  # a take has recorded its energies
    extra = (*piece.series, *(one for one in motion_series.of(motion) if one.name not in known))
    for one in extra:
        blocks.add("series", one.values)
    names = _figures(piece)
    out: ContentJson = {
        "live": False,
        "scene": scene(piece.scene, meshes),
        "figures": [figure(f, meshes) for f in names],
        "tracks": [{**track, "figure": names.index(f)} for track, f in zip(tracks, _tracked(piece), strict=True)],
        "series": [{"name": s.name, "unit": s.unit} for s in extra],
        "marks": [{"t": m.t, "text": m.text, "kind": m.kind} for m in motion.marks],
        "blocks": blocks.layout,
    }
    if piece.sound is not None:
        out["sound"] = sound(piece.sound)
    return out, b"".join(blocks.data)


def live(thing: Live, meshes: Meshes) -> ContentJson:
    """The description of a live `thing`; triangles go to `meshes`."""
    return {
        "live": True,
        "dt": thing.dt,
        "scene": scene(thing.scene, meshes),
        "figures": [figure(f, meshes) for f in thing.figures],
        "tracks": [{"name": f.name, "ghost": False, "figure": k} for k, f in enumerate(thing.figures)],
        "series": [{"name": name, "unit": unit} for name, unit in thing.series],
        "pulls": sorted(thing.pulls),
        "sticks": list(thing.sticks),
        "untangles": bool(getattr(thing, "untangles", False)),
        "marks": [],
        "blocks": [],
    }


def sound(track: Soundtrack, rate: float = 25.0) -> SoundJson:
    """The description of a sound `track`, with an outline of so many values a second (`rate`)."""
    key = hashlib.sha256(track.samples.tobytes() + str(track.rate).encode()).hexdigest()[:24]
    return {"key": key, "loudness": [round(100.0 * x) for x in track.loudness(rate)], "rate": rate}


def _tracked(piece: Recorded) -> list[Figure]:
    motions: Iterable[Motion] = (piece.motion,) if piece.reference is None else (piece.motion, piece.reference)
    return [track.figure for motion in motions for track in motion.tracks]


def _figures(piece: Recorded) -> list[Figure]:
    """Each figure once, even if several tracks share it."""
    out: list[Figure] = []
    for f in _tracked(piece):
        if f not in out:
            out.append(f)
    return out


class Blocks:
    """Consecutive arrays, and the layout that locates each of them."""

    def __init__(self) -> None:
        self.layout: list[BlockJson] = []
        self.data: list[bytes] = []

    def add(
        self, field: Field, values: NDArray[Any], *, dtype: Literal["f4", "f8"] = "f4", ghost: bool = False, track: int = -1
    ) -> None:
        """Appends `values`, described by `field`, `dtype`, whether they belong to a `ghost`, and the `track` (-1 for none)."""
        columns = values.shape[1] if values.ndim > 1 else 1
        self.layout.append({"field": field, "type": dtype, "rows": len(values), "columns": columns, "ghost": ghost, "track": track})
        self.data.append(np.ascontiguousarray(values, f"<{dtype}").tobytes())

    def track(self, name: str, track: Track, *, ghost: bool) -> TrackJson:
        """Appends the arrays of a `track` called `name`, of a `ghost` or not; the caller sets the index of its figure."""
        number = 1 + max((block["track"] for block in self.layout), default=-1)
        fields: tuple[Field, ...] = ("q", "tension", "contact")
        for field in fields:
            values = getattr(track, field)
            if values is not None:
                self.add(field, values, ghost=ghost, track=number)
        return {"name": name, "ghost": ghost, "figure": -1}


# -- figures -----------------------------------------------------------------------------------------------------


def figure(f: Figure, meshes: Meshes) -> FigureJson:
    """The description of figure `f`; triangles go to `meshes`."""
    index = {WORLD: -1} | {frame.name: k for k, frame in enumerate(f.frames)}

    def at(point: Point) -> AtJson:
        return {"frame": index[point.frame], "position": point.position}

    def moving(frame: Frame) -> FrameJson:
        out: FrameJson = {
            "name": frame.name, "parent": index[frame.parent], "position": frame.position, "rotation": frame.rotation,
        }  # fmt: skip
        variable = frame.variable
        if variable is not None and variable.motion != "length":
            out |= {
                "motion": variable.motion, "axis": variable.axis, "pitch": variable.pitch, "q": f.index(variable.name),
            }  # fmt: skip
        return out

    def way(string: String) -> list[WayJson]:
        out, begins = list[WayJson](), None
        for part in string.way:
            if isinstance(part, Branch):
                begins = 1.0 / part.divisor
                continue
            place: WayJson = {"frame": index[part.frame], "position": part.position}
            if begins is not None:
                place["begins"], begins = begins, None
            if isinstance(part, Pulley | Drum):
                place |= {"radius": part.radius, "turn": part.turn, "drum": isinstance(part, Drum)}
                if part.axis is not None:
                    place["axis"] = part.axis
                if isinstance(part, Drum):
                    place["towards"] = part.towards
                elif part.side is not None:
                    place["side"] = at(part.side)
            out.append(place)
        return out

    def rope(string: String) -> RopeJson:
        ratio = string.ratio * string.spindle.radius if isinstance(string.spindle, Drum) else string.ratio
        # Whole turns round a pulley are not drawn, and left out of the length.
        turned = sum(2.0 * math.pi * at.turns * at.radius for at in string.way if isinstance(at, Pulley))
        out: RopeJson = {
            "name": string.name, "path": way(string), "length": string.length - turned, "ratio": ratio,
            "q": -1 if string.variable is None else f.index(string.variable), "rigid": not string.pulls_only,
        }  # fmt: skip
        if isinstance(string.spindle, Drum) and string.spindle.layered:
            out["layers"] = (string.spindle.turns, string.spindle.thickness)
        return out

    return {
        "name": f.name,
        "variables": [
            {
                "name": v.name, "unit": "rad" if v.motion in ("rotate", "screw") else "m", "lower": _finite(v.lower),
                "upper": _finite(v.upper), "kinematic": v.kinematic, "start": v.start,
            }
            for v in f.variables
        ],
        "frames": [moving(frame) for frame in f.frames],
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
            if s.visible
        ],
    }  # fmt: skip


def scene(s: Scene, meshes: Meshes) -> SceneJson:
    """The description of scene `s`; triangles go to `meshes`."""
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


def geometry(g: Any, meshes: Meshes) -> GeometryJson:
    """The description of geometry `g`; triangles go to `meshes`."""
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
