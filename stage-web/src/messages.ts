/** What stage and page say to each other. Written by tools/message_types.py: do not edit. */

export type Vec3 = [number, number, number]
/** w, x, y, z */
export type Quat = [number, number, number, number]

export type Part = 'spindle' | 'hook' | 'body' | 'pin'

/** A point of a frame; frame -1 is the world. */
export interface At {
  frame: number
  position: Vec3
}

/** A variable of a figure; null if there is no limit. */
export interface Variable {
  name: string
  unit: string
  lower: number | null
  upper: number | null
  kinematic: boolean
  start: number
}

/** A frame of a figure; for one that moves, how it moves and which element of q moves it. */
export interface Frame {
  name: string
  parent: number
  position: Vec3
  rotation: Quat
  motion?: 'rotate' | 'translate' | 'screw'
  axis?: Vec3
  pitch?: number
  q?: number
}

/** A place on the way of a string: a point, or the centre of a pulley or drum. */
export interface Way {
  frame: number
  position: Vec3
  radius?: number
  axis?: Vec3
  side?: At
  turn?: number
  drum?: boolean
  towards?: Vec3
  begins?: number
}

/** A string, or a wire (rigid); q is -1 if no variable winds it. */
export interface Rope {
  name: string
  path: Way[]
  length: number
  ratio: number
  layers?: [number, number]
  q: number
  rigid: boolean
}

/** A sphere. */
export interface Sphere {
  kind: 'sphere'
  radius: number
}

/** A capsule along z. */
export interface Capsule {
  kind: 'capsule'
  radius: number
  length: number
}

/** A cylinder along z. */
export interface Cylinder {
  kind: 'cylinder'
  radius: number
  length: number
}

/** A box by its edges. */
export interface Box {
  kind: 'box'
  size: Vec3
}

/** Triangles, fetched by their key. */
export interface Mesh {
  kind: 'mesh'
  mesh: string
  scale: Vec3
}

/** A half space, solid on the side that the normal points away from. */
export interface Plane {
  kind: 'plane'
  normal: Vec3
}

/** A geometry that the page cannot draw. */
export interface NoGeometry {
  kind: 'none'
}

/** A geometry fixed in a frame. */
export interface Shape {
  frame: number
  name: string
  position: Vec3
  rotation: Quat
  color: Vec3
  geometry: Geometry
}

/** A mass [kg] with its centre in a frame [m]. */
export interface Body {
  name: string
  frame: number
  mass: number
  com: Vec3
}

/** A spring between two points. */
export interface Spring {
  name: string
  a: At
  b: At
  length: number
}

/** A point that cannot pass a plane. */
export interface Contact {
  name: string
  point: At
  plane: At
  normal: Vec3
}

/** A figure. */
export interface Figure {
  name: string
  variables: Variable[]
  frames: Frame[]
  bodies: Body[]
  ropes: Rope[]
  springs: Spring[]
  contacts: Contact[]
  shapes: Shape[]
}

/** An obstacle of a scene. */
export interface Obstacle {
  name: string
  position: Vec3
  rotation: Quat
  color: Vec3
  geometry: Geometry
}

/** A scene; the floor is a height [m], or null. */
export interface Scene {
  name: string
  floor: number | null
  obstacles: Obstacle[]
}

/** The layout of one array in the samples of a piece: its content and length. Arrays are stored one after the other. */
export interface Block {
  field: 't' | 'q' | 'tension' | 'contact' | 'series'
  type: 'f4' | 'f8'
  rows: number
  columns: number
  ghost: boolean
  track: number
}

/** A named moment. */
export interface Mark {
  t: number
  text: string
  kind: string
}

/** The track of a moving figure of the piece; a ghost is a reference. */
export interface Track {
  name: string
  ghost: boolean
  figure: number
}

/** A quantity over time. */
export interface Series {
  name: string
  unit: string
}

/** Keys of one variable: times [s] and offsets [rad or m]. */
export interface Curve {
  track: number
  variable: number
  keys: [number, number][]
}

/** A layer of a take. */
export interface Layer {
  name: string
  weight: number
  muted: boolean
  curves: Curve[]
}

/** The layers of a take, the lowest first; track and variable of joints that a limit holds; whether its forces are unknown. */
export interface Take {
  layers: Layer[]
  held: [number, number][]
  kinematic: boolean
}

/** A cue of a show: when it was played [s], by which track, and how its time depends on others. */
export interface Cue {
  name: string
  track: number
  motion: string
  begin: number
  end: number
  note: string
}

