/** Trails, centre of mass and support polygon. */
import {
  BufferGeometry, CanvasTexture, Color, DoubleSide, Float32BufferAttribute, Group, Mesh, MeshBasicMaterial, Sprite,
  SpriteMaterial,
} from 'three'
import { centreOfMass, point } from '../kinematics'
import type { At, Vec3 } from '../model'
import { interpolate, sampleBefore, type Samples } from '../samples'
import type { Palette } from '../theme'
import type { Actor } from './actor'
import { Lines } from './lines'

const TRAIL = 1.6 // s
const DOTS = 80
const MOST_TRAILS = 8

/** What of a frame leaves a trail: the shape that is farthest out. */
function tip(actor: Actor, frame: number): At {
  const far = (p: Vec3) => Math.hypot(...p)
  const places = actor.figure.shapes.filter((s) => s.frame === frame).map((s) => s.position)
  return { frame, position: places.sort((a, b) => far(b) - far(a))[0] ?? [0, 0, 0] }
}

/** Frames whose ways are worth drawing: the ends of limbs. */
export function extremities(actor: Actor): number[] {
  const { figure } = actor
  const carrying = new Set(figure.shapes.map((s) => s.frame))
  const inner = new Set<number>()
  for (const frame of carrying) {
    for (let k = frame < 0 ? -1 : figure.frames[frame].parent; k >= 0; k = figure.frames[k].parent) inner.add(k)
  }
  const out = [...carrying].filter((k) => k >= 0 && !inner.has(k) && moves(actor, k))
  return out.length > 0 ? out.slice(0, MOST_TRAILS) : figure.bodies.slice(-1).map((b) => b.frame)
}

function moves(actor: Actor, frame: number): boolean {
  const { frames, variables } = actor.figure
  for (let k = frame; k >= 0; k = frames[k].parent) {
    if (frames[k].q !== undefined && !variables[frames[k].q!].kinematic) return true
  }
  return actor.figure.variables.every((v) => v.kinematic)
}

/** The way that some frames have gone during the last seconds. */
export class Trails {
  readonly lines = new Lines(24 * (DOTS + 2), 2.2)
  private live: { t: number; points: Float64Array }[] = []
  private readonly targets: { actor: Actor; at: At }[] = []

  constructor(actors: Actor[]) {
    for (const actor of actors.filter((a) => !a.ghost)) {
      for (const frame of extremities(actor)) if (this.targets.length < 24) this.targets.push({ actor, at: tip(actor, frame) })
    }
  }

  private places(): Float64Array {
    const points = new Float64Array(3 * this.targets.length)
    this.targets.forEach(({ actor, at }, k) => point(actor.X, at, points, 3 * k))
    return points
  }

  /** Remembers where things are, for live figures. */
  remember(t: number): void {
    const last = this.live[this.live.length - 1]
    if (last !== undefined && t < last.t) this.live = []
    if (last === undefined || t > last.t + TRAIL / DOTS) this.live.push({ t, points: this.places() })
    while (this.live.length > DOTS) this.live.shift()
  }

  drawLive(palette: Palette): void {
    this.draw(this.live.map((dot) => dot.points).concat([this.places()]), palette)
  }

  /** From the samples, whichever way the cursor came. */
  drawRecorded(samples: Samples, time: number, palette: Palette): void {
    const dots: Float64Array[] = []
    const start = Math.max(time - TRAIL, samples.t[0])
    const first = sampleBefore(samples.t, start)
    const last = sampleBefore(samples.t, time)
    const stride = Math.max(Math.ceil((last - first) / DOTS), 1)
    const actors = new Set(this.targets.map((t) => t.actor))
    const q = new Map([...actors].map((a) => [a, new Float32Array(a.moment.q.length)]))
    const X = new Map([...actors].map((a) => [a, new Float64Array(a.X.length)]))
    // Whole strides, so that dots stay where they are while time goes on.
    for (let i = Math.ceil(first / stride) * stride; i <= last; i += stride) {
      const points = new Float64Array(3 * this.targets.length)
      for (const actor of actors) {
        interpolate(samples.tracks[actor.track].q, samples.t, samples.t[i], q.get(actor)!)
        actor.kinematics.forward(q.get(actor)!, X.get(actor)!)
      }
      this.targets.forEach(({ actor, at }, k) => point(X.get(actor)!, at, points, 3 * k))
      dots.push(points)
    }
    this.draw(dots.concat([this.places()]), palette)
  }

  private draw(dots: Float64Array[], palette: Palette): void {
    const old = new Color()
    const young = new Color()
    const background = new Color(palette.background)
    this.lines.begin()
    this.targets.forEach((_, k) => {
      const color = new Color(palette.trail[k % palette.trail.length])
      const way = new Float64Array(3 * dots.length)
      dots.forEach((points, i) => way.set(points.subarray(3 * k, 3 * k + 3), 3 * i))
      for (let i = 0; i + 1 < dots.length; i++) {
        old.copy(background).lerp(color, i / dots.length)
        young.copy(background).lerp(color, (i + 1) / dots.length)
        this.lines.segment(way, 3 * i, 3 * i + 3, old, young)
      }
    })
    this.lines.end()
  }

  clear(): void {
    this.lines.begin()
    this.lines.end()
  }

  dispose(): void {
    this.lines.dispose()
  }
}

