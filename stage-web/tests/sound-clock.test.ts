import { beforeEach, describe, expect, it } from 'vitest'
import { Player } from '../src/player'
import { type Heard, SoundClock } from '../src/sound-clock'

/** An audio element without sound, whose clock goes on by hand. */
class Tape implements Heard {
  currentTime = 0
  duration = 20
  paused = true
  seeking = false
  muted = false
  readyState = 4
  playbackRate = 1
  refuses = ''

  get ended(): boolean {
    return this.currentTime >= this.duration
  }

  play(): Promise<void> {
    if (this.refuses) return Promise.reject(Object.assign(new Error(), { name: this.refuses }))
    this.paused = false
    return Promise.resolve()
  }

  pause(): void {
    this.paused = true
  }

  pass(seconds: number): void {
    if (!this.paused) this.currentTime += seconds * this.playbackRate
  }
}

let tape: Tape
let player: Player
let clock: SoundClock
let hidden = false
const answer = () => new Promise((resolve) => setTimeout(resolve))

/** One picture, for which the sound and the page count so many seconds. */
function picture(ofSound: number, ofPage = ofSound): void {
  tape.pass(ofSound)
  const before = player.time
  player.advance(clock.step(ofPage))
  if (player.time < before) clock.follow()
}

beforeEach(async () => {
  hidden = false
  tape = new Tape()
  player = new Player()
  clock = new SoundClock(tape, player, () => hidden)
  clock.on = true
  player.onChange = () => clock.follow()
  player.load(Float64Array.of(5, 15, 25)) // the sound begins with the first sample
  await answer()
})

describe('the clock of the sound', () => {
  it('goes with the player, which drifts by nothing', () => {
    for (let k = 0; k < 300; k++) picture(0.0163, 0.0167)
    expect(player.time - player.start).toBeCloseTo(tape.currentTime, 2)
    expect(tape.currentTime).toBeCloseTo(4.89, 9) // it was never set
  })

  it('lets no time go back, and makes up for a page that was held up', () => {
    const times: number[] = []
    for (const [ofSound, ofPage] of [
      [0.1, 0.12],
      [0.1, 0.2],
      [0.02, 0.2],
      [1.5, 0.25],
      [0.1, 0.1],
    ]) {
      picture(ofSound, ofPage)
      times.push(player.time)
    }
    expect(times).toEqual([...times].sort((a, b) => a - b))
    expect(player.time - player.start).toBeCloseTo(tape.currentTime, 1)
  })

  it('follows jumps, pauses and speeds', async () => {
    player.seek(12)
    expect(tape.currentTime).toBe(7)
    player.setSpeed(0.5)
    expect(tape.playbackRate).toBe(0.5)
    picture(1)
    expect(player.time).toBeCloseTo(12.5, 2)
    player.pause()
    expect(tape.paused).toBe(true)
    player.seek(8.004) // paused, it is placed exactly
    expect(tape.currentTime).toBeCloseTo(3.004, 9)
    player.toggle()
    await answer()
    expect(tape.paused).toBe(false)
  })

  it('begins again with a loop, also after it has ended', async () => {
    player.seek(24.9)
    tape.paused = true // as a browser does at the end
    tape.currentTime = 20
    picture(0, 0.2)
    await answer()
    expect(player.time).toBeCloseTo(5.1, 6)
    expect(tape).toMatchObject({ paused: false })
    expect(tape.currentTime).toBeCloseTo(0.1, 6)
  })

  it('waits for sound that is about to begin, but not for long', () => {
    tape.readyState = 1
    picture(0, 0.2)
    expect(player.time).toBe(5)
    for (let k = 0; k < 4; k++) picture(0, 0.2)
    expect(player.time).toBeGreaterThan(5.3)
  })

  it('waits for sound that has begun and stands still, but not for long', () => {
    picture(0.1)
    for (let k = 0; k < 4; k++) picture(0, 0.1)
    expect(player.time).toBeCloseTo(5.1, 6)
    for (let k = 0; k < 4; k++) picture(0, 0.1)
    expect(player.time).toBeGreaterThan(5.3)
    for (let k = 0; k < 4; k++) picture(0.1)
    expect(player.time - player.start).toBeCloseTo(tape.currentTime, 6)
  })

  it('stands still while it is muted, and comes in where the picture is', async () => {
    tape.muted = true
    clock.follow()
    for (let k = 0; k < 10; k++) picture(0.1)
    expect([tape.paused, tape.currentTime]).toEqual([true, 0])
    expect(player.time).toBeCloseTo(6, 6)
    tape.muted = false
    clock.follow()
    await answer()
    expect([tape.paused, tape.currentTime]).toEqual([false, player.time - player.start])
  })

  it('is silent while nobody sees the page', () => {
    hidden = true
    clock.follow()
    expect(tape.paused).toBe(true)
    hidden = false
    picture(0.1)
    expect(tape.paused).toBe(false)
  })

  it('tells once that the browser refuses, and tries again after a click', async () => {
    let told = 0
    clock.onBlocked = () => told++
    player.pause()
    tape.refuses = 'NotAllowedError'
    player.toggle()
    await answer()
    for (let k = 0; k < 5; k++) picture(0.1)
    expect([told, clock.blocked, tape.paused]).toEqual([1, true, true])
    expect(player.time).toBeCloseTo(5.5, 6) // the picture goes on
    tape.refuses = ''
    clock.unblock()
    await answer()
    expect(tape.paused).toBe(false)
    expect(tape.currentTime).toBeCloseTo(0.5, 6)
  })

  it('leaves a piece without sound alone', () => {
    clock.on = false
    tape.currentTime = 3
    player.seek(9)
    picture(0.1)
    expect([tape.currentTime, player.time]).toEqual([3.1, 9.1])
  })
})
