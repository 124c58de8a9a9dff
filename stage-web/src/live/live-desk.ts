/** A live figure on the page: joins it, shows its samples, sends what hands, sticks and buttons do. */

import type { Channels } from '../data/channels'
import { LiveChannels } from '../data/channels'
import { type Moment, unpackLiveSample } from '../data/moment'
import { saveAs } from '../download'
import { clamp } from '../geometry/numbers'
import type { Control, PageMessage, Piece, Progress, RunState } from '../messages'
import { SPEEDS } from '../player'
import { checked, post } from '../source'
import { request } from '../transport'
import { showGamepad } from '../ui/gamepad'
import { TouchSticks } from '../ui/touch-sticks'
import { Link } from './link'
import { LiveControls } from './live-controls'
import { Sticks } from './sticks'

/** What a live figure needs of the page. */
export interface LiveHost {
  view: { showLive(time: number, moments: Moment[]): void }
  hands: {
    allowed: ReadonlySet<string>
    flush(send: (message: PageMessage) => void): void
    drop(): void
    unpin(): void
  }
  plots: {
    load(channels: Channels, seek: null): void
    redraw(): void
    update(time: number): void
  }
  clock: { showLiveTime(time: number): void }
  entries: {
    reload(): Promise<unknown>
    open(id: string): Promise<void>
  }
  notices: {
    show(text: string, level?: string): void
    fail(problem: unknown): void
  }
  progress(progress: Progress): void
  /** This page has got control of a figure. */
  drives(piece: Piece): void
  /** What was sent to the figure. */
  sent(message: PageMessage): void
}

const ANSWER_TIME = 2000 // ms: how long an older speed that the server tells is taken for a late answer
const PLOT_INTERVAL = 3 // samples between two drawings of the plots

/** A live piece while it is open. */
interface Session {
  piece: Piece
  channels: LiveChannels
  /** Whether the server has answered that this page is in: samples that come before are those of the entry it has left. */
  joined: boolean
  /** The newest sample that has not been drawn. */
  waiting: DataView | null
}

export class LiveDesk {
  readonly controls: LiveControls
  control: Control | null = null
  /** Time of the newest sample [s], and how many have come since the piece was opened. */
  time = 0
  samples = 0
  private readonly link: Link
  private readonly sticks = new Sticks()
  readonly touchSticks = new TouchSticks(this.sticks.touch)
  private session: Session | null = null
  private askedSpeed: { rate: number; until: number } | null = null
  private state: Pick<RunState, 'paused' | 'recording' | 'rate'> = { paused: false, recording: false, rate: 1 }

  constructor(private readonly host: LiveHost) {
    this.controls = new LiveControls({
      takeOrReleaseControl: () => this.send(this.driving ? { type: 'give', to: '' } : { type: 'ask' }),
      giveControl: (to) => this.send({ type: 'give', to }),
      togglePause: () => this.togglePause(),
      step: () => this.step(),
      reset: () => this.reset(),
      untangle: () => this.untangle(),
      setSpeed: (rate) => this.setSpeed(rate),
      toggleRecording: () => this.toggleRecording(),
      configureSticks: () => showGamepad(this.sticks, this.session?.piece.sticks ?? []),
      replay: () => this.send({ type: 'replay' }),
      saveLog: () => void this.saveLog(),
      replayFile: (file) => void this.replayFile(file),
    })
    this.link = new Link({
      sample: (data, t) => this.arrived(data, t),
      control: (control) => this.controlChanged(control),
      state: (state) => this.stateChanged(state),
      notice: (level, text) => host.notices.show(text, level),
      entries: () => void host.entries.reload(),
      taken: (entry) => void this.taken(entry),
      progress: (progress) => host.progress(progress),
      connected: (on, reason) => this.connectionChanged(on, reason),
    })
  }

  /** Whether this page has control of the figure. */
  get driving(): boolean {
    return this.control !== null && this.control.driver === this.control.you
  }

  // -- coming and going ------------------------------------------------------------------------------------------

  enter(piece: Piece): void {
    this.samples = this.time = 0
    this.session = { piece, channels: new LiveChannels(piece), joined: false, waiting: null }
    this.host.plots.load(this.session.channels, null)
    this.controls.showUntangling(piece.untangles ?? false)
    this.controls.showSticks((piece.sticks ?? []).length > 0)
    this.touchSticks.load(piece.sticks ?? [])
    this.link.join(piece.id)
  }

  leave(): void {
    if (this.session === null) return
    this.session = null
    this.loseControl()
    this.host.hands.drop()
    this.sticks.forget()
    this.touchSticks.load([])
    this.link.leave()
  }

  private loseControl(): void {
    this.control = null
    this.host.hands.allowed = new Set()
  }

