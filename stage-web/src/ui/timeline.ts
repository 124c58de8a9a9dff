/** The time line: transport, speed, the time bar with its trim handles, and the clock. */
import type { Mark } from '../messages'
import { type Player, SPEEDS } from '../player'
import { button, h, press, setIcon } from './dom'
import { TimeBar } from './time-bar'
import { TrimHandles } from './trim-handles'

export class Timeline {
  readonly element: HTMLElement
  readonly trim: TrimHandles
  private readonly bar: TimeBar
  private readonly playButton: HTMLButtonElement
  private readonly loopButton: HTMLButtonElement
  private readonly speed: HTMLSelectElement
  private readonly transport: HTMLElement
  private readonly clock = h('output', { class: 'clock', id: 'clock' })
  private readonly extra = h('div', { class: 'extra' })

  constructor(private readonly player: Player) {
    this.playButton = button('play', 'Play or pause (Space)', () => player.toggle(), { class: 'primary', id: 'play' })
    this.loopButton = button('loop', 'Loop (L)', () => player.toggleLoop(), { id: 'loop' })
    this.speed = h(
      'select',
      { title: 'Speed ([ and ])', id: 'speed', aria: { label: 'Speed' } },
      ...SPEEDS.map((speed) => h('option', { value: String(speed) }, `${speed}×`)),
    )
    this.speed.onchange = () => player.setSpeed(Number(this.speed.value))
    this.transport = h(
      'div',
      { class: 'transport' },
      button('previous', 'Previous sample (,)', () => player.step(-1), { class: 'minor' }),
      this.playButton,
      button('next', 'Next sample (.)', () => player.step(1), { class: 'minor' }),
      this.loopButton,
      this.speed,
    )
    const cut = h('div', { class: 'cut', hidden: true })
    this.bar = new TimeBar(player, cut)
    this.trim = new TrimHandles(cut, this.bar, player)
    this.element = h('footer', { class: 'timeline' }, this.transport, this.bar.element, this.clock, this.extra)
    this.update() // before the first entry is there: at the start, at full speed
  }

  /** Adds the transport of live figures, and buttons at the end. */
  add(liveTransport: HTMLElement, extra: HTMLElement[]): void {
    this.transport.after(liveTransport)
    this.extra.append(...extra)
  }

  /** Adds a button behind the speed. */
  addToTransport(element: HTMLElement): void {
    this.transport.append(element)
  }

  load(marks: Mark[]): void {
    this.trim.show(false)
    this.bar.showMarks(marks)
    this.update()
  }

  /** After any change of the player. */
  update(): void {
    const { player } = this
    setIcon(this.playButton, player.playing ? 'pause' : 'play')
    press(this.playButton, player.playing)
    press(this.loopButton, player.loop)
    const speed = String(player.speed)
    if (this.speed.value !== speed) this.speed.value = speed
    this.tick()
  }

  /** After a change of time only. */
  tick(): void {
    this.bar.update()
    this.clock.textContent = `${this.player.time.toFixed(2)} / ${this.player.stop.toFixed(2)} s`
  }

  /** The clock of a live figure, which has no end. */
  showLiveTime(time: number): void {
    this.clock.textContent = `${time.toFixed(2)} s`
  }
}
