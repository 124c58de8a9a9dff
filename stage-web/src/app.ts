/** The page: puts list, view, plots and time line together, and lets time pass. */
import { recordedChannels } from './channels'
import { type Grip, Hands } from './hands'
import { SHORTCUTS, typing } from './keys'
import { LiveDesk } from './livedesk'
import type { Entry } from './model'
import { Player } from './player'
import { remote } from './remote'
import { type Opened, post, type Source, StageError } from './source'
import { Theme } from './theme'
import { Bars, describeRope } from './ui/bars'
import { help, Notices } from './ui/dialogs'
import { h, press } from './ui/dom'
import { acceptDrops } from './ui/drop'
import { List } from './ui/list'
import { Plots } from './ui/plots'
import { TakeDesk } from './ui/takes'
import { Timeline } from './ui/timeline'
import type { Actor } from './view/actor'
import type { Preset } from './view/camera'
import { extremities } from './view/overlays'
import type { DrawnRope } from './view/ropes'
import { type Layers, View } from './view/view'

export class App {
  readonly theme = new Theme()
  readonly player = new Player()
  readonly notices = new Notices()
  readonly timeline = new Timeline(this.player)
  readonly plots = new Plots()
  readonly list = new List((id) => void this.open(id))
  readonly view: View
  readonly bars: Bars
  readonly hands: Hands
  readonly live: LiveDesk | null
  readonly takes: TakeDesk | null
  readonly remote: object
  opened: Opened | null = null
  exports: string[] = []
  private readonly stage = h('main', { class: 'stage', id: 'stage' })
  private readonly patience = h('p', { class: 'patience' }, 'Preparing. The very first time, this machine compiles: up to a minute.')
  /** Says anew what is under the pointer: tensions change while it stays. */
  private label: () => void = () => undefined
  private before = 0
  private wanted = ''
  private frames = 0

  constructor(readonly source: Source) {
    this.bars = new Bars(this)
    document.body.append(
      this.bars.top, this.list.element, this.stage, this.plots.element, this.timeline.element, this.notices.element,
    )
    document.body.classList.toggle('wide', innerWidth > 1100)
    this.view = new View(this.stage, this.theme)
    this.stage.append(this.bars.tools, this.bars.legend, this.bars.warnings, this.bars.label, this.patience)
    this.hands = new Hands(this.view, {
      hover: (grip, rope, x, y) => this.hovered(grip, rope, x, y),
      pick: (actor, frame) => this.followFrame(actor, frame),
    })
    this.live = source.served ? new LiveDesk(this) : null
    this.takes = source.served ? new TakeDesk(this) : null
    this.player.onChange = () => this.seeked()
    this.view.onDraw = () => {
      this.bars.update()
      this.label()
    }
    this.theme.onChange(() => this.plots.redraw())
    this.showPlots(innerWidth > 1100)
    this.showList(source.served ? innerWidth > 760 : false)
    addEventListener('keydown', (event) => this.key(event))
    this.remote = remote(this)
    void this.begin()
    requestAnimationFrame((now) => this.tick(now))
  }

  // -- entries ---------------------------------------------------------------------------------------------------

  private async begin(): Promise<void> {
    // At once: the first entry may take its time, and a file dropped meanwhile must not replace the page.
    if (this.source.served) acceptDrops(this)
    const entries = await this.reload()
    if (entries.length === 0) return
    if (!this.source.served && entries.length > 1) this.showList(innerWidth > 760)
    await this.open(entries[0].id)
  }

  async reload(): Promise<Entry[]> {
    try {
      const { entries, exports, opens } = await this.source.list()
      this.exports = exports
      document.body.classList.toggle('opens', opens)
      this.list.show(entries)
      this.takes?.update()
      return entries
    } catch (problem) {
      this.fail(problem)
      return []
    }
  }

  async open(id: string): Promise<void> {
    this.wanted = id
    this.list.mark(id)
    document.body.classList.add('loading')
    const patience = setTimeout(() => this.patience.classList.add('shown'), 1500)
    try {
      const opened = await this.source.open(id)
      if (this.wanted === id) this.set(opened)
    } catch (problem) {
      this.fail(problem)
    } finally {
      clearTimeout(patience)
      if (this.wanted === id) {
        document.body.classList.remove('loading')
        this.patience.classList.remove('shown')
      }
    }
    if (innerWidth <= 760) this.showList(false)
  }

  private set(opened: Opened): void {
    const { piece, samples } = opened
    this.opened = opened
    this.live?.leave()
    this.hovered(null, null, 0, 0)
    document.body.classList.toggle('live', piece.live)
    document.title = `${piece.title} · bunraku`
    this.view.set(piece, samples, (key) => opened.meshes.get(key))
    this.bars.load(piece)
    if (samples !== null) {
      this.plots.load(recordedChannels(piece, samples), (time) => this.player.seek(time))
      this.player.load(samples.t)
      this.timeline.load(piece.marks)
    } else {
      this.player.pause()
      this.timeline.load([])
      this.live?.enter(piece)
    }
    this.takes?.update()
  }

  fail(problem: unknown): void {
    const text = problem instanceof StageError ? problem.message : `The stage does not answer. (${String(problem)})`
    this.notices.show(text, 'error')
  }

