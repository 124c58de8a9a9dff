/** Keeps the picture fluent: fewer pixels and simpler shadows where the machine is slow. */
import type { DirectionalLight, WebGLRenderer } from 'three'

interface Level {
  pixels: number
  shadow: number
  /** shadows are drawn anew every so many pictures */
  every: number
}

const LEVELS: Level[] = [
  { pixels: 2, shadow: 2048, every: 1 },
  { pixels: 1.25, shadow: 1024, every: 1 },
  { pixels: 1, shadow: 1024, every: 2 },
  { pixels: 1, shadow: 512, every: 4 },
  { pixels: 0.75, shadow: 512, every: 8 },
]
const SLOW = 30 // ms
const LISTEN = 40 // pictures

export class Governor {
  level = 0
  private sum = 0
  private heardOf = 0
  private drawn = 0
  private fixed = false

  constructor(private readonly renderer: WebGLRenderer, private readonly light: DirectionalLight) {
    this.apply()
  }

  /** The time between two pictures while something moves; true if the level has changed. */
  heard(milliseconds: number): boolean {
    if (this.fixed || milliseconds > 500) return false // a hidden tab is not a slow machine
    this.sum += milliseconds
    if (++this.heardOf < LISTEN) return false
    const mean = this.sum / this.heardOf
    this.sum = this.heardOf = 0
    if (mean < SLOW || this.level === LEVELS.length - 1) return false
    this.level++
    this.apply()
    return true
  }

  shadowsNow(): boolean {
    return this.drawn++ % LEVELS[this.level].every === 0
  }

  fix(level: number): void {
    this.fixed = true
    this.level = Math.min(Math.max(level, 0), LEVELS.length - 1)
    this.apply()
  }

  private apply(): void {
    const { pixels, shadow } = LEVELS[this.level]
    this.renderer.setPixelRatio(Math.min(devicePixelRatio, pixels))
    this.light.shadow.mapSize.set(shadow, shadow)
    this.light.shadow.map?.dispose()
    this.light.shadow.map = null
    this.drawn = 0
  }
}
