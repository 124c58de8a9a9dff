/** Sticks: a gamepad with a mapping and a dead zone, and the keyboard for those who have none. */
import { DRIVING, typing } from './keys'

export interface Mapping {
  /** For each stick of the figure: which axis of the gamepad, −1 for none. */
  axis: number[]
  invert: boolean[]
  deadZone: number
}

const KEEP = 'bunraku-gamepad'
const DEFAULT: Mapping = { axis: [0, 1, 2, 3, -1, -1, -1], invert: [false, true, false, true, false, false, false], deadZone: 0.12 }

/** Nothing inside the dead zone, and from its edge on the full range. */
export function live(value: number, deadZone: number): number {
  const size = Math.abs(value)
  return size <= deadZone ? 0 : Math.sign(value) * Math.min((size - deadZone) / (1 - deadZone), 1)
}

export class Sticks {
  mapping: Mapping = { ...DEFAULT }
  /** What the figure gets. */
  values: number[] = []
  buttons: boolean[] = []
  pad: Gamepad | null = null
  onPads: () => void = () => undefined
  private readonly down = new Set<string>()
  private sent = ''

  constructor() {
    try {
      const kept = JSON.parse(localStorage.getItem(KEEP) ?? 'null')
      if (kept && Array.isArray(kept.axis) && Array.isArray(kept.invert) && Number.isFinite(kept.deadZone)) this.mapping = kept
    } catch {
      // nothing kept
    }
    addEventListener('keydown', (e) => !typing(e) && this.key(e, true))
    addEventListener('keyup', (e) => this.key(e, false))
    addEventListener('blur', () => this.down.clear())
    addEventListener('gamepadconnected', () => this.onPads())
    addEventListener('gamepaddisconnected', () => this.onPads())
  }

  keep(): void {
    try {
      localStorage.setItem(KEEP, JSON.stringify(this.mapping))
    } catch {
      // not kept: fine
    }
  }

  private key(event: KeyboardEvent, on: boolean): void {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    if (!DRIVING.some(([k]) => k === key)) return
    if (on) this.down.add(key)
    else this.down.delete(key)
    if (this.values.length > 0 && on) event.preventDefault() // arrows would scroll
  }

  /** Reads gamepad and keys for a figure with so many sticks. */
  poll(count: number): void {
    this.pad = [...(navigator.getGamepads?.() ?? [])].find((p) => p?.connected) ?? null
    this.values = Array.from({ length: count }, (_, k) => this.read(k))
    this.buttons = (this.pad?.buttons ?? []).slice(0, 16).map((b) => b.pressed)
  }

  private read(k: number): number {
    const axis = this.mapping.axis[k] ?? -1
    let value = axis < 0 || this.pad === null ? 0 : live(this.pad.axes[axis] ?? 0, this.mapping.deadZone)
    if (this.mapping.invert[k]) value = -value
    for (const [key, stick, direction] of DRIVING) if (stick === k && this.down.has(key)) value += direction
    return Math.min(Math.max(Math.round(value * 1000) / 1000, -1), 1) + 0
  }

  /** True once for each change. */
  changed(): boolean {
    const now = JSON.stringify([this.values, this.buttons])
    if (now === this.sent) return false
    this.sent = now
    return true
  }

  forget(): void {
    this.sent = ''
    this.values = []
  }
}
