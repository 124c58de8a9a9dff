/** The page: makes its parts, connects them, and lets time pass. No other file imports this one but main. */
import { type Actions, createActions, listenForShortcuts } from './actions'
import { recordedChannels } from './data/channels'
import { bodyInWords } from './data/words'
import { Entries } from './entries'
import { Hands } from './live/hands'
import { LiveDesk } from './live/live-desk'
import type { Grip } from './live/picking'
import type { PageMessage, Piece, Progress, TakeEdit } from './messages'
import { Music } from './music'
import { Player } from './player'
import { ScoreDesk } from './score/score-desk'
import { createScriptApi } from './script-api'
import { type Opened, post, type Source } from './source'
import { TakeEditor } from './takes/take-editor'
import { Theme } from './theme'
import { isFramed } from './transport'
import { h } from './ui/dom'
import { EntryList } from './ui/entry-list'
import { acceptFiles } from './ui/file-drop'
import { FirstPull } from './ui/first-pull'
import { showHelp } from './ui/help'
import { Loading } from './ui/loading'
import { Notices } from './ui/notices'
import { Panels } from './ui/panels'
import { Plots } from './ui/plots'
import { describeRope, PointerLabel, TensionLegend, Warnings } from './ui/readouts'
import { TakeDesk } from './ui/take-desk'
import { Timeline } from './ui/timeline'
import { TopBar } from './ui/top-bar'
import { MAX_MEGABYTES, tooLarge, upload } from './uploads'
import type { DrawnRope } from './view/ropes'
import { View } from './view/view'
import { ViewControls } from './view-controls'

const LONGEST_STEP = 0.25 // s: after a pause of the browser, playing goes on from where it was
const PLOT_INTERVAL = 6 // pictures between two drawings of the plots of a piece that stands still

/** Without the address, which names an entry. */
function focusStage(stage: HTMLElement): boolean {
  stage.focus()
  return false
}

export class App {
  readonly scriptApi: object
  readonly view: View
  private readonly theme = new Theme()
  private readonly player = new Player()
  private readonly notices = new Notices()
  private readonly panels = new Panels()
  private readonly plots = new Plots()
  private readonly loading = new Loading(
    (id) => this.cancelled(id),
    (id) => this.waiting(id),
  )
  private readonly legend = new TensionLegend()
  private readonly warnings = new Warnings()
  private readonly label = new PointerLabel()
  private readonly timeline = new Timeline(this.player)
  private readonly music: Music
  private readonly entries: Entries
  private readonly list = new EntryList((id) => void this.entries.open(id))
  private readonly topBar: TopBar
  private readonly viewControls: ViewControls
  private readonly hands: Hands
  /** Only where a server is: a page from disk has no live figures, and nothing to edit or export with. */
  private readonly live: LiveDesk | null = null
  private readonly takes: TakeDesk | null = null
  private readonly editor: TakeEditor | null = null
  private readonly score: ScoreDesk | null = null
  private readonly firstPull = new FirstPull()
  private readonly actions: Actions
  private lastPicture = 0
  private pictures = 0

