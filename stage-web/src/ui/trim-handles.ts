/** Two handles on the time bar between which a take will be kept. */
import type { Player } from '../player'
import { h } from './dom'
import type { TimeBar } from './time-bar'

export class TrimHandles {
  range: [number, number] = [0, 0]

  constructor(
    private readonly element: HTMLElement,
    private readonly bar: TimeBar,
    private readonly player: Player,
  ) {
    const begin = h('div', { class: 'grip begin', title: 'Start of the part to keep' })
    const end = h('div', { class: 'grip end', title: 'End of the part to keep' })
    bar.scrubBy(begin, (time) => this.set(Math.min(time, this.range[1]), this.range[1], 0))
    bar.scrubBy(end, (time) => this.set(this.range[0], Math.max(time, this.range[0]), 1))
    element.append(begin, end)
  }

  get shown(): boolean {
    return !this.element.hidden
  }

  show(on: boolean): void {
    this.element.hidden = !on
    this.range = [this.player.start, this.player.stop]
    this.place()
  }

  /** Moves the handles, and the figure to the one that is dragged. */
  private set(start: number, stop: number, dragged: 0 | 1): void {
    this.range = [start, stop]
    this.player.seek(this.range[dragged])
    this.place()
  }

  private place(): void {
    this.element.style.left = `${this.bar.percent(this.range[0])}%`
    this.element.style.right = `${100 - this.bar.percent(this.range[1])}%`
  }
}
