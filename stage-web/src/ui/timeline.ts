/** The time line: transport, speed, scrubbing, marks, and the two handles that trim a take. */
import type { Mark } from '../model'
import { type Player, SPEEDS } from '../player'
import { button, h, press, setIcon } from './dom'

export class Timeline {
  readonly element: HTMLElement
  readonly left = h('div', { class: 'transport' })
  readonly extra = h('div', { class: 'extra' })
  private readonly playButton: HTMLButtonElement
  private readonly loopButton: HTMLButtonElement
  private readonly speed: HTMLSelectElement
  private readonly clock = h('output', { class: 'clock', id: 'clock' })
  private readonly bar: HTMLElement
  private readonly done = h('div', { class: 'done' })
  private readonly knob = h('div', { class: 'knob' })
  private readonly marks = h('div', { class: 'marks' })
  private readonly cut = h('div', { class: 'cut', hidden: true })
  private trimming = false
  trim: [number, number] = [0, 0]

  constructor(private readonly player: Player) {
    this.playButton = button('play', 'Play or pause (Space)', () => player.toggle(), { class: 'primary', id: 'play' })
    this.loopButton = button('loop', 'Loop (L)', () => this.toggleLoop(), { id: 'loop' })
    this.speed = h(
      'select', { title: 'Speed ([ and ])', id: 'speed', aria: { label: 'Speed' } },
      ...SPEEDS.map((s) => h('option', { value: String(s) }, `${s}×`)),
    )
    this.speed.onchange = () => player.setSpeed(Number(this.speed.value))
    this.bar = h(
      'div', { class: 'bar', id: 'bar', tabIndex: 0, role: 'slider', aria: { label: 'Time' } },
      h('div', { class: 'rail' }), this.done, this.cut, this.marks, this.knob,
    )
    this.left.append(
      button('previous', 'One sample back (,)', () => player.step(-1), { class: 'minor' }),
      this.playButton,
      button('next', 'One sample on (.)', () => player.step(1), { class: 'minor' }),
      this.loopButton,
      this.speed,
    )
    this.element = h('footer', { class: 'timeline' }, this.left, this.bar, this.clock, this.extra)
    this.scrubs(this.bar, (time) => player.seek(time))
    this.bar.addEventListener('keydown', (event) => {
      const by = { ArrowRight: 1, ArrowUp: 1, PageUp: 10, ArrowLeft: -1, ArrowDown: -1, PageDown: -10 }[event.key]
      if (by === undefined) return
      event.preventDefault()
      event.stopPropagation() // with the time line in focus these are its own, as of any slider
      player.pause()
      player.seek(Math.min(Math.max(player.time + (by * player.duration) / 100, player.start), player.stop))
    })
    this.update() // while the first entry is made, it stands at the start, at full speed
  }

  private scrubs(element: HTMLElement, act: (time: number) => void): void {
    let wasPlaying = false
    const at = (event: PointerEvent) => {
      const mark = (event.target as HTMLElement).dataset.t // the mark itself, not the pixel beside it
      if (event.type === 'pointerdown' && mark !== undefined) return Number(mark)
      const { left, width } = this.bar.getBoundingClientRect()
      return this.player.start + Math.min(Math.max((event.clientX - left) / width, 0), 1) * this.player.duration
    }
    element.addEventListener('pointerdown', (event) => {
      if (event.button !== 0) return
      event.preventDefault()
      event.stopPropagation()
      element.setPointerCapture(event.pointerId)
      wasPlaying = this.player.playing
      this.player.pause()
      act(at(event))
      const move = (e: PointerEvent) => act(at(e))
      const end = () => {
        element.removeEventListener('pointermove', move)
        if (wasPlaying) this.player.toggle()
      }
      element.addEventListener('pointermove', move)
      element.addEventListener('pointerup', end, { once: true })
      element.addEventListener('pointercancel', end, { once: true })
    })
  }

  toggleLoop(): void {
    this.player.loop = !this.player.loop
    this.update()
  }

  load(marks: Mark[]): void {
    const { start, duration } = this.player
    this.showTrim(false)
    this.trim = [start, start + duration]
    this.marks.replaceChildren(
      ...marks.map((mark) => {
        const title = `${mark.text} (${mark.t.toFixed(2)} s)`
        const tick = h('div', { class: 'mark', title, data: { kind: mark.kind, t: String(mark.t) } })
        tick.style.left = `${(100 * (mark.t - start)) / Math.max(duration, 1e-9)}%`
        return tick
      }),
    )
    this.update()
  }

  get trimShown(): boolean {
    return this.trimming
  }

  /** Two handles between which a take will be kept. */
  showTrim(on: boolean): void {
    this.trimming = on
    this.cut.hidden = !on
    if (!on) return
    this.trim = [this.player.start, this.player.stop]
    const handles = [0, 1].map((k) => {
      const handle = h('div', { class: `grip ${k ? 'end' : 'begin'}`, title: k ? 'Keep until here' : 'Keep from here' })
      this.scrubs(handle, (time) => {
        this.trim[k] = k === 0 ? Math.min(time, this.trim[1]) : Math.max(time, this.trim[0])
        this.player.seek(this.trim[k])
        this.placeCut()
      })
      return handle
    })
    this.cut.replaceChildren(...handles)
    this.placeCut()
  }

  private placeCut(): void {
    const part = (t: number) => (100 * (t - this.player.start)) / Math.max(this.player.duration, 1e-9)
    this.cut.style.left = `${part(this.trim[0])}%`
    this.cut.style.right = `${100 - part(this.trim[1])}%`
  }

  update(): void {
    const { player } = this
    setIcon(this.playButton, player.playing ? 'pause' : 'play')
    press(this.playButton, player.playing)
    press(this.loopButton, player.loop)
    const value = String(player.speed)
    if (this.speed.value !== value) this.speed.value = value
    this.tick()
  }

  tick(): void {
    const { time, start, duration } = this.player
    const part = duration > 0 ? (time - start) / duration : 0
    this.done.style.transform = `scaleX(${part})`
    this.knob.style.left = `${100 * part}%`
    this.clock.textContent = `${time.toFixed(2)} / ${this.player.stop.toFixed(2)} s`
    this.bar.setAttribute('aria-valuenow', time.toFixed(2))
    this.bar.setAttribute('aria-valuemin', this.player.start.toFixed(2))
    this.bar.setAttribute('aria-valuemax', this.player.stop.toFixed(2))
  }

  /** The clock of a live figure, which has no end. */
  liveClock(time: number): void {
    this.clock.textContent = `${time.toFixed(2)} s`
  }
}