  constructor(private readonly source: Source) {
    const { theme, player, notices, panels, plots, timeline } = this
    const stage = h('main', { class: 'stage', id: 'stage', tabIndex: -1 })
    this.topBar = new TopBar(theme, {
      toggleList: () => panels.toggleList(),
      togglePlots: () => panels.togglePlots(),
      help: showHelp,
    })
    document.body.append(
      h('a', { class: 'skip', href: '#stage', onclick: () => focusStage(stage) }, 'Skip to the stage'),
      this.topBar.element,
      this.list.element,
      stage,
      plots.element,
      timeline.element,
    )
    this.music = new Music({ player, fetch: (id) => source.sound(id), notices })
    timeline.addToTransport(this.music.button)
    document.body.append(this.music.element)
    this.view = new View(stage, theme)
    this.viewControls = new ViewControls(this.view)
    stage.append(this.viewControls.tools.element, this.legend.element, this.warnings.element)
    stage.append(this.label.element, this.loading.element, notices.element)
    this.hands = new Hands(this.view, {
      hover: (grip, rope, x, y) => this.hovered(grip, rope, x, y),
      pick: (actor, frame) => this.viewControls.follow(actor, frame),
      pulled: () => this.entries.opened?.piece.live && this.live?.pulled(),
    })
    this.entries = new Entries(source, {
      listed: ({ entries, opens }) => {
        document.body.classList.toggle('opens', opens)
        this.list.show(entries)
        this.takes?.update()
      },
      opening: (id) => {
        this.list.mark(id)
        this.loading.begin(id)
      },
      opened: (opened) => this.show(opened),
      refreshed: (opened) => this.showAgain(opened),
      settled: () => {
        this.loading.end()
        panels.uncoverStage()
      },
      failed: (problem) => notices.fail(problem),
    })
    const { entries, view, hands, viewControls } = this
    if (source.served) {
      const progress = (told: Progress) => {
        this.loading.tell(told)
        this.takes?.tell(told)
        this.score?.tell(told)
      }
      const { firstPull } = this
      const drives = (piece: Piece) => !isFramed() && firstPull.begin(piece)
      const sent = (message: PageMessage) => firstPull.hear(message)
      this.live = new LiveDesk({ view, hands, plots, clock: timeline, entries, notices, progress, drives, sent })
      stage.append(firstPull.element)
      const toggleEditor = () => this.editor?.toggle()
      this.takes = new TakeDesk({ entries, trim: timeline.trim, notices, camera: () => view.shot, toggleEditor })
      const edit = (wish: TakeEdit) => this.takes?.edit(wish) ?? Promise.resolve(false)
      const toggled = (on: boolean) => {
        this.takes?.showEditing(on)
        panels.makeRoom(on)
      }
      this.editor = new TakeEditor({ player, view, hands, edit, notices, toggled })
      this.score = new ScoreDesk({ player, entries, notices, toggled: (on) => panels.makeRoom(on) })
      timeline.element.before(this.editor.element, this.score.element)
      this.topBar.addLiveStatus(this.live.controls.status)
      stage.append(this.live.touchSticks.element)
      timeline.add(this.live.controls.transport, [this.score.opener, ...this.takes.elements])
    }
    const { live, takes, editor, score } = this
    const isLive = () => entries.opened?.piece.live ?? false
    this.actions = createActions({
      player,
      view: viewControls,
      panels,
      theme,
      entries,
      live,
      takes,
      editor,
      score,
      isLive,
    })
    this.scriptApi = createScriptApi({ entries, player, view, live, takes, editor, score, actions: this.actions })
    listenForShortcuts(this.actions)
    player.onChange = () => this.playerChanged()
    view.onDraw = () => this.drawn()
    theme.onChange(() => {
      plots.redraw()
      this.editor?.redraw()
    })
    panels.onChange = (state) => {
      this.topBar.showPanels(state)
      plots.redraw()
    }
    panels.openWhatFits(source.served && !isFramed())
    void this.begin()
    requestAnimationFrame((now) => this.tick(now))
  }

  // -- entries ---------------------------------------------------------------------------------------------------

  private async begin(): Promise<void> {
    // At once: the first entry may take its time, and a file dropped meanwhile must not replace the page.
    if (this.source.served) this.list.element.append(acceptFiles((files) => void this.openFiles(files)))
    const all = await this.entries.reload()
    if (all.length === 0) return
    if (!this.source.served && all.length > 1) this.panels.openWhatFits(true)
    await this.entries.openFirst()
  }

  private async openFiles(files: File[]): Promise<void> {
    if (files.length === 0) return
    if (tooLarge(files)) {
      this.notices.show(`The files are too large: at most ${MAX_MEGABYTES} MB together.`, 'error')
      return
    }
    try {
      const opened = await upload(files)
      await this.entries.reload()
      if (opened.length > 0) await this.entries.open(opened[0])
    } catch (problem) {
      this.notices.fail(problem)
    }
  }

