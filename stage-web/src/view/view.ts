/** The picture: a renderer, lights, the floor, and the actors of one piece. Draws only when something has changed. */
import {
  Box3, Color, DirectionalLight, HemisphereLight, Mesh, MeshStandardMaterial, NeutralToneMapping, PCFShadowMap,
  Scene as World, SRGBColorSpace, Vector3, WebGLRenderer,
} from 'three'
import { point } from '../kinematics'
import type { Piece } from '../model'
import { interpolate, sampleBefore, type Samples } from '../samples'
import type { Theme } from '../theme'
import { Actor, extent } from './actor'
import { Seat } from './camera'
import { Floor } from './floor'
import { Governor } from './governor'
import { Lines } from './lines'
import { Balance, Trails } from './overlays'
import { Ropes } from './ropes'
import { type MeshData, Shapes } from './shapes'

export interface Layers {
  ghost: boolean
  trails: boolean
  balance: boolean
  limits: boolean
}

export class View {
  readonly canvas = document.createElement('canvas')
  readonly seat: Seat
  readonly layers: Layers = { ghost: true, trails: false, balance: false, limits: true }
  actors: Actor[] = []
  ropes: Ropes | null = null
  balance: Balance | null = null
  /** From what hands hold to where they want it. */
  bands: { from: () => Vector3; to: Vector3 }[] = []
  onDraw: () => void = () => undefined
  piece: Piece | null = null
  private samples: Samples | null = null
  private readonly renderer: WebGLRenderer
  private readonly world = new World()
  private readonly floor = new Floor()
  private readonly key = new DirectionalLight('#fff4e2', 2.4)
  private readonly rim = new DirectionalLight('#dfe8ff', 1)
  private readonly sky = new HemisphereLight('#ffffff', '#8a7f72', 1.4)
  private readonly governor: Governor
  private shapes: Shapes | null = null
  private trails: Trails | null = null
  private readonly rubber = new Lines(16, 2.5, { depthTest: false, opacity: 0.85 })
  private obstacles: Mesh[] = []
  private followed: { actor: Actor; frame: number } | null = null
  private time = 0
  private usual = 0
  private stale = true

  constructor(readonly container: HTMLElement, private readonly theme: Theme) {
    container.append(this.canvas)
    this.renderer = new WebGLRenderer({ canvas: this.canvas, antialias: true, alpha: true, powerPreference: 'high-performance' })
    this.renderer.outputColorSpace = SRGBColorSpace
    this.renderer.toneMapping = NeutralToneMapping
    this.renderer.shadowMap.enabled = true
    this.renderer.shadowMap.type = PCFShadowMap
    this.renderer.shadowMap.autoUpdate = false
    this.governor = new Governor(this.renderer, this.key)
    this.key.castShadow = true
    this.key.shadow.bias = -0.0004
    this.key.shadow.normalBias = 0.01
    this.key.shadow.radius = 3
    this.world.add(this.floor.group, this.key, this.key.target, this.rim, this.sky, this.rubber.object)
    this.rubber.object.renderOrder = 6
    this.seat = new Seat(this.canvas, () => this.invalidate())
    this.dress()
    theme.onChange(() => this.dress())
    new ResizeObserver(() => this.resize()).observe(container)
  }

  // -- what is shown ---------------------------------------------------------------------------------------------

  set(piece: Piece, samples: Samples | null, mesh: MeshData): void {
    this.clear()
    this.piece = piece
    this.samples = samples
    this.shapes = new Shapes(mesh)
    this.actors = piece.tracks.map((track, k) => new Actor(piece.figures[track.figure], k, track.ghost, this.shapes!))
    for (const actor of this.actors) {
      actor.dress(this.theme.palette)
      this.world.add(actor.group)
    }
    this.ropes = new Ropes(this.actors)
    this.trails = new Trails(this.actors)
    this.balance = new Balance(this.actors)
    this.world.add(this.ropes.lines.object, this.ropes.spindles, this.ropes.hooks, this.trails.lines.object, this.balance.group)
    this.addObstacles(piece)
    this.show(samples === null ? 0 : samples.t[0])
    this.stretchScale()
    this.fit()
  }

