/** The support polygon of a figure: the convex hull of its contact points, seen from above. */
import type { Vec3 } from '../messages'

/** Corners of the hull, anticlockwise; fewer than three where the points do not span an area. */
export function convexHull(points: Vec3[]): Vec3[] {
  const sorted = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1])
  if (sorted.length < 3) return sorted
  return [...chain(sorted), ...chain(sorted.reverse())]
}

/** One side of the hull, without its last point: Andrew's monotone chain. */
function chain(sorted: Vec3[]): Vec3[] {
  const out: Vec3[] = []
  for (const p of sorted) {
    while (out.length > 1 && turn(out[out.length - 2], out[out.length - 1], p) <= 1e-12) out.pop()
    out.push(p)
  }
  return out.slice(0, -1)
}

/** Twice the area of a triangle, positive where it is anticlockwise. */
function turn(a: Vec3, b: Vec3, c: Vec3): number {
  return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
}

export function isAbove(hull: Vec3[], p: Vec3): boolean {
  return hull.length >= 3 && hull.every((a, i) => turn(a, hull[(i + 1) % hull.length], p) >= 0)
}
