/** Strings, wires and springs of all figures; and the handles at the ends of strings. */
import { Color, InstancedMesh, Matrix4, MeshStandardMaterial, Quaternion, SphereGeometry, Vector3 } from 'three'
import { extent } from '../geometry/kinematics'
import { roundUp } from '../geometry/numbers'
import { hang } from '../geometry/rope'
import { letOut, type Place, type Way, way } from '../geometry/wrap'
import type { Rope, Vec3 } from '../messages'
import { type Palette, tensionColor } from '../theme'
import type { Actor } from './actor'
import { Lines } from './lines'

const PIECES = 24 // line segments between two points of a string's path
const COIL = 28 // line segments of a spring
const SLACK = 1e-4 // of the figure's size: a gap below this is rounding
const BRASS = '#c9a24b'

/** A string as it is drawn: enough to pick it and to describe it. */
export interface DrawnRope {
  actor: Actor
  index: number
  rope: Rope
  hook: Vector3
  spindle: Vector3
  length: number
  gap: number
  tension: number | null
  taut: boolean
  atLimit: boolean
  /** xyz of the points between which it is drawn. */
  curve: Float64Array
}

export class Ropes {
  readonly lines: Lines
  /** Edges of marks, seen through everything. */
  readonly marks: Lines
  readonly drawn: DrawnRope[]
  readonly spindles: InstancedMesh<SphereGeometry, MeshStandardMaterial>
  readonly hooks: InstancedMesh<SphereGeometry, MeshStandardMaterial>
  /** Tension at which the colour scale ends [N]. */
  scaleEnd = 1
  hovered: DrawnRope | null = null
  private readonly springs: { actor: Actor; index: number }[]
  private readonly size: number
  private readonly color = new Color()
  private readonly matrix = new Matrix4()

  constructor(actors: Actor[]) {
    const shown = actors.filter((actor) => !actor.ghost)
    this.drawn = shown.flatMap((actor) => actor.figure.ropes.map((rope, index) => notYetDrawn(actor, rope, index)))
    this.springs = shown.flatMap((actor) => actor.figure.springs.map((_, index) => ({ actor, index })))
    const segments = this.drawn.reduce((sum, { curve }) => sum + curve.length / 3 - 1, 0)
    this.lines = new Lines(Math.max(segments + COIL * this.springs.length, 1), 1.8)
    this.marks = new Lines(Math.max(segments, 1), 2.5, { depthTest: false, opacity: 0.9 })
    this.marks.object.renderOrder = 4
    this.size = Math.max(...actors.map((a) => extent(a.figure)), 0.1)
    const ball = new SphereGeometry(1, 18, 12)
    const brass = new MeshStandardMaterial({ roughness: 0.35, metalness: 0.35 })
    this.spindles = new InstancedMesh(ball, brass, Math.max(this.drawn.length, 1))
    this.hooks = new InstancedMesh(ball, brass, Math.max(this.drawn.length, 1))
    for (const handles of [this.spindles, this.hooks]) {
      handles.count = this.drawn.length
      handles.frustumCulled = false
      for (let k = 0; k < this.drawn.length; k++) handles.setColorAt(k, this.color.set(BRASS))
    }
    this.spindles.castShadow = true
  }

  update(palette: Palette, floor: number | null): void {
    this.lines.begin()
    this.marks.begin()
    for (const drawn of this.drawn) this.drawRope(drawn, palette, floor ?? -Infinity)
    for (const spring of this.springs) this.drawSpring(spring.actor, spring.index, palette)
    this.lines.end()
    this.marks.end()
    this.drawn.forEach((drawn, k) => {
      this.placeHandles(drawn, k, palette)
    })
    for (const handles of [this.spindles, this.hooks]) {
      handles.instanceMatrix.needsUpdate = true
      if (handles.instanceColor) handles.instanceColor.needsUpdate = true
    }
  }

  private drawRope(drawn: DrawnRope, palette: Palette, floor: number): void {
    const { actor, rope, index } = drawn
    const { moment } = actor
    const on = moment.laid?.get(index)
    const branches = on === undefined ? waysOf(actor, rope) : [alongBodies(actor, rope, on)]
    const corners = branches.flatMap(({ points }) => points)
    const spans = corners.slice(1).map((corner, i) => corner.distanceTo(corners[i]))
    // From the end of one branch to the beginning of the next there is no string.
    for (let b = 0, k = 0; b < branches.length - 1; b++) {
      k += branches[b].points.length
      spans[k - 1] = 0
    }
    drawn.hook.copy(corners[0])
    drawn.spindle.copy(corners[corners.length - 1])
    const radius = rope.path[rope.path.length - 1].radius
    const even = rope.q < 0 ? 0 : rope.ratio * moment.q[rope.q]
    drawn.length = rope.length + (rope.layers && radius ? letOut(radius, ...rope.layers, even / radius) : even)
    drawn.gap = branches.reduce((sum, { length, weight }) => sum + weight * length, 0) - drawn.length
    drawn.tension = moment.tension === null ? null : moment.tension[index]
    drawn.atLimit = moment.atLimit !== null && moment.atLimit[index] > 0
    const pulls = drawn.tension !== null && drawn.tension > 1e-6
    drawn.taut = rope.rigid || pulls || drawn.gap >= -SLACK * this.size
    this.chooseColor(drawn, palette)
    // A string slips through its eyelets: all that is slack hangs in the longest span.
    const longest = spans.indexOf(Math.max(...spans))
    const bends = on !== undefined || wraps(rope)
    if (drawn.curve.length / 3 < spans.length + PIECES) {
      drawn.curve = new Float64Array(3 * (spans.length + PIECES))
    }
    const room = drawn.curve.length / 3 - 1
    let used = 0
    spans.forEach((span, i) => {
      const pieces = i === longest || !bends ? PIECES : 1
      if (span === 0 || used + pieces > room) return
      const length = drawn.taut || i !== longest ? span : span - drawn.gap
      const part = drawn.curve.subarray(3 * used, 3 * (used + pieces + 1))
      hang(corners[i].toArray(), corners[i + 1].toArray(), length, pieces, part, floor)
      const lines = actor.marks ? this.marks : this.lines
      for (let s = 0; s < pieces; s++) lines.segment(part, 3 * s, 3 * s + 3, this.color)
      used += pieces
    })
    for (let k = used + 1; k <= room; k++) drawn.curve.copyWithin(3 * k, 3 * used, 3 * used + 3)
  }

