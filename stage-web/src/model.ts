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

/** Whether a figure has weight: strings of one that has none are drawn lines, and nothing pulls at them. */
export function heavy(figure: Figure): boolean {
  return figure.bodies.some((b) => b.mass > 0)
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
