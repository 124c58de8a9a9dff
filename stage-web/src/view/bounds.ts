/** The box that a camera should have in view. */
import { Box3, type Mesh, Vector3 } from 'three'
import type { Actor } from './actor'

/** Grows a box by a mesh, where its matrix puts it. */
export function includeMesh(box: Box3, mesh: Mesh): void {
  mesh.geometry.computeBoundingBox()
  const own = mesh.geometry.boundingBox
  if (own && !own.isEmpty()) box.union(own.clone().applyMatrix4(mesh.matrix))
}

/** Grows a box by everything that an actor shows now: its shapes and the ends of its strings. */
export function includeActor(box: Box3, actor: Actor): void {
  if (actor.marks) return // they are put where the figures are
  for (const mesh of actor.meshes) includeMesh(box, mesh)
  for (const rope of actor.figure.ropes) {
    for (const at of rope.path) box.expandByPoint(actor.point(at))
  }
}

/** Grows a box by where a live figure that hangs from the world without strings swings to: as far to each side of its axis. */
export function includeSwing(box: Box3, actor: Actor): void {
  const { frames, ropes } = actor.figure
  const first = frames.findIndex((frame) => frame.motion !== undefined)
  if (ropes.length > 0 || frames[first]?.motion !== 'rotate') return
  const own = new Box3()
  includeActor(own, actor)
  const root = actor.origin(first)
  const reach = Math.max(...[own.min, own.max].map((corner) => corner.distanceTo(root)))
  const [x, y] = (frames[first].axis ?? [0, 0, 1]).map((part) => reach * (1 - Math.abs(part)))
  const side = new Vector3(x, y, reach)
  box.expandByPoint(root.clone().sub(side))
  box.expandByPoint(root.clone().add(side.setZ(0.3 * reach)))
}

/** The longest edge of a box. */
export function largest(box: Box3): number {
  return Math.max(...box.getSize(new Vector3()).toArray())
}

/** Where the audience should sit if nobody says: opposite the wider side, from where it sees most. */
export function widestFront(box: Box3): [number, number] {
  const size = box.getSize(new Vector3())
  return size.y < 0.999 * size.x ? [0, 1] : [1, 0]
}
