/** Sticks to be moved with thumbs, for screens that are touched: two pads, and two buttons for a stick that switches. */
import { clamp } from '../geometry/numbers'
import { button, h } from './dom'

const PADS = [
  { side: 'left', across: 0, along: 1 },
  { side: 'right', across: 2, along: 3 },
] as const
const SWITCH = 4 // the stick that chooses what is guided

export class TouchSticks {
  readonly element = h('div', { class: 'touch-sticks', hidden: true })

  /** Writes the sticks into `values`, each in [−1, 1], in the order of the figure's sticks. */
  constructor(private readonly values: number[]) {}

  /** Shows pads for the sticks that a figure has. */
  load(names: string[]): void {
    this.values.length = 0
    this.element.hidden = names.length === 0
    const pads = PADS.filter(({ across }) => across < names.length).map((pad) => this.pad(pad, names))
    const switches = names.length > SWITCH ? [this.switch(names[SWITCH])] : []
    this.element.replaceChildren(...pads.slice(0, 1), ...switches, ...pads.slice(1))
  }

  private pad({ side, across, along }: (typeof PADS)[number], names: string[]): HTMLElement {
    const knob = h('i')
    const label = `${names[across]}; ${names[along] ?? ''}`
    const pad = h('div', { class: `pad ${side}`, role: 'group', aria: { label } }, knob)
    const move = (event: PointerEvent) => {
      const { left, top, width, height } = pad.getBoundingClientRect()
      const x = clamp((2 * (event.clientX - left)) / width - 1, -1, 1)
      const y = clamp(1 - (2 * (event.clientY - top)) / height, -1, 1)
      this.values[across] = x
      this.values[along] = y
      knob.style.transform = `translate(${(x * width) / 3}px, ${(-y * height) / 3}px)`
    }
    const release = () => {
      this.values[across] = this.values[along] = 0
      knob.style.transform = ''
    }
    pad.addEventListener('pointerdown', (event) => {
      pad.setPointerCapture(event.pointerId)
      move(event)
    })
    pad.addEventListener('pointermove', (event) => pad.hasPointerCapture(event.pointerId) && move(event))
    pad.addEventListener('pointerup', release)
    pad.addEventListener('pointercancel', release)
    return pad
  }

  private switch(name: string): HTMLElement {
    const one = (text: string, value: number) => {
      const element = button(null, `${name}: ${value > 0 ? 'next' : 'previous'}`, () => undefined, { text })
      element.addEventListener('pointerdown', () => (this.values[SWITCH] = value))
      for (const end of ['pointerup', 'pointercancel', 'pointerleave'])
        element.addEventListener(end, () => (this.values[SWITCH] = 0))
      return element
    }
    return h('div', { class: 'switch' }, one('‹', -1), one('›', 1))
  }
}
