/** What stands for a figure that has no shapes: a bone to each child frame, a ball for each mass. */
import { extent } from '../geometry/kinematics'
import type { Figure, Quat, Shape, Vec3 } from '../messages'

const COLOR: Vec3 = [0.72, 0.53, 0.34]

export function bones(figure: Figure): Shape[] {
  const size = extent(figure)
  const out: Shape[] = []
  for (const frame of figure.frames) {
    const [x, y, z] = frame.position
    const length = Math.hypot(x, y, z)
    if (frame.parent < 0 || length < 1e-6) continue
    out.push({
      frame: frame.parent,
      name: frame.name,
      position: [x / 2, y / 2, z / 2],
      rotation: fromZTo([x / length, y / length, z / length]),
      color: COLOR,
      geometry: { kind: 'capsule', radius: 0.012 * size, length },
    })
  }
  for (const body of figure.bodies) {
    out.push({
      frame: body.frame,
      name: body.name,
      position: body.com,
      rotation: [1, 0, 0, 0],
      color: COLOR,
      geometry: { kind: 'sphere', radius: 0.03 * size },
    })
  }
  return out
}

/** The shortest rotation that takes the z axis to a direction: halfway between the two. */
function fromZTo([x, y, z]: Vec3): Quat {
  const w = 1 + z
  if (w < 1e-6) return [0, 1, 0, 0]
  const size = Math.hypot(w, y, x)
  return [w / size, -y / size, x / size, 0]
}