  private chooseColor(drawn: DrawnRope, palette: Palette): void {
    if (drawn === this.hovered) this.color.set(palette.ink)
    else if (drawn.atLimit) this.color.set(palette.warning)
    else if (!drawn.taut) this.color.set(palette.slack)
    else if (drawn.tension !== null) tensionColor(palette, drawn.tension, this.scaleEnd, this.color)
    else this.color.set(drawn.rope.rigid ? palette.wire : palette.tension[0])
  }

  /** A spring as a zigzag, as in drawings. */
  private drawSpring(actor: Actor, index: number, palette: Palette): void {
    const spring = actor.figure.springs[index]
    const a = actor.point(spring.a)
    const along = actor.point(spring.b).sub(a)
    const side = new Vector3(0, 0, 1).cross(along)
    if (side.lengthSq() < 1e-12) side.set(0, 1, 0)
    side.setLength(0.018 * this.size)
    const points = new Float64Array(3 * (COIL + 1))
    for (let i = 0; i <= COIL; i++) {
      const straight = i < 3 || i > COIL - 3
      const swing = straight ? 0 : i % 2 === 0 ? 1 : -1
      a.clone()
        .addScaledVector(along, i / COIL)
        .addScaledVector(side, swing)
        .toArray(points, 3 * i)
    }
    this.color.set(palette.wire)
    for (let i = 0; i < COIL; i++) this.lines.segment(points, 3 * i, 3 * i + 3, this.color)
  }

  private placeHandles(drawn: DrawnRope, k: number, palette: Palette): void {
    const grown = drawn.actor.marks ? 0 : drawn === this.hovered ? 1.5 : 1
    const place = (mesh: InstancedMesh, at: Vector3, radius: number) => {
      mesh.setMatrixAt(k, this.matrix.makeScale(radius, radius, radius).setPosition(at))
      mesh.setColorAt(k, this.color.set(drawn.atLimit ? palette.warning : BRASS))
    }
    place(this.spindles, drawn.spindle, 0.011 * this.size * grown)
    place(this.hooks, drawn.hook, 0.0055 * this.size * grown)
  }

  /** Lets the colour scale end at a round number that is not less than a tension [N]. */
  scaleTo(tension: number): void {
    if (tension > 0) this.scaleEnd = roundUp(tension)
  }

  dispose(): void {
    this.lines.dispose()
    this.marks.dispose()
    for (const handles of [this.spindles, this.hooks]) {
      handles.geometry.dispose()
      handles.material.dispose()
      handles.dispose()
    }
  }
}

/** Whether a string does more than run straight from point to point. */
function wraps(rope: Rope): boolean {
  return rope.path.some(({ radius, begins }) => radius !== undefined || begins !== undefined)
}

/** The branches of a string, each with its way, its length, and how much that counts. */
function waysOf(actor: Actor, rope: Rope): (Way & { weight: number })[] {
  const branches: { places: Place[]; weight: number }[] = []
  for (const part of rope.path) {
    const turn =
      part.radius === undefined ? undefined : new Quaternion().setFromRotationMatrix(actor.matrix(part.frame))
    const along = (v: Vec3 | undefined) => (v && turn ? new Vector3(...v).applyQuaternion(turn) : undefined)
    const place: Place = {
      at: actor.point(part),
      radius: part.radius,
      axis: along(part.axis),
      side: part.side && actor.point(part.side),
      turn: part.turn,
      drum: part.drum,
      towards: along(part.towards),
    }
    if (branches.length === 0 || part.begins !== undefined) branches.push({ places: [], weight: part.begins ?? 1 })
    branches[branches.length - 1].places.push(place)
  }
  return branches.map(({ places, weight }) => ({ ...way(places), weight }))
}

/** The way of a string that lies on bodies: from its hook over points on these (xyz) to its spindle. */
function alongBodies(actor: Actor, rope: Rope, on: Float32Array): Way & { weight: number } {
  const points = [actor.point(rope.path[0])]
  for (let k = 0; k < on.length; k += 3) points.push(new Vector3().fromArray(on, k))
  points.push(actor.point(rope.path[rope.path.length - 1]))
  const length = points.slice(1).reduce((sum, point, i) => sum + point.distanceTo(points[i]), 0)
  return { points, length, weight: 1 }
}

function notYetDrawn(actor: Actor, rope: Rope, index: number): DrawnRope {
  const curve = new Float64Array(3 * ((wraps(rope) ? 2 : 1) * PIECES * (rope.path.length - 1) + 1))
  const [hook, spindle] = [new Vector3(), new Vector3()]
  return { actor, index, rope, hook, spindle, length: 0, gap: 0, tension: null, taut: false, atLimit: false, curve }
}
