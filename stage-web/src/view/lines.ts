/** Many coloured line segments of a width in pixels, in one draw call; written anew for each picture. */
import { type Color, DynamicDrawUsage, type InstancedInterleavedBuffer, type InterleavedBufferAttribute } from 'three'
import { LineMaterial } from 'three/examples/jsm/lines/LineMaterial.js'
import { LineSegments2 } from 'three/examples/jsm/lines/LineSegments2.js'
import { LineSegmentsGeometry } from 'three/examples/jsm/lines/LineSegmentsGeometry.js'

export class Lines {
  readonly object: LineSegments2
  readonly material: LineMaterial
  private positions: Float32Array
  private colors: Float32Array
  private geometry = new LineSegmentsGeometry()
  private count = 0

  constructor(
    private most: number,
    width: number,
    options: { depthTest?: boolean; opacity?: number } = {},
  ) {
    this.positions = new Float32Array(6 * most)
    this.colors = new Float32Array(6 * most)
    this.material = new LineMaterial({
      linewidth: width,
      vertexColors: true,
      depthTest: options.depthTest ?? true,
      transparent: options.opacity !== undefined,
      opacity: options.opacity ?? 1,
    })
    this.material.toneMapped = false
    this.object = new LineSegments2(this.geometry, this.material)
    this.object.frustumCulled = false
    this.allocate()
  }

  private allocate(): void {
    this.geometry.setPositions(this.positions)
    this.geometry.setColors(this.colors)
    for (const name of ['instanceStart', 'instanceColorStart']) this.buffer(name).setUsage(DynamicDrawUsage)
  }

  /** Room for twice as many segments, in another geometry: three.js remembers of each how many it had at first. */
  private grow(): void {
    const larger = (old: Float32Array) => {
      const out = new Float32Array(2 * old.length)
      out.set(old)
      return out
    }
    this.most *= 2
    this.positions = larger(this.positions)
    this.colors = larger(this.colors)
    this.geometry.dispose()
    this.geometry = new LineSegmentsGeometry()
    this.object.geometry = this.geometry
    this.allocate()
  }

  private buffer(name: string): InstancedInterleavedBuffer {
    return (this.geometry.getAttribute(name) as InterleavedBufferAttribute).data as InstancedInterleavedBuffer
  }

  begin(): void {
    this.count = 0
  }

  segment(points: ArrayLike<number>, i: number, j: number, a: Color, b: Color = a): void {
    if (this.count >= this.most) this.grow()
    const k = 6 * this.count++
    for (let c = 0; c < 3; c++) {
      this.positions[k + c] = points[i + c]
      this.positions[k + 3 + c] = points[j + c]
    }
    a.toArray(this.colors, k)
    b.toArray(this.colors, k + 3)
  }

  end(): void {
    const start = this.buffer('instanceStart')
    const color = this.buffer('instanceColorStart')
    ;(start.array as Float32Array).set(this.positions.subarray(0, 6 * this.count))
    ;(color.array as Float32Array).set(this.colors.subarray(0, 6 * this.count))
    start.needsUpdate = color.needsUpdate = true
    this.geometry.instanceCount = this.count
    this.object.visible = this.count > 0
  }

  dispose(): void {
    this.geometry.dispose()
    this.material.dispose()
  }
}
