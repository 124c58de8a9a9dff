/** The camera, where the audience sits: orbit, pan, zoom, preset views, and following a body. */
import { Box3, PerspectiveCamera, Sphere, Vector3 } from 'three'
import { OrbitControls } from 'three/examples/jsm/controls/OrbitControls.js'

export type Preset = 'audience' | 'front' | 'side' | 'top'
/** Directions from what is seen to the eye, for a figure that faces +x. */
const FROM: Record<Preset, Vector3> = {
  audience: new Vector3(1, 0.5, 0.22),
  front: new Vector3(1, 0, 0.06),
  side: new Vector3(0, -1, 0.06),
  top: new Vector3(0.001, 0, 1),
}

export class Seat {
  readonly camera = new PerspectiveCamera(32, 1, 0.01, 500)
  readonly controls: OrbitControls
  private bounds = new Sphere(new Vector3(0, 0, 1), 1)
  private box = new Box3(new Vector3(-1, -1, 0), new Vector3(1, 1, 2))
  private followed: Vector3 | null = null
  preset: Preset | null = 'audience'
  private turn = 0

  constructor(element: HTMLElement, onChange: () => void) {
    this.camera.up.set(0, 0, 1)
    this.controls = new OrbitControls(this.camera, element)
    this.controls.enableDamping = false
    this.controls.zoomToCursor = true
    this.controls.maxPolarAngle = 0.53 * Math.PI
    this.controls.addEventListener('change', onChange)
    this.controls.addEventListener('start', () => (this.preset = null))
  }

  /** What should be in view, and where its front is. */
  frame(box: Box3, front: [number, number]): void {
    this.box = box.clone()
    this.turn = Math.atan2(front[1], front[0])
    box.getBoundingSphere(this.bounds)
    this.bounds.radius = Math.max(this.bounds.radius, 0.05)
    this.controls.minDistance = 0.1 * this.bounds.radius
    this.controls.maxDistance = 20 * this.bounds.radius
    this.camera.near = 0.01 * this.bounds.radius
    this.camera.far = 100 * this.bounds.radius
    this.look(this.preset ?? 'audience')
  }

  /** A direction as seen by a figure that faces +x, in the world. */
  turned(direction: Vector3): Vector3 {
    return direction.applyAxisAngle(this.camera.up, this.turn)
  }

  look(preset: Preset): void {
    this.preset = preset
    const eye = this.turned(this.from(preset).normalize())
    const centre = this.box.getCenter(new Vector3())
    this.camera.position.copy(centre).add(eye)
    this.camera.lookAt(centre)
    this.camera.updateMatrixWorld()
    const distance = this.distance(centre)
    this.controls.target.copy(centre)
    this.camera.position.copy(centre).addScaledVector(eye, distance)
    this.controls.update()
  }

  /** The audience sits the higher the wider the scene is: what happens far back must not hide behind what is in front. */
  private from(preset: Preset): Vector3 {
    const eye = FROM[preset].clone()
    const { x, y, z } = this.box.getSize(new Vector3())
    if (preset === 'audience')
      eye.z = Math.min(eye.z + 0.15 * Math.max(Math.max(x, y) / Math.max(z, 1e-6) - 2, 0), 0.75)
    return eye
  }

  /** From how far every corner of the box is in the picture. */
  private distance(centre: Vector3): number {
    const up = Math.tan((this.camera.fov * Math.PI) / 360) * 0.86
    const across = up * this.camera.aspect
    const right = new Vector3()
    const top = new Vector3()
    const back = new Vector3()
    this.camera.matrixWorld.extractBasis(right, top, back)
    let out = 0.2 * this.bounds.radius
    const { min, max } = this.box
    for (let k = 0; k < 8; k++) {
      const corner = new Vector3(k & 1 ? min.x : max.x, k & 2 ? min.y : max.y, k & 4 ? min.z : max.z).sub(centre)
      const toward = corner.dot(back)
      out = Math.max(out, toward + Math.abs(corner.dot(right)) / across, toward + Math.abs(corner.dot(top)) / up)
    }
    return out
  }

  resize(width: number, height: number): void {
    this.camera.aspect = width / Math.max(height, 1)
    this.camera.updateProjectionMatrix()
    if (this.preset !== null) this.look(this.preset)
  }

  /** Keeps the eye where it is relative to a moving point; null stops following. */
  follow(point: Vector3 | null): void {
    if (point !== null && this.followed !== null) {
      const step = point.clone().sub(this.followed)
      this.camera.position.add(step)
      this.controls.target.add(step)
      this.controls.update()
    }
    this.followed = point === null ? null : point.clone()
  }
}
