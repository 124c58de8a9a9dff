/** Hands on the stage: hover, drag a spindle, a hook or a body; winch a string with the wheel. */
import { Plane, Raycaster, Vector2, Vector3 } from 'three'
import { matrixOf, type Actor } from './view/actor'
import type { DrawnRope } from './view/ropes'
import type { View } from './view/view'

export type Grip =
  | { part: 'spindle' | 'hook'; rope: DrawnRope; at: Vector3 }
  | { part: 'body'; actor: Actor; frame: number; local: Vector3; at: Vector3 }

/** Who hears commands: the link to the stage. */
export interface Hearer {
  send(type: string, fields: object): void
}

export interface HandEvents {
  hover(grip: Grip | null, rope: DrawnRope | null, x: number, y: number): void
  /** A tap on a body that is not dragged. */
  pick(actor: Actor, frame: number): void
}

const CLICK = 200 // ms

export class Hands {
  /** What may be dragged: parts that the live figure understands, none while only watching. */
  allowed = new Set<string>()
  private readonly held = new Map<number, { grip: Grip; plane: Plane; offset: Vector3; to: Vector3 }>()
  private readonly ray = new Raycaster()
  private readonly wishes = new Map<string, { type: string; fields: object }>()
  private wheel = 0
  private wheeled: DrawnRope | null = null

  constructor(private readonly view: View, private readonly events: HandEvents) {
    const { canvas } = view
    // Before OrbitControls, which listens on the same canvas.
    canvas.addEventListener('pointerdown', (e) => this.down(e), { capture: true })
    canvas.addEventListener('pointermove', (e) => this.move(e), { capture: true })
    canvas.addEventListener('pointerup', (e) => this.up(e), { capture: true })
    canvas.addEventListener('pointercancel', (e) => this.up(e), { capture: true })
    canvas.addEventListener('pointerleave', () => this.hover(null, null, 0, 0))
    canvas.addEventListener('wheel', (e) => this.wind(e), { capture: true, passive: false })
  }

  // -- finding ---------------------------------------------------------------------------------------------------

  /** A point of the world in pixels of the canvas. */
  screen(at: Vector3): [number, number, number] {
    const p = at.clone().project(this.view.seat.camera)
    const { clientWidth, clientHeight } = this.view.canvas
    return [((p.x + 1) / 2) * clientWidth, ((1 - p.y) / 2) * clientHeight, p.z]
  }

  private aim(x: number, y: number): void {
    const { clientWidth, clientHeight } = this.view.canvas
    this.ray.setFromCamera(new Vector2((2 * x) / clientWidth - 1, 1 - (2 * y) / clientHeight), this.view.seat.camera)
  }

  private grip(x: number, y: number, touch: boolean): Grip | null {
    const reach = touch ? 26 : 14
    let best: Grip | null = null
    let least = reach
    for (const rope of this.view.ropes?.drawn ?? []) {
      for (const part of ['spindle', 'hook'] as const) {
        if (!this.allowed.has(part)) continue
        const at = rope[part]
        const [u, v, depth] = this.screen(at)
        const far = Math.hypot(u - x, v - y)
        if (depth < 1 && far < least) [best, least] = [{ part, rope, at }, far]
      }
    }
    if (best !== null || !this.allowed.has('body')) return best
    return this.body(x, y)
  }

  private body(x: number, y: number): (Grip & { part: 'body' }) | null {
    this.aim(x, y)
    const meshes = this.view.actors.filter((a) => !a.ghost).flatMap((a) => a.meshes)
    const hit = this.ray.intersectObjects(meshes, false)[0]
    if (hit === undefined || hit.object.userData.frame < 0) return null
    const { actor, frame } = hit.object.userData as { actor: Actor; frame: number }
    const local = hit.point.clone().applyMatrix4(matrixOf(actor.X, frame).invert())
    return { part: 'body', actor, frame, local, at: hit.point.clone() }
  }

  /** The string under the pointer, within a few pixels. */
  rope(x: number, y: number): DrawnRope | null {
    let best: DrawnRope | null = null
    let least = 8
    const a = new Vector3()
    for (const rope of this.view.ropes?.drawn ?? []) {
      let before: [number, number, number] | null = null
      for (let i = 0; i < rope.curve.length; i += 9) {
        const now = this.screen(a.fromArray(rope.curve, i))
        if (before !== null) {
          const far = distanceToSegment(x, y, before, now)
          if (far < least) [best, least] = [rope, far]
        }
        before = now
      }
    }
    return best
  }

  // -- dragging --------------------------------------------------------------------------------------------------

  private down(event: PointerEvent): void {
    if (event.button !== 0) return
    const { offsetX: x, offsetY: y } = event
    const grip = this.allowed.size > 0 ? this.grip(x, y, event.pointerType === 'touch') : null
    if (grip === null) {
      this.maybeTap(event)
      return
    }
    event.stopImmediatePropagation()
    event.preventDefault()
    this.view.canvas.setPointerCapture(event.pointerId)
    const plane = this.dragPlane(grip)
    this.aim(x, y)
    const hit = this.ray.ray.intersectPlane(plane, new Vector3()) ?? grip.at.clone()
    this.held.set(event.pointerId, { grip, plane, offset: grip.at.clone().sub(hit), to: grip.at.clone() })
    this.view.canvas.classList.add('grabbing')
  }

  /** Facing the eye; a spindle that moves level is dragged level, where one looks at it from above. */
  private dragPlane(grip: Grip): Plane {
    const eye = this.view.seat.camera.getWorldDirection(new Vector3()).negate()
    const level = new Vector3(0, 0, 1)
    const flat = grip.part === 'spindle' && eye.z > 0.35 && movesLevel(grip.rope)
    return new Plane().setFromNormalAndCoplanarPoint(flat ? level : eye, grip.at)
  }

