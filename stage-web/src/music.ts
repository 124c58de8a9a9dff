/** The music of a show, and the button that mutes it. */
import type { Piece } from './messages'
import type { Player } from './player'
import { SoundClock } from './sound-clock'
import { readStored, writeStored } from './storage'
import { button, h, press, setIcon } from './ui/dom'

/** What the music needs of the page. */
export interface MusicHost {
  player: Pick<Player, 'time' | 'start' | 'playing' | 'speed'>
  /** The WAV file of an entry. */
  fetch(id: string): Promise<ArrayBuffer>
  notices: { show(text: string, level?: string): void; fail(problem: unknown): void }
}

const STORAGE = 'bunraku-muted'
const GESTURES = ['click', 'keydown', 'pointerup'] as const

export class Music {
  readonly element = h('audio', { id: 'music', hidden: true, preload: 'auto' })
  readonly button = button('sound', 'Mute the music', () => this.mute(!this.element.muted), { id: 'mute' })
  private readonly clock: SoundClock
  private key = ''

  constructor(private readonly host: MusicHost) {
    this.clock = new SoundClock(this.element, host.player, () => document.hidden)
    this.clock.onBlocked = () => this.waitForGesture()
    this.button.hidden = true
    this.mute(readStored(STORAGE) === 'yes')
    this.element.onloadedmetadata = () => this.clock.follow()
    this.element.onerror = () => this.key !== '' && host.notices.show('The browser cannot play the music.', 'warning')
    document.addEventListener('visibilitychange', () => this.clock.follow()) // pictures stand still meanwhile
  }

  private mute(on: boolean): void {
    this.element.muted = on
    writeStored(STORAGE, on ? 'yes' : 'no')
    press(this.button, on)
    setIcon(this.button, on ? 'silence' : 'sound')
    this.clock.follow()
  }

  /** Another piece is open, or the same one after an edit, whose sound may be the same. */
  load(piece: Piece): void {
    const key = piece.sound?.key ?? ''
    this.button.hidden = key === ''
    if (key === this.key) return
    this.key = key
    this.clock.on = false
    this.element.pause()
    if (this.element.src) URL.revokeObjectURL(this.element.src)
    this.element.removeAttribute('src')
    if (key !== '') void this.fetch(piece.id, key)
  }

  private async fetch(id: string, key: string): Promise<void> {
    try {
      const data = await this.host.fetch(id)
      if (this.key !== key) return
      this.element.src = URL.createObjectURL(new Blob([data], { type: 'audio/wav' }))
      this.clock.on = true
    } catch (problem) {
      if (this.key === key) this.host.notices.fail(problem)
    }
  }

  private waitForGesture(): void {
    this.host.notices.show('The browser plays music only after a click or a key.')
    const again = () => {
      for (const kind of GESTURES) removeEventListener(kind, again, true)
      this.clock.unblock()
    }
    for (const kind of GESTURES) addEventListener(kind, again, true)
  }

  /** After the player has jumped, paused, or changed its speed. */
  follow(): void {
    this.clock.follow()
  }

  /** How much time passes for the player in a picture of so many seconds. */
  step(seconds: number): number {
    return this.clock.step(seconds)
  }
}
