/** Hands on the stage: hover, drag a spindle, a hook or a body, pin a body with a click, wind a string with the wheel. */
import { Plane, Vector3 } from 'three'
import type { PageMessage } from '../messages'
import type { Actor } from '../view/actor'
import type { DrawnRope } from '../view/ropes'
import type { Band } from '../view/view'
import { type Grip, type Pickable, Picker } from './picking'

/** The part of the view that hands change. */
export interface HandledView extends Pickable {
  bands: Band[]
  /** Where pins hold bodies. */
  pins: (() => Vector3)[]
  invalidate(): void
  /** Whether the eye is so near a figure that it would go through it next. */
  atNose(): boolean
}

export interface HandEvents {
  hover(grip: Grip | null, rope: DrawnRope | null, x: number, y: number): void
  /** A click on a body that is not dragged. */
  pick(actor: Actor, frame: number): void
  /** A hand has begun to pull. */
  pulled(): void
}

type BodyGrip = Grip & { part: 'body' }

/** A drag that goes on: what is held, the plane in which it moves, and where the hand is. */
interface Drag {
  grip: Grip
  plane: Plane
  /** From the pointer to what it holds, so that nothing jumps at the first touch. */
  offset: Vector3
  to: Vector3
  /** Where the pointer went down, in pixels; null once it has moved on. */
  pressed: [x: number, y: number] | null
}

const CLICK_TIME = 200 // ms
const CLICK_PIXELS = 4
const WHEEL_METRES = 1e-4 // wound for each pixel of scrolling
const WHEEL_LINE = 33 // pixels of a line, for mice that scroll by lines
const WHEEL_PAUSE = 700 // ms: until then the wheel keeps to the string that it winds, even where the pointer misses it

export class Hands {
  /** Parts that may be dragged: those that the live figure understands, none for a visitor who only watches. */
  allowed: ReadonlySet<string> = new Set()
  private readonly picker: Picker
  private readonly drags = new Map<number, Drag>()
  /** Messages that wait for the next picture; of each drag, only the newest. */
  private readonly outbox = new Map<string, PageMessage>()
  private wound: { rope: DrawnRope; by: number } | null = null
  private lastWound: { rope: DrawnRope; at: number } | null = null
  private readonly pinned = new Map<string, BodyGrip>()

  constructor(
    private readonly view: HandledView,
    private readonly events: HandEvents,
  ) {
    this.picker = new Picker(view)
    const { canvas } = view
    // In the capture phase: before OrbitControls, which listens on the same canvas.
    canvas.addEventListener('pointerdown', (e) => this.pressed(e), { capture: true })
    canvas.addEventListener('pointermove', (e) => this.moved(e), { capture: true })
    canvas.addEventListener('pointerup', (e) => this.released(e), { capture: true })
    canvas.addEventListener('pointercancel', (e) => this.released(e), { capture: true })
    canvas.addEventListener('pointerleave', () => this.hover(null, null, 0, 0))
    canvas.addEventListener('wheel', (e) => this.wheeled(e), { capture: true, passive: false })
  }

  /** Once a picture: sends what has changed since the last one. */
  flush(send: (message: PageMessage) => void): void {
    for (const message of this.outbox.values()) send(message)
    this.outbox.clear()
    if (this.wound === null) return
    const { rope, by } = this.wound
    if (by !== 0) send({ type: 'winch', figure: rope.actor.track, string: rope.rope.name, by })
    this.wound = null
  }

  /** Control was lost, or the piece has changed. */
  drop(): void {
    this.drags.clear()
    this.outbox.clear()
    this.wound = this.lastWound = null
    this.unpin()
    this.showBands()
    this.view.canvas.classList.remove('grabbing', 'grabbable')
  }

  /** Forgets all pins: the figure is back at its start, or another one. */
  unpin(): void {
    this.pinned.clear()
    this.showPins()
  }

  // -- dragging --------------------------------------------------------------------------------------------------

