/** What can be done with a recorded piece: trim, undo, save, export. */
import type { App } from '../app'
import { post } from '../source'
import { button, h } from './dom'

const NAMES: Record<string, string> = {
  npz: 'Motion (NPZ)', csv: 'Table (CSV)', glb: 'GLB (Blender)', bvh: 'BVH', mp4: 'Video (MP4)', html: 'Page (HTML)',
}

export class TakeDesk {
  private readonly cut: HTMLButtonElement
  private readonly apply: HTMLButtonElement
  private readonly undo: HTMLButtonElement
  private readonly redo: HTMLButtonElement
  private readonly menu = h('div', { class: 'menu' })
  private readonly download: HTMLDetailsElement

  constructor(private readonly app: App) {
    this.cut = button('cut', 'Trim this take', () => this.toggleTrim(), { id: 'trim' })
    this.apply = button('', 'Keep what is between the handles', () => void this.trim(), { text: 'Keep', class: 'primary', id: 'trim-apply' })
    this.undo = button('undo', 'Undo (Z)', () => void this.edit({ edit: 'undo' }), { id: 'undo' })
    this.redo = button('redo', 'Redo', () => void this.edit({ edit: 'redo' }), { id: 'redo' })
    this.download = h('details', { class: 'export', id: 'export' }, h('summary', { title: 'Save and export' }, 'Export'), this.menu)
    app.timeline.extra.append(this.cut, this.apply, this.undo, this.redo, this.download)
    addEventListener('click', (event) => {
      if (!this.download.contains(event.target as Node)) this.download.open = false
    })
  }

  private toggleTrim(): void {
    this.app.timeline.showTrim(!this.app.timeline.trimShown)
    this.update()
  }

  private async trim(): Promise<void> {
    const [start, stop] = this.app.timeline.trim
    await this.edit({ edit: 'trim', start, stop })
  }

  async edit(wish: object): Promise<void> {
    const id = this.app.opened?.piece.id
    if (id === undefined || !this.app.list.entry(id)?.take) return
    try {
      await post(`/api/takes/${id}`, JSON.stringify(wish))
      await this.app.reload()
      await this.app.open(id)
    } catch (problem) {
      this.app.fail(problem)
    }
  }

  update(): void {
    const piece = this.app.opened?.piece
    const take = piece ? this.app.list.entry(piece.id)?.take : null
    this.cut.hidden = this.undo.hidden = this.redo.hidden = !take
    this.apply.hidden = !take || !this.app.timeline.trimShown
    this.undo.disabled = !take?.undo
    this.redo.disabled = !take?.redo
    this.download.hidden = piece === undefined || piece.live
    this.menu.replaceChildren(
      ...this.app.exports.map((format) =>
        h('button', { type: 'button', data: { format }, onclick: () => this.save(format) }, NAMES[format] ?? format.toUpperCase()),
      ),
    )
  }

  private save(format: string): void {
    this.download.open = false
    void this.app.export(format)
  }
}