/** Centre of mass with its plumb line, and the polygon that it should stay above. */
export class Balance {
  readonly group = new Group()
  private readonly marks: Sprite[] = []
  private readonly lines: Lines
  private readonly areas: Mesh<BufferGeometry, MeshBasicMaterial>[] = []
  /** The centre of mass as last drawn, for whoever asks. */
  com: ([number, number, number] | null)[] = []

  constructor(private readonly actors: Actor[]) {
    const shown = actors.filter((a) => !a.ghost)
    this.actors = shown
    this.lines = new Lines(40 * shown.length + 1, 2)
    this.group.add(this.lines.object)
    for (let k = 0; k < shown.length; k++) {
      const material = new SpriteMaterial({ map: target(), depthTest: false, sizeAttenuation: false })
      material.toneMapped = false
      const sprite = new Sprite(material)
      sprite.scale.setScalar(0.026)
      sprite.renderOrder = 5
      this.marks.push(sprite)
      const area = new Mesh(
        new BufferGeometry(),
        new MeshBasicMaterial({ transparent: true, opacity: 0.3, side: DoubleSide, depthWrite: false }),
      )
      area.frustumCulled = false
      this.areas.push(area)
      this.group.add(sprite, area)
    }
  }

  update(palette: Palette, floor: number | null): void {
    this.lines.begin()
    this.actors.forEach((actor, k) => this.one(actor, k, palette, floor))
    this.lines.end()
  }

  private one(actor: Actor, k: number, palette: Palette, floor: number | null): void {
    const com = centreOfMass(actor.figure, actor.X)
    this.com[k] = com
    this.marks[k].visible = com !== null
    const hull = convexHull(touching(actor))
    this.areas[k].visible = hull.length >= 3
    if (com === null) return
    this.marks[k].position.set(...com)
    const ground = hull.length > 0 ? hull[0][2] : floor
    const stable = inside(hull, com)
    const color = new Color(hull.length === 0 ? palette.wire : stable ? palette.good : palette.warning)
    if (ground !== null && com[2] > ground) {
      this.dashes(com, ground, color)
    }
    if (hull.length < 2) return
    hull.forEach((p, i) => {
      const next = hull[(i + 1) % hull.length]
      this.lines.segment([...p, ...next], 0, 3, color)
    })
    if (hull.length < 3) return
    const corners: number[] = []
    for (let i = 1; i + 1 < hull.length; i++) corners.push(...hull[0], ...hull[i], ...hull[i + 1])
    this.areas[k].geometry.setAttribute('position', new Float32BufferAttribute(corners, 3))
    this.areas[k].material.color.copy(color)
  }

  private dashes(com: [number, number, number], ground: number, color: Color): void {
    for (let i = 0; i < 16; i++) {
      const z = (s: number) => com[2] + (ground - com[2]) * s
      this.lines.segment([com[0], com[1], z(i / 16), com[0], com[1], z((i + 0.55) / 16)], 0, 3, color)
    }
    const r = 0.012 * Math.max(com[2] - ground, 0.1)
    this.lines.segment([com[0] - 2 * r, com[1], ground + 1e-3, com[0] + 2 * r, com[1], ground + 1e-3], 0, 3, color)
    this.lines.segment([com[0], com[1] - 2 * r, ground + 1e-3, com[0], com[1] + 2 * r, ground + 1e-3], 0, 3, color)
  }

  dispose(): void {
    this.lines.dispose()
    this.marks.forEach((m) => (m.material.map?.dispose(), m.material.dispose()))
    this.areas.forEach((a) => (a.geometry.dispose(), a.material.dispose()))
  }
}

/** Contact points that touch: by their force where it is known, else by their distance from the plane. */
function touching(actor: Actor): [number, number, number][] {
  const { contact } = actor.moment
  const out: [number, number, number][] = []
  actor.figure.contacts.forEach((c, k) => {
    const p = [...point(actor.X, c.point)] as [number, number, number]
    const o = [...point(actor.X, c.plane)]
    const n = c.normal
    const height = (p[0] - o[0]) * n[0] + (p[1] - o[1]) * n[1] + (p[2] - o[2]) * n[2]
    if (contact !== null ? contact[k] > 0 : height < 5e-3) out.push([p[0], p[1], p[2] - height + 2e-3])
  })
  return out
}

export function convexHull(points: [number, number, number][]): [number, number, number][] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  if (sorted.length < 3) return sorted
  const chain = (list: typeof sorted) => {
    const out: typeof sorted = []
    for (const p of list) {
      while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 1e-12) out.pop()
      out.push(p)
    }
    return out.slice(0, -1)
  }
  return [...chain(sorted), ...chain(sorted.reverse())]
}

function turn(a: number[], b: number[], c: number[]): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

function inside(hull: number[][], p: number[]): boolean {
  return hull.length >= 3 && hull.every((a, i) => turn(a, hull[(i + 1) % hull.length], p) >= 0)
}

/** The quartered disc that engineers draw for a centre of mass. */
function target(): CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 64
  const g = canvas.getContext('2d')!
  g.translate(32, 32)
  g.fillStyle = '#fff'
  g.beginPath()
  g.arc(0, 0, 28, 0, 2 * Math.PI)
  g.fill()
  g.fillStyle = '#1b1a20'
  for (const start of [0, Math.PI]) {
    g.beginPath()
    g.moveTo(0, 0)
    g.arc(0, 0, 28, start, start + Math.PI / 2)
    g.fill()
  }
  g.lineWidth = 4
  g.strokeStyle = '#1b1a20'
  g.beginPath()
  g.arc(0, 0, 28, 0, 2 * Math.PI)
  g.stroke()
  return new CanvasTexture(canvas)
}
