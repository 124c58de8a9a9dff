/** The list of entries, and the one that is open. */
import type { Entry, EntryList } from './messages'
import type { Opened, Source } from './source'

/** What the page does when entries come and go. */
export interface EntryEvents {
  listed(list: EntryList): void
  opening(id: string): void
  opened(opened: Opened): void
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
  ) {}

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
      this.opened = opened
      this.events.opened(opened)
    } catch (problem) {
      this.events.failed(problem)
    } finally {
      if (this.wanted === id) this.events.settled()
    }
  }

  openNext(): void {
    const next = this.all[this.all.findIndex((entry) => entry.id === this.wanted) + 1]
    if (next !== undefined) void this.open(next.id)
  }
}