  /** The next entry takes long: the stage shows its title, and nothing of the one before. */
  private waiting(id: string): void {
    const entry = this.entries.entry(id)
    this.live?.leave()
    this.view.empty()
    this.player.pause()
    this.topBar.showPiece(entry?.title ?? '', entry?.about ?? '')
  }

  private cancelled(id: string): void {
    void post(`/api/entries/${encodeURIComponent(id)}/cancel`)
    this.entries.giveUp()
  }

  private show({ piece, samples, meshes }: Opened): void {
    this.live?.leave()
    this.hovered(null, null, 0, 0)
    this.editor?.load(piece, samples)
    this.firstPull.leave(piece.live)
    document.body.classList.toggle('live', piece.live)
    document.title = `${piece.title} · bunraku`
    this.view.set(piece, samples, (key) => meshes.get(key))
    this.topBar.showPiece(piece.title, piece.about)
    this.legend.load(piece)
    this.viewControls.load(piece)
    if (samples !== null) {
      this.plots.load(recordedChannels(piece, samples), (time) => this.player.seek(time))
      this.player.load(samples.t)
      this.timeline.load(piece.marks)
    } else {
      this.player.pause()
      this.timeline.load([])
      this.live?.enter(piece)
    }
    this.music.load(piece)
    this.takes?.update()
    this.score?.load(piece)
  }

  /** The same take or show after an edit: camera, time and editor stay as they are. */
  private showAgain({ piece, samples, meshes }: Opened): void {
    if (samples === null) return
    document.title = `${piece.title} · bunraku`
    this.view.reset(piece, samples, (key) => meshes.get(key))
    this.topBar.showPiece(piece.title, piece.about)
    this.legend.load(piece)
    this.plots.load(recordedChannels(piece, samples), (time) => this.player.seek(time))
    this.player.reload(samples.t)
    this.timeline.load(piece.marks)
    this.music.load(piece)
    this.takes?.update()
    this.editor?.load(piece, samples)
    this.score?.load(piece)
  }

  // -- time ------------------------------------------------------------------------------------------------------

  private tick(now: number): void {
    requestAnimationFrame((later) => this.tick(later))
    const seconds = Math.min((now - this.lastPicture) / 1000, LONGEST_STEP)
    this.lastPicture = now
    this.live?.tick()
    this.editor?.tick()
    const { player, plots, view } = this
    const recorded = this.entries.opened?.samples !== null
    const before = player.time
    if (player.advance(this.music.step(seconds))) {
      if (player.time < before) this.music.follow() // from the end to the start
      view.show(player.time)
      this.editor?.timeChanged()
      this.score?.timeChanged()
      this.timeline.tick()
      plots.update(player.time)
    } else if (recorded && plots.visible && ++this.pictures % PLOT_INTERVAL === 0) {
      plots.update(player.time)
    }
    if (view.draw() && (player.playing || !recorded)) view.paced(1000 * seconds)
    this.live?.drawn()
  }

  private playerChanged(): void {
    this.timeline.update()
    this.music.follow()
    if (!this.entries.opened?.samples) return
    this.view.show(this.player.time)
    this.view.refresh()
    this.editor?.timeChanged()
    this.score?.timeChanged()
    this.plots.update(this.player.time)
  }

  // -- the view --------------------------------------------------------------------------------------------------

  private hovered(grip: Grip | null, rope: DrawnRope | null, x: number, y: number): void {
    const body = grip?.part === 'body' ? bodyInWords(grip.actor.figure.frames[grip.frame].name, grip.shape) : ''
    this.label.point(() => (rope === null ? body : describeRope(rope)), x, y)
  }

  /** After each picture. */
  private drawn(): void {
    const { actors, layers, ropes } = this.view
    this.viewControls.update()
    this.legend.update(ropes?.scaleEnd ?? 0)
    this.warnings.update(layers.limits ? actors : [], ropes?.drawn ?? [])
    this.label.update()
  }
}