  private pressed(event: PointerEvent): void {
    if (event.button !== 0) return
    const { offsetX: x, offsetY: y } = event
    const grip = this.grip(x, y, event.pointerType === 'touch' ? 'touch' : 'mouse')
    if (grip === null) {
      this.awaitClick(event)
      return
    }
    event.stopImmediatePropagation()
    event.preventDefault()
    this.view.canvas.setPointerCapture(event.pointerId)
    this.view.canvas.classList.add('grabbing')
    const plane = this.dragPlane(grip)
    const hit = this.picker.ray(x, y).intersectPlane(plane, new Vector3()) ?? grip.at
    const offset = grip.at.clone().sub(hit)
    this.drags.set(event.pointerId, { grip, plane, offset, to: grip.at.clone(), pressed: [x, y] })
  }

  private grip(x: number, y: number, pointer: 'mouse' | 'touch'): Grip | null {
    return this.allowed.size > 0 ? this.picker.grip(x, y, this.allowed, pointer) : null
  }

  /** Facing the eye; but a spindle that only moves level is dragged level, if one looks at it from above. */
  private dragPlane(grip: Grip): Plane {
    const toEye = this.view.seat.camera.getWorldDirection(new Vector3()).negate()
    const level = grip.part === 'spindle' && toEye.z > 0.35 && movesLevel(grip.rope)
    return new Plane().setFromNormalAndCoplanarPoint(level ? new Vector3(0, 0, 1) : toEye, grip.at)
  }

  private moved(event: PointerEvent): void {
    const drag = this.drags.get(event.pointerId)
    const { offsetX: x, offsetY: y } = event
    if (drag === undefined) {
      if (event.buttons === 0) this.look(x, y)
      return
    }
    event.stopImmediatePropagation()
    if (drag.pressed !== null) {
      if (Math.hypot(x - drag.pressed[0], y - drag.pressed[1]) < CLICK_PIXELS) return
      drag.pressed = null
      this.events.pulled()
    }
    const hit = this.picker.ray(x, y).intersectPlane(drag.plane, new Vector3())
    if (hit === null) return
    drag.to.copy(hit.add(drag.offset))
    const { grip } = drag
    const { x: toX, y: toY, z: toZ } = drag.to
    this.outbox.set(`pull ${key(grip)}`, { type: 'pull', ...named(grip), to: [toX, toY, toZ], at: heldAt(grip) })
    this.showBands()
    this.hover(grip, grip.part === 'body' ? null : grip.rope, x, y)
  }

  private released(event: PointerEvent): void {
    const drag = this.drags.get(event.pointerId)
    if (drag === undefined) return
    event.stopImmediatePropagation()
    this.drags.delete(event.pointerId)
    if (drag.pressed === null) this.outbox.set(`release ${key(drag.grip)}`, { type: 'release', ...named(drag.grip) })
    else if (event.type === 'pointerup' && drag.grip.part === 'body') this.togglePin(drag.grip)
    this.showBands()
    if (this.drags.size === 0) this.view.canvas.classList.remove('grabbing')
  }

  /** A rubber band for each drag; a spindle follows the hand and needs none. */
  private showBands(): void {
    const stretched = [...this.drags.values()].filter(({ grip }) => grip.part !== 'spindle')
    this.view.bands = stretched.map(({ grip, to }) => ({ from: () => heldPoint(grip), to }))
    this.view.invalidate()
  }

  /** A click pins a body where it is, or takes its pin out. */
  private togglePin(grip: BodyGrip): void {
    if (!this.allowed.has('pin')) return
    const held = { ...named(grip), part: 'pin' as const }
    const id = `${held.figure} ${held.name}`
    const pin = this.pinned.get(id)
    this.outbox.delete(`pin ${id}`)
    if (pin === undefined) {
      const at = heldPoint(grip)
      this.pinned.set(id, grip)
      this.outbox.set(`pin ${id}`, { type: 'pull', ...held, to: [at.x, at.y, at.z], at: heldAt(grip) })
    } else {
      this.pinned.delete(id)
      this.outbox.set(`pin ${id}`, { type: 'release', ...held })
    }
    this.showPins()
  }

