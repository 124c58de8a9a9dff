/** Everything on the stage that belongs to one piece: its figures, their strings, trails and balance, the obstacles. */
import { Box3, type BufferGeometry, Group, Mesh, MeshStandardMaterial, Raycaster, Vector3 } from 'three'
import type { Moment } from '../data/moment'
import { interpolate, laidAt, type Samples, sampleBefore } from '../data/samples'
import { extent } from '../geometry/kinematics'
import type { Piece } from '../messages'
import type { Palette } from '../theme'
import { Actor } from './actor'
import { Balance } from './balance'
import { includeActor, includeMesh, includeSwing, largest } from './bounds'
import { trunk } from './limbs'
import { paint } from './paint'
import { Ropes } from './ropes'
import { type MeshData, Shapes } from './shapes'
import { Trails } from './trails'

export interface Layers {
  ghost: boolean
  trails: boolean
  balance: boolean
  limits: boolean
}

const SCENERY = 2 // how much larger than the figures' way a scene may be that is shown whole
const LIVE_SCENERY = 4 // the same for a live figure, which goes where one wants
const NOSE = 0.12 // sizes of a figure that the eye keeps away from it when it zooms
const MOST_VERTICES = 9000 // of an obstacle that is looked through: finding out takes time
const TIMES = 25 // at which a recorded piece is looked at to find its bounds

export class Cast {
  readonly group = new Group()
  readonly actors: Actor[]
  readonly ropes: Ropes
  private readonly trails: Trails
  private readonly balance: Balance
  private readonly shapes: Shapes
  private readonly obstacles: Mesh<BufferGeometry, MeshStandardMaterial>[]
  private readonly raycaster = new Raycaster()
  private time = 0
  /** What strings of a live figure usually carry [N]. */
  private usualTension = 0

  constructor(
    readonly piece: Piece,
    private readonly samples: Samples | null,
    mesh: MeshData,
    palette: Palette,
  ) {
    this.shapes = new Shapes(mesh)
    this.actors = piece.tracks.map(
      (track, k) => new Actor(piece.figures[track.figure], k, track.ghost, this.shapes, palette),
    )
    this.ropes = new Ropes(this.actors)
    this.trails = new Trails(this.actors)
    this.balance = new Balance(this.actors)
    this.obstacles = piece.scene.obstacles.map((obstacle) => {
      const material = new MeshStandardMaterial({ color: paint(obstacle.color), roughness: 0.8 })
      const mesh = new Mesh(this.shapes.geometry(obstacle.geometry), material)
      mesh.position.set(...obstacle.position)
      const [w, x, y, z] = obstacle.rotation
      mesh.quaternion.set(x, y, z, w)
      mesh.castShadow = mesh.receiveShadow = true
      return mesh
    })
    this.group.add(...this.actors.map((actor) => actor.group), ...this.obstacles)
    this.group.add(this.ropes.lines.object, this.ropes.marks.object, this.ropes.spindles, this.ropes.hooks)
    this.group.add(this.trails.lines.object, this.balance.group)
    this.ropes.scaleTo(usualTension(samples) || 1)
  }

  /** Reads the samples of a recorded piece at a time; `place` puts things there. */
  seek(time: number): void {
    this.time = time
    const { samples } = this
    if (samples === null) return
    for (const actor of this.actors) {
      const track = samples.tracks[actor.track]
      const t = actor.ghost && samples.ghostT !== null ? samples.ghostT : samples.t
      interpolate(track.q, t, time, actor.moment.q, actor.figure)
      const i = sampleBefore(t, time + 1e-9)
      actor.moment.tension = track.tension?.row(i) ?? null
      actor.moment.contact = track.contact?.row(i) ?? null
      actor.moment.laid = track.laid === undefined ? null : laidAt(track.laid, t, time)
    }
  }

  /** Takes over a live sample. */
  setLive(time: number, moments: Moment[]): void {
    this.time = time
    this.actors.forEach((actor, k) => {
      Object.assign(actor.moment, moments[k])
    })
    const largest = Math.max(0, ...moments.flatMap((moment) => [...(moment.tension ?? [])]))
    // The first sample sets the scale; then it follows slowly, so that a jerk does not spoil it.
    const usual = this.usualTension === 0 ? largest : this.usualTension + 0.02 * (largest - this.usualTension)
    this.usualTension = usual
    if (usual > this.ropes.scaleEnd || usual < 0.1 * this.ropes.scaleEnd) this.ropes.scaleTo(1.2 * usual)
  }

