/** The list of entries, and the one that is open, which the address of the page names. */
import { hashOf, named } from './address'
import type { Entry, EntryList } from './messages'
import type { Opened, Source } from './source'

/** What the page does when entries come and go. */
export interface EntryEvents {
  listed(list: EntryList): void
  opening(id: string): void
  opened(opened: Opened): void
  /** The open entry was edited. */
  refreshed(opened: Opened): void
  /** Opening has ended, well or not. */
  settled(): void
  failed(problem: unknown): void
}

export class Entries {
  opened: Opened | null = null
  exports: string[] = []
  private all: Entry[] = []
  /** The entry that was asked for last: an earlier one that comes late is not shown. */
  private wanted = ''

  constructor(
    private readonly source: Source,
    private readonly events: EntryEvents,
  ) {
    addEventListener('popstate', () => {
      const entry = named(this.all, location.hash)
      if (entry !== undefined && entry.id !== this.wanted) void this.open(entry.id)
    })
  }

  /** The entry that the address names, or else the first that is no take. */
  async openFirst(): Promise<void> {
    const first = named(this.all, location.hash) ?? this.all.find((entry) => !entry.take) ?? this.all[0]
    if (first !== undefined) await this.open(first.id)
  }

  entry(id: string): Entry | undefined {
    return this.all.find((entry) => entry.id === id)
  }

  async reload(): Promise<Entry[]> {
    try {
      const list = await this.source.list()
      this.all = list.entries
      this.exports = list.exports
      this.events.listed(list)
      return list.entries
    } catch (problem) {
      this.events.failed(problem)
      return []
    }
  }

  async open(id: string): Promise<void> {
    this.wanted = id
    this.events.opening(id)
    try {
      const opened = await this.source.open(id)
      if (this.wanted !== id) return
      const first = this.opened === null
      this.opened = opened
      this.showInAddress(id, first)
      this.events.opened(opened)
    } catch (problem) {
      if (this.wanted === id) this.events.failed(problem)
    } finally {
      if (this.wanted === id) this.events.settled()
    }
  }

  /** Loads the open entry again, which was edited. */
  async refresh(): Promise<void> {
    const id = this.opened?.piece.id
    if (id === undefined || this.wanted !== id) return
    const opened = await this.source.open(id)
    if (this.wanted !== id) return
    this.opened = opened
    this.showInAddress(id, true)
    this.events.refreshed(opened)
  }

  /** Goes back to the entry before the one that is being opened; to none if there was none. */
  giveUp(): void {
    const before = this.opened
    this.wanted = before?.piece.id ?? ''
    this.events.settled()
    if (before === null) return
    this.events.opening(before.piece.id)
    this.events.opened(before)
    this.events.settled()
  }

  /** The first entry replaces what the address said: Back then leaves the page. A page in a notebook has no address of its own. */
  private showInAddress(id: string, first: boolean): void {
    if (location.protocol === 'about:') return
    const hash = hashOf(this.all, id)
    if (hash === '' || hash === location.hash) return
    if (first) history.replaceState(null, '', hash)
    else history.pushState(null, '', hash)
  }

  openNext(): void {
    const next = this.all[this.all.findIndex((entry) => entry.id === this.wanted) + 1]
    if (next !== undefined) void this.open(next.id)
  }
}
