/** The list of entries at the side. */
import { groupBy } from '../data/group-by'
import type { Entry } from '../messages'
import { h } from './dom'

export class EntryList {
  readonly element: HTMLElement
  private readonly items = h('div', { class: 'items', id: 'entries' })
  private chosen = ''

  constructor(private readonly choose: (id: string) => void) {
    this.element = h('nav', { class: 'list', aria: { label: 'Entries' } }, this.items)
  }

  show(entries: Entry[]): void {
    const groups = groupBy(entries, (entry) => entry.group)
    // Entries without a chapter come first: below a heading they would seem to belong to it.
    const chapters = [...groups].sort(([a], [b]) => Number(a !== '') - Number(b !== ''))
    const lines = chapters.flatMap(([group, members]) => [
      ...(group ? [h('h2', {}, group)] : []),
      ...members.map((entry) => this.line(entry)),
    ])
    this.items.replaceChildren(...lines)
  }

  private line(entry: Entry): HTMLElement {
    return h(
      'button',
      {
        type: 'button',
        class: 'entry',
        data: { id: entry.id },
        onclick: () => this.choose(entry.id),
        aria: entry.id === this.chosen ? { current: 'true' } : {},
      },
      h('span', { class: 'title' }, entry.title),
      entry.about ? h('span', { class: 'about' }, entry.about) : null,
    )
  }

  mark(id: string): void {
    this.chosen = id
    for (const item of this.items.querySelectorAll<HTMLElement>('.entry')) {
      if (item.dataset.id === id) {
        item.setAttribute('aria-current', 'true')
        item.scrollIntoView({ block: 'nearest' })
      } else item.removeAttribute('aria-current')
    }
  }
}