  // -- time ------------------------------------------------------------------------------------------------------

  private tick(now: number): void {
    requestAnimationFrame((later) => this.tick(later))
    const seconds = Math.min((now - this.before) / 1000, 0.25)
    this.before = now
    this.live?.tick()
    if (this.player.advance(seconds)) {
      this.view.show(this.player.time)
      this.timeline.tick()
      this.plots.update(this.player.time)
    } else if (this.opened?.samples && this.plots.visible && ++this.frames % 6 === 0) {
      this.plots.update(this.player.time)
    }
    if (this.view.draw() && (this.player.playing || this.opened?.piece.live)) this.view.paced(1000 * seconds)
    this.live?.drawn()
  }

  private seeked(): void {
    this.timeline.update()
    if (this.opened?.samples) {
      this.view.show(this.player.time)
      this.view.refresh()
      this.plots.update(this.player.time)
    }
  }

  // -- what buttons and keys do ----------------------------------------------------------------------------------

  private hovered(grip: Grip | null, rope: DrawnRope | null, x: number, y: number): void {
    const limb = grip?.part === 'body' ? grip.actor.figure.frames[grip.frame].name : ''
    this.label = () => this.bars.point(rope ? describeRope(rope) : limb, x, y)
    this.label()
  }

  layer(name: keyof Layers, on = !this.view.layers[name]): void {
    this.view.layers[name] = on
    this.view.refresh()
    this.bars.updateLayers()
  }

  look(preset: Preset): void {
    this.followFrame(null, 0)
    this.view.seat.look(preset)
    this.bars.updateLayers()
  }

  private followFrame(actor: Actor | null, frame: number): void {
    this.view.follow(actor, frame)
    this.bars.following = actor === null ? null : (actor.figure.frames[frame]?.name ?? null)
    this.bars.updateLayers()
  }

  /** Follows the first figure by its trunk: the frame that carries the most. */
  follow(): void {
    const following = this.bars.following !== null
    const actor = this.view.actors.find((a) => !a.ghost)
    if (following || actor === undefined) {
      this.followFrame(null, 0)
      return
    }
    const heaviest = [...actor.figure.bodies].sort((a, b) => b.mass - a.mass)[0]
    this.followFrame(actor, heaviest?.frame ?? extremities(actor)[0] ?? 0)
  }

  showPlots(on: boolean): void {
    document.body.classList.toggle('with-plots', on)
    press(this.bars.plotsButton, on)
    this.plots.redraw()
    if (on && innerWidth <= 760) this.showList(false)
  }

  showList(on: boolean): void {
    document.body.classList.toggle('with-list', on)
    press(this.bars.listButton, on)
    if (on && innerWidth <= 760) this.showPlots(false)
  }

  private key(event: KeyboardEvent): void {
    if (typing(event) || document.querySelector('dialog[open]')) return
    const shortcut = SHORTCUTS.find((s) => s.keys.includes(event.key))
    if (shortcut === undefined) return
    event.preventDefault()
    this.act(shortcut.act)
  }

  act(name: string): void {
    const { player } = this
    const isLive = this.opened?.piece.live ?? false
    const acts: Record<string, () => void> = {
      play: () => (isLive ? this.live?.pause() : player.toggle()),
      back: () => (isLive ? undefined : player.step(-1)),
      on: () => (isLive ? this.live?.step() : player.step(1)),
      start: () => player.seek(player.start), end: () => player.seek(player.stop),
      slower: () => (isLive ? this.live?.faster(-1) : player.faster(-1)),
      faster: () => (isLive ? this.live?.faster(1) : player.faster(1)),
      loop: () => this.timeline.toggleLoop(),
      audience: () => this.look('audience'), front: () => this.look('front'), side: () => this.look('side'),
      top: () => this.look('top'), follow: () => this.follow(),
      ghost: () => this.layer('ghost'), trails: () => this.layer('trails'), balance: () => this.layer('balance'),
      limits: () => this.layer('limits'),
      record: () => this.live?.record(), reset: () => this.live?.reset(), undo: () => this.takes?.edit({ edit: 'undo' }),
      plots: () => this.showPlots(!document.body.classList.contains('with-plots')),
      next: () => this.openNext(), hide: () => document.body.classList.toggle('bare'),
      theme: () => this.theme.toggle(), help,
    }
    acts[name]()
  }

  private openNext(): void {
    const next = this.list.neighbour(1)
    if (next !== null) void this.open(next)
  }

  /** Saves a piece as a file of some format. */
  async export(format: string): Promise<void> {
    const { piece } = this.opened!
    this.notices.show(`Writing ${format.toUpperCase()} …`)
    try {
      const response = await post(`/api/entries/${piece.id}/export/${format}`)
      const name = /filename="([^"]+)"/.exec(response.headers.get('content-disposition') ?? '')?.[1] ?? `motion.${format}`
      saveAs(await response.blob(), name)
    } catch (problem) {
      this.fail(problem)
    }
  }
}

export function saveAs(blob: Blob, name: string): void {
  const link = h('a', { href: URL.createObjectURL(blob), download: name })
  link.click()
  setTimeout(() => URL.revokeObjectURL(link.href), 10000)
}
