/** The light of the stage: a key light with shadows, a rim light from behind, and light from the sky. */
import { DirectionalLight, HemisphereLight, Vector3 } from 'three'
import type { Palette } from '../theme'

export class Lights {
  private readonly key = new DirectionalLight('#fff4e2', 2.4)
  private readonly rim = new DirectionalLight('#dfe8ff', 1)
  private readonly sky = new HemisphereLight('#ffffff', '#8a7f72', 1.4)

  constructor() {
    this.key.castShadow = true
    this.key.shadow.bias = -0.0004
    this.key.shadow.normalBias = 0.01
    this.key.shadow.radius = 3
  }

  get objects() {
    return [this.key, this.key.target, this.rim, this.sky]
  }

  dress(palette: Palette): void {
    this.key.intensity = palette.key
    this.sky.intensity = palette.sky
    this.rim.intensity = palette.rim
  }

  /** Points the lights at a sphere; `turned` takes directions of a figure that faces +x to the world. */
  aim(centre: Vector3, size: number, turned: (direction: Vector3) => Vector3): void {
    const from = (x: number, y: number, z: number) =>
      turned(new Vector3(x, y, z))
        .multiplyScalar(size)
        .add(centre)
    this.key.target.position.copy(centre)
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

  setShadowSize(pixels: number): void {
    this.key.shadow.mapSize.set(pixels, pixels)
    this.key.shadow.map?.dispose()
    this.key.shadow.map = null // three.js makes one of the new size
  }
}