  private move(event: PointerEvent): void {
    const held = this.held.get(event.pointerId)
    const { offsetX: x, offsetY: y } = event
    if (held === undefined) {
      if (event.buttons === 0) this.look(x, y)
      return
    }
    event.stopImmediatePropagation()
    this.aim(x, y)
    const hit = this.ray.ray.intersectPlane(held.plane, new Vector3())
    if (hit === null) return
    const to = held.to.copy(hit.add(held.offset)).toArray()
    this.stretch()
    const [figure, name, at] = named(held.grip)
    const { part } = held.grip
    this.wishes.set(`${figure} ${part} ${name}`, { type: 'pull', fields: { figure, part, name, to, at } })
    this.hover(held.grip, held.grip.part === 'body' ? null : held.grip.rope, x, y)
  }

  private up(event: PointerEvent): void {
    const held = this.held.get(event.pointerId)
    if (held === undefined) return
    event.stopImmediatePropagation()
    this.held.delete(event.pointerId)
    this.stretch()
    const [figure, name] = named(held.grip)
    const { part } = held.grip
    this.wishes.set(`release ${figure} ${part} ${name}`, { type: 'release', fields: { figure, part, name } })
    if (this.held.size === 0) this.view.canvas.classList.remove('grabbing')
  }

  /** Rubber bands from what is held to the hands, drawn by the view; a spindle goes along and needs none. */
  private stretch(): void {
    const drawn = [...this.held.values()].filter(({ grip }) => grip.part !== 'spindle')
    this.view.bands = drawn.map(({ grip, to }) => ({ from: () => where(grip), to }))
    this.view.invalidate()
  }

  private maybeTap(event: PointerEvent): void {
    const began = performance.now()
    const { offsetX: x, offsetY: y } = event
    const end = (e: PointerEvent) => {
      const still = Math.hypot(e.offsetX - x, e.offsetY - y) < 4
      const hit = still && performance.now() - began < CLICK ? this.body(x, y) : null
      if (hit !== null) this.events.pick(hit.actor, hit.frame)
    }
    this.view.canvas.addEventListener('pointerup', end, { once: true })
  }

  private look(x: number, y: number): void {
    const grip = this.allowed.size > 0 ? this.grip(x, y, false) : null
    const rope = grip === null ? this.rope(x, y) : grip.part === 'body' ? null : grip.rope
    this.hover(grip, rope, x, y)
  }

  private hover(grip: Grip | null, rope: DrawnRope | null, x: number, y: number): void {
    const { ropes } = this.view
    if (ropes && ropes.hovered !== rope) {
      ropes.hovered = rope
      this.view.invalidate()
    }
    this.view.canvas.classList.toggle('grabbable', grip !== null)
    this.events.hover(grip, rope, x, y)
  }

  private wind(event: WheelEvent): void {
    if (!this.allowed.has('spindle')) return
    const rope = this.rope(event.offsetX, event.offsetY) ?? this.gripRope(event.offsetX, event.offsetY)
    if (rope === null || rope.rope.q < 0) return
    event.preventDefault()
    event.stopImmediatePropagation()
    const pixels = event.deltaMode === 1 ? 33 * event.deltaY : event.deltaY
    this.wheel += pixels * 1e-4
    this.wheeled = rope
  }

  private gripRope(x: number, y: number): DrawnRope | null {
    const grip = this.grip(x, y, false)
    return grip === null || grip.part === 'body' ? null : grip.rope
  }

  /** Once a picture: only the newest place of each drag is sent. */
  flush(to: Hearer): void {
    this.wishes.forEach(({ type, fields }) => to.send(type, fields))
    this.wishes.clear()
    if (this.wheeled !== null && this.wheel !== 0) {
      to.send('winch', { figure: this.wheeled.actor.track, string: this.wheeled.rope.name, by: this.wheel })
      this.wheel = 0
    }
  }

  /** Control was lost, or the piece has changed. */
  drop(): void {
    this.held.clear()
    this.stretch()
    this.wishes.clear()
    this.wheeled = null
    this.view.canvas.classList.remove('grabbing', 'grabbable')
  }

  get busy(): boolean {
    return this.held.size > 0
  }
}

/** Where the held point is now. */
function where(grip: Grip): Vector3 {
  if (grip.part === 'body') return grip.local.clone().applyMatrix4(matrixOf(grip.actor.X, grip.frame))
  return grip.rope[grip.part]
}

function named(grip: Grip): [number, string, number[]] {
  if (grip.part === 'body') return [grip.actor.track, grip.actor.figure.frames[grip.frame].name, grip.local.toArray()]
  return [grip.rope.actor.track, grip.rope.rope.name, [0, 0, 0]]
}

function movesLevel(rope: DrawnRope): boolean {
  const { frames } = rope.actor.figure
  let up = false
  let level = false
  for (let k = rope.rope.path[rope.rope.path.length - 1].frame; k >= 0; k = frames[k].parent) {
    const axis = frames[k].axis
    if (frames[k].motion !== 'translate' || axis === undefined) continue
    if (Math.abs(axis[2]) > 0.5) up = true
    else level = true
  }
  return level && !up
}

function distanceToSegment(x: number, y: number, a: number[], b: number[]): number {
  const dx = b[0] - a[0]
  const dy = b[1] - a[1]
  const s = Math.min(Math.max(((x - a[0]) * dx + (y - a[1]) * dy) / Math.max(dx * dx + dy * dy, 1e-9), 0), 1)
  return Math.hypot(x - a[0] - s * dx, y - a[1] - s * dy)
}
