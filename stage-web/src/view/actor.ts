/** One track on the stage: the shapes of a figure, where its variables put them. */
import { type Color, Group, Matrix4, Mesh, MeshStandardMaterial, Vector3 } from 'three'
import type { Moment } from '../data/moment'
import { compose, hasMass, Kinematics, multiply, point, variablesAtLimits } from '../geometry/kinematics'
import type { At, Figure, Shape } from '../messages'
import type { Palette } from '../theme'
import { bones } from './bones'
import { paint } from './paint'
import type { Shapes } from './shapes'

const MARKS = 4 // drawn after what they are seen through

/** A mesh and the frame that carries it. */
interface Part {
  mesh: Mesh
  frame: number
  /** X_FS: the shape in its frame. */
  local: Float64Array
  color: Color
  /** Variables of the joint that the part hangs on: it lights up when one of them is at a limit. */
  variables: number[]
}

/** What the mesh of an actor remembers for whoever picks it. */
export interface PartData {
  actor: Actor
  frame: number
  /** Name of the shape, empty if it has none. */
  shape: string
}

export class Actor {
  readonly group = new Group()
  /** X_WF of every frame, 16 numbers each, column-major. */
  readonly X: Float64Array
  readonly kinematics: Kinematics
  readonly moment: Moment
  /** Variables at or beyond a limit. */
  atLimits: number[] = []
  /** A figure without mass that somebody places is a mark: seen through everything. */
  readonly marks: boolean
  private readonly parts: Part[] = []
  private readonly world = new Float64Array(16)
  /** Materials by colour and warning, shared between parts. */
  private readonly materials = new Map<string, MeshStandardMaterial>()

  constructor(
    readonly figure: Figure,
    readonly track: number,
    readonly ghost: boolean,
    shapes: Shapes,
    private palette: Palette,
  ) {
    this.kinematics = new Kinematics(figure)
    this.marks = !hasMass(figure) && figure.variables.length > 0 && figure.variables.every((v) => v.kinematic)
    this.X = new Float64Array(16 * figure.frames.length)
    this.moment = {
      q: Float32Array.from(figure.variables, (v) => v.start),
      tension: null,
      contact: null,
      atLimit: null,
      laid: null,
    }
    const visible = figure.shapes.length > 0 ? figure.shapes : bones(figure)
    for (const shape of visible) this.add(shape, shapes)
  }

  private add(shape: Shape, shapes: Shapes): void {
    const local = new Float64Array(16)
    compose(shape.position, shape.rotation, local)
    const color = paint(shape.color)
    const mesh = new Mesh(shapes.geometry(shape.geometry), this.material(color, false))
    mesh.matrixAutoUpdate = false
    mesh.frustumCulled = false // bounds are not kept up to date, and everything is usually in view
    mesh.castShadow = mesh.receiveShadow = !this.ghost && !this.marks
    mesh.userData = { actor: this, frame: shape.frame, shape: shape.name } satisfies PartData
    if (this.marks) mesh.renderOrder = MARKS
    this.parts.push({ mesh, frame: shape.frame, local, color, variables: this.jointVariables(shape.frame) })
    this.group.add(mesh)
  }

  /** Variables from a frame up to the next frame that carries a shape. */
  private jointVariables(frame: number): number[] {
    const { frames, shapes } = this.figure
    const out: number[] = []
    for (let k = frame; k >= 0; k = frames[k].parent) {
      const { q, parent } = frames[k]
      if (q !== undefined) out.push(q)
      if (shapes.some((s) => s.frame === parent)) break
    }
    return out
  }

  dress(palette: Palette): void {
    this.palette = palette
    this.dispose()
    this.materials.clear()
    for (const part of this.parts) part.mesh.material = this.material(part.color, false)
  }

  private material(color: Color, warned: boolean): MeshStandardMaterial {
    const key = `${color.getHexString()} ${warned}`
    let out = this.materials.get(key)
    if (out === undefined) {
      out = new MeshStandardMaterial({ color, roughness: 0.62, metalness: 0.02 })
      if (this.ghost) {
        out.color.set(this.palette.ghost)
        // Where ghost and figure coincide, the figure shows.
        Object.assign(out, { polygonOffset: true, polygonOffsetFactor: 2, polygonOffsetUnits: 2 })
        Object.assign(out, { transparent: true, opacity: 0.34, depthWrite: false })
      }
      if (this.marks) Object.assign(out, { depthTest: false, transparent: true })
      if (warned) out.emissive.set(this.palette.warning).multiplyScalar(0.4)
      this.materials.set(key, out)
    }
    return out
  }

  /** Puts everything where `moment.q` says. */
  update(warn: boolean): void {
    this.kinematics.forward(this.moment.q, this.X)
    this.atLimits = this.ghost ? [] : variablesAtLimits(this.figure, this.moment.q)
    for (const part of this.parts) {
      if (part.frame < 0) this.world.set(part.local)
      else multiply(this.X, 16 * part.frame, part.local, 0, this.world, 0)
      part.mesh.matrix.fromArray(this.world)
      part.mesh.matrixWorldNeedsUpdate = true
      const warned = warn && part.variables.some((k) => this.atLimits.includes(k))
      part.mesh.material = this.material(part.color, warned)
    }
  }

  /** A point of a frame in the world. */
  point(at: At): Vector3 {
    return new Vector3(...point(this.X, at))
  }

  /** The origin of a frame in the world. */
  origin(frame: number): Vector3 {
    return this.point({ frame, position: [0, 0, 0] })
  }

  /** X_WF of one frame; the identity for the world, −1. */
  matrix(frame: number): Matrix4 {
    return frame < 0 ? new Matrix4() : new Matrix4().fromArray(this.X, 16 * frame)
  }

  get meshes(): Mesh[] {
    return this.parts.map((part) => part.mesh)
  }

  dispose(): void {
    for (const material of this.materials.values()) material.dispose()
  }
}
