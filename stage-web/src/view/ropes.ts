/** Strings, wires and springs of all figures; and the handles at the ends of strings. */
import { Color, InstancedMesh, Matrix4, MeshStandardMaterial, SphereGeometry, Vector3 } from 'three'
import { point } from '../kinematics'
import type { Rope } from '../model'
import { hang } from '../rope'
import { type Palette, tensionColor } from '../theme'
import { type Actor, extent } from './actor'
import { Lines } from './lines'

const PIECES = 24
const SLACK = 1e-4
const COIL = 28

/** A string as it is drawn: enough to pick it and to say how it is. */
export interface DrawnRope {
  actor: Actor
  index: number
  rope: Rope
  /** xyz of hook and spindle */
  hook: Vector3
  spindle: Vector3
  length: number
  gap: number
  tension: number | null
  taut: boolean
  atLimit: boolean
  /** the points between which it was drawn */
  curve: Float64Array
}

export class Ropes {
  readonly lines: Lines
  readonly drawn: DrawnRope[] = []
  readonly spindles: InstancedMesh
  readonly hooks: InstancedMesh
  /** Tension at which the scale of colours ends [N]. */
  most = 1
  hovered: DrawnRope | null = null
  private readonly springs: { actor: Actor; index: number }[] = []
  private readonly corners: Float64Array[] = []
  private readonly size: number
  private readonly color = new Color()
  private readonly matrix = new Matrix4()

  constructor(actors: Actor[]) {
    let segments = 0
    for (const actor of actors.filter((a) => !a.ghost)) {
      actor.figure.ropes.forEach((rope, index) => {
        const spans = rope.path.length - 1
        segments += PIECES * spans
        this.corners.push(new Float64Array(3 * rope.path.length))
        this.drawn.push({
          actor, index, rope, hook: new Vector3(), spindle: new Vector3(), length: 0, gap: 0, tension: null, taut: false,
          atLimit: false, curve: new Float64Array(3 * (PIECES * spans + 1)),
        })
      })
      actor.figure.springs.forEach((_, index) => this.springs.push({ actor, index }))
    }
    this.lines = new Lines(Math.max(segments + COIL * this.springs.length, 1), 1.8)
    this.size = Math.max(...actors.map((a) => extent(a.figure)), 0.1)
    const ball = new SphereGeometry(1, 18, 12)
    const brass = new MeshStandardMaterial({ roughness: 0.35, metalness: 0.35 })
    this.spindles = new InstancedMesh(ball, brass, Math.max(this.drawn.length, 1))
    this.hooks = new InstancedMesh(ball, brass, Math.max(this.drawn.length, 1))
    for (const handles of [this.spindles, this.hooks]) {
      handles.count = this.drawn.length
      handles.frustumCulled = false
      this.drawn.forEach((_, k) => handles.setColorAt(k, this.color.set('#c9a24b')))
    }
    this.spindles.castShadow = true
  }

  update(palette: Palette, floor: number | null): void {
    this.lines.begin()
    this.drawn.forEach((drawn, k) => this.rope(drawn, this.corners[k], palette, floor ?? -Infinity))
    for (const spring of this.springs) this.spring(spring.actor, spring.index, palette)
    this.lines.end()
    this.drawn.forEach((drawn, k) => this.handles(drawn, k, palette))
    for (const handles of [this.spindles, this.hooks]) {
      handles.instanceMatrix.needsUpdate = true
      if (handles.instanceColor) handles.instanceColor.needsUpdate = true
    }
  }

