/** Forward kinematics of a figure: the same recursion as the library's, in column-major 4×4 matrices. */
import type { At, Figure, Quat, Vec3 } from './model'

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

/** out = a b, of rigid motions; none may be the same array at the same place. */
export function multiply(a: ArrayLike<number>, i: number, b: ArrayLike<number>, j: number, out: Float64Array, k: number): void {
  for (let c = 0; c < 4; c++) {
    const x = b[j + 4 * c], y = b[j + 4 * c + 1], z = b[j + 4 * c + 2], w = c === 3 ? 1 : 0
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
    figure.frames.forEach((frame, k) => compose(frame.position, frame.rotation, this.constant, 16 * k))
  }

  /** X_WF of every frame, one after the other. */
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
      this.motion(frame.motion, frame.axis!, frame.pitch!, q[frame.q!])
      multiply(this.constant, 16 * k, this.moved, 0, this.local, 0)
      multiply(parent, from, this.local, 0, out, 16 * k)
    }
  }

  private motion(kind: string, axis: Vec3, pitch: number, value: number): void {
    const [x, y, z] = axis
    const turn = kind === 'translate' ? 0 : value / 2
    const slide = kind === 'translate' ? value : kind === 'screw' ? pitch * value : 0
    const s = Math.sin(turn)
    compose([slide * x, slide * y, slide * z], [Math.cos(turn), s * x, s * y, s * z], this.moved)
  }
}

/** A point of a frame in the world. */
export function point(X: Float64Array, at: At, out: Float64Array | number[] = [0, 0, 0], o = 0): Float64Array | number[] {
  const [x, y, z] = at.position
  const M = at.frame < 0 ? IDENTITY : X
  const k = at.frame < 0 ? 0 : 16 * at.frame
  out[o] = M[k] * x + M[k + 4] * y + M[k + 8] * z + M[k + 12]
  out[o + 1] = M[k + 1] * x + M[k + 5] * y + M[k + 9] * z + M[k + 13]
  out[o + 2] = M[k + 2] * x + M[k + 6] * y + M[k + 10] * z + M[k + 14]
  return out
}

/** Centre of mass of a figure in the world; null where nothing has mass. */
export function centreOfMass(figure: Figure, X: Float64Array): [number, number, number] | null {
  const sum: [number, number, number] = [0, 0, 0]
  const p = [0, 0, 0]
  let mass = 0
  for (const body of figure.bodies) {
    point(X, { frame: body.frame, position: body.com }, p)
    for (let i = 0; i < 3; i++) sum[i] += body.mass * p[i]
    mass += body.mass
  }
  return mass > 0 ? [sum[0] / mass, sum[1] / mass, sum[2] / mass] : null
}
