import { describe, expect, it } from 'vitest'
import { Governor, LEVELS, type Quality } from '../src/view/governor'

function governor() {
  const applied: Quality[] = []
  const made = new Governor((quality) => applied.push(quality))
  const play = (pictures: number, milliseconds: number) => {
    for (let i = 0; i < pictures; i++) made.paced(milliseconds)
  }
  return { made, applied, play }
}

describe('the governor', () => {
  it('starts at the best', () => {
    expect(governor().applied).toEqual([LEVELS[0]])
  })

  it('lowers the quality after forty slow pictures, one level at a time', () => {
    const { made, applied, play } = governor()
    play(39, 50)
    expect(made.level).toBe(0)
    play(1, 50)
    expect(made.level).toBe(1)
    play(40, 50)
    expect(applied).toEqual(LEVELS.slice(0, 3))
  })

  it('stops at the lowest', () => {
    const { made, play } = governor()
    play(1000, 50)
    expect(made.level).toBe(LEVELS.length - 1)
  })

  it('leaves a fast machine alone, and a single slow picture', () => {
    const { made, play } = governor()
    for (let i = 0; i < 10; i++) {
      play(39, 17)
      play(1, 200)
    }
    expect(made.level).toBe(0)
  })

  it('does not take a hidden tab for a slow machine', () => {
    const { made, play } = governor()
    play(400, 1000)
    expect(made.level).toBe(0)
  })

  it('keeps a level that was fixed', () => {
    const { made, play } = governor()
    made.fix(99)
    expect(made.level).toBe(LEVELS.length - 1)
    made.fix(1)
    play(1000, 50)
    expect(made.level).toBe(1)
  })

  it('draws shadows less often at low levels', () => {
    const { made } = governor()
    made.fix(3)
    const due = Array.from({ length: 8 }, () => made.shadowsDue())
    expect(due).toEqual([true, false, false, false, true, false, false, false])
  })
})
