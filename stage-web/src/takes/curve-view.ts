/** The curve of one joint over time: what was recorded, what is seen, the keys of a layer, and the playhead. */
import { clamp } from '../geometry/numbers'
import { type Range, ticks, timeAxis, valueAxis } from '../ui/chart-scale'
import { h } from '../ui/dom'

/** A curve to show, in the unit of its axis. */
export interface ShownCurve {
  t: ArrayLike<number>
  seen: ArrayLike<number>
  recorded: ArrayLike<number>
  keys: ShownKey[]
  unit: string
}

export interface ShownKey {
  t: number
  value: number
}

export interface CurveEvents {
  seek(time: number): void
  select(key: ShownKey | null): void
  /** A key is being moved, and where it is now. */
  drag(from: number, to: ShownKey): void
  /** It stays there. */
  drop(from: number, to: ShownKey): void
  remove(key: ShownKey): void
}

const PAD = { left: 50, right: 14, top: 12, bottom: 20 } // pixels around the curve
const CLICK_PIXELS = 3
const ARROWS: Record<string, [time: number, value: number]> = {
  ArrowLeft: [-1, 0],
  ArrowRight: [1, 0],
  ArrowUp: [0, 1],
  ArrowDown: [0, -1],
}

export class CurveView {
  readonly element: HTMLElement
  private readonly canvas = h('canvas')
  private readonly playhead = h('div', { class: 'playhead' })
  private readonly keys = h('div', { class: 'keyframes' })
  private curve: ShownCurve = { t: [0], seen: [0], recorded: [0], keys: [], unit: '' }
  private selected: number | null = null
  private time: Range = { low: 0, high: 1 }
  private value: Range = { low: 0, high: 1 }
  /** While a key is dragged the axes stay, or the key would run away from the hand. */
  private dragging = false
  private now = 0

  constructor(private readonly events: CurveEvents) {
    this.element = h('div', { class: 'curve' }, this.canvas, this.playhead, this.keys)
    this.scrub()
    new ResizeObserver(() => this.draw()).observe(this.element)
  }

  show(curve: ShownCurve, selected: number | null): void {
    this.curve = curve
    this.selected = selected
    this.draw()
  }

  point(time: number): void {
    this.now = time
    this.playhead.style.left = `${this.x(time)}px`
  }

