/** Sticks: a gamepad with a mapping and a dead zone, and the keyboard for those who have none. */
import { clamp } from '../geometry/numbers'
import { DRIVING_KEYS, isTyping } from '../keys'
import { readStored, writeStored } from '../storage'

export interface Mapping {
  /** For each stick of the figure: which axis of the gamepad, −1 for none. */
  axis: number[]
  invert: boolean[]
  deadZone: number
}

const STORAGE = 'bunraku-gamepad'
const DEFAULT: Mapping = {
  axis: [0, 1, 2, 3, -1, -1, -1],
  invert: [false, true, false, true, false, false, false], // gamepads say −1 for up
  deadZone: 0.12,
}
const MOST_BUTTONS = 16
const REPEAT = 1000 // ms

/** Zero inside the dead zone, and the full range from its edge on. */
export function withDeadZone(value: number, deadZone: number): number {
  const size = Math.abs(value)
  return size <= deadZone ? 0 : Math.sign(value) * Math.min((size - deadZone) / (1 - deadZone), 1)
}

export class Sticks {
  readonly mapping: Mapping = storedMapping() ?? structuredClone(DEFAULT)
  /** What the figure gets, each in [−1, 1]. */
  values: number[] = []
  buttons: boolean[] = []
  /** What thumbs on the screen say, in the order of the figure's sticks. */
  readonly touch: number[] = []
  pad: Gamepad | null = null
  private readonly pressed = new Set<string>()
  private sent = ''
  private sentAt = 0

  constructor() {
    addEventListener('keydown', (event) => !isTyping(event) && this.key(event, true))
    addEventListener('keyup', (event) => this.key(event, false))
    addEventListener('blur', () => this.pressed.clear())
  }

  /** Keeps the mapping for the next visit. */
  store(): void {
    writeStored(STORAGE, JSON.stringify(this.mapping))
  }

  private key(event: KeyboardEvent, down: boolean): void {
    const key = event.key.length === 1 ? event.key.toLowerCase() : event.key
    if (!DRIVING_KEYS.some((driving) => driving.key === key)) return
    if (down) this.pressed.add(key)
    else this.pressed.delete(key)
    if (this.values.length > 0 && down) event.preventDefault() // arrows would scroll
  }

  /** Reads gamepad and keys for a figure with so many sticks. */
  poll(count: number): void {
    this.pad = [...(navigator.getGamepads?.() ?? [])].find((pad) => pad?.connected) ?? null
    this.values = Array.from({ length: count }, (_, k) => this.read(k))
    this.buttons = (this.pad?.buttons ?? []).slice(0, MOST_BUTTONS).map((button) => button.pressed)
  }

  private read(k: number): number {
    const axis = this.mapping.axis[k] ?? -1
    let value = axis < 0 || this.pad === null ? 0 : withDeadZone(this.pad.axes[axis] ?? 0, this.mapping.deadZone)
    if (this.mapping.invert[k]) value = -value
    value += this.touch[k] ?? 0
    for (const { key, stick, direction } of DRIVING_KEYS) {
      if (stick === k && this.pressed.has(key)) value += direction
    }
    return clamp(Math.round(value * 1000) / 1000, -1, 1) + 0 // no −0
  }

  /** True once for each change, and now and then while a stick is held: who holds one is not silent. */
  changed(): boolean {
    const now = JSON.stringify([this.values, this.buttons])
    const held = this.values.some((value) => value !== 0) && performance.now() > this.sentAt + REPEAT
    if (now === this.sent && !held) return false
    this.sent = now
    this.sentAt = performance.now()
    return true
  }

  forget(): void {
    this.sent = ''
    this.values = []
  }
}

function storedMapping(): Mapping | null {
  try {
    const stored = JSON.parse(readStored(STORAGE) ?? 'null')
    const valid = Array.isArray(stored?.axis) && Array.isArray(stored.invert) && Number.isFinite(stored.deadZone)
    return valid ? stored : null
  } catch {
    return null // damaged: start with the default
  }
}