  private showPins(): void {
    this.view.pins = [...this.pinned.values()].map((grip) => () => heldPoint(grip))
    this.view.invalidate()
  }

  private awaitClick(event: PointerEvent): void {
    const began = performance.now()
    const { offsetX: x, offsetY: y } = event
    const end = (e: PointerEvent) => {
      const still = Math.hypot(e.offsetX - x, e.offsetY - y) < CLICK_PIXELS
      const hit = still && performance.now() - began < CLICK_TIME ? this.picker.body(x, y) : null
      if (hit !== null) this.events.pick(hit.actor, hit.frame)
    }
    this.view.canvas.addEventListener('pointerup', end, { once: true })
  }

  // -- hovering and winding --------------------------------------------------------------------------------------

  private look(x: number, y: number): void {
    const grip = this.grip(x, y, 'mouse')
    const rope = grip === null ? this.picker.rope(x, y) : grip.part === 'body' ? null : grip.rope
    this.hover(grip, rope, x, y)
  }

  private hover(grip: Grip | null, rope: DrawnRope | null, x: number, y: number): void {
    const { ropes, canvas } = this.view
    if (ropes !== null && ropes.hovered !== rope) {
      ropes.hovered = rope
      this.view.invalidate()
    }
    canvas.classList.toggle('grabbable', grip !== null)
    this.events.hover(grip, rope, x, y)
  }

  private wheeled(event: WheelEvent): void {
    const rope = this.allowed.has('spindle') ? this.windingRope(event.offsetX, event.offsetY) : null
    if (rope === null) {
      if (event.deltaY >= 0 || !this.view.atNose()) return // the camera zooms
      event.preventDefault()
      event.stopImmediatePropagation()
      return
    }
    event.preventDefault()
    event.stopImmediatePropagation()
    this.lastWound = { rope, at: performance.now() }
    const pixels = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? WHEEL_LINE * event.deltaY : event.deltaY
    this.wound = { rope, by: (this.wound?.by ?? 0) + WHEEL_METRES * pixels }
  }

  /** The string that the wheel winds: that under the pointer, or a moment later still the last. */
  private windingRope(x: number, y: number): DrawnRope | null {
    const last = this.lastWound
    const found = this.ropeAt(x, y)
    const recent = last !== null && performance.now() < last.at + WHEEL_PAUSE
    return found ?? (recent && this.view.ropes?.drawn.includes(last.rope) ? last.rope : null)
  }

  private ropeAt(x: number, y: number): DrawnRope | null {
    const rope = this.picker.rope(x, y)
    if (rope !== null) return rope
    const grip = this.grip(x, y, 'mouse')
    return grip === null || grip.part === 'body' ? null : grip.rope
  }
}

/** What is held, as the server names it. */
function named(grip: Grip) {
  const { part } = grip
  if (part === 'body') return { figure: grip.actor.track, part, name: grip.actor.figure.frames[grip.frame].name }
  return { figure: grip.rope.actor.track, part, name: grip.rope.rope.name }
}

function key(grip: Grip): string {
  return Object.values(named(grip)).join(' ')
}

/** The held point in the frame of the body. */
function heldAt(grip: Grip): [number, number, number] {
  return grip.part === 'body' ? [grip.local.x, grip.local.y, grip.local.z] : [0, 0, 0]
}

/** Where the held point is now, in the world. */
function heldPoint(grip: Grip): Vector3 {
  if (grip.part === 'body') return grip.local.clone().applyMatrix4(grip.actor.matrix(grip.frame))
  return grip.rope[grip.part]
}

/** Whether the frames above a spindle slide level and not up. */
function movesLevel({ actor, rope }: DrawnRope): boolean {
  const { frames } = actor.figure
  let up = false
  let level = false
  for (let k = rope.path[rope.path.length - 1].frame; k >= 0; k = frames[k].parent) {
    const { axis, motion } = frames[k]
    if (motion !== 'translate' || axis === undefined) continue
    if (Math.abs(axis[2]) > 0.5) up = true
    else level = true
  }
  return level && !up
}
