/** The clock of a recorded piece. */
import { sampleBefore } from './data/samples'
import { clamp } from './geometry/numbers'

export const SPEEDS = [0.1, 0.25, 0.5, 1, 1.5, 2, 4]

export class Player {
  start = 0
  stop = 0
  time = 0
  playing = false
  loop = true
  speed = 1
  onChange: () => void = () => undefined
  /** Sample times, for single steps. */
  private samples: ArrayLike<number> = [0]

  load(samples: Float64Array): void {
    this.takeOver(samples)
    this.time = this.start
    this.playing = this.stop > this.start
    this.onChange()
  }

  /** The same piece after an edit: its time goes on from where it was. */
  reload(samples: Float64Array): void {
    this.takeOver(samples)
    this.seek(this.time)
  }

  private takeOver(samples: Float64Array): void {
    this.samples = samples
    this.start = samples[0]
    this.stop = samples[samples.length - 1]
  }

  get duration(): number {
    return this.stop - this.start
  }

  /** Lets a span of real time pass [s]; true if anything moved. */
  advance(seconds: number): boolean {
    if (!this.playing) return false
    this.time += seconds * this.speed
    if (this.time < this.stop) return true
    if (this.loop && this.duration > 0) {
      this.time = this.start + ((this.time - this.start) % this.duration)
    } else {
      this.time = this.stop
      this.playing = false
      this.onChange()
    }
    return true
  }

  toggle(): void {
    if (this.duration <= 0) return
    if (!this.playing && this.time >= this.stop && !this.loop) this.time = this.start
    this.playing = !this.playing
    this.onChange()
  }

  pause(): void {
    if (!this.playing) return
    this.playing = false
    this.onChange()
  }

  seek(time: number): void {
    this.time = clamp(time, this.start, this.stop)
    this.onChange()
  }

  /** To the next sample, or to the one before. */
  step(by: 1 | -1): void {
    this.playing = false
    const t = this.samples
    const k = sampleBefore(t, this.time + 1e-9)
    const between = this.time > t[k] + 1e-9
    const next = by > 0 ? k + 1 : between ? k : k - 1
    this.seek(t[clamp(next, 0, t.length - 1)])
  }

  /** The next speed of the menu, or the one before. */
  changeSpeed(by: 1 | -1): void {
    const k = SPEEDS.findIndex((s) => s >= this.speed - 1e-9)
    this.setSpeed(SPEEDS[clamp((k < 0 ? SPEEDS.length - 1 : k) + by, 0, SPEEDS.length - 1)])
  }

  setSpeed(speed: number): void {
    this.speed = clamp(speed, SPEEDS[0], SPEEDS[SPEEDS.length - 1])
    this.onChange()
  }

  toggleLoop(): void {
    this.loop = !this.loop
    this.onChange()
  }
}
