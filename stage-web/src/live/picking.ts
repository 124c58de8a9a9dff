/** What is under the pointer: a handle of a string, a body, or the string itself. */
import { type Camera, Raycaster, Vector2, Vector3 } from 'three'
import { clamp } from '../geometry/numbers'
import type { Actor, PartData } from '../view/actor'
import type { DrawnRope, Ropes } from '../view/ropes'

/** The part of the view that can be picked from. */
export interface Pickable {
  readonly canvas: HTMLCanvasElement
  readonly seat: { readonly camera: Camera }
  readonly actors: Actor[]
  readonly ropes: Ropes | null
}

/** What a hand can hold: an end of a string, or a point of a body. `at` is in the world. */
export type Grip =
  | { part: 'spindle' | 'hook'; rope: DrawnRope; at: Vector3 }
  | { part: 'body'; actor: Actor; frame: number; shape: string; local: Vector3; at: Vector3 }

export type Part = Grip['part']

const HANDLE_REACH = { mouse: 14, touch: 26 } // pixels
const STRING_REACH = 8 // pixels
const STRIDE = 3 // points of a string's curve that are skipped: picking needs no fine curve

export class Picker {
  private readonly raycaster = new Raycaster()

  constructor(private readonly view: Pickable) {}

  /** The ray through a pixel of the canvas. */
  ray(x: number, y: number) {
    const { clientWidth, clientHeight } = this.view.canvas
    const pointer = new Vector2((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight)
    this.raycaster.setFromCamera(pointer, this.view.seat.camera)
    return this.raycaster.ray
  }

  /** A point of the world in pixels of the canvas, and its depth: below 1 where it is in front of the camera. */
  private pixel(at: Vector3): [x: number, y: number, depth: number] {
    const p = at.clone().project(this.view.seat.camera)
    const { clientWidth, clientHeight } = this.view.canvas
    return [((p.x + 1) / 2) * clientWidth, ((1 - p.y) / 2) * clientHeight, p.z]
  }

  /** What could be dragged there. Handles come first: they are small, and bodies lie behind them. */
  grip(x: number, y: number, allowed: ReadonlySet<string>, pointer: 'mouse' | 'touch'): Grip | null {
    return this.handle(x, y, allowed, HANDLE_REACH[pointer]) ?? (allowed.has('body') ? this.body(x, y) : null)
  }

  private handle(x: number, y: number, allowed: ReadonlySet<string>, reach: number): Grip | null {
    let best: Grip | null = null
    let least = reach
    for (const rope of this.view.ropes?.drawn ?? []) {
      if (rope.actor.marks) continue
      for (const part of ['spindle', 'hook'] as const) {
        if (!allowed.has(part)) continue
        const at = rope[part]
        const [u, v, depth] = this.pixel(at)
        const distance = Math.hypot(u - x, v - y)
        if (depth < 1 && distance < least) [best, least] = [{ part, rope, at }, distance]
      }
    }
    return best
  }

  body(x: number, y: number): (Grip & { part: 'body' }) | null {
    this.ray(x, y)
    const meshes = this.view.actors.filter((actor) => !actor.ghost && !actor.marks).flatMap((actor) => actor.meshes)
    const hit = this.raycaster.intersectObjects(meshes, false)[0]
    if (hit === undefined) return null
    const { actor, frame, shape } = hit.object.userData as PartData
    if (frame < 0) return null // fixed to the world
    const local = hit.point.clone().applyMatrix4(actor.matrix(frame).invert())
    return { part: 'body', actor, frame, shape, local, at: hit.point.clone() }
  }

  /** The string under the pointer, within a few pixels. */
  rope(x: number, y: number): DrawnRope | null {
    let best: DrawnRope | null = null
    let least = STRING_REACH
    const corner = new Vector3()
    for (const rope of this.view.ropes?.drawn ?? []) {
      let before: number[] | null = null
      for (let i = 0; i < rope.curve.length; i += 3 * STRIDE) {
        const now = this.pixel(corner.fromArray(rope.curve, i))
        const distance = before === null ? Infinity : distanceToSegment(x, y, before, now)
        if (distance < least) [best, least] = [rope, distance]
        before = now
      }
    }
    return best
  }
}

/** Distance of a pixel from the segment between two others. */
export function distanceToSegment(x: number, y: number, a: number[], b: number[]): number {
  const dx = b[0] - a[0]
  const dy = b[1] - a[1]
  const s = clamp(((x - a[0]) * dx + (y - a[1]) * dy) / Math.max(dx * dx + dy * dy, 1e-9), 0, 1)
  return Math.hypot(x - a[0] - s * dx, y - a[1] - s * dy)
}
