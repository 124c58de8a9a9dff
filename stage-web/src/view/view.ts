/** The picture: renderer, camera, lights, floor, and the cast of one piece. Draws only when something has changed. */
import {
  type Box3,
  Color,
  NeutralToneMapping,
  PCFShadowMap,
  SRGBColorSpace,
  Vector3,
  WebGLRenderer,
  Scene as World,
} from 'three'
import type { Moment } from '../data/moment'
import type { Samples } from '../data/samples'
import type { ExportWish, Piece } from '../messages'
import type { Theme } from '../theme'
import type { Actor } from './actor'
import { widestFront } from './bounds'
import { Cast, type Layers } from './cast'
import { Floor } from './floor'
import { Governor } from './governor'
import { Lights } from './lights'
import { Lines } from './lines'
import type { Ropes } from './ropes'
import { Seat } from './seat'
import type { MeshData } from './shapes'

/** A rubber band from what a hand holds to where the hand is. */
export interface Band {
  from: () => Vector3
  to: Vector3
}

const PIN_SIZE = 0.008 // of a pin's arms, in distances from the eye

export class View {
  readonly canvas = document.createElement('canvas')
  readonly seat: Seat
  readonly layers: Layers = { ghost: true, trails: false, balance: false, limits: true }
  bands: Band[] = []
  pins: (() => Vector3)[] = []
  /** Whether pictures are drawn; everything else goes on without them. */
  pictures = true
  onDraw: () => void = () => undefined
  private cast: Cast | null = null
  private readonly renderer: WebGLRenderer
  private readonly world = new World()
  private readonly floor = new Floor()
  private readonly lights = new Lights()
  private readonly bandLines = new Lines(16, 2.5, { depthTest: false, opacity: 0.85 })
  private readonly pinLines = new Lines(64, 3.5, { depthTest: false, opacity: 1 })
  private readonly governor: Governor
  private followed: { actor: Actor; frame: number } | null = null
  private stale = true
  private time = 0
  /** Configurations shown instead of those of the samples, by track. */
  private readonly posed = new Map<number, number[]>()

  constructor(
    private readonly container: HTMLElement,
    private readonly theme: Theme,
  ) {
    this.canvas.tabIndex = 0
    this.canvas.setAttribute('role', 'img')
    this.canvas.setAttribute('aria-label', 'The stage')
    container.append(this.canvas)
    this.renderer = new WebGLRenderer({
      canvas: this.canvas,
      antialias: true,
      alpha: true,
      powerPreference: 'high-performance',
    })
    this.renderer.outputColorSpace = SRGBColorSpace
    this.renderer.toneMapping = NeutralToneMapping
    this.renderer.shadowMap.enabled = true
    this.renderer.shadowMap.type = PCFShadowMap
    this.renderer.shadowMap.autoUpdate = false
    this.bandLines.object.renderOrder = this.pinLines.object.renderOrder = 6
    this.world.add(this.floor.group, ...this.lights.objects, this.bandLines.object, this.pinLines.object)
    this.seat = new Seat(this.canvas, () => this.invalidate())
    this.governor = new Governor(({ pixelRatio, shadowSize }) => {
      this.renderer.setPixelRatio(Math.min(devicePixelRatio, pixelRatio))
      this.lights.setShadowSize(shadowSize)
      this.resize()
    })
    this.dress()
    theme.onChange(() => this.dress())
    new ResizeObserver(() => this.resize()).observe(container)
  }

  get actors(): Actor[] {
    return this.cast?.actors ?? []
  }

  get ropes(): Ropes | null {
    return this.cast?.ropes ?? null
  }

  /** Where the camera is, for a film from there; null while it follows a figure. */
  get shot(): ExportWish | null {
    const { camera, controls } = this.seat
    if (this.followed !== null) return null
    return { eye: camera.position.toArray(), target: controls.target.toArray(), field: (camera.fov * Math.PI) / 180 }
  }

  // -- what is shown ---------------------------------------------------------------------------------------------

  set(piece: Piece, samples: Samples | null, mesh: MeshData): void {
    this.fit(this.cover(new Cast(piece, samples, mesh, this.theme.palette)))
    this.show(samples === null ? 0 : samples.t[0])
    this.refresh()
  }

  /** The same piece after an edit: the camera stays where it is. */
  reset(piece: Piece, samples: Samples, mesh: MeshData): void {
    this.cover(new Cast(piece, samples, mesh, this.theme.palette))
    this.show(this.time)
    this.refresh()
  }

  private cover(cast: Cast): Cast {
    this.clear()
    this.cast = cast
    this.world.add(cast.group)
    return cast
  }

  /** The configuration in which a track is shown. */
  shown(track: number): number[] {
    return [...(this.actors[track]?.moment.q ?? [])]
  }

  /** Shows a track of a recorded piece in another configuration than its own, until null takes that back. */
  pose(track: number, q: number[] | null): void {
    if (q === null && !this.posed.has(track)) return
    if (q === null) this.posed.delete(track)
    else this.posed.set(track, q)
    this.show(this.time)
    this.refresh()
  }

