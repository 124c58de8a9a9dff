/** One plot: curves of a group of channels, a legend to choose from them, and a cursor at the current time. */
import type { Channel } from '../data/channels'
import { sampleBefore } from '../data/samples'
import { clamp } from '../geometry/numbers'
import { SERIES } from '../theme'
import { busiest, type Range, shortNumber, ticks, timeAxis, valueAxis } from './chart-scale'
import { h } from './dom'

const PAD = { left: 44, right: 10, top: 8, bottom: 18 } // pixels around the curves
const SHOWN = 6 // channels at first

export class Chart {
  readonly element: HTMLElement
  private readonly curves = h('canvas')
  /** On a canvas of its own: it moves with every picture, the curves do not. */
  private readonly cursor = h('canvas', { class: 'cursor' })
  private readonly box = h('div', { class: 'box' }, this.curves, this.cursor)
  private readonly legend = h('div', { class: 'legend' })
  private readonly chosen: Set<number>
  private unfolded = false
  private time: Range = { low: 0, high: 1 }
  private value: Range = { low: 0, high: 1 }

  constructor(
    group: string,
    private readonly t: () => ArrayLike<number>,
    private readonly channels: Channel[],
    seek: ((time: number) => void) | null,
  ) {
    this.chosen = new Set(busiest(channels, SHOWN))
    const title = h('h2', {}, group, h('small', {}, channels[0].unit))
    this.element = h('section', { class: 'chart', data: { group } }, title, this.box, this.legend)
    this.fillLegend()
    if (seek !== null) this.scrubBy(seek)
  }

  /** A click or a drag in the plot moves the time. */
  private scrubBy(seek: (time: number) => void): void {
    const go = (event: PointerEvent) => {
      const { left, width } = this.box.getBoundingClientRect()
      const part = clamp((event.clientX - left - PAD.left) / (width - PAD.left - PAD.right), 0, 1)
      seek(this.time.low + part * (this.time.high - this.time.low))
    }
    this.box.addEventListener('pointerdown', (event) => {
      this.box.setPointerCapture(event.pointerId)
      go(event)
    })
    this.box.addEventListener('pointermove', (event) => {
      if (this.box.hasPointerCapture(event.pointerId)) go(event)
    })
  }

  // -- the legend ------------------------------------------------------------------------------------------------

  private fillLegend(): void {
    const shown = this.channels.map((_, k) => k).filter((k) => this.unfolded || this.chosen.has(k))
    const hidden = this.channels.length - this.chosen.size
    const more = h('button', { type: 'button', class: 'chip more' }, this.unfolded ? 'fewer' : `+ ${hidden}`)
    more.onclick = () => {
      this.unfolded = !this.unfolded
      this.fillLegend()
    }
    this.legend.replaceChildren(...shown.map((k) => this.chip(k)), ...(hidden > 0 || this.unfolded ? [more] : []))
  }

  private chip(k: number): HTMLElement {
    const on = this.chosen.has(k)
    const dot = h('i')
    dot.style.background = on ? colorOf(k) : ''
    const chip = h(
      'button',
      { type: 'button', class: 'chip', aria: { pressed: String(on) }, data: { k: String(k) } },
      dot,
      this.channels[k].name,
      h('b'),
    )
    chip.onclick = () => {
      if (on) this.chosen.delete(k)
      else this.chosen.add(k)
      this.fillLegend()
      this.draw()
    }
    return chip
  }

  // -- the curves ------------------------------------------------------------------------------------------------

  draw(): void {
    const g = this.surface(this.curves)
    if (g === null) return
    const t = this.t()
    this.time = timeAxis(t)
    this.value = valueAxis([...this.chosen].map((k) => this.channels[k].values))
    this.drawAxes(g)
    g.save()
    g.beginPath()
    g.rect(PAD.left, 0, this.width, this.box.clientHeight)
    g.clip()
    for (const k of this.chosen) this.drawCurve(g, t, this.channels[k].values, colorOf(k))
    g.restore()
  }

