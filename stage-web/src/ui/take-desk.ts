/** What can be done with a recorded piece: trim and edit it, undo that, rename or delete it, export it. */
import { saveAs } from '../download'
import type { Entry, ExportWish, Piece, Progress, TakeEdit } from '../messages'
import { post } from '../source'
import { button, h, press } from './dom'
import type { Working } from './notices'
import { askTitle } from './rename'

/** What the desk needs of the page. */
export interface TakeHost {
  entries: {
    readonly opened: { readonly piece: Piece } | null
    /** Formats that the server can write. */
    readonly exports: string[]
    entry(id: string): Entry | undefined
    reload(): Promise<unknown>
    refresh(): Promise<void>
    openFirst(): Promise<void>
  }
  /** The handles on the time line between which a take is kept. */
  trim: {
    readonly shown: boolean
    readonly range: [number, number]
    show(on: boolean): void
  }
  /** Where the page looks from; null while it follows a figure. */
  camera(): ExportWish | null
  /** Opens or closes the curve editor. */
  toggleEditor(): void
  notices: {
    begin(text: string): Working
    fail(problem: unknown): void
  }
}

const FORMATS: Record<string, string> = {
  npz: 'Motion (NPZ)',
  csv: 'Table (CSV)',
  glb: 'GLB (Blender)',
  bvh: 'BVH',
  mp4: 'Video (MP4)',
  html: 'Web page (HTML)',
}

export class TakeDesk {
  readonly elements: HTMLElement[]
  private readonly curves = button('curve', 'Edit curves, keys and layers (C)', () => this.host.toggleEditor(), {
    text: 'Edit',
    id: 'edit-take',
  })
  private readonly cut = button('cut', 'Trim this take', () => this.toggleTrim(), { id: 'trim' })
  private readonly keep = button(null, 'Keep only what is between the handles', () => void this.trim(), {
    text: 'Keep',
    class: 'primary',
    id: 'trim-apply',
  })
  private readonly undo = button('undo', 'Undo (Z)', () => void this.edit({ edit: 'undo' }), { id: 'undo' })
  private readonly redo = button('redo', 'Redo', () => void this.edit({ edit: 'redo' }), { id: 'redo' })
  private readonly rename = button('pen', 'Rename this take', () => this.askTitle(), { id: 'rename' })
  private readonly remove = button('bin', 'Delete this take', () => void this.delete(), { id: 'delete' })
  private readonly menu = h('div', { class: 'menu' })
  private readonly download = h(
    'details',
    { class: 'export', id: 'export' },
    h('summary', { title: 'Export as a file' }, 'Export'),
    this.menu,
  )

  /** Edits that the page does not show yet. */
  saving = 0
  /** Exports that go on, by entry. */
  private readonly exporting = new Map<string, Working>()

  constructor(private readonly host: TakeHost) {
    this.elements = [this.curves, this.cut, this.keep, this.undo, this.redo, this.rename, this.remove, this.download]
    addEventListener('click', (event) => {
      if (!this.download.contains(event.target as Node)) this.download.open = false
    })
  }

  private toggleTrim(): void {
    this.host.trim.show(!this.host.trim.shown)
    this.update()
  }

  private async trim(): Promise<void> {
    const [start, stop] = this.host.trim.range
    await this.edit({ edit: 'trim', start, stop })
  }

  private askTitle(): void {
    askTitle(this.host.entries.opened?.piece.title ?? '', (title) => void this.edit({ edit: 'rename', title }))
  }

  private async delete(): Promise<void> {
    const title = this.host.entries.opened?.piece.title ?? ''
    if (confirm(`Delete “${title}”? This cannot be undone.`)) await this.edit({ edit: 'delete' })
  }

  /** Edits the open take; false if that was refused. */
  async edit(edit: TakeEdit): Promise<boolean> {
    const { entries, notices } = this.host
    const id = entries.opened?.piece.id
    if (id === undefined || !entries.entry(id)?.take) return false
    this.saving++
    try {
      await post(`/api/takes/${id}`, JSON.stringify(edit))
      await entries.reload()
      if (edit.edit === 'delete') await entries.openFirst()
      else await entries.refresh()
      return true
    } catch (problem) {
      notices.fail(problem)
      return false
    } finally {
      this.saving--
    }
  }

  update(): void {
    const { entries, trim } = this.host
    const piece = entries.opened?.piece
    const take = piece ? entries.entry(piece.id)?.take : null
    for (const tool of [this.curves, this.cut, this.undo, this.redo, this.rename, this.remove]) tool.hidden = !take
    this.keep.hidden = !take || !trim.shown
    this.undo.disabled = !take?.undo
    this.redo.disabled = !take?.redo
    this.download.hidden = piece === undefined || piece.live
    this.menu.replaceChildren(
      ...entries.exports.map((format) => {
        const save = () => void this.export(format)
        const name = FORMATS[format] ?? format.toUpperCase()
        return h('button', { type: 'button', data: { format }, onclick: save }, name)
      }),
    )
  }

  showEditing(on: boolean): void {
    press(this.curves, on)
  }

  private async export(format: string): Promise<void> {
    const { entries, notices } = this.host
    this.download.open = false
    if (entries.opened === null) return
    const entry = entries.opened.piece.id
    const working = notices.begin(`Exporting ${format.toUpperCase()}…`)
    this.exporting.set(entry, working)
    try {
      const camera = format === 'mp4' ? this.host.camera() : null
      const response = await post(`/api/entries/${entry}/export/${format}`, camera && JSON.stringify(camera))
      const disposition = response.headers.get('content-disposition') ?? ''
      const name = /filename="([^"]+)"/.exec(disposition)?.[1] ?? `motion.${format}`
      saveAs(await response.blob(), name)
    } catch (problem) {
      notices.fail(problem)
    } finally {
      working.end()
      this.exporting.delete(entry)
    }
  }

  /** How far the work on an entry is; only that of an export matters here. */
  tell({ entry, done }: Progress): void {
    this.exporting.get(entry)?.tell(done)
  }
}
