/** Plots beside the view, linked to the cursor of the time line. */
import type { Channel, Channels } from '../channels'
import { sampleBefore } from '../samples'
import { SERIES } from '../theme'
import { h } from './dom'

const PAD = { left: 44, right: 10, top: 8, bottom: 18 }
const SHOWN = 6

function nice(span: number, about: number): number {
  const raw = span / about
  const power = 10 ** Math.floor(Math.log10(raw))
  return power * ([1, 2, 5].find((s) => s * power >= raw) ?? 10)
}

function label(value: number, step: number): string {
  const digits = Math.max(0, -Math.floor(Math.log10(step) + 1e-9))
  return Math.abs(value) >= 1e5 ? value.toExponential(0) : value.toFixed(Math.min(digits, 4))
}

/** Three digits; what is nothing but rounding is nothing. */
function short(value: number): string {
  return Math.abs(value) < 1e-9 ? '0' : value.toPrecision(3)
}

class Chart {
  readonly element: HTMLElement
  private readonly curves = h('canvas')
  private readonly cursor = h('canvas', { class: 'cursor' })
  private readonly legend = h('div', { class: 'legend' })
  private readonly chosen = new Set<number>()
  private readonly box: HTMLElement
  private open = false
  private range: [number, number, number, number] = [0, 1, 0, 1]

  constructor(
    readonly group: string, private readonly t: () => ArrayLike<number>, private readonly channels: Channel[],
    seek: ((time: number) => void) | null,
  ) {
    for (const k of busiest(channels)) this.chosen.add(k)
    this.box = h('div', { class: 'box' }, this.curves, this.cursor)
    const unit = channels[0].unit
    this.element = h('section', { class: 'chart', data: { group } }, h('h3', {}, group, h('small', {}, unit)), this.box, this.legend)
    this.fillLegend()
    if (seek !== null) this.scrubs(seek)
  }

  private scrubs(seek: (time: number) => void): void {
    const go = (event: PointerEvent) => {
      const { left, width } = this.box.getBoundingClientRect()
      const x = (event.clientX - left - PAD.left) / (width - PAD.left - PAD.right)
      seek(this.range[0] + Math.min(Math.max(x, 0), 1) * (this.range[1] - this.range[0]))
    }
    this.box.addEventListener('pointerdown', (event) => {
      this.box.setPointerCapture(event.pointerId)
      go(event)
    })
    this.box.addEventListener('pointermove', (event) => {
      if (this.box.hasPointerCapture(event.pointerId)) go(event)
    })
  }

  private fillLegend(): void {
    const items = this.channels.map((channel, k) => {
      const on = this.chosen.has(k)
      if (!on && !this.open) return null
      const dot = h('i')
      dot.style.background = on ? SERIES[k % SERIES.length] : ''
      const value = h('b')
      const chip = h('button', { type: 'button', class: 'chip', aria: { pressed: String(on) }, data: { k: String(k) } }, dot, channel.name, value)
      chip.onclick = () => {
        if (on) this.chosen.delete(k)
        else this.chosen.add(k)
        this.fillLegend()
        this.draw()
      }
      return chip
    })
    const hidden = this.channels.length - this.chosen.size
    const more = h('button', { type: 'button', class: 'chip more' }, this.open ? 'less' : `+ ${hidden}`)
    more.onclick = () => {
      this.open = !this.open
      this.fillLegend()
    }
    this.legend.replaceChildren(...items.filter((i) => i !== null), ...(hidden > 0 || this.open ? [more] : []))
  }

  private surface(canvas: HTMLCanvasElement): CanvasRenderingContext2D {
    const ratio = Math.min(devicePixelRatio, 2)
    const { clientWidth: w, clientHeight: height } = this.box
    if (canvas.width !== Math.round(w * ratio) || canvas.height !== Math.round(height * ratio)) {
      canvas.width = Math.round(w * ratio)
      canvas.height = Math.round(height * ratio)
    }
    const g = canvas.getContext('2d')!
    g.setTransform(ratio, 0, 0, ratio, 0, 0)
    g.clearRect(0, 0, w, height)
    return g
  }

  private x(time: number): number {
    const [a, b] = this.range
    return PAD.left + ((time - a) / Math.max(b - a, 1e-9)) * (this.box.clientWidth - PAD.left - PAD.right)
  }

  private y(value: number): number {
    const [, , low, high] = this.range
    return PAD.top + ((high - value) / Math.max(high - low, 1e-12)) * (this.box.clientHeight - PAD.top - PAD.bottom)
  }

  draw(): void {
    if (this.box.clientWidth === 0) return
    const t = this.t()
    const g = this.surface(this.curves)
    const style = getComputedStyle(this.element)
    this.fit(t)
    this.axes(g, style)
    g.save()
    g.beginPath()
    g.rect(PAD.left, 0, this.box.clientWidth - PAD.left - PAD.right, this.box.clientHeight)
    g.clip()
    for (const k of this.chosen) this.curve(g, t, this.channels[k].values, SERIES[k % SERIES.length])
    g.restore()
  }

  private fit(t: ArrayLike<number>): void {
    let low = Infinity
    let high = -Infinity
    for (const k of this.chosen) {
      const { values } = this.channels[k]
      for (let i = 0; i < values.length; i++) {
        low = Math.min(low, values[i])
        high = Math.max(high, values[i])
      }
    }
    if (!(high >= low)) [low, high] = [0, 1]
    if (high - low < 1e-6 * Math.max(Math.abs(high), 1)) {
      const half = Math.max(0.1 * Math.abs(high), 1e-3)
      low -= half
      high += half
    }
    const margin = 0.06 * (high - low)
    const end = t.length > 0 ? t[t.length - 1] : 1
    const start = t.length > 0 ? t[0] : 0
    this.range = [start, Math.max(end, start + 1e-3), low - margin, high + margin]
  }

