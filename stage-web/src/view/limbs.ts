/** Which frames of a figure are worth watching: the ends of its limbs, and its trunk. */
import type { At, Figure, Vec3 } from '../messages'

/** Frames at the ends of limbs, at most `most`: they carry shapes, and nothing beyond them does. */
export function extremities(figure: Figure, most: number): number[] {
  const carrying = new Set(figure.shapes.map((s) => s.frame).filter((k) => k >= 0))
  const inner = new Set<number>()
  for (const frame of carrying) {
    for (let k = figure.frames[frame].parent; k >= 0; k = figure.frames[k].parent) inner.add(k)
  }
  const out = [...carrying].filter((k) => !inner.has(k) && moves(figure, k))
  return out.length > 0 ? out.slice(0, most) : figure.bodies.slice(-1).map((b) => b.frame)
}

/** Whether physics moves a frame; of a figure that physics does not move, all frames count. */
function moves({ frames, variables }: Figure, frame: number): boolean {
  for (let k = frame; k >= 0; k = frames[k].parent) {
    const { q } = frames[k]
    if (q !== undefined && !variables[q].kinematic) return true
  }
  return variables.every((v) => v.kinematic)
}

/** The point of a frame that leaves a trail: the centre of the shape that is farthest out. */
export function tip(figure: Figure, frame: number): At {
  const far = (p: Vec3) => Math.hypot(...p)
  const places = figure.shapes.filter((s) => s.frame === frame).map((s) => s.position)
  return { frame, position: places.sort((a, b) => far(b) - far(a))[0] ?? [0, 0, 0] }
}

/** The frame to follow: the one that carries the most mass. */
export function trunk(figure: Figure): number {
  const heaviest = [...figure.bodies].sort((a, b) => b.mass - a.mass)[0]
  return heaviest?.frame ?? extremities(figure, 1)[0] ?? 0
}
