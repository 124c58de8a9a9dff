/** What the stage sends: what is there, as JSON. */

export type Vec3 = [number, number, number]
/** w, x, y, z */
export type Quat = [number, number, number, number]

export interface At {
  frame: number
  position: Vec3
}

export interface Variable {
  name: string
  unit: string
  lower: number | null
  upper: number | null
  kinematic: boolean
  start: number
}

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

export interface Rope {
  name: string
  path: At[]
  length: number
  ratio: number
  q: number
  rigid: boolean
}

export type Geometry =
  | { kind: 'sphere'; radius: number }
  | { kind: 'capsule'; radius: number; length: number }
  | { kind: 'cylinder'; radius: number; length: number }
  | { kind: 'box'; size: Vec3 }
  | { kind: 'mesh'; mesh: string; scale: Vec3 }
  | { kind: 'plane'; normal: Vec3 }
  | { kind: 'none' }

export interface Shape {
  frame: number
  name: string
  position: Vec3
  rotation: Quat
  color: Vec3
  geometry: Geometry
}

export interface Figure {
  name: string
  variables: Variable[]
  frames: Frame[]
  bodies: { name: string; frame: number; mass: number; com: Vec3 }[]
  ropes: Rope[]
  springs: { name: string; a: At; b: At; length: number }[]
  contacts: { name: string; point: At; plane: At; normal: Vec3 }[]
  shapes: Shape[]
}

export interface Scene {
  name: string
  floor: number | null
  obstacles: { name: string; position: Vec3; rotation: Quat; color: Vec3; geometry: Geometry }[]
}

export interface Block {
  field: 't' | 'q' | 'tension' | 'contact' | 'series'
  type: 'f4' | 'f8'
  rows: number
  columns: number
  ghost: boolean
  track: number
}

export interface Mark {
  t: number
  text: string
  kind: string
}

export interface Piece {
  id: string
  title: string
  about: string
  live: boolean
  /** where the audience sits, in the plane of the floor */
  front: [number, number] | null
  dt?: number
  scene: Scene
  figures: Figure[]
  tracks: { name: string; ghost: boolean; figure: number }[]
  series: { name: string; unit: string }[]
  marks: Mark[]
  blocks: Block[]
  pulls?: string[]
  sticks?: string[]
}

export interface Entry {
  id: string
  title: string
  about: string
  group: string
  take?: { undo: boolean; redo: boolean } | null
}

export interface EntryList {
  entries: Entry[]
  exports: string[]
  opens: boolean
}

export interface Control {
  type: 'control'
  you: string
  driver: string | null
  asking: string[]
  watching: number
}

export interface RunState {
  type: 'state'
  entry: string
  paused: boolean
  recording: boolean
  replaying: boolean
  rate: number
  real_time: number
}

export interface StandaloneData {
  entries: { entry: Entry; piece: Piece; samples: string }[]
  meshes: Record<string, string>
}

export type StageMessage =
  | { type: 'welcome'; version: number; you: string }
  | Control
  | RunState
  | { type: 'notice'; level: string; text: string }
  | { type: 'entries' }
  | { type: 'taken'; entry: string }

export type Part = 'spindle' | 'hook' | 'body'

export type PageMessage =
  | { type: 'hello'; version: number }
  | { type: 'join'; entry: string }
  | { type: 'leave' }
  | { type: 'ask' }
  | { type: 'give'; to: string }
  | { type: 'record'; on: boolean }
  | { type: 'pause'; on: boolean }
  | { type: 'speed'; rate: number }
  | { type: 'step' }
  | { type: 'replay' }
  | { type: 'reset' }
  | { type: 'pull'; figure: number; part: Part; name: string; to: Vec3; at?: Vec3 }
  | { type: 'release'; figure: number; part: Part; name: string }
  | { type: 'winch'; figure: number; string: string; by: number }
  | { type: 'sticks'; axes: number[]; buttons?: boolean[] }

export type TakeEdit = { edit: 'trim'; start: number; stop: number } | { edit: 'undo' } | { edit: 'redo' }

export const VERSION = 1
export const ACK = 1
export const MAX_UPLOAD_BYTES = 33554432
