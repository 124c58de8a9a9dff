/** A live figure on the page: who drives, samples as they come, drags and sticks as they go, recording. */
import { type App, saveAs } from './app'
import { LiveChannels } from './channels'
import { type Control, HEADER, Link, type RunState } from './link'
import { heavy, type Piece } from './model'
import { SPEEDS } from './player'
import { checked, post } from './source'
import { Sticks } from './sticks'
import { gamepad } from './ui/dialogs'
import { button, h, press, setIcon } from './ui/dom'

export class LiveDesk {
  readonly sticks = new Sticks()
  readonly link: Link
  control: Control | null = null
  state: RunState = { paused: false, recording: false, replaying: false, rate: 1, real_time: 1 }
  time = 0
  samples = 0
  private piece: Piece | null = null
  private channels: LiveChannels | null = null
  private newest: DataView | null = null
  private readonly who = h('span', { class: 'who', id: 'who' })
  private readonly asks = h('span', { class: 'asks' })
  private readonly controlButton: HTMLButtonElement
  private readonly recordButton: HTMLButtonElement
  private readonly pauseButton: HTMLButtonElement
  private readonly speed = h('select', { title: 'Speed ([ and ])', id: 'live-speed' }, ...SPEEDS.map((s) => h('option', { value: String(s) }, `${s}×`)))
  private readonly padButton: HTMLButtonElement
  private readonly pace = h('span', { class: 'muted', id: 'pace' })

  constructor(private readonly app: App) {
    this.controlButton = button('hand', 'Ask for control', () => this.takeOrGive(), { text: 'Drive', id: 'control' })
    app.bars.liveBar.append(this.who, this.asks, this.controlButton)
    this.recordButton = button('record', 'Record (R)', () => this.record(), { class: 'record', id: 'record', text: 'Record' })
    this.pauseButton = button('pause', 'Pause (Space)', () => this.pause(), { class: 'primary', id: 'live-pause' })
    this.padButton = button('pad', 'Sticks: gamepad and keys', () => gamepad(this.sticks, this.piece?.sticks ?? []), { id: 'pad' })
    this.speed.onchange = () => this.link.send('speed', { rate: Number(this.speed.value) })
    app.timeline.left.after(
      h(
        'div', { class: 'live-transport' }, this.pauseButton, button('next', 'One step (.)', () => this.step(), { class: 'minor' }),
        button('reset', 'Back to the start (⌫)', () => this.reset(), { id: 'reset' }), this.speed, this.recordButton, this.padButton,
        this.inputs(), this.pace,
      ),
    )
    this.link = new Link({
      sample: (data, number, t) => this.arrived(data, number, t),
      control: (control) => this.showControl(control),
      state: (state) => this.showState(state),
      notice: (level, text) => app.notices.show(text, level),
      entries: () => void app.reload(),
      taken: (entry) => void app.reload().then(() => (this.control?.driver === this.control?.you ? app.open(entry) : undefined)),
      connected: (on, reason) => this.connected(on, reason),
    })
  }

  private inputs(): HTMLElement {
    const file = h('input', { type: 'file', accept: '.json', hidden: true, id: 'log-file' })
    file.onchange = async () => {
      const chosen = file.files?.[0]
      file.value = ''
      if (chosen) await this.guarded(() => post(`/api/entries/${this.piece!.id}/inputs`, chosen))
    }
    const menu = h(
      'details', { class: 'export', id: 'inputs' }, h('summary', { title: 'The input log: every drag and stick since the start' }, 'Inputs'),
      h(
        'div', { class: 'menu' },
        h('button', { type: 'button', id: 'replay', onclick: () => this.link.send('replay') }, 'Replay from the start'),
        h('button', { type: 'button', id: 'save-log', onclick: () => void this.saveLog() }, 'Save the log'),
        h('button', { type: 'button', onclick: () => file.click() }, 'Replay a saved log'), file,
      ),
    )
    menu.querySelector('.menu')!.addEventListener('click', () => (menu.open = false))
    return menu
  }

  private async saveLog(): Promise<void> {
    await this.guarded(async () => {
      const response = await checked(await fetch(`/api/entries/${this.piece!.id}/inputs`))
      saveAs(await response.blob(), 'inputs.json')
    })
  }

  private async guarded(act: () => Promise<unknown>): Promise<void> {
    try {
      await act()
    } catch (problem) {
      this.app.fail(problem)
    }
  }

  // -- coming and going ------------------------------------------------------------------------------------------

  enter(piece: Piece): void {
    this.piece = piece
    this.samples = 0
    this.channels = new LiveChannels(piece)
    this.app.plots.load(this.channels, null)
    this.padButton.hidden = (piece.sticks ?? []).length === 0
    this.link.join(piece.id)
  }