  /** A canvas, cleared, in CSS pixels; null while the chart is not shown. */
  private surface(canvas: HTMLCanvasElement): CanvasRenderingContext2D | null {
    const { clientWidth, clientHeight } = this.box
    const g = canvas.getContext('2d')
    if (clientWidth === 0 || g === null) return null
    const ratio = Math.min(devicePixelRatio, 2)
    const [width, height] = [Math.round(clientWidth * ratio), Math.round(clientHeight * ratio)]
    if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height })
    g.setTransform(ratio, 0, 0, ratio, 0, 0)
    g.clearRect(0, 0, clientWidth, clientHeight)
    return g
  }

  private get width(): number {
    return this.box.clientWidth - PAD.left - PAD.right
  }

  private x(time: number): number {
    const { low, high } = this.time
    return PAD.left + ((time - low) / Math.max(high - low, 1e-9)) * this.width
  }

  private y(value: number): number {
    const { low, high } = this.value
    const height = this.box.clientHeight - PAD.top - PAD.bottom
    return PAD.top + ((high - value) / Math.max(high - low, 1e-12)) * height
  }

  private drawAxes(g: CanvasRenderingContext2D): void {
    const style = getComputedStyle(this.element)
    const { clientWidth, clientHeight } = this.box
    g.font = `10px ${style.fontFamily}`
    g.strokeStyle = style.getPropertyValue('--line')
    g.fillStyle = style.getPropertyValue('--muted')
    g.lineWidth = 1
    g.textBaseline = 'middle'
    g.textAlign = 'right'
    for (const { value, label } of ticks(this.value, 3)) {
      const y = Math.round(this.y(value)) + 0.5
      g.beginPath()
      g.moveTo(PAD.left, y)
      g.lineTo(clientWidth - PAD.right, y)
      g.stroke()
      g.fillText(label, PAD.left - 6, y)
    }
    g.textBaseline = 'alphabetic'
    g.textAlign = 'center'
    for (const { value, label } of ticks(this.time, 5)) {
      const x = this.x(value)
      if (x < clientWidth - 14) g.fillText(label, x, clientHeight - 4)
    }
  }

  private drawCurve(g: CanvasRenderingContext2D, t: ArrayLike<number>, values: ArrayLike<number>, color: string): void {
    g.strokeStyle = color
    g.lineWidth = 1.5
    g.lineJoin = 'round'
    g.beginPath()
    if (values.length <= 3 * this.width) {
      for (let i = 0; i < values.length; i++) g.lineTo(this.x(t[i]), this.y(values[i]))
    } else this.traceColumns(g, t, values)
    g.stroke()
  }

  /** Of the many samples behind one column of pixels, the lowest and the highest. */
  private traceColumns(g: CanvasRenderingContext2D, t: ArrayLike<number>, values: ArrayLike<number>): void {
    let i = 0
    while (i < values.length) {
      const column = Math.floor(this.x(t[i]))
      let low = values[i]
      let high = low
      for (; i < values.length && Math.floor(this.x(t[i])) === column; i++) {
        low = Math.min(low, values[i])
        high = Math.max(high, values[i])
      }
      g.lineTo(column, this.y(low))
      g.lineTo(column, this.y(high))
    }
  }

  // -- the cursor ------------------------------------------------------------------------------------------------

  /** Moves the cursor, and shows the values there in the legend. */
  point(time: number): void {
    const g = this.surface(this.cursor)
    const t = this.t()
    if (g === null || t.length === 0) return
    const x = this.x(time)
    g.strokeStyle = getComputedStyle(this.element).getPropertyValue('--accent')
    g.lineWidth = 1
    g.beginPath()
    g.moveTo(x, PAD.top - 4)
    g.lineTo(x, this.box.clientHeight - PAD.bottom)
    g.stroke()
    const i = sampleBefore(t, time + 1e-9)
    for (const chip of this.legend.querySelectorAll<HTMLElement>('.chip[data-k]')) {
      const k = Number(chip.dataset.k)
      const value: number | undefined = this.chosen.has(k) ? this.channels[k].values[i] : undefined
      const number = chip.querySelector('b')
      if (number !== null) number.textContent = value === undefined ? '' : shortNumber(value)
      if (value === undefined) continue
      g.fillStyle = colorOf(k)
      g.beginPath()
      g.arc(x, this.y(value), 2.6, 0, 2 * Math.PI)
      g.fill()
    }
  }
}

function colorOf(k: number): string {
  return SERIES[k % SERIES.length]
}