/** The script of a show: its file, the duration of a count [s], its cues, the motions that each track can play, the number */
export interface Book {
  file: string
  count: number
  cues: Cue[]
  motions: string[][]
  anew: number
  undo: boolean
  redo: boolean
  unsaved: boolean
}

/** The sound of a piece, fetched by its entry: a key of its content, and its outline from 0 to 100, so many values a second. */
export interface Sound {
  key: string
  loudness: number[]
  rate: number
}

/** An entry that has been opened. `front` is the direction of the audience in the plane of the floor. */
export interface Piece {
  live: boolean
  dt?: number
  scene: Scene
  figures: Figure[]
  tracks: Track[]
  series: Series[]
  marks: Mark[]
  blocks: Block[]
  pulls?: string[]
  sticks?: string[]
  untangles?: boolean
  sound?: Sound
  id: string
  title: string
  about: string
  front: [number, number] | null
  take?: Take
  book?: Book
}

/** Whether a take can be undone or redone. */
export interface TakeHistory {
  undo: boolean
  redo: boolean
}

/** A line of the list. */
export interface Entry {
  id: string
  title: string
  about: string
  group: string
  take?: TakeHistory | null
}

/** The list, the suffixes of exports, and whether files can be dropped. */
export interface EntryList {
  entries: Entry[]
  exports: string[]
  opens: boolean
}

/** An entry of a page that works without a server; samples and the WAV file of its sound are compressed, in base64. */
export interface StandaloneEntry {
  entry: Entry
  piece: Piece
  samples: string
  sound?: string
}

/** The data of a page that works without a server. */
export interface StandaloneData {
  entries: StandaloneEntry[]
  meshes: Record<string, string>
}

/** The answer to a hello. */
export interface Welcome {
  type: 'welcome'
  version: number
  you: string
}

/** Who drives a live entry, and who asks for control. */
export interface Control {
  type: 'control'
  entry: string
  you: string
  driver: string | null
  asking: string[]
  watching: number
}

/** The state of a running live entry; real_time is the share of real time that it keeps up with, at most 1. */
export interface RunState {
  type: 'state'
  entry: string
  paused: boolean
  recording: boolean
  replaying: boolean
  rate: number
  real_time: number
}

/** A message for the visitor; the level is info, warning or error. */
export interface Notice {
  type: 'notice'
  level: string
  text: string
}

/** The list of entries has changed. */
export interface EntriesChanged {
  type: 'entries'
}

/** A recording was added as this entry. */
export interface Taken {
  type: 'taken'
  entry: string
}

/** Progress of the work that makes an entry; done goes from 0 to 1. */
export interface Progress {
  type: 'progress'
  entry: string
  stage: string
  done: number
  text: string
}

/** The first message of a page. */
export interface Hello {
  type: 'hello'
  version: number
}

/** Enter a live entry. */
export interface Join {
  type: 'join'
  entry: string
}

/** Leave it. */
export interface Leave {
  type: 'leave'
}

/** Ask for control. */
export interface Ask {
  type: 'ask'
}

/** Give control to a visitor by name, or to nobody. */
export interface Give {
  type: 'give'
  to: string
}

/** Start or stop a recording. */
export interface Recording {
  type: 'record'
  on: boolean
}

/** Pause or resume. */
export interface Pause {
  type: 'pause'
  on: boolean
}

/** Run at this multiple of real time. */
export interface Speed {
  type: 'speed'
  rate: number
}

/** One step while paused. */
export interface Step {
  type: 'step'
}

/** Replay the inputs since the last reset. */
export interface Replay {
  type: 'replay'
}

/** Keep the part of a take between two times [s]. */
export interface Trim {
  edit: 'trim'
  start: number
  stop: number
}

/** One step back in the history of a take. */
export interface Undo {
  edit: 'undo'
}

/** One step forward. */
export interface Redo {
  edit: 'redo'
}

/** Gives a take another title. */
export interface Rename {
  edit: 'rename'
  title: string
}

/** Deletes a take, also on disk. */
export interface Delete {
  edit: 'delete'
}

/** Exchanges left and right in a take. */
export interface Mirror {
  edit: 'mirror'
}

/** Leads the end of a take into its start over a time [s]; the figure may travel on; so many times in a row. */
export interface Loop {
  edit: 'loop'
  blend: number
  travel: boolean
  times: number
}

/** Adds an empty layer on top. */
export interface AddLayer {
  edit: 'add layer'
}

