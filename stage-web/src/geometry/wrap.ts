/** The ways of strings over pulleys and onto drums (see bunraku.figure.plain_wrapping, which this follows). */
import { Matrix4, Quaternion, Vector3 } from 'three'

/** A place on the way of a string: a point, or the centre of a pulley or drum. */
export interface Place {
  at: Vector3
  /** Of a pulley or drum [m]. */
  radius?: number
  /** In the world; none for a sphere. */
  axis?: Vector3
  /** The side point of a pulley, in the world. */
  side?: Vector3
  turn?: number
  drum?: boolean
  /** From a drum to where its free string begins to count, in the world. */
  towards?: Vector3
}

/** Points along a way, close together on arcs, and its length [m]. */
export interface Way {
  points: Vector3[]
  length: number
}

/** A point of the plane square to the axis, as a complex number. */
type Flat = [number, number]

const STEP = 0.2 // rad between points on an arc
const TURN = 2 * Math.PI

const phase = (a: Flat, b: Flat) => Math.atan2(a[0] * b[1] - a[1] * b[0], a[0] * b[0] + a[1] * b[1])
const sub = (a: Flat, b: Flat): Flat => [a[0] - b[0], a[1] - b[1]]

/** The way from the first place to the last. */
export function way(places: Place[]): Way {
  const points = [places[0].at.clone()]
  let first = 0
  let length = 0
  for (let k = 1; k < places.length; k++) {
    const { radius, drum } = places[k]
    if (radius !== undefined && !drum) continue
    const part = stretch(places.slice(first, k + 1))
    points.push(...part.points.slice(1))
    length += part.length
    first = k
  }
  return { points, length }
}

function polygon(points: Vector3[]): Way {
  return { points, length: points.slice(1).reduce((sum, p, i) => sum + p.distanceTo(points[i]), 0) }
}

/** From one eyelet to the next, over the pulleys between. */
function stretch(places: Place[]): Way {
  const ends = [places[0].at, places[places.length - 1].at]
  const round = places.slice(1).find(({ radius }) => radius !== undefined)
  if (round === undefined) return polygon(ends)
  const axis = round.axis ?? ends[0].clone().sub(round.at).cross(ends[1].clone().sub(round.at))
  if (axis.lengthSq() < 1e-24) return polygon(ends)
  const up = axis.clone().normalize()
  const turned = new Matrix4().makeRotationFromQuaternion(new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), up))
  const back = turned.clone().transpose()
  const seen = places.map(({ at }) => at.clone().sub(round.at).applyMatrix4(back))
  const c = seen.map(({ x, y }): Flat => [x, y])
  const rho = places.map((p) => (p.radius ?? 0) * (p.turn ?? 0) * (p.axis && p.axis.dot(up) < 0 ? -1 : 1))
  let least = -0.25 * TURN
  if (!round.drum && !round.turn) {
    const r = round.radius ?? 0
    const side = round.side?.clone().sub(round.at)
    const ring = side !== undefined && side.length() < r
    const beside = side?.applyMatrix4(back)
    if (ring) return polygon(throughRing(seen, r).map((p) => p.applyMatrix4(turned).add(round.at)))
    rho[1] = r * sense(r, c[0], c[c.length - 1], beside && [beside.x, beside.y])
    least = 0
  }
  const own = touched(c, rho, least)
  const drum = places[places.length - 1].drum ? places[places.length - 1] : undefined
  if (own.length === 2 && !drum) return polygon(ends)
  const circles = { c: own.map((k) => c[k]), rho: own.map((k) => rho[k]) }
  const flat = traced(circles.c, circles.rho, least)
  let length = flatLength(circles.c, circles.rho, least)
  if (drum?.towards) {
    const onto = drum.towards.clone().negate().applyMatrix4(back)
    const u = directions(circles.c, circles.rho)
    length += rho[rho.length - 1] * phase(u[u.length - 1], [onto.x, onto.y])
  }
  const run = [0]
  for (let i = 1; i < flat.length; i++) {
    const [x, y] = sub(flat[i], flat[i - 1])
    run.push(run[i - 1] + Math.hypot(x, y))
  }
  const climb = seen[seen.length - 1].z - seen[0].z
  const points = flat.map(([x, y], i) => {
    const z = seen[0].z + (climb * run[i]) / (run[run.length - 1] || 1)
    return new Vector3(x, y, z).applyMatrix4(turned).add(round.at)
  })
  return { points, length: drum ? length : Math.hypot(length, climb) }
}

/** Straight pieces and arcs in the plane. */
function flatLength(c: Flat[], rho: number[], least: number): number {
  const u = directions(c, rho)
  return u.reduce((sum, v, i) => {
    const [x, y] = sub(c[i + 1], c[i])
    const straight = Math.sqrt(Math.max(x * x + y * y - (rho[i + 1] - rho[i]) ** 2, 0))
    return sum + straight + (i === 0 ? 0 : Math.abs(rho[i]) * turnedBy(u[i - 1], v, rho[i], least))
  }, 0)
}

