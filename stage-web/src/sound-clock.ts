/** Keeps the clock of an audio element and that of the player together: the sound flows, and the picture goes with it. */
import type { Player } from './player'

/** The part of an audio element that this uses. */
export type Heard = Pick<
  HTMLAudioElement,
  'currentTime' | 'duration' | 'paused' | 'seeking' | 'ended' | 'muted' | 'readyState' | 'playbackRate' | 'pause'
> & { play(): Promise<void> }

const NEAR = 0.04 // s: clocks that differ by less are brought together picture by picture, which nobody sees
const CLOSER = 0.4 // share of their difference that goes with each picture
const FAR = 0.3 // s: a sound that is so far behind is set
const JUMP = 0.15 // s: a player that plays has jumped if it differs by so much
const EXACT = 0.01 // s: how exactly a sound that is not playing is placed
const PATIENCE = 0.5 // s: so long the picture waits for sound that is about to begin
const END = 0.05 // s: what is left of a sound at its end is not begun
const READY = 3 // HTMLMediaElement.HAVE_FUTURE_DATA

export class SoundClock {
  /** Whether there is any sound. */
  on = false
  /** Whether the browser waits for a click or a key before it lets anything sound. */
  blocked = false
  onBlocked: () => void = () => undefined
  private asked = false
  private waited = 0
  private last = 0

  constructor(
    private readonly audio: Heard,
    private readonly player: Pick<Player, 'time' | 'start' | 'playing' | 'speed'>,
    private readonly isHidden: () => boolean,
  ) {}

  private get at(): number {
    return this.player.time - this.player.start
  }

  private get wanted(): boolean {
    const { audio, player } = this
    return this.on && player.playing && !audio.muted && !this.isHidden() && this.at < audio.duration - END
  }

  /** After the player has jumped, paused, or changed its speed. */
  follow(): void {
    const { audio, player } = this
    if (!this.on) return
    if (audio.playbackRate !== player.speed) audio.playbackRate = player.speed
    this.place(player.playing && !audio.paused ? JUMP : EXACT)
    if (this.wanted) this.begin()
    else if (!audio.paused) audio.pause()
  }

  private place(exactly: number): void {
    if (Math.abs(this.audio.currentTime - this.at) > exactly) this.audio.currentTime = this.at
  }

  private begin(): void {
    const { audio } = this
    if (!audio.paused || this.blocked || this.asked) return
    this.place(EXACT)
    this.asked = true
    audio.play().then(
      () => {
        this.asked = false
      },
      (problem: unknown) => {
        this.asked = false
        if ((problem as Error).name !== 'NotAllowedError' || this.blocked) return
        this.blocked = true
        this.onBlocked()
      },
    )
  }

  /** A click or a key: the browser may let it sound now. */
  unblock(): void {
    this.blocked = false
    this.follow()
  }

  /** How much time passes for the player in a picture of so many seconds: as much as for the sound, if there is any. */
  step(seconds: number): number {
    const { audio, player } = this
    if (!this.wanted || audio.ended) return seconds
    this.begin()
    if (this.blocked) return seconds
    const now = audio.currentTime
    const waits = this.asked || audio.seeking || audio.readyState < READY || now === this.last
    this.last = now
    this.waited = waits ? this.waited + seconds : 0
    if (waits) return this.waited < PATIENCE ? 0 : seconds
    if (audio.paused) return seconds
    const passed = seconds * player.speed
    const ahead = now - this.at - passed
    if (ahead < -FAR) {
      audio.currentTime = this.at + passed
      return seconds
    }
    return Math.max(0, seconds + (Math.abs(ahead) < NEAR ? CLOSER : 1) * (ahead / player.speed))
  }
}
