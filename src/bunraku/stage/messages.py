"""The JSON messages between stage and page. `tools/message_types.py` writes stage-web/src/messages.ts from these classes.

A class XyzJson here is the interface Xyz there. Commands of a visitor's hand (pull, release, winch, sticks, reset) are the
dataclasses of `hand_commands`. Constants that the page needs are listed in the tool.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

Vec3 = tuple[float, float, float]
Quat = tuple[float, float, float, float]

# -- figures and scenes ----------------------------------------------------------------------------------------------


class AtJson(TypedDict):
    """A point of a frame; frame -1 is the world."""

    frame: int
    position: Vec3


class VariableJson(TypedDict):
    """A variable of a figure; null if there is no limit."""

    name: str
    unit: str
    lower: float | None
    upper: float | None
    kinematic: bool
    start: float


class FrameJson(TypedDict):
    """A frame of a figure; for one that moves, how it moves and which element of q moves it."""

    name: str
    parent: int
    position: Vec3
    rotation: Quat
    motion: NotRequired[Literal["rotate", "translate", "screw"]]
    axis: NotRequired[Vec3]
    pitch: NotRequired[float]
    q: NotRequired[int]


class WayJson(TypedDict):
    """A place on the way of a string: a point, or the centre of a pulley or drum."""

    frame: int
    position: Vec3
    radius: NotRequired[float]
    axis: NotRequired[Vec3]
    side: NotRequired[AtJson]
    turn: NotRequired[int]
    drum: NotRequired[bool]
    towards: NotRequired[Vec3]
    begins: NotRequired[float]
    """A branch begins here, whose length counts so much."""


class RopeJson(TypedDict):
    """A string, or a wire (rigid); q is -1 if no variable winds it."""

    name: str
    path: list[WayJson]
    length: float
    ratio: float
    layers: NotRequired[tuple[float, float]]
    """Of a drum that winds in layers: turns in each, and how thick it is [m]."""
    q: int
    rigid: bool


class SphereJson(TypedDict):
    """A sphere."""

    kind: Literal["sphere"]
    radius: float


class CapsuleJson(TypedDict):
    """A capsule along z."""

    kind: Literal["capsule"]
    radius: float
    length: float


class CylinderJson(TypedDict):
    """A cylinder along z."""

    kind: Literal["cylinder"]
    radius: float
    length: float


class BoxJson(TypedDict):
    """A box by its edges."""

    kind: Literal["box"]
    size: Vec3


class MeshJson(TypedDict):
    """Triangles, fetched by their key."""

    kind: Literal["mesh"]
    mesh: str
    scale: Vec3


class PlaneJson(TypedDict):
    """A half space, solid on the side that the normal points away from."""

    kind: Literal["plane"]
    normal: Vec3


class NoGeometryJson(TypedDict):
    """A geometry that the page cannot draw."""

    kind: Literal["none"]


GeometryJson = SphereJson | CapsuleJson | CylinderJson | BoxJson | MeshJson | PlaneJson | NoGeometryJson


class ShapeJson(TypedDict):
    """A geometry fixed in a frame."""

    frame: int
    name: str
    position: Vec3
    rotation: Quat
    color: Vec3
    geometry: GeometryJson


class BodyJson(TypedDict):
    """A mass [kg] with its centre in a frame [m]."""

    name: str
    frame: int
    mass: float
    com: Vec3


class SpringJson(TypedDict):
    """A spring between two points."""

    name: str
    a: AtJson
    b: AtJson
    length: float


class ContactJson(TypedDict):
    """A point that cannot pass a plane."""

    name: str
    point: AtJson
    plane: AtJson
    normal: Vec3


class FigureJson(TypedDict):
    """A figure."""

    name: str
    variables: list[VariableJson]
    frames: list[FrameJson]
    bodies: list[BodyJson]
    ropes: list[RopeJson]
    springs: list[SpringJson]
    contacts: list[ContactJson]
    shapes: list[ShapeJson]


class ObstacleJson(TypedDict):
    """An obstacle of a scene."""

    name: str
    position: Vec3
    rotation: Quat
    color: Vec3
    geometry: GeometryJson


class SceneJson(TypedDict):
    """A scene; the floor is a height [m], or null."""

    name: str
    floor: float | None
    obstacles: list[ObstacleJson]


# -- entries and what they show --------------------------------------------------------------------------------------


class BlockJson(TypedDict):
    """The layout of one array in the samples of a piece: its content and length. Arrays are stored one after the other."""

    field: Literal["t", "q", "tension", "contact", "series"]
    type: Literal["f4", "f8"]
    rows: int
    columns: int
    ghost: bool
    track: int


class MarkJson(TypedDict):
    """A named moment."""

    t: float
    text: str
    kind: str


class TrackJson(TypedDict):
    """The track of a moving figure of the piece; a ghost is a reference."""

    name: str
    ghost: bool
    figure: int


class SeriesJson(TypedDict):
    """A quantity over time."""

    name: str
    unit: str


class CurveJson(TypedDict):
    """Keys of one variable: times [s] and offsets [rad or m]."""

    track: int
    variable: int
    keys: list[tuple[float, float]]


class LayerJson(TypedDict):
    """A layer of a take."""

    name: str
    weight: float
    muted: bool
    curves: list[CurveJson]


class TakeJson(TypedDict):
    """The layers of a take, the lowest first; track and variable of joints that a limit holds; whether its forces are unknown."""

    layers: list[LayerJson]
    held: list[tuple[int, int]]
    kinematic: bool


class CueJson(TypedDict):
    """A cue of a show: when it was played [s], by which track, and how its time depends on others."""

    name: str
    track: int
    motion: str
    begin: float
    end: float
    note: str


class BookJson(TypedDict):
    """The script of a show: its file, the duration of a count [s], its cues, the motions that each track can play, the number
    of stretches rehearsed for its last edit, whether edits can be undone or done again, and whether it differs from its file."""

    file: str
    count: float
    cues: list[CueJson]
    motions: list[list[str]]
    anew: int
    undo: bool
    redo: bool
    unsaved: bool


class SoundJson(TypedDict):
    """The sound of a piece, fetched by its entry: a key of its content, and its outline from 0 to 100, so many values a second."""

    key: str
    loudness: list[int]
    rate: float


class ContentJson(TypedDict):
    """What a piece shows."""

    live: bool
    dt: NotRequired[float]
    scene: SceneJson
    figures: list[FigureJson]
    tracks: list[TrackJson]
    series: list[SeriesJson]
    marks: list[MarkJson]
    blocks: list[BlockJson]
    pulls: NotRequired[list[str]]
    sticks: NotRequired[list[str]]
    untangles: NotRequired[bool]
    sound: NotRequired[SoundJson]


class PieceJson(ContentJson):
    """An entry that has been opened. `front` is the direction of the audience in the plane of the floor."""

    id: str
    title: str
    about: str
    front: tuple[float, float] | None
    take: NotRequired[TakeJson]
    book: NotRequired[BookJson]


class TakeHistoryJson(TypedDict):
    """Whether a take can be undone or redone."""

    undo: bool
    redo: bool


class EntryJson(TypedDict):
    """A line of the list."""

    id: str
    title: str
    about: str
    group: str
    take: NotRequired[TakeHistoryJson | None]


class EntryListJson(TypedDict):
    """The list, the suffixes of exports, and whether files can be dropped."""

    entries: list[EntryJson]
    exports: list[str]
    opens: bool


class StandaloneEntryJson(TypedDict):
    """An entry of a page that works without a server; samples and the WAV file of its sound are compressed, in base64."""

    entry: EntryJson
    piece: PieceJson
    samples: str
    sound: NotRequired[str]


class StandaloneDataJson(TypedDict):
    """The data of a page that works without a server."""

    entries: list[StandaloneEntryJson]
    meshes: dict[str, str]


# -- from the stage to the page --------------------------------------------------------------------------------------


class WelcomeJson(TypedDict):
    """The answer to a hello."""

    type: Literal["welcome"]
    version: int
    you: str


class ControlJson(TypedDict):
    """Who drives a live entry, and who asks for control."""

    type: Literal["control"]
    entry: str
    you: str
    driver: str | None
    asking: list[str]
    watching: int


class RunStateJson(TypedDict):
    """The state of a running live entry; real_time is the share of real time that it keeps up with, at most 1."""

    type: Literal["state"]
    entry: str
    paused: bool
    recording: bool
    replaying: bool
    rate: float
    real_time: float


class NoticeJson(TypedDict):
    """A message for the visitor; the level is info, warning or error."""

    type: Literal["notice"]
    level: str
    text: str


class EntriesChangedJson(TypedDict):
    """The list of entries has changed."""

    type: Literal["entries"]


class TakenJson(TypedDict):
    """A recording was added as this entry."""

    type: Literal["taken"]
    entry: str


class ProgressJson(TypedDict):
    """Progress of the work that makes an entry; done goes from 0 to 1."""

    type: Literal["progress"]
    entry: str
    stage: str
    done: float
    text: str


StageMessageJson = WelcomeJson | ControlJson | RunStateJson | NoticeJson | EntriesChangedJson | TakenJson | ProgressJson

# -- from the page to the stage --------------------------------------------------------------------------------------


class HelloJson(TypedDict):
    """The first message of a page."""

    type: Literal["hello"]
    version: int


class JoinJson(TypedDict):
    """Enter a live entry."""

    type: Literal["join"]
    entry: str


class LeaveJson(TypedDict):
    """Leave it."""

    type: Literal["leave"]


class AskJson(TypedDict):
    """Ask for control."""

    type: Literal["ask"]


class GiveJson(TypedDict):
    """Give control to a visitor by name, or to nobody."""

    type: Literal["give"]
    to: str


class RecordingJson(TypedDict):
    """Start or stop a recording."""

    type: Literal["record"]
    on: bool


class PauseJson(TypedDict):
    """Pause or resume."""

    type: Literal["pause"]
    on: bool


class SpeedJson(TypedDict):
    """Run at this multiple of real time."""

    type: Literal["speed"]
    rate: float


class StepJson(TypedDict):
    """One step while paused."""

    type: Literal["step"]


class ReplayJson(TypedDict):
    """Replay the inputs since the last reset."""

    type: Literal["replay"]


PageRequestJson = (
    HelloJson | JoinJson | LeaveJson | AskJson | GiveJson
    | RecordingJson | PauseJson | SpeedJson | StepJson | ReplayJson
)  # fmt: skip


class TrimJson(TypedDict):
    """Keep the part of a take between two times [s]."""

    edit: Literal["trim"]
    start: float
    stop: float


class UndoJson(TypedDict):
    """One step back in the history of a take."""

    edit: Literal["undo"]


class RedoJson(TypedDict):
    """One step forward."""

    edit: Literal["redo"]


class RenameJson(TypedDict):
    """Gives a take another title."""

    edit: Literal["rename"]
    title: str


class DeleteJson(TypedDict):
    """Deletes a take, also on disk."""

    edit: Literal["delete"]


class MirrorJson(TypedDict):
    """Exchanges left and right in a take."""

    edit: Literal["mirror"]


class LoopJson(TypedDict):
    """Leads the end of a take into its start over a time [s]; the figure may travel on; so many times in a row."""

    edit: Literal["loop"]
    blend: float
    travel: bool
    times: int


class AddLayerJson(TypedDict):
    """Adds an empty layer on top."""

    edit: Literal["add layer"]


class ChangeLayerJson(TypedDict):
    """Changes name, weight and muting of a layer."""

    edit: Literal["change layer"]
    layer: int
    name: str
    weight: float
    muted: bool


class RemoveLayerJson(TypedDict):
    """Removes a layer with its keys."""

    edit: Literal["remove layer"]
    layer: int


class MergeLayerJson(TypedDict):
    """Makes a layer part of the recording."""

    edit: Literal["merge layer"]
    layer: int


class SetKeysJson(TypedDict):
    """Sets keys in a layer, so that variables of a track have these values [rad or m] at a time [s]."""

    edit: Literal["set keys"]
    layer: int
    track: int
    t: float
    values: dict[str, float]


class ZeroKeyJson(TypedDict):
    """Sets a key of a variable that leaves it at a time [s] as it is below the layer."""

    edit: Literal["zero key"]
    layer: int
    track: int
    t: float
    variable: str


class MoveKeyJson(TypedDict):
    """Moves a key at a time [s] to another time and value [rad or m]."""

    edit: Literal["move key"]
    layer: int
    track: int
    t: float
    variable: str
    to: float
    value: float


class DeleteKeyJson(TypedDict):
    """Deletes a key at a time [s]."""

    edit: Literal["delete key"]
    layer: int
    track: int
    t: float
    variable: str


TakeEditJson = (
    TrimJson | UndoJson | RedoJson | RenameJson | DeleteJson | MirrorJson | LoopJson
    | AddLayerJson | ChangeLayerJson | RemoveLayerJson | MergeLayerJson | SetKeysJson | ZeroKeyJson | MoveKeyJson | DeleteKeyJson
)  # fmt: skip


class MoveCueJson(TypedDict):
    """A cue begins so many counts later."""

    edit: Literal["move"]
    cue: str
    by: float


class StretchCueJson(TypedDict):
    """A cue lasts so many counts."""

    edit: Literal["stretch"]
    cue: str
    counts: float


class AddCueJson(TypedDict):
    """A track also plays a motion, from a count on."""

    edit: Literal["add"]
    track: str
    motion: str
    begin: float


class RemoveCueJson(TypedDict):
    """A cue is taken out."""

    edit: Literal["remove"]
    cue: str


class SaveBookJson(TypedDict):
    """The script is written to its file."""

    edit: Literal["save"]


BookEditJson = MoveCueJson | StretchCueJson | AddCueJson | RemoveCueJson | UndoJson | RedoJson | SaveBookJson


class BookAnswerJson(TypedDict):
    """Where the script was saved; empty if it was not, or has no file of its own."""

    saved: str


class ExportWishJson(TypedDict):
    """The view of the page, for a film that is to look like it: eye and target [m], vertical angle of view [rad]."""

    eye: Vec3
    target: Vec3
    field: float


class PoseWishJson(TypedDict):
    """Drag a point of a frame of a paused take, whose track has this configuration, to a place [m]."""

    track: int
    q: list[float]
    frame: str
    at: Vec3
    to: Vec3


class PoseAnswerJson(TypedDict):
    """The configuration with that point there, or as near as the joints allow."""

    q: list[float]