  private clear(): void {
    this.followed = null
    this.posed.clear()
    this.bands = []
    this.pins = []
    this.seat.follow(null)
    if (this.cast === null) return
    this.world.remove(this.cast.group)
    this.cast.dispose()
    this.cast = null
  }

  /** An empty stage, while the next piece is prepared. */
  empty(): void {
    this.clear()
    this.invalidate()
  }

  atNose(): boolean {
    return this.cast?.isNear(this.seat.camera.position) ?? false
  }

  /** Everything at a time of a recorded piece. */
  show(time: number): void {
    this.time = time
    this.cast?.seek(time)
    for (const [track, q] of this.posed) {
      const { moment } = this.actors[track]
      moment.q.set(q)
      moment.tension = null
      moment.laid = null
    }
    this.moved()
  }

  /** A sample of a live piece, one moment for each actor. */
  showLive(time: number, moments: Moment[]): void {
    this.cast?.setLive(time, moments)
    this.moved()
    if (time === 0) this.refresh() // it was reset, maybe while it is paused: no later sample would renew the shadows
    this.cast?.remember()
  }

  private moved(): void {
    this.cast?.place(this.layers)
    if (this.followed !== null) this.seat.follow(this.followed.actor.origin(this.followed.frame))
    if (this.governor.shadowsDue()) this.renderer.shadowMap.needsUpdate = true
    this.invalidate()
  }

  /** The same moment again, with its shadows. */
  refresh(): void {
    this.moved()
    this.renderer.shadowMap.needsUpdate = true
  }

  private dress(): void {
    const { palette } = this.theme
    this.floor.dress(palette)
    this.lights.dress(palette)
    this.cast?.dress(palette)
    this.moved()
  }

  // -- the camera ------------------------------------------------------------------------------------------------

  follow(actor: Actor | null, frame = 0): void {
    this.seat.follow(null)
    this.followed = actor === null ? null : { actor, frame }
    if (actor !== null) this.seat.follow(actor.origin(frame))
  }

  /** Brings the whole piece into view, and floor and lights to it. */
  private fit(cast: Cast): void {
    const { whole, start } = cast.bounds(this.layers)
    const { floor } = cast.piece.scene
    // A floor far below is left out: figures would be small.
    const height = whole.getSize(new Vector3()).z
    if (floor !== null && whole.min.z - floor < 0.6 * height) whole.min.z = Math.min(whole.min.z, floor)
    // A live figure may turn anywhere; most face +x at the start.
    this.seat.frame(whole, cast.piece.front ?? (cast.piece.live ? [1, 0] : widestFront(start)))
    this.light(whole, floor)
  }

  private light(box: Box3, floor: number | null): void {
    const centre = box.getCenter(new Vector3())
    const size = Math.max(box.getSize(new Vector3()).length(), 0.2)
    this.floor.group.visible = floor !== null
    this.floor.fit(floor ?? box.min.z, [centre.x, centre.y], size)
    this.lights.aim(centre, size, (direction) => this.seat.turned(direction))
  }

  private resize(): void {
    const { clientWidth, clientHeight } = this.container
    if (clientWidth === 0 || clientHeight === 0) return
    this.renderer.setSize(clientWidth, clientHeight, false)
    this.seat.resize(clientWidth, clientHeight)
    this.invalidate()
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  invalidate(): void {
    this.stale = true
  }

  /** Draws if anything has changed; true if so. */
  draw(): boolean {
    if (!this.stale || this.canvas.clientWidth === 0) return false
    this.stale = false
    this.cast?.drawOverlays(this.layers, this.theme.palette)
    this.cast?.seeThrough(this.seat.camera.position)
    this.drawBands()
    this.drawPins()
    if (this.pictures) this.renderer.render(this.world, this.seat.camera)
    else this.world.updateMatrixWorld()
    this.onDraw()
    return true
  }

  private drawBands(): void {
    const color = new Color(this.theme.palette.ghost)
    this.bandLines.begin()
    for (const { from, to } of this.bands) this.bandLines.segment([...from().toArray(), ...to.toArray()], 0, 3, color)
    this.bandLines.end()
  }

  /** A cross over everything where a pin is. */
  private drawPins(): void {
    const color = new Color(this.theme.palette.warning)
    const { camera } = this.seat
    this.pinLines.begin()
    for (const pin of this.pins) {
      const at = pin()
      const arm = PIN_SIZE * at.distanceTo(camera.position)
      for (const side of [1, -1]) {
        const way = new Vector3(arm, side * arm, 0).applyQuaternion(camera.quaternion)
        this.pinLines.segment([...at.clone().sub(way).toArray(), ...at.clone().add(way).toArray()], 0, 3, color)
      }
    }
    this.pinLines.end()
  }

  /** Takes the time between two pictures [ms], so that a slow machine gets simpler ones. */
  paced(milliseconds: number): void {
    this.governor.paced(milliseconds)
  }

  /** Sets the level of quality for good: 0 is the best. */
  fixQuality(level: number): void {
    this.governor.fix(level)
    this.renderer.shadowMap.needsUpdate = true
  }

  get quality(): number {
    return this.governor.level
  }
}
