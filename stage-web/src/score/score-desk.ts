/** The score of a show: its cues as bars that can be dragged, stretched, added and removed. What depends on that rehearses again. */
import { saveAs } from '../download'
import type { Book, BookAnswer, BookEdit, Cue, Piece, Progress } from '../messages'
import { checked, post } from '../source'
import { request } from '../transport'
import { button, h, press } from '../ui/dom'
import { outlineOf } from './outline'
import { dragged, rowsOf, STEP, snap } from './rows'

/** What the score needs of the page. */
export interface ScoreHost {
  player: { readonly time: number; readonly stop: number; seek(time: number): void }
  entries: { refresh(): Promise<void>; reload(): Promise<unknown> }
  notices: { show(text: string, level?: string): void; fail(problem: unknown): void }
  /** The score was opened or closed. */
  toggled(open: boolean): void
}

const PIXELS_PER_SECOND = 22 // at least: longer shows can be scrolled
const EDGE = 9 // px: the end of a bar, by which it is stretched
const PATIENCE = 700 // ms after the last arrow key until the show rehearses

interface Drag {
  cue: Cue
  part: 'middle' | 'end'
  /** Counts. */
  by: number
}

export class ScoreDesk {
  readonly element: HTMLElement
  readonly opener = button('list', 'Edit the script: cues as bars (C)', () => this.toggle(), {
    text: 'Score',
    id: 'edit-score',
  })
  open = false
  private readonly title = h('strong', { class: 'score-title' })
  private readonly status = h('span', { class: 'score-status', id: 'score-status', role: 'status' })
  private readonly track = h('select', { id: 'cue-track', aria: { label: 'Who plays a new cue' } })
  private readonly motion = h('select', { id: 'cue-motion', aria: { label: 'Motion of a new cue' } })
  private readonly undoButton = button('undo', 'Undo (Z)', () => this.undo(), { id: 'undo-cue' })
  private readonly redoButton = button('redo', 'Redo', () => this.ask({ edit: 'redo' }), { id: 'redo-cue' })
  private readonly removeButton = button('bin', 'Remove this cue (Delete)', () => this.remove(), { id: 'remove-cue' })
  private readonly save = button(null, 'Write the script to its file', () => this.ask({ edit: 'save' }), {
    text: 'Save',
    class: 'primary',
    id: 'save-score',
  })
  private readonly names = h('div', { class: 'score-names' })
  private readonly sheet = h('div', { class: 'score-sheet' })
  private readonly head = h('div', { class: 'score-head' })
  private readonly paper = h('div', { class: 'score-paper', tabIndex: -1 }, this.sheet)
  private piece: Piece | null = null
  private chosen = ''
  private drag: Drag | null = null
  private timer = 0
  private readonly waiting: BookEdit[] = []
  private working = false

  constructor(private readonly host: ScoreHost) {
    const add = button('plus', 'Add this motion at the playhead', () => this.add(), { text: 'Add', id: 'add-cue' })
    const tools = h(
      'div',
      { class: 'editor-tools' },
      this.title,
      this.track,
      this.motion,
      add,
      this.removeButton,
      this.undoButton,
      this.redoButton,
      this.save,
      h('span', { class: 'gap' }),
      this.status,
      button('close', 'Close the score (C)', () => this.toggle(), { id: 'close-score' }),
    )
    this.track.onchange = () => this.fillMotions()
    const main = h('div', { class: 'score-main' }, this.names, this.paper)
    this.element = h(
      'section',
      { class: 'editor score', id: 'score', hidden: true, aria: { label: 'Score' } },
      tools,
      main,
    )
    this.sheet.addEventListener('pointerdown', (event) => this.grab(event))
    this.sheet.addEventListener('keydown', (event) => this.key(event))
    this.sheet.addEventListener('focusin', (event) => this.choose((event.target as HTMLElement).dataset.cue ?? ''))
    new ResizeObserver(() => this.draw()).observe(this.paper)
  }

  // -- opening and loading ---------------------------------------------------------------------------------------