  private connectionChanged(on: boolean, reason: string): void {
    document.body.classList.toggle('offline', !on)
    if (on) return
    if (this.session !== null) this.session.joined = false
    if (reason) this.host.notices.show(`The stage closed the connection: ${reason}`, 'error')
    if (this.session === null) return
    this.loseControl()
    this.controls.showDisconnected(reason)
  }

  private controlChanged(control: Control): void {
    if (this.session === null || control.entry !== this.session.piece.id) return
    this.session.joined = true
    this.control = control
    this.host.hands.allowed = new Set(this.driving ? (this.session.piece.pulls ?? []) : [])
    if (!this.driving) this.host.hands.drop()
    this.controls.showControl(control)
    document.body.classList.toggle('watching', !this.driving)
    if (this.driving) this.host.drives(this.session.piece)
  }

  /** Whoever drove when the take was recorded sees it at once. */
  private async taken(entry: string): Promise<void> {
    await this.host.entries.reload()
    if (this.driving) await this.host.entries.open(entry)
  }

  // -- samples ---------------------------------------------------------------------------------------------------

  private arrived(data: DataView, t: number): void {
    if (!this.session?.joined) return
    if (t < this.time) this.host.hands.unpin() // it was reset
    this.session.waiting = data
    this.time = t
    this.samples++
  }

  /** Before each picture: sends what hands and sticks have done, shows the newest sample. */
  tick(): void {
    if (this.session === null) return
    this.host.hands.flush((message) => this.send(message))
    this.pollSticks(this.session.piece.sticks ?? [])
    const { piece, channels, waiting } = this.session
    if (waiting === null) return
    this.session.waiting = null
    const figures = piece.tracks.map((track) => piece.figures[track.figure])
    const { t, moments, series } = unpackLiveSample(waiting, figures, piece.series.length)
    channels.add(t, moments, series)
    this.host.view.showLive(t, moments)
    this.host.clock.showLiveTime(t)
    if (this.samples % PLOT_INTERVAL === 0) {
      this.host.plots.redraw()
      this.host.plots.update(t)
    }
  }

  private pollSticks(names: string[]): void {
    if (names.length === 0) return
    this.sticks.poll(names.length)
    if (!this.driving || !this.sticks.changed()) return
    this.send({ type: 'sticks', axes: this.sticks.values, buttons: this.sticks.buttons })
  }

  /** After each picture. */
  drawn(): void {
    this.link.acknowledge()
  }

  // -- what buttons and keys do ----------------------------------------------------------------------------------

  private send(message: PageMessage): void {
    if (this.session === null) return
    this.link.send(message)
    this.host.sent(message)
  }

  /** A hand has begun to pull. */
  pulled(): void {
    if (this.state.paused) this.host.notices.show('Paused: Space lets the figure move again.')
  }

  togglePause(): void {
    this.send({ type: 'pause', on: !this.state.paused })
  }

  step(): void {
    this.send({ type: 'step' })
  }

  reset(): void {
    this.send({ type: 'reset' })
  }

  /** Everything that was held is let go. */
  untangle(): void {
    if (!this.driving || !this.session?.piece.untangles) return
    this.host.hands.drop()
    this.send({ type: 'untangle' })
    if (this.state.paused) this.host.notices.show('Paused: Space lets the figure move again.')
  }

  toggleRecording(): void {
    this.send({ type: 'record', on: !this.state.recording })
  }

  /** The next speed of the menu, or the one before. */
  changeSpeed(by: 1 | -1): void {
    const now = SPEEDS.includes(this.state.rate) ? SPEEDS.indexOf(this.state.rate) : SPEEDS.indexOf(1)
    this.setSpeed(SPEEDS[clamp(now + by, 0, SPEEDS.length - 1)])
  }

  /** The new speed counts at once: the next key may come before the server has answered. */
  private setSpeed(rate: number): void {
    this.send({ type: 'speed', rate })
    this.askedSpeed = { rate, until: performance.now() + ANSWER_TIME }
    this.state = { ...this.state, rate }
  }

  private stateChanged(state: RunState): void {
    const asked = this.askedSpeed
    const late = asked !== null && state.rate !== asked.rate && performance.now() < asked.until
    if (!late) this.askedSpeed = null
    this.state = late ? { ...state, rate: asked.rate } : state
    this.controls.showState({ ...state, rate: this.state.rate })
  }

  private async saveLog(): Promise<void> {
    await this.withLog(async (path) => {
      const response = await checked(await request(path))
      saveAs(await response.blob(), 'inputs.json')
    })
  }

  private async replayFile(file: File): Promise<void> {
    await this.withLog((path) => post(path, file))
  }

  private async withLog(act: (path: string) => Promise<unknown>): Promise<void> {
    if (this.session === null) return
    try {
      await act(`/api/entries/${this.session.piece.id}/inputs`)
    } catch (problem) {
      this.host.notices.fail(problem)
    }
  }
}
