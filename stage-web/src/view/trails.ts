/** Trails: the paths of the limbs during the last seconds. */
import { Color } from 'three'
import { interpolate, type Samples, sampleBefore } from '../data/samples'
import { writePoint } from '../geometry/kinematics'
import type { At } from '../messages'
import type { Palette } from '../theme'
import type { Actor } from './actor'
import { extremities, tip } from './limbs'
import { Lines } from './lines'

const TRAIL = 1.6 // s
const DOTS = 80
const MOST_OF_ONE = 8
const MOST = 24

export class Trails {
  readonly lines = new Lines(MOST * (DOTS + 2), 2.2)
  private live: { t: number; points: Float64Array }[] = []
  private readonly targets: { actor: Actor; at: At }[]

  constructor(actors: Actor[]) {
    this.targets = actors
      .filter((actor) => !actor.ghost)
      .flatMap((actor) =>
        extremities(actor.figure, MOST_OF_ONE).map((frame) => ({ actor, at: tip(actor.figure, frame) })),
      )
      .slice(0, MOST)
  }

  /** Where the ends of the limbs are now, xyz of each. */
  private places(X: (actor: Actor) => Float64Array = (actor) => actor.X): Float64Array {
    const points = new Float64Array(3 * this.targets.length)
    this.targets.forEach(({ actor, at }, k) => {
      writePoint(X(actor), at, points, 3 * k)
    })
    return points
  }

  /** Remembers where things are, for live figures. */
  remember(t: number): void {
    const last = this.live.at(-1)
    if (last !== undefined && t < last.t) this.live = []
    if (last === undefined || t > last.t + TRAIL / DOTS) this.live.push({ t, points: this.places() })
    while (this.live.length > DOTS) this.live.shift()
  }

  drawLive(palette: Palette): void {
    this.draw([...this.live.map((dot) => dot.points), this.places()], palette)
  }

  /** From the samples, so that a trail is the same whether time was played or set. */
  drawRecorded(samples: Samples, time: number, palette: Palette): void {
    const first = sampleBefore(samples.t, Math.max(time - TRAIL, samples.t[0]))
    const last = sampleBefore(samples.t, time)
    const stride = Math.max(Math.ceil((last - first) / DOTS), 1)
    const actors = [...new Set(this.targets.map((t) => t.actor))]
    const dots: Float64Array[] = []
    // Whole strides, so that dots stay where they are while time goes on.
    for (let i = Math.ceil(first / stride) * stride; i <= last; i += stride) {
      const X = new Map(actors.map((actor) => [actor, framesAt(actor, samples, samples.t[i])]))
      dots.push(this.places((actor) => X.get(actor) ?? actor.X))
    }
    this.draw([...dots, this.places()], palette)
  }

  private draw(dots: Float64Array[], palette: Palette): void {
    const older = new Color()
    const newer = new Color()
    const background = new Color(palette.background)
    this.lines.begin()
    this.targets.forEach((_, k) => {
      const color = new Color(palette.trail[k % palette.trail.length])
      const path = new Float64Array(3 * dots.length)
      dots.forEach((points, i) => {
        path.set(points.subarray(3 * k, 3 * k + 3), 3 * i)
      })
      for (let i = 0; i + 1 < dots.length; i++) {
        older.copy(background).lerp(color, i / dots.length)
        newer.copy(background).lerp(color, (i + 1) / dots.length)
        this.lines.segment(path, 3 * i, 3 * i + 3, older, newer)
      }
    })
    this.lines.end()
  }

  clear(): void {
    this.lines.begin()
    this.lines.end()
  }

  dispose(): void {
    this.lines.dispose()
  }
}

function framesAt(actor: Actor, samples: Samples, time: number): Float64Array {
  const q = new Float32Array(actor.moment.q.length)
  const X = new Float64Array(actor.X.length)
  interpolate(samples.tracks[actor.track].q, samples.t, time, q)
  actor.kinematics.forward(q, X)
  return X
}