  toggle(): void {
    if (!this.open && this.book === null) return
    this.open = !this.open
    this.element.hidden = !this.open
    press(this.opener, this.open)
    this.host.toggled(this.open)
    this.refresh()
  }

  /** Another piece is open, or the same one after an edit; only shows have a score. */
  load(piece: Piece): void {
    const same = piece.id === this.piece?.id
    this.piece = piece
    this.drag = null
    this.opener.hidden = this.book === null
    if (!same) {
      this.chosen = ''
      this.status.textContent = ''
      if (this.open && this.book === null) this.toggle()
    }
    this.refresh()
  }

  private get book(): Book | null {
    return this.piece?.book ?? null
  }

  /** Whether edits are on their way. */
  get busy(): boolean {
    return this.working || this.timer !== 0
  }

  get editable(): boolean {
    return this.book !== null
  }

  // -- what is shown ---------------------------------------------------------------------------------------------

  private refresh(): void {
    const { book } = this
    if (!this.open || book === null || this.piece === null) return
    this.title.textContent = book.file
    this.undoButton.disabled = !book.undo
    this.redoButton.disabled = !book.redo
    this.save.disabled = !book.unsaved
    const before = this.track.value
    const tracks = this.players()
    this.track.replaceChildren(...tracks.map((name) => h('option', { value: name }, name)))
    if (tracks.includes(before)) this.track.value = before
    this.fillMotions()
    this.draw()
  }

  /** Names of the tracks that can play something. */
  private players(): string[] {
    const motions = this.book?.motions ?? []
    return (this.piece?.tracks ?? []).map((track) => track.name).filter((_, k) => (motions[k]?.length ?? 0) > 0)
  }

  private fillMotions(): void {
    const k = (this.piece?.tracks ?? []).findIndex((track) => track.name === this.track.value)
    const before = this.motion.value
    const motions = this.book?.motions[k] ?? []
    this.motion.replaceChildren(...motions.map((name) => h('option', { value: name }, name)))
    if (motions.includes(before)) this.motion.value = before
  }

  private get scale(): number {
    const seconds = Math.max(this.host.player.stop, 1)
    return Math.max(this.paper.clientWidth / seconds, PIXELS_PER_SECOND)
  }

  private draw(): void {
    const { book, piece } = this
    if (!this.open || book === null || piece === null) return
    const focused = (document.activeElement as HTMLElement | null)?.dataset?.cue
    const cues = book.cues.map((cue) => this.seen(cue))
    const rows = rowsOf(cues)
    const tracks = [...new Set(cues.map((cue) => cue.track))].sort((a, b) => a - b)
    const heights = tracks.map((k) => 1 + Math.max(0, ...rows.filter((_, i) => cues[i].track === k)))
    const offset = (k: number) => heights.slice(0, tracks.indexOf(k)).reduce((a, b) => a + b, 0)
    const { scale } = this
    this.names.replaceChildren(
      ...tracks.map((k, i) => {
        const name = h('div', {}, piece.tracks[k].name)
        name.style.setProperty('--rows', String(heights[i]))
        return name
      }),
    )
    const bars = cues.map((cue, i) => {
      const counts = `counts ${(cue.begin / book.count).toFixed(2)} to ${(cue.end / book.count).toFixed(2)}`
      const bar = h(
        'button',
        {
          type: 'button',
          class: `cue${cue.name === this.chosen ? ' chosen' : ''}`,
          title: `${cue.name}: ${cue.motion}, ${counts}; ${cue.note}`,
          data: { cue: cue.name },
          aria: { label: `${piece.tracks[cue.track].name}: ${cue.motion}, ${counts}` },
        },
        h('span', {}, cue.motion),
      )
      bar.style.left = `${scale * cue.begin}px`
      bar.style.width = `${Math.max(scale * (cue.end - cue.begin) - 1, 6)}px`
      bar.style.setProperty('--row', String(offset(cue.track) + rows[i]))
      bar.style.setProperty('--hue', String((cue.track * 137 + 25) % 360))
      return bar
    })
    this.sheet.style.width = `${scale * this.host.player.stop}px`
    this.sheet.style.setProperty('--rows', String(heights.reduce((a, b) => a + b, 0)))
    this.sheet.style.setProperty('--count', `${scale * book.count}px`)
    this.sheet.replaceChildren(...outlineOf(piece.sound), ...bars, this.head)
    if (focused) this.bar(focused)?.focus({ preventScroll: true })
    this.removeButton.disabled = this.bar(this.chosen) === null
    this.timeChanged()
  }