  private clear(): void {
    this.followed = null
    this.bands = []
    this.usual = 0
    this.seat.follow(null)
    for (const actor of this.actors) {
      this.world.remove(actor.group)
      actor.dispose()
    }
    for (const thing of [this.ropes?.lines.object, this.ropes?.spindles, this.ropes?.hooks, this.trails?.lines.object, this.balance?.group]) {
      if (thing) this.world.remove(thing)
    }
    this.obstacles.forEach((mesh) => (this.world.remove(mesh), (mesh.material as MeshStandardMaterial).dispose()))
    this.obstacles = []
    this.ropes?.dispose()
    this.trails?.dispose()
    this.balance?.dispose()
    this.shapes?.dispose()
  }

  private addObstacles(piece: Piece): void {
    for (const o of piece.scene.obstacles) {
      const color = new Color(...o.color)
      const mesh = new Mesh(this.shapes!.geometry(o.geometry), new MeshStandardMaterial({ color, roughness: 0.8 }))
      mesh.position.set(...o.position)
      const [w, x, y, z] = o.rotation
      mesh.quaternion.set(x, y, z, w)
      mesh.castShadow = mesh.receiveShadow = true
      this.obstacles.push(mesh)
      this.world.add(mesh)
    }
  }

  /** Everything at a time of a recorded piece. */
  show(time: number): void {
    this.time = time
    const { samples } = this
    if (samples !== null) {
      for (const actor of this.actors) {
        const track = samples.tracks[actor.track]
        const t = actor.ghost && samples.ghostT !== null ? samples.ghostT : samples.t
        interpolate(track.q, t, time, actor.moment.q, actor.figure)
        const i = sampleBefore(t, time + 1e-9)
        const row = (c: { data: Float32Array; columns: number } | undefined) =>
          c === undefined ? null : c.data.subarray(i * c.columns, (i + 1) * c.columns)
        actor.moment.tension = row(track.tension)
        actor.moment.contact = row(track.contact)
      }
    }
    this.moved()
  }

  /** After `moment` of the actors has been written: a live sample. */
  showLive(time: number): void {
    this.time = time
    let most = 0
    for (const actor of this.actors) for (const n of actor.moment.tension ?? []) most = Math.max(most, n)
    // What is carried at first, and from then on slowly, so that a jerk does not spoil the scale.
    this.usual = this.usual === 0 ? most : this.usual + 0.02 * (most - this.usual)
    if (this.ropes && (this.usual > this.ropes.most || this.usual < 0.1 * this.ropes.most)) this.ropes.scale(1.2 * this.usual)
    this.moved()
    this.trails?.remember(time)
  }

  private moved(): void {
    for (const actor of this.actors) {
      actor.group.visible = !actor.ghost || this.layers.ghost
      actor.update(this.layers.limits)
    }
    if (this.followed !== null) this.seat.follow(this.place(this.followed.actor, this.followed.frame))
    if (this.governor.shadowsNow()) this.renderer.shadowMap.needsUpdate = true
    this.invalidate()
  }

  /** The same moment, drawn in full. */
  refresh(): void {
    this.moved()
    this.renderer.shadowMap.needsUpdate = true
  }

  private overlays(): void {
    const { palette } = this.theme
    const floor = this.piece?.scene.floor ?? null
    this.ropes?.update(palette, floor)
    if (this.layers.trails && this.samples !== null) this.trails?.drawRecorded(this.samples, this.time, palette)
    else if (this.layers.trails) this.trails?.drawLive(palette)
    else this.trails?.clear()
    this.rubber.begin()
    const color = new Color(palette.ghost)
    for (const { from, to } of this.bands) this.rubber.segment([...from().toArray(), ...to.toArray()], 0, 3, color)
    this.rubber.end()
    if (this.balance) {
      this.balance.group.visible = this.layers.balance
      this.balance.update(palette, floor)
    }
  }

  private stretchScale(): void {
    // The jerk of a string that catches is many times what it carries: it may be off the scale.
    const all = (this.samples?.tracks ?? []).flatMap((track) => (track.tension ? [track.tension.data.slice().sort()] : []))
    const usual = Math.max(0, ...all.map((sorted) => sorted[Math.floor(0.98 * (sorted.length - 1))]))
    this.ropes!.scale(usual > 0 ? usual : 1)
  }

  // -- eye -------------------------------------------------------------------------------------------------------

