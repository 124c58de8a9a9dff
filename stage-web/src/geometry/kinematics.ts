/** Forward kinematics of a figure: the same recursion as the library's, in column-major 4×4 matrices. */
import type { At, Figure, Frame, Quat, Vec3 } from '../messages'

/** The rigid motion of a position and a rotation, as 16 numbers from `at` on. */
export function compose(position: Vec3, rotation: Quat, out: Float64Array, at = 0): void {
  const [w, x, y, z] = rotation
  out[at] = 1 - 2 * (y * y + z * z)
  out[at + 1] = 2 * (x * y + w * z)
  out[at + 2] = 2 * (x * z - w * y)
  out[at + 3] = 0
  out[at + 4] = 2 * (x * y - w * z)
  out[at + 5] = 1 - 2 * (x * x + z * z)
  out[at + 6] = 2 * (y * z + w * x)
  out[at + 7] = 0
  out[at + 8] = 2 * (x * z + w * y)
  out[at + 9] = 2 * (y * z - w * x)
  out[at + 10] = 1 - 2 * (x * x + y * y)
  out[at + 11] = 0
  out[at + 12] = position[0]
  out[at + 13] = position[1]
  out[at + 14] = position[2]
  out[at + 15] = 1
}

/** out = a b, of rigid motions that start at i, j and k of their arrays. `out` must not overlap with a or b. */
export function multiply(
  a: ArrayLike<number>,
  i: number,
  b: ArrayLike<number>,
  j: number,
  out: Float64Array,
  k: number,
): void {
  for (let c = 0; c < 4; c++) {
    const x = b[j + 4 * c]
    const y = b[j + 4 * c + 1]
    const z = b[j + 4 * c + 2]
    const w = c === 3 ? 1 : 0
    out[k + 4 * c] = a[i] * x + a[i + 4] * y + a[i + 8] * z + a[i + 12] * w
    out[k + 4 * c + 1] = a[i + 1] * x + a[i + 5] * y + a[i + 9] * z + a[i + 13] * w
    out[k + 4 * c + 2] = a[i + 2] * x + a[i + 6] * y + a[i + 10] * z + a[i + 14] * w
    out[k + 4 * c + 3] = w
  }
}

const IDENTITY = new Float64Array(16)
compose([0, 0, 0], [1, 0, 0, 0], IDENTITY)

export class Kinematics {
  readonly n: number
  private readonly constant: Float64Array
  private readonly moved = new Float64Array(16)
  private readonly local = new Float64Array(16)

  constructor(readonly figure: Figure) {
    this.n = figure.frames.length
    this.constant = new Float64Array(16 * this.n)
    figure.frames.forEach((frame, k) => {
      compose(frame.position, frame.rotation, this.constant, 16 * k)
    })
  }

  /** X_WF of every frame, one after the other. A parent always comes before its children. */
  forward(q: ArrayLike<number>, out: Float64Array): void {
    const { frames } = this.figure
    for (let k = 0; k < this.n; k++) {
      const frame = frames[k]
      const parent = frame.parent < 0 ? IDENTITY : out
      const from = frame.parent < 0 ? 0 : 16 * frame.parent
      if (frame.motion === undefined) {
        multiply(parent, from, this.constant, 16 * k, out, 16 * k)
        continue
      }
      jointMotion(frame, q, this.moved)
      multiply(this.constant, 16 * k, this.moved, 0, this.local, 0)
      multiply(parent, from, this.local, 0, out, 16 * k)
    }
  }
}

/** How the variable of a frame moves it: turned about its axis, slid along it, or both for a screw. */
function jointMotion(frame: Frame, q: ArrayLike<number>, out: Float64Array): void {
  const { motion, axis = [0, 0, 1], pitch = 0, q: variable = 0 } = frame
  const [x, y, z] = axis
  const value = q[variable]
  const halfAngle = motion === 'translate' ? 0 : value / 2
  const slide = motion === 'translate' ? value : motion === 'screw' ? pitch * value : 0
  const s = Math.sin(halfAngle)
  compose([slide * x, slide * y, slide * z], [Math.cos(halfAngle), s * x, s * y, s * z], out)
}

/** A point of a frame in the world, written to `out` from `o` on. */
export function writePoint(X: Float64Array, at: At, out: Float64Array | number[], o = 0): void {
  const [x, y, z] = at.position
  const M = at.frame < 0 ? IDENTITY : X
  const k = at.frame < 0 ? 0 : 16 * at.frame
  out[o] = M[k] * x + M[k + 4] * y + M[k + 8] * z + M[k + 12]
  out[o + 1] = M[k + 1] * x + M[k + 5] * y + M[k + 9] * z + M[k + 13]
  out[o + 2] = M[k + 2] * x + M[k + 6] * y + M[k + 10] * z + M[k + 14]
}

/** A point of a frame in the world. */
export function point(X: Float64Array, at: At): Vec3 {
  const out: Vec3 = [0, 0, 0]
  writePoint(X, at, out)
  return out
}

/** Whether a figure has mass: nothing pulls at the strings of one that has none, they are drawn lines. */
export function hasMass(figure: Figure): boolean {
  return figure.bodies.some((b) => b.mass > 0)
}

/** Centre of mass of a figure in the world; null where nothing has mass. */
export function centreOfMass(figure: Figure, X: Float64Array): Vec3 | null {
  const sum: Vec3 = [0, 0, 0]
  let mass = 0
  for (const body of figure.bodies) {
    const p = point(X, { frame: body.frame, position: body.com })
    for (let i = 0; i < 3; i++) sum[i] += body.mass * p[i]
    mass += body.mass
  }
  return mass > 0 ? [sum[0] / mass, sum[1] / mass, sum[2] / mass] : null
}

/** Diagonal of the box around all frames of a figure at its start [m]: the scale of handles and bones. */
export function extent(figure: Figure): number {
  const X = new Float64Array(16 * figure.frames.length)
  const start = figure.variables.map((v) => v.start)
  new Kinematics(figure).forward(start, X)
  const low = [Infinity, Infinity, Infinity]
  const high = [-Infinity, -Infinity, -Infinity]
  for (let k = 0; k < figure.frames.length; k++) {
    for (let i = 0; i < 3; i++) {
      low[i] = Math.min(low[i], X[16 * k + 12 + i])
      high[i] = Math.max(high[i], X[16 * k + 12 + i])
    }
  }
  const size = Math.hypot(high[0] - low[0], high[1] - low[1], high[2] - low[2])
  return size > 1e-3 && Number.isFinite(size) ? size : 1
}

/** Indices of the variables that are beyond a limit, or within a hundredth of their range from it. */
export function variablesAtLimits(figure: Figure, q: ArrayLike<number>): number[] {
  return figure.variables.flatMap((v, k) => {
    const range = v.lower !== null && v.upper !== null ? v.upper - v.lower : 1
    const near = 0.01 * range
    const low = v.lower !== null && q[k] < v.lower + near
    const high = v.upper !== null && q[k] > v.upper - near
    return range > 0 && (low || high) ? [k] : []
  })
}