  /** A cue as it would be if what a hand drags stayed there. */
  private seen(cue: Cue): Cue {
    const { drag, book } = this
    return drag === null || book === null || drag.cue.name !== cue.name
      ? cue
      : dragged(cue, drag.by, drag.part, book.count)
  }

  private bar(name: string): HTMLElement | null {
    return [...this.sheet.querySelectorAll<HTMLElement>('.cue')].find((bar) => bar.dataset.cue === name) ?? null
  }

  /** The playhead, which is kept in sight. */
  timeChanged(): void {
    if (!this.open) return
    const x = this.scale * this.host.player.time
    this.head.style.transform = `translateX(${x}px)`
    const { scrollLeft, clientWidth } = this.paper
    if (this.drag === null && (x < scrollLeft || x > scrollLeft + clientWidth)) this.paper.scrollLeft = x - 40
  }

  // -- hands and keys --------------------------------------------------------------------------------------------

  private choose(name: string): void {
    if (name === '' || name === this.chosen) return
    this.chosen = name
    for (const bar of this.sheet.querySelectorAll<HTMLElement>('.cue'))
      bar.classList.toggle('chosen', bar.dataset.cue === name)
    this.removeButton.disabled = false
    const cue = this.book?.cues.find((one) => one.name === name)
    if (cue !== undefined && !this.working) this.status.textContent = `${cue.name}: ${cue.note}`
  }

  private grab(event: PointerEvent): void {
    if (event.button !== 0) return
    const bar = (event.target as HTMLElement).closest<HTMLElement>('.cue')
    const cue = this.book?.cues.find((one) => one.name === bar?.dataset.cue)
    if (bar === null || cue === undefined) {
      this.host.player.seek((event.clientX - this.sheet.getBoundingClientRect().left) / this.scale)
      return
    }
    event.preventDefault()
    this.flushKeys()
    bar.focus()
    this.choose(cue.name)
    const part = event.clientX > bar.getBoundingClientRect().right - EDGE ? 'end' : 'middle'
    const from = event.clientX
    const perCount = this.scale * (this.book?.count ?? 1)
    const drag: Drag = { cue, part, by: 0 }
    this.drag = drag
    this.sheet.setPointerCapture(event.pointerId)
    const move = (e: PointerEvent) => {
      const by = snap((e.clientX - from) / perCount)
      if (by === drag.by || this.drag !== drag) return
      drag.by = by
      this.draw()
    }
    const end = (e: PointerEvent) => {
      this.sheet.removeEventListener('pointermove', move)
      this.sheet.removeEventListener('pointerup', end)
      this.sheet.removeEventListener('pointercancel', end)
      if (this.drag !== drag) return // an edit from before has come meanwhile
      if (e.type === 'pointercancel') drag.by = 0
      this.drop(drag)
    }
    this.sheet.addEventListener('pointermove', move)
    this.sheet.addEventListener('pointerup', end)
    this.sheet.addEventListener('pointercancel', end)
  }

