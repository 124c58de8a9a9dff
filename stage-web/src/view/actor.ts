/** One track on the stage: a figure's shapes, where its variables put them. */
import { Color, Group, Matrix4, Mesh, MeshStandardMaterial } from 'three'
import { compose, Kinematics, multiply } from '../kinematics'
import type { Figure, Geometry, Shape, Vec3 } from '../model'
import type { Palette } from '../theme'
import type { Shapes } from './shapes'

export interface Moment {
  q: Float32Array
  tension: Float32Array | null
  contact: Float32Array | null
  atLimit: Uint8Array | null
}

interface Part {
  mesh: Mesh
  frame: number
  local: Float64Array
  color: Color
  variables: number[]
}

export class Actor {
  readonly group = new Group()
  readonly X: Float64Array
  readonly kinematics: Kinematics
  readonly moment: Moment
  /** Variables at or beyond a limit. */
  atLimits: number[] = []
  private readonly parts: Part[] = []
  private readonly world = new Float64Array(16)
  private readonly plain = new Map<string, MeshStandardMaterial>()
  private palette: Palette | null = null

  constructor(readonly figure: Figure, readonly track: number, readonly ghost: boolean, shapes: Shapes) {
    this.kinematics = new Kinematics(figure)
    this.X = new Float64Array(16 * figure.frames.length)
    this.moment = {
      q: Float32Array.from(figure.variables, (v) => v.start), tension: null, contact: null, atLimit: null,
    }
    const visible = figure.shapes.length > 0 ? figure.shapes : bones(figure)
    for (const shape of visible) this.add(shape, shapes)
  }

  private add(shape: Shape, shapes: Shapes): void {
    const local = new Float64Array(16)
    compose(shape.position, shape.rotation, local)
    const mesh = new Mesh(shapes.geometry(shape.geometry))
    mesh.matrixAutoUpdate = false
    mesh.frustumCulled = false // bounds are not kept up to date, and everything is usually in view
    mesh.castShadow = !this.ghost
    mesh.receiveShadow = !this.ghost
    mesh.userData = { actor: this, frame: shape.frame, name: shape.name }
    const part = { mesh, frame: shape.frame, local, color: new Color(...shape.color), variables: this.movers(shape.frame) }
    this.parts.push(part)
    this.group.add(mesh)
  }

  /** Variables of the joint that a frame hangs on: from it up to the next frame with something attached. */
  private movers(frame: number): number[] {
    const out: number[] = []
    for (let k = frame; k >= 0; k = this.figure.frames[k].parent) {
      const { q } = this.figure.frames[k]
      if (q !== undefined) out.push(q)
      const parent = this.figure.frames[k].parent
      if (this.figure.shapes.some((s) => s.frame === parent)) break
    }
    return out
  }

  dress(palette: Palette): void {
    this.palette = palette
    this.plain.forEach((material) => material.dispose())
    this.plain.clear()
    for (const part of this.parts) part.mesh.material = this.material(part.color, false)
  }

  private material(color: Color, warned: boolean): MeshStandardMaterial {
    const key = `${color.getHexString()} ${warned}`
    let out = this.plain.get(key)
    if (out === undefined) {
      const palette = this.palette!
      out = new MeshStandardMaterial({ color, roughness: 0.62, metalness: 0.02 })
      if (this.ghost) {
        out.color.set(palette.ghost)
        // Where ghost and figure coincide, the figure shows.
        Object.assign(out, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 })
        Object.assign(out, { transparent: true, opacity: 0.34, depthWrite: false })
      }
      if (warned) out.emissive.set(palette.warning).multiplyScalar(0.4)
      this.plain.set(key, out)
    }
    return out
  }

  /** Puts everything where `moment.q` says. */
  update(warn: boolean): void {
    this.kinematics.forward(this.moment.q, this.X)
    this.atLimits = this.ghost ? [] : limits(this.figure, this.moment.q)
    for (const part of this.parts) {
      if (part.frame < 0) this.world.set(part.local)
      else multiply(this.X, 16 * part.frame, part.local, 0, this.world, 0)
      part.mesh.matrix.fromArray(this.world)
      part.mesh.matrixWorldNeedsUpdate = true
      const warned = warn && part.variables.some((k) => this.atLimits.includes(k))
      part.mesh.material = this.material(part.color, warned)
    }
  }

  get meshes(): Mesh[] {
    return this.parts.map((part) => part.mesh)
  }

  dispose(): void {
    this.plain.forEach((material) => material.dispose())
  }
}

/** Variables of the puppet that are within a hundredth of their range from a limit, or beyond it. */
function limits(figure: Figure, q: Float32Array): number[] {
  const out: number[] = []
  figure.variables.forEach((v, k) => {
    const range = v.lower !== null && v.upper !== null ? v.upper - v.lower : 1
    const near = 0.01 * range
    if (range > 0 && ((v.lower !== null && q[k] < v.lower + near) || (v.upper !== null && q[k] > v.upper - near))) out.push(k)
  })
  return out
}

/** What stands for a figure that has no shapes: a bone to each child, a ball for each mass. */
function bones(figure: Figure): Shape[] {
  const size = extent(figure)
  const color: Vec3 = [0.72, 0.53, 0.34]
  const out: Shape[] = []
  const add = (frame: number, name: string, position: Vec3, geometry: Geometry, rotation: Shape['rotation'] = [1, 0, 0, 0]) =>
    out.push({ frame, name, position, rotation, color, geometry })
  for (const frame of figure.frames) {
    const [x, y, z] = frame.position
    const length = Math.hypot(x, y, z)
    if (frame.parent < 0 || length < 1e-6) continue
    // The rotation that takes z onto the offset, halfway between the two directions.
    const w = 1 + z / length
    const rotation: Shape['rotation'] = w < 1e-6 ? [0, 1, 0, 0] : normal([w, -y / length, x / length, 0])
    add(frame.parent, frame.name, [x / 2, y / 2, z / 2], { kind: 'capsule', radius: 0.012 * size, length }, rotation)
  }
  for (const body of figure.bodies) {
    add(body.frame, body.name, body.com, { kind: 'sphere', radius: 0.03 * size })
  }
  return out
}

function normal(q: [number, number, number, number]): [number, number, number, number] {
  const size = Math.hypot(...q)
  return [q[0] / size, q[1] / size, q[2] / size, q[3] / size]
}

/** Size of a figure at its start, for handles and bones [m]. */
export function extent(figure: Figure): number {
  const X = new Float64Array(16 * figure.frames.length)
  new Kinematics(figure).forward(figure.variables.map((v) => v.start), X)
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

export function matrixOf(X: Float64Array, frame: number, out = new Matrix4()): Matrix4 {
  return frame < 0 ? out.identity() : out.fromArray(X, 16 * frame)
}
