import { beforeEach, describe, expect, it } from 'vitest'
import { Player, SPEEDS } from '../src/player'

let player: Player

beforeEach(() => {
  player = new Player()
  player.load(Float64Array.of(1, 1.5, 2, 3))
})

describe('the player', () => {
  it('plays at once, from the start', () => {
    expect(player).toMatchObject({ playing: true, time: 1, duration: 2 })
  })

  it('does not play a single sample', () => {
    player.load(Float64Array.of(4))
    player.toggle()
    expect(player).toMatchObject({ playing: false, time: 4 })
  })

  it('loops', () => {
    player.advance(2.25)
    expect(player).toMatchObject({ playing: true, time: 1.25 })
  })

  it('stops at the end without a loop, and starts again from there', () => {
    player.toggleLoop()
    let heard = Number.NaN
    player.onChange = () => {
      heard = player.time
    }
    expect(player.advance(5)).toBe(true)
    expect(player).toMatchObject({ playing: false, time: 3 })
    expect(heard).toBe(3)
    expect(player.advance(1)).toBe(false)
    player.toggle()
    expect(player).toMatchObject({ playing: true, time: 1 })
  })

  it('goes at its speed', () => {
    player.setSpeed(0.5)
    player.advance(1)
    expect(player.time).toBe(1.5)
  })

  it('steps from sample to sample, and stops playing', () => {
    player.seek(1.7)
    player.step(-1)
    expect(player).toMatchObject({ playing: false, time: 1.5 })
    player.step(-1)
    expect(player.time).toBe(1)
    player.step(-1)
    expect(player.time).toBe(1)
    player.seek(1.7)
    player.step(1)
    player.step(1)
    player.step(1)
    expect(player.time).toBe(3)
  })

  it('seeks no farther than the ends', () => {
    player.seek(-5)
    expect(player.time).toBe(1)
    player.seek(50)
    expect(player.time).toBe(3)
  })

  it('has the speeds of the menu', () => {
    for (let i = 0; i < 10; i++) player.changeSpeed(1)
    expect(player.speed).toBe(SPEEDS[SPEEDS.length - 1])
    const down = SPEEDS.map(() => {
      player.changeSpeed(-1)
      return player.speed
    })
    expect(down).toEqual([...SPEEDS.slice(0, -1).reverse(), SPEEDS[0]])
  })
})