  /** Puts the figures where their moments say. */
  place(layers: Layers): void {
    for (const actor of this.actors) {
      actor.group.visible = !actor.ghost || layers.ghost
      actor.update(layers.limits)
    }
  }

  /** Adds the present to the trails of a live piece. */
  remember(): void {
    this.trails.remember(this.time)
  }

  /** What is drawn over and between the figures, once a picture. */
  drawOverlays(layers: Layers, palette: Palette): void {
    const { floor } = this.piece.scene
    this.ropes.update(palette, floor)
    if (!layers.trails) this.trails.clear()
    else if (this.samples !== null) this.trails.drawRecorded(this.samples, this.time, palette)
    else this.trails.drawLive(palette)
    this.balance.group.visible = layers.balance
    this.balance.update(palette, floor)
  }

  /** The boxes that hold everything at all times, and everything at the start. */
  bounds(layers: Layers): { whole: Box3; start: Box3 } {
    const whole = new Box3()
    const start = new Box3()
    const { samples } = this
    const last = samples === null ? 0 : samples.t.length - 1
    for (let k = 0; k < (samples === null ? 1 : TIMES); k++) {
      this.seek(samples === null ? 0 : samples.t[Math.floor((k * last) / (TIMES - 1))])
      this.place(layers)
      for (const actor of this.actors) includeActor(whole, actor)
      if (k === 0) start.copy(whole)
    }
    if (whole.isEmpty()) whole.set(new Vector3(-1, -1, 0), new Vector3(1, 1, 2))
    if (this.piece.live) for (const actor of this.actors) includeSwing(whole, actor)
    this.includeScenery(whole)
    whole.expandByScalar(0.02 * Math.max(...this.actors.map((a) => extent(a.figure)), 0.1))
    return { whole, start }
  }

  /** Whether a point is in the middle of a figure, or would be there after one more turn of a wheel. */
  isNear(point: Vector3): boolean {
    return this.actors.some((actor) => {
      if (actor.ghost || actor.marks) return false
      const box = new Box3()
      for (const mesh of actor.meshes) includeMesh(box, mesh)
      return !box.isEmpty() && box.expandByScalar(NOSE * extent(actor.figure)).containsPoint(point)
    })
  }

  /** Obstacles between the eye and a figure become transparent. */
  seeThrough(eye: Vector3): void {
    const shown = this.actors.filter((actor) => !actor.ghost && !actor.marks && actor.figure.bodies.length > 0)
    const places = shown.map((actor) => actor.origin(trunk(actor.figure)))
    for (const mesh of this.obstacles) {
      if ((mesh.geometry.getAttribute('position')?.count ?? 0) > MOST_VERTICES) continue
      const hides = places.some((place) => this.isBetween(mesh, eye, place))
      if (hides === mesh.material.transparent) continue
      Object.assign(mesh.material, {
        transparent: hides,
        opacity: hides ? 0.2 : 1,
        depthWrite: !hides,
        needsUpdate: true,
      })
    }
  }

  private isBetween(mesh: Mesh, eye: Vector3, place: Vector3): boolean {
    const { ray } = this.raycaster
    this.raycaster.far = 0.98 * eye.distanceTo(place)
    ray.origin.copy(eye)
    ray.direction.copy(place).sub(eye).normalize()
    return this.raycaster.intersectObject(mesh, false).length > 0
  }

  dress(palette: Palette): void {
    for (const actor of this.actors) actor.dress(palette)
  }

  /** Grows a box by the obstacles, unless figures would then be lost among them. */
  private includeScenery(box: Box3): void {
    const all = box.clone()
    for (const mesh of this.obstacles) {
      mesh.updateMatrix()
      if (mesh.geometry.type !== 'PlaneGeometry') includeMesh(all, mesh)
    }
    if (largest(all) <= (this.piece.live ? LIVE_SCENERY : SCENERY) * largest(box)) box.copy(all)
  }

  dispose(): void {
    for (const actor of this.actors) actor.dispose()
    for (const mesh of this.obstacles) mesh.material.dispose()
    this.ropes.dispose()
    this.trails.dispose()
    this.balance.dispose()
    this.shapes.dispose()
  }
}

/** The tension that 98 % of the samples stay below [N]: the jerk of a string that tightens may be off the scale. */
function usualTension(samples: Samples | null): number {
  const sorted = (samples?.tracks ?? []).flatMap((track) => (track.tension ? [track.tension.data.slice().sort()] : []))
  return Math.max(0, ...sorted.map((all) => all[Math.floor(0.98 * (all.length - 1))]))
}
