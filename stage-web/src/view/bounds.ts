/** The box that a camera should have in view. */
import { type Box3, Vector3 } from 'three'
import type { Actor } from './actor'

/** Grows a box by everything that an actor shows now: its shapes and the ends of its strings. */
export function includeActor(box: Box3, actor: Actor): void {
  for (const mesh of actor.meshes) {
    mesh.geometry.computeBoundingBox()
    const own = mesh.geometry.boundingBox
    if (own && !own.isEmpty()) box.union(own.clone().applyMatrix4(mesh.matrix))
  }
  for (const rope of actor.figure.ropes) {
    for (const at of rope.path) box.expandByPoint(actor.point(at))
  }
}

/** Where the audience should sit if nobody says: opposite the wider side, from where it sees most. */
export function widestFront(box: Box3): [number, number] {
  const size = box.getSize(new Vector3())
  return size.y < 0.999 * size.x ? [0, 1] : [1, 0]
}
