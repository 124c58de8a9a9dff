/** The controls of a live figure: who drives, pause, speed, recording, gamepad, and the input log. */
import type { Control, RunState } from '../messages'
import { SPEEDS } from '../player'
import { button, h, press, setIcon, setText } from '../ui/dom'

export interface LiveCommands {
  takeOrReleaseControl(): void
  giveControl(to: string): void
  togglePause(): void
  step(): void
  reset(): void
  untangle(): void
  setSpeed(rate: number): void
  toggleRecording(): void
  configureSticks(): void
  replay(): void
  saveLog(): void
  replayFile(file: File): void
}

export class LiveControls {
  /** For the bar at the top: who drives. */
  readonly status: HTMLElement[]
  /** For the bar at the bottom. */
  readonly transport: HTMLElement
  private readonly who = h('span', { class: 'who', id: 'who' })
  private readonly requests = h('span', { class: 'asks' })
  private readonly controlButton: HTMLButtonElement
  private readonly recordButton: HTMLButtonElement
  private readonly pauseButton: HTMLButtonElement
  private readonly padButton: HTMLButtonElement
  private readonly untangleButton: HTMLButtonElement
  private readonly speed = h(
    'select',
    { title: 'Speed ([ and ])', id: 'live-speed', aria: { label: 'Speed' } },
    ...SPEEDS.map((speed) => h('option', { value: String(speed) }, `${speed}×`)),
  )
  private readonly pace = h('span', { class: 'muted', id: 'pace' })

  constructor(private readonly commands: LiveCommands) {
    const act = commands
    this.controlButton = button('hand', 'Take or release control', () => act.takeOrReleaseControl(), {
      text: 'Drive',
      id: 'control',
    })
    this.recordButton = button('record', 'Start or stop recording (R)', () => act.toggleRecording(), {
      class: 'record',
      id: 'record',
      text: 'Record',
    })
    this.pauseButton = button('pause', 'Pause or continue (Space)', () => act.togglePause(), {
      class: 'primary',
      id: 'live-pause',
    })
    this.untangleButton = button('untangle', 'Untangle: limbs and strings back in order (X)', () => act.untangle(), {
      id: 'untangle',
    })
    this.padButton = button('pad', 'Gamepad and driving keys', () => act.configureSticks(), { id: 'pad' })
    this.speed.onchange = () => act.setSpeed(Number(this.speed.value))
    this.status = [this.who, this.requests, this.controlButton]
    this.transport = h(
      'div',
      { class: 'live-transport' },
      this.pauseButton,
      button('next', 'Single step (.)', () => act.step(), { class: 'minor' }),
      button('reset', 'Reset to the start (⌫)', () => act.reset(), { id: 'reset' }),
      this.untangleButton,
      this.speed,
      this.recordButton,
      this.padButton,
      this.inputMenu(),
      this.pace,
    )
  }

  private inputMenu(): HTMLElement {
    const act = this.commands
    const file = h('input', { type: 'file', accept: '.json', hidden: true, id: 'log-file' })
    file.onchange = () => {
      const chosen = file.files?.[0]
      file.value = ''
      if (chosen) act.replayFile(chosen)
    }
    const menu = h(
      'div',
      { class: 'menu' },
      h('button', { type: 'button', id: 'replay', onclick: () => act.replay() }, 'Replay from the start'),
      h('button', { type: 'button', id: 'save-log', onclick: () => act.saveLog() }, 'Save input log'),
      h('button', { type: 'button', onclick: () => file.click() }, 'Replay a saved log…'),
      file,
    )
    const summary = h(
      'summary',
      { title: 'Input log: all input of mouse, keys and gamepad since the last reset' },
      'Inputs',
    )
    const details = h('details', { class: 'export', id: 'inputs' }, summary, menu)
    menu.addEventListener('click', () => {
      details.open = false
    })
    return details
  }

  showUntangling(can: boolean): void {
    this.untangleButton.hidden = !can
  }

  showSticks(has: boolean): void {
    this.padButton.hidden = !has
  }

  /** With a reason the server has closed for good; without one, the page tries to connect again. */
  showDisconnected(reason: string): void {
    this.who.textContent = reason ? 'Disconnected' : 'Reconnecting…'
  }

  showControl(control: Control): void {
    const mine = control.driver === control.you
    const others = control.watching - 1
    const watching = others > 0 ? `, ${others} watching` : ''
    const driver = control.driver === null ? 'Nobody is driving' : `${control.driver} is driving`
    this.who.textContent = mine ? `You are driving${watching}` : driver
    this.controlButton.hidden = mine && others === 0
    setText(this.controlButton, mine ? 'Release' : control.asking.includes(control.you) ? 'Requested' : 'Drive')
    this.requests.replaceChildren(
      ...(mine ? control.asking : []).map((name) => {
        const give = () => this.commands.giveControl(name)
        return h('button', { type: 'button', class: 'button accent give', onclick: give }, `Give control to ${name}`)
      }),
    )
  }

  showState(state: RunState): void {
    setIcon(this.pauseButton, state.paused ? 'play' : 'pause')
    setIcon(this.recordButton, state.recording ? 'stop' : 'record')
    setText(this.recordButton, state.recording ? 'Stop' : 'Record')
    press(this.recordButton, state.recording)
    this.speed.value = String(state.rate)
    const slow = state.real_time < 0.95 && !state.paused ? `${state.real_time.toFixed(1)}× real time` : ''
    this.pace.textContent = state.replaying ? 'Replaying' : slow
  }
}