/** Changes name, weight and muting of a layer. */
export interface ChangeLayer {
  edit: 'change layer'
  layer: number
  name: string
  weight: number
  muted: boolean
}

/** Removes a layer with its keys. */
export interface RemoveLayer {
  edit: 'remove layer'
  layer: number
}

/** Makes a layer part of the recording. */
export interface MergeLayer {
  edit: 'merge layer'
  layer: number
}

/** Sets keys in a layer, so that variables of a track have these values [rad or m] at a time [s]. */
export interface SetKeys {
  edit: 'set keys'
  layer: number
  track: number
  t: number
  values: Record<string, number>
}

/** Sets a key of a variable that leaves it at a time [s] as it is below the layer. */
export interface ZeroKey {
  edit: 'zero key'
  layer: number
  track: number
  t: number
  variable: string
}

/** Moves a key at a time [s] to another time and value [rad or m]. */
export interface MoveKey {
  edit: 'move key'
  layer: number
  track: number
  t: number
  variable: string
  to: number
  value: number
}

/** Deletes a key at a time [s]. */
export interface DeleteKey {
  edit: 'delete key'
  layer: number
  track: number
  t: number
  variable: string
}

/** A cue begins so many counts later. */
export interface MoveCue {
  edit: 'move'
  cue: string
  by: number
}

/** A cue lasts so many counts. */
export interface StretchCue {
  edit: 'stretch'
  cue: string
  counts: number
}

/** A track also plays a motion, from a count on. */
export interface AddCue {
  edit: 'add'
  track: string
  motion: string
  begin: number
}

/** A cue is taken out. */
export interface RemoveCue {
  edit: 'remove'
  cue: string
}

/** The script is written to its file. */
export interface SaveBook {
  edit: 'save'
}

/** Where the script was saved; empty if it was not, or has no file of its own. */
export interface BookAnswer {
  saved: string
}

/** The view of the page, for a film that is to look like it: eye and target [m], vertical angle of view [rad]. */
export interface ExportWish {
  eye: Vec3
  target: Vec3
  field: number
}

/** Drag a point of a frame of a paused take, whose track has this configuration, to a place [m]. */
export interface PoseWish {
  track: number
  q: number[]
  frame: string
  at: Vec3
  to: Vec3
}

/** The configuration with that point there, or as near as the joints allow. */
export interface PoseAnswer {
  q: number[]
}

/** Back to the start. */
export interface ResetCommand {
  type: 'reset'
}

/** Bring puppets back into order, where they are: limbs, spindles and strings as at the start. */
export interface UntangleCommand {
  type: 'untangle'
}

/** Drag a string's spindle or hook, or a point of a body's frame, to a point of the world. */
export interface PullCommand {
  type: 'pull'
  figure: number
  part: 'spindle' | 'hook' | 'body' | 'pin'
  name: string
  to: Vec3
  at?: Vec3
}

/** Release a pulled part. */
export interface ReleaseCommand {
  type: 'release'
  figure: number
  part: 'spindle' | 'hook' | 'body' | 'pin'
  name: string
}

/** Wind a string in (by < 0) or out (by > 0) [m]. */
export interface WinchCommand {
  type: 'winch'
  figure: number
  string: string
  by: number
}

/** The positions of the sticks, each in [−1, 1], in the order of `Live.sticks`; and which buttons are pressed. */
export interface SticksCommand {
  type: 'sticks'
  axes: number[]
  buttons?: boolean[]
}

export type Geometry = Sphere | Capsule | Cylinder | Box | Mesh | Plane | NoGeometry

export type StageMessage = Welcome | Control | RunState | Notice | EntriesChanged | Taken | Progress

export type PageMessage =
  | Hello
  | Join
  | Leave
  | Ask
  | Give
  | Recording
  | Pause
  | Speed
  | Step
  | Replay
  | ResetCommand
  | UntangleCommand
  | PullCommand
  | ReleaseCommand
  | WinchCommand
  | SticksCommand

export type TakeEdit =
  | Trim
  | Undo
  | Redo
  | Rename
  | Delete
  | Mirror
  | Loop
  | AddLayer
  | ChangeLayer
  | RemoveLayer
  | MergeLayer
  | SetKeys
  | ZeroKey
  | MoveKey
  | DeleteKey

export type BookEdit = MoveCue | StretchCue | AddCue | RemoveCue | Undo | Redo | SaveBook

export const VERSION = 1
export const ACK = 1
export const MAX_UPLOAD_BYTES = 33554432
