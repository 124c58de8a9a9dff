/** Plots beside the view, linked to the cursor of the time line. */
import type { Channels } from '../data/channels'
import { groupBy } from '../data/group-by'
import { Chart } from './chart'
import { h } from './dom'

export class Plots {
  readonly element = h('aside', { class: 'plots', id: 'plots', aria: { label: 'Plots' } })
  private charts: Chart[] = []
  private stale = true

  constructor() {
    new ResizeObserver(() => this.redraw()).observe(this.element)
  }

  /** One chart for each group of channels; `seek` is null for live figures, whose time cannot be set. */
  load(channels: Channels, seek: ((time: number) => void) | null): void {
    const still = seek !== null && channels.t.length < 2 // one sample makes no curve
    const groups = still ? new Map() : groupBy(channels.all, (channel) => channel.group)
    this.charts = [...groups].map(([group, members]) => new Chart(group, () => channels.t, members, seek))
    const nothing = h('p', { class: 'empty' }, 'Nothing to plot')
    this.element.replaceChildren(...(this.charts.length > 0 ? this.charts.map((chart) => chart.element) : [nothing]))
    this.redraw()
  }

  /** The curves have changed: draws them at the next update. */
  redraw(): void {
    this.stale = true
  }

  get visible(): boolean {
    return this.element.clientWidth > 0
  }

  update(time: number): void {
    if (!this.visible) return
    for (const chart of this.charts) {
      if (this.stale) chart.draw()
      chart.point(time)
    }
    this.stale = false
  }
}
