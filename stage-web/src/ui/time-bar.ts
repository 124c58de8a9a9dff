/** The bar of the time line: the time of the player, marks, and dragging either to another time. */
import { clamp } from '../geometry/numbers'
import type { Mark } from '../messages'
import type { Player } from '../player'
import { h } from './dom'

/** Hundredths of the motion that a key moves by, as sliders do. */
const KEY_STEPS: Record<string, number> = {
  ArrowRight: 1,
  ArrowUp: 1,
  PageUp: 10,
  ArrowLeft: -1,
  ArrowDown: -1,
  PageDown: -10,
}

export class TimeBar {
  readonly element: HTMLElement
  private readonly done = h('div', { class: 'done' })
  private readonly knob = h('div', { class: 'knob' })
  private readonly marks = h('div', { class: 'marks' })

  constructor(
    private readonly player: Player,
    overlay: HTMLElement,
  ) {
    this.element = h(
      'div',
      { class: 'bar', id: 'bar', tabIndex: 0, role: 'slider', aria: { label: 'Time' } },
      h('div', { class: 'rail' }),
      this.done,
      overlay,
      this.marks,
      this.knob,
    )
    this.scrubBy(this.element, (time) => player.seek(time))
    this.element.addEventListener('keydown', (event) => this.key(event))
  }

  private key(event: KeyboardEvent): void {
    const by = KEY_STEPS[event.key]
    if (by === undefined) return
    event.preventDefault()
    event.stopPropagation() // while the bar has the focus these keys are its own; elsewhere arrows drive
    this.player.pause()
    this.player.seek(this.player.time + (by * this.player.duration) / 100)
  }

  /** Lets an element on the bar be dragged: playing pauses meanwhile. */
  scrubBy(element: HTMLElement, act: (time: number) => void): void {
    element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return
      event.preventDefault()
      event.stopPropagation()
      element.setPointerCapture(event.pointerId)
      const wasPlaying = this.player.playing
      this.player.pause()
      const mark = (event.target as HTMLElement).dataset.t
      act(mark === undefined ? this.timeAt(event) : Number(mark)) // exactly the mark, not the pixel beside it
      const move = (e: PointerEvent) => act(this.timeAt(e))
      const end = () => {
        element.removeEventListener('pointermove', move)
        if (wasPlaying) this.player.toggle()
      }
      element.addEventListener('pointermove', move)
      element.addEventListener('pointerup', end, { once: true })
      element.addEventListener('pointercancel', end, { once: true })
    })
  }

  private timeAt(event: PointerEvent): number {
    const { left, width } = this.element.getBoundingClientRect()
    return this.player.start + clamp((event.clientX - left) / width, 0, 1) * this.player.duration
  }

  /** Where a time is on the bar [%]. */
  percent(time: number): number {
    return (100 * (time - this.player.start)) / Math.max(this.player.duration, 1e-9)
  }

  showMarks(marks: Mark[]): void {
    this.marks.replaceChildren(
      ...marks.map((mark) => {
        const title = `${mark.text} (${mark.t.toFixed(2)} s)`
        const tick = h('div', { class: 'mark', title, data: { kind: mark.kind, t: String(mark.t) } })
        tick.style.left = `${this.percent(mark.t)}%`
        return tick
      }),
    )
  }

  update(): void {
    const { time, start, stop, duration } = this.player
    const part = duration > 0 ? (time - start) / duration : 0
    this.done.style.transform = `scaleX(${part})`
    this.knob.style.left = `${100 * part}%`
    this.element.setAttribute('aria-valuenow', time.toFixed(2))
    this.element.setAttribute('aria-valuemin', start.toFixed(2))
    this.element.setAttribute('aria-valuemax', stop.toFixed(2))
  }
}