  private axes(g: CanvasRenderingContext2D, style: CSSStyleDeclaration): void {
    const [a, b, low, high] = this.range
    g.font = `10px ${style.fontFamily}`
    g.strokeStyle = style.getPropertyValue('--line')
    g.fillStyle = style.getPropertyValue('--muted')
    g.lineWidth = 1
    g.textBaseline = 'middle'
    g.textAlign = 'right'
    const dy = nice(high - low, 3)
    for (let v = Math.ceil(low / dy) * dy; v <= high; v += dy) {
      const y = Math.round(this.y(v)) + 0.5
      g.beginPath()
      g.moveTo(PAD.left, y)
      g.lineTo(this.box.clientWidth - PAD.right, y)
      g.stroke()
      g.fillText(label(Math.abs(v) < 1e-9 * dy ? 0 : v, dy), PAD.left - 6, y)
    }
    g.textBaseline = 'alphabetic'
    g.textAlign = 'center'
    const dx = nice(b - a, 5)
    for (let v = Math.ceil(a / dx) * dx; v <= b; v += dx) {
      const x = this.x(v)
      if (x < this.box.clientWidth - 14) g.fillText(label(v, dx), x, this.box.clientHeight - 4)
    }
  }

  /** Of the many samples behind one column of pixels, the lowest and the highest. */
  private curve(g: CanvasRenderingContext2D, t: ArrayLike<number>, values: ArrayLike<number>, color: string): void {
    g.strokeStyle = color
    g.lineWidth = 1.5
    g.lineJoin = 'round'
    g.beginPath()
    const n = values.length
    const width = this.box.clientWidth - PAD.left - PAD.right
    if (n <= 3 * width) {
      for (let i = 0; i < n; i++) g.lineTo(this.x(t[i]), this.y(values[i]))
    } else {
      let i = 0
      while (i < n) {
        const column = Math.floor(this.x(t[i]))
        let low = values[i]
        let high = low
        for (; i < n && Math.floor(this.x(t[i])) === column; i++) {
          low = Math.min(low, values[i])
          high = Math.max(high, values[i])
        }
        g.lineTo(column, this.y(low))
        g.lineTo(column, this.y(high))
      }
    }
    g.stroke()
  }

  point(time: number): void {
    if (this.box.clientWidth === 0) return
    const g = this.surface(this.cursor)
    const t = this.t()
    if (t.length === 0) return
    const style = getComputedStyle(this.element)
    const x = this.x(time)
    g.strokeStyle = style.getPropertyValue('--accent')
    g.lineWidth = 1
    g.beginPath()
    g.moveTo(x, PAD.top - 4)
    g.lineTo(x, this.box.clientHeight - PAD.bottom)
    g.stroke()
    const i = sampleBefore(t, time + 1e-9)
    for (const chip of this.legend.querySelectorAll<HTMLElement>('.chip[data-k]')) {
      const k = Number(chip.dataset.k)
      const value = this.channels[k].values[i]
      chip.querySelector('b')!.textContent = this.chosen.has(k) && value !== undefined ? short(value) : ''
      if (this.chosen.has(k) && value !== undefined) {
        g.fillStyle = SERIES[k % SERIES.length]
        g.beginPath()
        g.arc(x, this.y(value), 2.6, 0, 2 * Math.PI)
        g.fill()
      }
    }
  }
}

/** The channels that move most; all of them where there are few. */
function busiest(channels: Channel[]): number[] {
  const span = channels.map(({ values }, k) => {
    let low = Infinity
    let high = -Infinity
    const stride = Math.max(Math.floor(values.length / 500), 1)
    for (let i = 0; i < values.length; i += stride) {
      low = Math.min(low, values[i])
      high = Math.max(high, values[i])
    }
    return { k, span: high - low }
  })
  return span.sort((a, b) => b.span - a.span).slice(0, SHOWN).map((s) => s.k).sort((a, b) => a - b)
}

export class Plots {
  readonly element = h('aside', { class: 'plots', id: 'plots', aria: { label: 'Plots' } })
  private charts: Chart[] = []
  private dirty = true

  constructor() {
    new ResizeObserver(() => (this.dirty = true)).observe(this.element)
  }

  load(channels: Channels, seek: ((time: number) => void) | null): void {
    const groups = new Map<string, Channel[]>()
    for (const c of channels.all) groups.set(c.group, [...(groups.get(c.group) ?? []), c])
    if (seek !== null && channels.t.length < 2) groups.clear() // one sample is no curve
    this.charts = [...groups].map(([group, members]) => new Chart(group, () => channels.t, members, seek))
    const nothing = h('p', { class: 'empty' }, 'Nothing to plot.')
    this.element.replaceChildren(...(this.charts.length > 0 ? this.charts.map((c) => c.element) : [nothing]))
    this.dirty = true
  }

  redraw(): void {
    this.dirty = true
  }

  get visible(): boolean {
    return this.element.clientWidth > 0
  }

  update(time: number): void {
    if (!this.visible) return
    if (this.dirty) this.charts.forEach((c) => c.draw())
    this.dirty = false
    this.charts.forEach((c) => c.point(time))
  }
}