  /** A click or a drag beside the keys moves the playhead. */
  private scrub(): void {
    const go = (event: PointerEvent) => this.events.seek(this.timeAt(event.clientX))
    this.canvas.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return
      this.canvas.setPointerCapture(event.pointerId)
      this.events.select(null)
      go(event)
    })
    this.canvas.addEventListener('pointermove', (event) => {
      if (this.canvas.hasPointerCapture(event.pointerId)) go(event)
    })
  }

  // -- axes ------------------------------------------------------------------------------------------------------

  private get width(): number {
    return Math.max(this.element.clientWidth - PAD.left - PAD.right, 1)
  }

  private get height(): number {
    return Math.max(this.element.clientHeight - PAD.top - PAD.bottom, 1)
  }

  private x(time: number): number {
    return PAD.left + ((time - this.time.low) / (this.time.high - this.time.low)) * this.width
  }

  private y(value: number): number {
    return PAD.top + ((this.value.high - value) / (this.value.high - this.value.low)) * this.height
  }

  private timeAt(clientX: number): number {
    const part = (clientX - this.element.getBoundingClientRect().left - PAD.left) / this.width
    return this.time.low + clamp(part, 0, 1) * (this.time.high - this.time.low)
  }

  private valueAt(clientY: number): number {
    const part = (clientY - this.element.getBoundingClientRect().top - PAD.top) / this.height
    return this.value.high - part * (this.value.high - this.value.low)
  }

  // -- drawing ---------------------------------------------------------------------------------------------------

  draw(): void {
    const { clientWidth, clientHeight } = this.element
    const g = this.canvas.getContext('2d')
    if (clientWidth === 0 || g === null) return
    const { t, seen, recorded } = this.curve
    if (!this.dragging) {
      this.time = timeAxis(t)
      this.value = valueAxis([seen, Array.from(recorded).filter(Number.isFinite)])
    }
    const ratio = Math.min(devicePixelRatio, 2)
    Object.assign(this.canvas, { width: Math.round(clientWidth * ratio), height: Math.round(clientHeight * ratio) })
    g.setTransform(ratio, 0, 0, ratio, 0, 0)
    this.drawAxes(g)
    const style = getComputedStyle(this.element)
    this.trace(g, recorded, style.getPropertyValue('--muted'), 1, [3, 4])
    this.trace(g, seen, style.getPropertyValue('--accent'), 2, [])
    this.placeKeys()
    this.point(this.now)
  }

  private drawAxes(g: CanvasRenderingContext2D): void {
    const style = getComputedStyle(this.element)
    const { clientWidth, clientHeight } = this.element
    g.font = `10px ${style.fontFamily}`
    g.strokeStyle = style.getPropertyValue('--line')
    g.fillStyle = style.getPropertyValue('--muted')
    g.textBaseline = 'middle'
    g.textAlign = 'right'
    for (const { value, label } of ticks(this.value, 4)) {
      const y = Math.round(this.y(value)) + 0.5
      g.beginPath()
      g.moveTo(PAD.left, y)
      g.lineTo(clientWidth - PAD.right, y)
      g.stroke()
      g.fillText(`${label}${this.curve.unit}`, PAD.left - 6, y)
    }
    g.textAlign = 'center'
    for (const { value, label } of ticks(this.time, 8)) g.fillText(`${label} s`, this.x(value), clientHeight - 8)
  }

  private trace(g: CanvasRenderingContext2D, values: ArrayLike<number>, color: string, width: number, dash: number[]) {
    const { t } = this.curve
    g.strokeStyle = color
    g.lineWidth = width
    g.lineJoin = 'round'
    g.setLineDash(dash)
    g.beginPath()
    let pen = false
    for (let i = 0; i < values.length; i++) {
      const known = Number.isFinite(values[i])
      if (known && pen) g.lineTo(this.x(t[i]), this.y(values[i]))
      else if (known) g.moveTo(this.x(t[i]), this.y(values[i]))
      pen = known
    }
    g.stroke()
    g.setLineDash([])
  }

  // -- keys ------------------------------------------------------------------------------------------------------

  /** Buttons are kept while they are dragged: a new one would lose the pointer. */
  private placeKeys(): void {
    const { keys, unit } = this.curve
    while (this.keys.children.length > keys.length) this.keys.lastElementChild?.remove()
    while (this.keys.children.length < keys.length) this.keys.append(this.keyButton())
    keys.forEach((key, k) => {
      const button = this.keys.children[k] as HTMLElement
      button.style.left = `${this.x(key.t)}px`
      button.style.top = `${this.y(key.value)}px`
      button.title = `Key at ${key.t.toFixed(2)} s: ${key.value.toPrecision(3)}${unit}`
      button.setAttribute('aria-label', button.title)
      button.setAttribute('aria-pressed', String(key.t === this.selected))
    })
  }

  private keyOf(button: HTMLElement): ShownKey | undefined {
    return this.curve.keys[[...this.keys.children].indexOf(button)]
  }

  private keyButton(): HTMLElement {
    const button = h('button', { type: 'button', class: 'keyframe' })
    button.addEventListener('pointerdown', (event) => this.grab(button, event))
    button.addEventListener('focus', () => {
      const key = this.keyOf(button)
      if (key !== undefined && !this.dragging && key.t !== this.selected) this.events.select(key)
    })
    button.addEventListener('keydown', (event) => this.nudge(button, event))
    return button
  }

  private grab(button: HTMLElement, event: PointerEvent): void {
    const key = this.keyOf(button)
    if (event.button !== 0 || key === undefined) return
    event.preventDefault()
    button.setPointerCapture(event.pointerId)
    this.dragging = true
    button.focus()
    this.events.select(key)
    const [x, y] = [event.clientX, event.clientY]
    let moved = false
    const to = (e: PointerEvent) => ({
      t: this.timeAt(e.clientX - x + this.left + this.x(key.t)),
      value: this.valueAt(e.clientY - y + this.top + this.y(key.value)),
    })
    const move = (e: PointerEvent) => {
      moved ||= Math.hypot(e.clientX - x, e.clientY - y) > CLICK_PIXELS
      if (moved) this.events.drag(key.t, to(e))
    }
    const end = (e: PointerEvent) => {
      button.removeEventListener('pointermove', move)
      button.removeEventListener('pointerup', end)
      button.removeEventListener('pointercancel', end)
      this.dragging = false
      this.events.drop(key.t, moved && e.type === 'pointerup' ? to(e) : key)
    }
    button.addEventListener('pointermove', move)
    button.addEventListener('pointerup', end)
    button.addEventListener('pointercancel', end)
  }

  private get left(): number {
    return this.element.getBoundingClientRect().left
  }

  private get top(): number {
    return this.element.getBoundingClientRect().top
  }

  /** Arrows move a key by a sample, or by a hundredth of the height; Delete removes it. */
  private nudge(button: HTMLElement, event: KeyboardEvent): void {
    const key = this.keyOf(button)
    if (key === undefined) return
    const { t } = this.curve
    const arrow = ARROWS[event.key]
    if (arrow === undefined && event.key !== 'Delete' && event.key !== 'Backspace') return
    event.preventDefault()
    event.stopPropagation()
    if (arrow === undefined) {
      this.events.remove(key)
      return
    }
    const sample = (t[t.length - 1] - t[0]) / Math.max(t.length - 1, 1)
    const hundredth = (this.value.high - this.value.low) / 100
    this.events.drop(key.t, { t: key.t + arrow[0] * sample, value: key.value + arrow[1] * hundredth })
  }
}
