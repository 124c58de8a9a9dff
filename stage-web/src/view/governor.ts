/** Keeps playback smooth: fewer pixels and simpler shadows on a slow machine. Quality only ever goes down. */
import { clamp } from '../geometry/numbers'

export interface Quality {
  /** Pixels drawn for each CSS pixel, at most. */
  pixelRatio: number
  /** Width of the shadow map. */
  shadowSize: number
  /** Shadows are drawn anew every so many pictures. */
  shadowInterval: number
}

export const LEVELS: Quality[] = [
  { pixelRatio: 2, shadowSize: 2048, shadowInterval: 1 },
  { pixelRatio: 1.25, shadowSize: 1024, shadowInterval: 1 },
  { pixelRatio: 1, shadowSize: 1024, shadowInterval: 2 },
  { pixelRatio: 1, shadowSize: 512, shadowInterval: 4 },
  { pixelRatio: 0.75, shadowSize: 512, shadowInterval: 8 },
]
const SLOW = 30 // ms between two pictures, on average
const PICTURES = 40 // over which the average is taken
const HIDDEN = 500 // ms: a longer pause means a hidden tab, not a slow machine

export class Governor {
  level = 0
  private sum = 0
  private count = 0
  private drawn = 0
  private fixed = false

  constructor(private readonly apply: (quality: Quality) => void) {
    this.set(0)
  }

  /** Takes the time between two pictures while something moves; lowers the quality if they are slow. */
  paced(milliseconds: number): void {
    if (this.fixed || milliseconds > HIDDEN) return
    this.sum += milliseconds
    if (++this.count < PICTURES) return
    const mean = this.sum / this.count
    this.sum = this.count = 0
    if (mean >= SLOW && this.level < LEVELS.length - 1) this.set(this.level + 1)
  }

  /** Whether the shadows of this picture should be drawn; asked once a picture. */
  shadowsDue(): boolean {
    return this.drawn++ % LEVELS[this.level].shadowInterval === 0
  }

  /** Sets the level for good. */
  fix(level: number): void {
    this.fixed = true
    this.set(clamp(level, 0, LEVELS.length - 1))
  }

  private set(level: number): void {
    this.level = level
    this.drawn = 0
    this.apply(LEVELS[level])
  }
}