/** How a string passes one circle: as the way by the side point does. 0 where it is straight. */
function sense(r: number, a: Flat, b: Flat, side: Flat | undefined): number {
  const [da, db] = [Math.hypot(...a), Math.hypot(...b)]
  if (da <= r || db <= r) return 0
  const angle = side ? phase(a, side) + phase(side, b) : phase(a, b)
  return Math.abs(angle) <= Math.acos(r / da) + Math.acos(r / db) ? 0 : Math.sign(angle)
}

/** The directions of the straight pieces between circles. */
function directions(c: Flat[], rho: number[]): Flat[] {
  return c.slice(1).map((next, i) => {
    const d = sub(next, c[i])
    const share = (rho[i + 1] - rho[i]) / (Math.hypot(...d) || 1)
    const angle = Math.atan2(d[1], d[0]) - Math.asin(Math.min(Math.max(share, -1), 1))
    return [Math.cos(angle), Math.sin(angle)]
  })
}

function turnedBy(before: Flat, after: Flat, rho: number, least: number): number {
  const angle = phase(before, after) * Math.sign(rho)
  return angle < least ? angle + TURN : angle
}

/** The circles that the string touches, and its two ends. */
function touched(c: Flat[], rho: number[], least: number): number[] {
  const last = c.length - 1
  const own = c.map((_, k) => k).filter((k) => k === 0 || k === last || rho[k] !== 0)
  while (own.length > 2) {
    const inside = own.findIndex((k, i) => {
      if (i === 0) return false
      return Math.hypot(...sub(c[k], c[own[i - 1]])) <= Math.abs(rho[k] - rho[own[i - 1]])
    })
    if (inside > 0) {
      own.splice(inside === own.length - 1 ? inside - 1 : inside, 1)
      continue
    }
    const u = directions(
      own.map((k) => c[k]),
      own.map((k) => rho[k]),
    )
    const angles = own.slice(1, -1).map((k, i) => turnedBy(u[i], u[i + 1], rho[k], least))
    const worst = Math.min(...angles)
    if (worst >= 0) break
    own.splice(1 + angles.indexOf(worst), 1)
  }
  return own
}

/** Points along the way in the plane. */
function traced(c: Flat[], rho: number[], least: number): Flat[] {
  const u = directions(c, rho)
  const touching = (i: number, [x, y]: Flat): Flat => [c[i][0] + rho[i] * y, c[i][1] - rho[i] * x]
  const out = [c[0]]
  u.forEach((v, i) => {
    if (i === 0) return
    const angle = turnedBy(u[i - 1], v, rho[i], least)
    const pieces = 1 + Math.floor(angle / STEP)
    for (let s = 0; s <= pieces; s++) {
      const by = (Math.sign(rho[i]) * angle * s) / pieces
      const [cos, sin] = [Math.cos(by), Math.sin(by)]
      const [x, y] = u[i - 1]
      out.push(touching(i, [cos * x - sin * y, sin * x + cos * y]))
    }
  })
  out.push(touching(c.length - 1, u[u.length - 1]))
  return out
}

/** A string that runs inside a pulley bends where the way over a point of the circle is shortest. */
function throughRing(seen: Vector3[], r: number): Vector3[] {
  const [a, b] = [seen[0], seen[seen.length - 1]]
  const [da, db] = [Math.hypot(a.x, a.y), Math.hypot(b.x, b.y)]
  const d = sub([b.x, b.y], [a.x, a.y])
  const share = Math.min(Math.max(-(a.x * d[0] + a.y * d[1]) / (d[0] ** 2 + d[1] ** 2 || 1), 0), 1)
  if (Math.min(da, db, Math.hypot(a.x + share * d[0], a.y + share * d[1])) <= r) return [a, b]
  const start = Math.atan2(a.y, a.x)
  const place = (angle: number): Flat => [r * Math.cos(start + angle), r * Math.sin(start + angle)]
  const length = (angle: number) => {
    const [x, y] = place(angle)
    return Math.hypot(x - a.x, y - a.y) + Math.hypot(x - b.x, y - b.y)
  }
  let [low, high] = [0, phase([a.x, a.y], [b.x, b.y])]
  for (let k = 0; k < 60; k++) {
    const third = (high - low) / 3
    if (length(low + third) < length(high - third)) high -= third
    else low += third
  }
  const [x, y] = place(low)
  const to = Math.hypot(x - a.x, y - a.y)
  return [a, new Vector3(x, y, a.z + ((b.z - a.z) * to) / length(low)), b]
}

/** How much string [m] a drum lets out by an angle [rad], if it winds in layers of so many turns: each makes the next one larger. */
export function letOut(radius: number, turns: number, thickness: number, angle: number): number {
  const full = TURN * turns
  const layers = Math.max(Math.floor(-angle / full + 0.5), 0)
  if (layers === 0) return radius * angle
  const x = (-angle - layers * full) / Math.PI + 0.5
  const s = Math.min(Math.max(x, 0), 1)
  const last = Math.PI * (s ** 6 - 3 * s ** 5 + 2.5 * s ** 4 + Math.max(x - 1, 0))
  return radius * angle - thickness * ((layers - 1) * (-angle - 0.5 * layers * full) + last)
}