  place(actor: Actor, frame: number): Vector3 {
    return new Vector3().fromArray(point(actor.X, { frame, position: [0, 0, 0] }) as number[])
  }

  follow(actor: Actor | null, frame = 0): void {
    this.seat.follow(null)
    this.followed = actor === null ? null : { actor, frame }
    if (actor !== null) this.seat.follow(this.place(actor, frame))
  }

  /** The box that holds everything at all times, and the lights that reach it. */
  private fit(): void {
    const box = new Box3()
    const times = this.samples === null ? [0] : Array.from({ length: 25 }, (_, i) => this.samples!.t[Math.floor((i * (this.samples!.t.length - 1)) / 24)])
    let start = new Box3()
    for (const time of times) {
      this.show(time)
      if (time === times[1]) start = box.clone()
      for (const actor of this.actors) {
        for (const mesh of actor.meshes) {
          mesh.geometry.computeBoundingBox()
          if (mesh.geometry.boundingBox && !mesh.geometry.boundingBox.isEmpty()) {
            box.union(mesh.geometry.boundingBox.clone().applyMatrix4(mesh.matrix))
          }
        }
        for (const rope of actor.figure.ropes) {
          for (const at of rope.path) box.expandByPoint(new Vector3().fromArray(point(actor.X, at) as number[]))
        }
      }
    }
    if (box.isEmpty()) box.set(new Vector3(-1, -1, 0), new Vector3(1, 1, 2))
    const margin = 0.02 * Math.max(...this.actors.map((a) => extent(a.figure)), 0.1)
    box.expandByScalar(margin)
    const floor = this.piece!.scene.floor
    if (floor !== null && box.min.z - floor < 0.6 * box.getSize(new Vector3()).z) box.min.z = Math.min(box.min.z, floor)
    this.seat.frame(box, this.piece!.front ?? this.widest(start))
    this.light(box)
    this.show(this.samples === null ? 0 : this.samples.t[0])
  }

  /** The direction across which a figure is narrower: from there one sees most of it. */
  private widest(box: Box3): [number, number] {
    const size = box.getSize(new Vector3())
    return size.y < 0.999 * size.x ? [0, 1] : [1, 0]
  }

  private light(box: Box3): void {
    const centre = box.getCenter(new Vector3())
    const size = Math.max(box.getSize(new Vector3()).length(), 0.2)
    this.floor.group.visible = this.piece!.scene.floor !== null
    this.floor.fit(this.piece!.scene.floor ?? box.min.z, [centre.x, centre.y], size)
    this.key.target.position.copy(centre)
    const from = (x: number, y: number, z: number) => this.seat.turned(new Vector3(x, y, z)).multiplyScalar(size).add(centre)
    this.key.position.copy(from(0.75, -0.5, 1.4))
    this.rim.position.copy(from(-1, 0.9, 0.7))
    const { camera } = this.key.shadow
    camera.left = camera.bottom = -0.75 * size
    camera.right = camera.top = 0.75 * size
    camera.near = 0.1 * size
    camera.far = 4 * size
    camera.updateProjectionMatrix()
    this.key.shadow.normalBias = 0.004 * size
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  private dress(): void {
    const { palette } = this.theme
    this.floor.dress(palette)
    this.key.intensity = palette.key
    this.sky.intensity = palette.sky
    this.rim.intensity = palette.rim
    this.actors.forEach((actor) => actor.dress(palette))
    this.moved()
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.container
    if (clientWidth === 0 || clientHeight === 0) return
    this.renderer.setSize(clientWidth, clientHeight, false)
    this.seat.resize(clientWidth, clientHeight)
    this.invalidate()
  }

  invalidate(): void {
    this.stale = true
  }

  /** Draws if anything has changed; true if so. */
  draw(): boolean {
    if (!this.stale || this.canvas.clientWidth === 0) return false
    this.stale = false
    this.overlays()
    this.renderer.render(this.world, this.seat.camera)
    this.onDraw()
    return true
  }

  /** Says how long pictures take, so that a slow machine gets simpler ones. */
  paced(milliseconds: number): void {
    if (this.governor.heard(milliseconds)) this.resize()
  }

  fixQuality(level: number): void {
    this.governor.fix(level)
    this.renderer.shadowMap.needsUpdate = true
    this.resize()
  }

  get quality(): number {
    return this.governor.level
  }
}
