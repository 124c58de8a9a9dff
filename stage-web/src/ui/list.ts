/** The list at the side. */
import type { Entry } from '../model'
import { h } from './dom'

export class List {
  readonly element: HTMLElement
  private readonly items = h('div', { class: 'items', id: 'entries' })
  private entries: Entry[] = []
  private chosen = ''

  constructor(private readonly choose: (id: string) => void) {
    this.element = h('nav', { class: 'list', aria: { label: 'Entries' } }, this.items)
  }

  show(entries: Entry[]): void {
    this.entries = entries
    const groups = new Map<string, Entry[]>()
    for (const entry of entries) groups.set(entry.group, [...(groups.get(entry.group) ?? []), entry])
    this.items.replaceChildren(
      ...[...groups].flatMap(([group, members]) => [
        group ? h('h2', {}, group) : '',
        ...members.map((entry) => this.line(entry)),
      ]),
    )
  }

  private line(entry: Entry): HTMLElement {
    return h(
      'button',
      {
        type: 'button', class: 'entry', data: { id: entry.id }, onclick: () => this.choose(entry.id),
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

  /** The entry before or after the chosen one. */
  neighbour(by: 1 | -1): string | null {
    const k = this.entries.findIndex((e) => e.id === this.chosen)
    return this.entries[k + by]?.id ?? null
  }

  entry(id: string): Entry | undefined {
    return this.entries.find((e) => e.id === id)
  }
}