  private key(event: KeyboardEvent): void {
    const name = (event.target as HTMLElement).dataset.cue
    const cue = this.book?.cues.find((one) => one.name === name)
    if (cue === undefined) return
    if (event.key === 'Delete' || event.key === 'Backspace') {
      event.preventDefault()
      event.stopPropagation()
      this.remove()
      return
    }
    const way = { ArrowRight: 1, ArrowLeft: -1 }[event.key]
    if (way === undefined || event.ctrlKey || event.altKey || event.metaKey) return
    event.preventDefault()
    event.stopPropagation() // elsewhere arrows drive
    const part = event.shiftKey ? 'end' : 'middle'
    if (this.drag !== null && (this.drag.cue.name !== cue.name || this.drag.part !== part)) this.flushKeys()
    const by = (this.drag?.by ?? 0) + way * STEP
    this.drag = { cue, part, by }
    this.draw()
    clearTimeout(this.timer)
    this.timer = setTimeout(() => this.flushKeys(), PATIENCE)
  }

  /** What arrow keys have moved rehearses now. */
  private flushKeys(): void {
    if (this.timer === 0) return
    clearTimeout(this.timer)
    this.timer = 0
    if (this.drag !== null) this.drop(this.drag)
  }

  private drop(drag: Drag): void {
    const { cue, part, by } = drag
    const count = this.book?.count ?? 1
    if (by === 0) {
      this.drag = null
      this.draw()
    } else if (part === 'middle') this.ask({ edit: 'move', cue: cue.name, by: Math.max(by, -cue.begin / count) })
    else this.ask({ edit: 'stretch', cue: cue.name, counts: Math.max(STEP, snap((cue.end - cue.begin) / count + by)) })
  }

  // -- edits -----------------------------------------------------------------------------------------------------

  undo(): void {
    if (this.book?.undo) this.ask({ edit: 'undo' })
  }

  private remove(): void {
    if (this.bar(this.chosen) !== null) this.ask({ edit: 'remove', cue: this.chosen })
  }

  private add(): void {
    const { book } = this
    if (book === null || !this.track.value || !this.motion.value) return
    const begin = Math.max(0, snap(this.host.player.time / book.count))
    this.ask({ edit: 'add', track: this.track.value, motion: this.motion.value, begin })
  }

  /** Edits wait for each other: each refers to the show as the one before has left it. */
  private ask(edit: BookEdit): void {
    this.waiting.push(edit)
    if (!this.working) void this.work()
  }

  private async work(): Promise<void> {
    this.working = true
    this.element.classList.add('working')
    try {
      while (this.waiting.length > 0) await this.send(this.waiting[0])
    } catch (problem) {
      this.host.notices.fail(problem)
      this.status.textContent = 'As before: this edit cannot be played.'
    } finally {
      this.waiting.length = 0
      this.working = false
      this.drag = null
      this.element.classList.remove('working')
      this.draw()
    }
  }

  private async send(edit: BookEdit): Promise<void> {
    const id = this.piece?.id
    if (id === undefined) return
    this.status.textContent = edit.edit === 'save' ? 'Saving…' : 'Rehearsing…'
    const path = `/api/entries/${encodeURIComponent(id)}/book`
    const answer: BookAnswer = await (await post(path, JSON.stringify(edit))).json()
    this.waiting.shift()
    if (edit.edit === 'save' && answer.saved === '') {
      saveAs(await (await checked(await request(path))).blob(), this.book?.file ?? 'show.yaml')
    }
    if (this.piece?.id === id) await this.host.entries.refresh()
    this.status.textContent = this.said(edit, answer)
  }

  private said(edit: BookEdit, answer: BookAnswer): string {
    if (edit.edit === 'save') return answer.saved === '' ? 'Downloaded.' : `Written to ${answer.saved}.`
    if (edit.edit === 'undo' || edit.edit === 'redo') return 'Nothing had to be rehearsed.'
    const anew = this.book?.anew ?? 0
    const rest = 'the rest is kept.'
    return anew === 0
      ? `Nothing had to be rehearsed.`
      : `${anew} ${anew === 1 ? 'stretch' : 'stretches'} rehearsed again, ${rest}`
  }

  /** How far the work on an entry is. */
  tell({ entry, stage, text }: Progress): void {
    if (!this.working || entry !== this.piece?.id) return
    this.status.textContent = stage === 'rehearsal' && text !== '' ? `Rehearsing… ${text}` : 'Rehearsing…'
  }
}