  private rope(drawn: DrawnRope, corners: Float64Array, palette: Palette, floor: number): void {
    const { actor, rope, index } = drawn
    const spans = rope.path.length - 1
    let distance = 0
    let longest = 0
    let longestSpan = 0
    rope.path.forEach((at, i) => {
      point(actor.X, at, corners, 3 * i)
      if (i === 0) return
      const d = span(corners, i - 1)
      distance += d
      if (d > longest) [longest, longestSpan] = [d, i - 1]
    })
    drawn.hook.fromArray(corners)
    drawn.spindle.fromArray(corners, 3 * spans)
    drawn.length = rope.length + (rope.q < 0 ? 0 : rope.ratio * actor.moment.q[rope.q])
    drawn.gap = distance - drawn.length
    drawn.tension = actor.moment.tension === null ? null : actor.moment.tension[index]
    drawn.atLimit = actor.moment.atLimit !== null && actor.moment.atLimit[index] > 0
    const slackened = drawn.gap < -SLACK * this.size && !(drawn.tension !== null && drawn.tension > 1e-6)
    drawn.taut = rope.rigid || !slackened
    this.colour(drawn, palette)
    for (let i = 0; i < spans; i++) {
      // What is slack hangs in the longest span: a string slips through its eyelets.
      const extra = drawn.taut || i !== longestSpan ? 0 : -drawn.gap
      const part = drawn.curve.subarray(3 * PIECES * i, 3 * (PIECES * (i + 1) + 1))
      const d = span(corners, i)
      hang(corners.subarray(3 * i, 3 * i + 3), corners.subarray(3 * i + 3, 3 * i + 6), d + extra, PIECES, part, floor)
      for (let s = 0; s < PIECES; s++) this.lines.segment(part, 3 * s, 3 * s + 3, this.color)
    }
  }

  private colour(drawn: DrawnRope, palette: Palette): void {
    if (drawn === this.hovered) this.color.set(palette.ink)
    else if (drawn.atLimit) this.color.set(palette.warning)
    else if (!drawn.taut) this.color.set(palette.slack)
    else if (drawn.tension !== null) tensionColor(palette, drawn.tension, this.most, this.color)
    else this.color.set(drawn.rope.rigid ? palette.wire : palette.tension[0])
  }

  /** A spring as a zigzag, as in drawings. */
  private spring(actor: Actor, index: number, palette: Palette): void {
    const spring = actor.figure.springs[index]
    const a = new Vector3().fromArray(point(actor.X, spring.a) as number[])
    const b = new Vector3().fromArray(point(actor.X, spring.b) as number[])
    const along = b.clone().sub(a)
    const side = new Vector3(0, 0, 1).cross(along)
    if (side.lengthSq() < 1e-12) side.set(0, 1, 0)
    side.setLength(0.018 * this.size)
    const points = new Float64Array(3 * (COIL + 1))
    for (let i = 0; i <= COIL; i++) {
      const straight = i < 3 || i > COIL - 3
      const swing = straight ? 0 : i % 2 === 0 ? 1 : -1
      a.clone().addScaledVector(along, i / COIL).addScaledVector(side, swing).toArray(points, 3 * i)
    }
    this.color.set(palette.wire)
    for (let i = 0; i < COIL; i++) this.lines.segment(points, 3 * i, 3 * i + 3, this.color)
  }

  private handles(drawn: DrawnRope, k: number, palette: Palette): void {
    const big = drawn === this.hovered ? 1.5 : 1
    const place = (mesh: InstancedMesh, at: Vector3, radius: number) => {
      mesh.setMatrixAt(k, this.matrix.makeScale(radius, radius, radius).setPosition(at))
      mesh.setColorAt(k, this.color.set(drawn.atLimit ? palette.warning : '#c9a24b'))
    }
    place(this.spindles, drawn.spindle, 0.011 * this.size * big)
    place(this.hooks, drawn.hook, 0.0055 * this.size * big)
  }

  /** Tension scale of a number that reads well. */
  scale(most: number): void {
    if (!(most > 0)) return
    const power = 10 ** Math.floor(Math.log10(most))
    const steps = [1, 2, 5, 10]
    this.most = power * (steps.find((s) => s * power >= most) ?? 10)
  }

  dispose(): void {
    this.lines.dispose()
    for (const handles of [this.spindles, this.hooks]) {
      handles.geometry.dispose()
      ;(handles.material as MeshStandardMaterial).dispose()
      handles.dispose()
    }
  }
}

function span(corners: Float64Array, i: number): number {
  return Math.hypot(
    corners[3 * i + 3] - corners[3 * i], corners[3 * i + 4] - corners[3 * i + 1], corners[3 * i + 5] - corners[3 * i + 2],
  )
}