  leave(): void {
    if (this.piece === null) return
    this.piece = null
    this.newest = null
    this.control = null
    this.app.hands.allowed.clear()
    this.app.hands.drop()
    this.sticks.forget()
    this.link.leave()
  }

  private connected(on: boolean, reason: string): void {
    document.body.classList.toggle('offline', !on)
    if (!on && reason) this.app.notices.show(`The stage closed the connection: ${reason}`, 'error')
    if (!on && this.piece !== null) {
      this.control = null
      this.app.hands.allowed.clear()
      this.who.textContent = 'reconnecting …'
    }
  }

  private showControl(control: Control): void {
    this.control = control
    const mine = control.driver === control.you
    this.app.hands.allowed = new Set(mine ? (this.piece?.pulls ?? []) : [])
    if (!mine) this.app.hands.drop()
    const others = control.watching - 1
    const watching = others > 0 ? `, ${others} more here` : ''
    this.who.textContent = mine ? `You drive${watching}` : control.driver === null ? 'Nobody drives' : `${control.driver} drives`
    this.controlButton.hidden = mine && others === 0
    this.controlButton.lastChild!.textContent = mine ? 'Let go' : control.asking.includes(control.you) ? 'Asked …' : 'Drive'
    this.asks.replaceChildren(
      ...(mine ? control.asking : []).map((name) =>
        h('button', { type: 'button', class: 'button accent give', onclick: () => this.link.send('give', { to: name }) }, `Give to ${name}`),
      ),
    )
    document.body.classList.toggle('watching', !mine)
  }

  private takeOrGive(): void {
    if (this.control?.driver === this.control?.you) this.link.send('give', { to: '' })
    else this.link.send('ask')
  }

  private showState(state: RunState): void {
    this.state = state
    setIcon(this.pauseButton, state.paused ? 'play' : 'pause')
    setIcon(this.recordButton, state.recording ? 'stop' : 'record')
    this.recordButton.lastChild!.textContent = state.recording ? 'Stop' : 'Record'
    press(this.recordButton, state.recording)
    this.speed.value = String(state.rate)
    const slow = state.real_time < 0.95 && !state.paused ? `${state.real_time.toFixed(1)}× real time` : ''
    this.pace.textContent = state.replaying ? 'replaying' : slow
  }

  // -- samples ---------------------------------------------------------------------------------------------------

  private arrived(data: DataView, _number: number, t: number): void {
    if (this.piece === null) return
    this.newest = data
    this.time = t
    this.samples++
  }

  /** Before each picture. */
  tick(): void {
    if (this.piece === null) return
    this.app.hands.flush(this.link)
    const names = this.piece.sticks ?? []
    if (names.length > 0) {
      this.sticks.poll(names.length)
      const mine = this.control !== null && this.control.driver === this.control.you
      if (mine && this.sticks.changed()) this.link.send('sticks', { axes: this.sticks.values, buttons: this.sticks.buttons })
    }
    if (this.newest === null) return
    this.unpack(this.newest)
    this.newest = null
    this.app.view.showLive(this.time)
    this.app.timeline.liveClock(this.time)
    if (this.samples % 3 === 0) {
      this.app.plots.redraw()
      this.app.plots.update(this.time)
    }
  }

  drawn(): void {
    this.link.acknowledge()
  }

  private unpack(data: DataView): void {
    const { actors } = this.app.view
    let at = HEADER
    const floats = (n: number) => {
      const out = new Float32Array(data.buffer.slice(at, at + 4 * n))
      at += 4 * n
      return out
    }
    for (const actor of actors) actor.moment.q = floats(actor.figure.variables.length)
    for (const actor of actors) {
      const tension = floats(actor.figure.ropes.length)
      actor.moment.tension = heavy(actor.figure) ? tension : null
    }
    const series = floats(this.piece!.series.length)
    for (const actor of actors) {
      actor.moment.atLimit = new Uint8Array(data.buffer, at, actor.figure.ropes.length)
      at += actor.figure.ropes.length
    }
    this.channels!.add(this.time, actors.map((a) => a.moment), series)
  }

  // -- what buttons do -------------------------------------------------------------------------------------------

  private get on(): boolean {
    return this.piece !== null
  }

  pause(): void {
    if (this.on) this.link.send('pause', { on: !this.state.paused })
  }

  step(): void {
    if (this.on) this.link.send('step')
  }

  reset(): void {
    if (this.on) this.link.send('reset')
  }

  record(): void {
    if (this.on) this.link.send('record', { on: !this.state.recording })
  }

  faster(by: 1 | -1): void {
    if (!this.on) return
    const k = SPEEDS.indexOf(this.state.rate)
    this.link.send('speed', { rate: SPEEDS[Math.min(Math.max((k < 0 ? 3 : k) + by, 0), SPEEDS.length - 1)] })
  }
}
