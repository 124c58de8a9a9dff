/** Balance: the centre of mass with its plumb line, and the support polygon that it should stay above. */
import {
  BufferGeometry,
  CanvasTexture,
  Color,
  DoubleSide,
  Float32BufferAttribute,
  Group,
  Mesh,
  MeshBasicMaterial,
  Sprite,
  SpriteMaterial,
  Vector3,
} from 'three'
import { convexHull, isAbove } from '../geometry/convex-hull'
import { centreOfMass, point } from '../geometry/kinematics'
import type { Vec3 } from '../messages'
import type { Palette } from '../theme'
import type { Actor } from './actor'
import { Lines } from './lines'

const DASHES = 16
const SEGMENTS = 40 // of one figure: dashes, a cross, the edges of its polygon
const TOUCHING = 5e-3 // m: a contact point this near its plane counts, where no forces are known
const LIFT = 2e-3 // m: the polygon is drawn this far above the plane, so that it does not flicker

/** What is drawn for one figure. */
interface Drawn {
  actor: Actor
  mark: Sprite
  area: Mesh<BufferGeometry, MeshBasicMaterial>
}

export class Balance {
  readonly group = new Group()
  private readonly lines: Lines
  private readonly drawn: Drawn[]

  constructor(actors: Actor[]) {
    this.drawn = actors.filter((a) => !a.ghost && !a.marks).map((actor) => ({ actor, mark: mark(), area: area() }))
    this.lines = new Lines(SEGMENTS * this.drawn.length + 1, 2, { depthTest: false, opacity: 0.9 }) // seen through feet
    this.lines.object.renderOrder = 4
    this.group.add(this.lines.object)
    for (const one of this.drawn) this.group.add(one.mark, one.area)
  }

  update(palette: Palette, floor: number | null): void {
    this.lines.begin()
    for (const one of this.drawn) this.draw(one, palette, floor)
    this.lines.end()
  }

  private draw({ actor, mark, area }: Drawn, palette: Palette, floor: number | null): void {
    const com = centreOfMass(actor.figure, actor.X)
    const hull = convexHull(actor.figure.contacts.length > 0 ? touching(actor) : standing(actor, floor))
    mark.visible = com !== null
    area.visible = hull.length >= 3
    if (com === null) return
    mark.position.set(...com)
    const color = new Color(hull.length === 0 ? palette.wire : isAbove(hull, com) ? palette.good : palette.warning)
    const ground = hull.length > 0 ? hull[0][2] : floor
    if (ground !== null && com[2] > ground) this.plumbLine(com, ground, color)
    if (hull.length < 2) return
    hull.forEach((p, i) => {
      this.lines.segment([...p, ...hull[(i + 1) % hull.length]], 0, 3, color)
    })
    if (hull.length < 3) return
    const corners: number[] = []
    for (let i = 1; i + 1 < hull.length; i++) corners.push(...hull[0], ...hull[i], ...hull[i + 1])
    area.geometry.setAttribute('position', new Float32BufferAttribute(corners, 3))
    area.material.color.copy(color)
  }

  /** Dashes from the centre of mass to the ground, and a cross where they end. */
  private plumbLine([x, y, z]: Vec3, ground: number, color: Color): void {
    const height = (s: number) => z + (ground - z) * s
    for (let i = 0; i < DASHES; i++) {
      this.lines.segment([x, y, height(i / DASHES), x, y, height((i + 0.55) / DASHES)], 0, 3, color)
    }
    const arm = 0.024 * Math.max(z - ground, 0.1)
    const level = ground + 1e-3
    this.lines.segment([x - arm, y, level, x + arm, y, level], 0, 3, color)
    this.lines.segment([x, y - arm, level, x, y + arm, level], 0, 3, color)
  }

  dispose(): void {
    this.lines.dispose()
    for (const { mark, area } of this.drawn) {
      mark.material.map?.dispose()
      mark.material.dispose()
      area.geometry.dispose()
      area.material.dispose()
    }
  }
}

/** Contact points that touch: by their force where it is known, else by their distance from the plane. */
function touching(actor: Actor): Vec3[] {
  const { contact } = actor.moment
  return actor.figure.contacts.flatMap((c, k): Vec3[] => {
    const p = point(actor.X, c.point)
    const o = point(actor.X, c.plane)
    const n = c.normal
    const height = (p[0] - o[0]) * n[0] + (p[1] - o[1]) * n[1] + (p[2] - o[2]) * n[2]
    const touches = contact !== null ? contact[k] > 0 : height < TOUCHING
    return touches ? [[p[0], p[1], p[2] - height + LIFT]] : []
  })
}

/** Where the shapes of a figure that has neither contacts nor strings stand on the floor: the corners of their boxes. */
function standing(actor: Actor, floor: number | null): Vec3[] {
  if (floor === null || actor.figure.ropes.length > 0) return []
  const out: Vec3[] = []
  const corner = new Vector3()
  for (const mesh of actor.meshes) {
    mesh.geometry.computeBoundingBox()
    const box = mesh.geometry.boundingBox
    if (box === null) continue
    for (let k = 0; k < 8; k++) {
      corner.set(k & 1 ? box.min.x : box.max.x, k & 2 ? box.min.y : box.max.y, k & 4 ? box.min.z : box.max.z)
      corner.applyMatrix4(mesh.matrix)
      if (corner.z < floor + TOUCHING) out.push([corner.x, corner.y, floor + LIFT])
    }
  }
  return out
}

function mark(): Sprite {
  const material = new SpriteMaterial({ map: quarteredDisc(), depthTest: false, sizeAttenuation: false })
  material.toneMapped = false
  const sprite = new Sprite(material)
  sprite.scale.setScalar(0.026)
  sprite.renderOrder = 5
  return sprite
}

function area(): Mesh<BufferGeometry, MeshBasicMaterial> {
  const material = new MeshBasicMaterial({ transparent: true, opacity: 0.3, side: DoubleSide, depthWrite: false })
  const mesh = new Mesh(new BufferGeometry(), material)
  mesh.frustumCulled = false
  return mesh
}

/** The sign that engineers draw for a centre of mass. */
function quarteredDisc(): CanvasTexture {
  const canvas = document.createElement('canvas')
  canvas.width = canvas.height = 64
  const g = canvas.getContext('2d')
  if (g !== null) {
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
  }
  return new CanvasTexture(canvas)
}
