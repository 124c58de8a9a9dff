/** Geometries of shapes, shared between all that look alike. */
import {
  BufferAttribute,
  BufferGeometry,
  CapsuleGeometry,
  CylinderGeometry,
  Matrix4,
  PlaneGeometry,
  Quaternion,
  SphereGeometry,
  Vector3,
} from 'three'
import { RoundedBoxGeometry } from 'three/examples/jsm/geometries/RoundedBoxGeometry.js'
import type { Geometry } from '../messages'

const UPRIGHT = new Matrix4().makeRotationX(Math.PI / 2) // three.js builds along y, bunraku along z

export type MeshData = (key: string) => ArrayBuffer | undefined

export class Shapes {
  private readonly made = new Map<string, BufferGeometry>()

  constructor(private readonly mesh: MeshData) {}

  geometry(shape: Geometry): BufferGeometry {
    const key = JSON.stringify(shape)
    let out = this.made.get(key)
    if (out === undefined) {
      out = this.build(shape)
      this.made.set(key, out)
    }
    return out
  }

  private build(shape: Geometry): BufferGeometry {
    switch (shape.kind) {
      case 'sphere':
        return new SphereGeometry(shape.radius, 28, 18)
      case 'capsule':
        return new CapsuleGeometry(shape.radius, shape.length, 8, 20).applyMatrix4(UPRIGHT)
      case 'cylinder':
        return new CylinderGeometry(shape.radius, shape.radius, shape.length, 28).applyMatrix4(UPRIGHT)
      case 'box': {
        const [x, y, z] = shape.size
        return new RoundedBoxGeometry(x, y, z, 2, 0.12 * Math.min(x, y, z))
      }
      case 'mesh':
        return triangles(this.mesh(shape.mesh), shape.scale)
      case 'plane':
        return plane(shape.normal)
      case 'none':
        return new BufferGeometry()
    }
  }

  dispose(): void {
    for (const geometry of this.made.values()) geometry.dispose()
    this.made.clear()
  }
}

/** A part of the plane, which itself has no end. */
function plane(normal: [number, number, number]): BufferGeometry {
  const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(...normal))
  return new PlaneGeometry(8, 8).applyQuaternion(turn)
}

function triangles(data: ArrayBuffer | undefined, scale: [number, number, number]): BufferGeometry {
  const geometry = new BufferGeometry()
  if (data === undefined) return geometry
  const [vertices, faces] = new Uint32Array(data, 0, 2)
  geometry.setAttribute('position', new BufferAttribute(new Float32Array(data, 8, 3 * vertices), 3))
  geometry.setIndex(new BufferAttribute(new Uint32Array(data, 8 + 12 * vertices, 3 * faces), 1))
  geometry.scale(...scale)
  const flat = geometry.toNonIndexed() // facets: the edges of most mesh files should look sharp
  flat.computeVertexNormals()
  return flat
}
