import { describe, expect, it } from 'vitest'
import type { Cue } from '../src/messages'
import { dragged, rowsOf, snap } from '../src/score/rows'

function cue(track: number, begin: number, end: number): Cue {
  return { name: `${track} ${begin}`, track, motion: 'wave', begin, end, note: '' }
}

describe('rows of a score', () => {
  it('puts cues that follow each other into one row, and cues that overlap into others', () => {
    const cues = [cue(0, 0, 2), cue(0, 2, 4), cue(0, 3, 5), cue(1, 0, 9), cue(0, 4.5, 6)]
    expect(rowsOf(cues)).toEqual([0, 0, 1, 0, 0])
  })

  it('does not depend on the order in which cues are written', () => {
    expect(rowsOf([cue(0, 3, 5), cue(0, 0, 4)])).toEqual([1, 0])
  })
})

describe('a dragged cue', () => {
  const one = cue(0, 2, 4)

  it('moves as a whole, or at its end', () => {
    expect(dragged(one, 2, 'middle', 0.5)).toMatchObject({ begin: 3, end: 5 })
    expect(dragged(one, 2, 'end', 0.5)).toMatchObject({ begin: 2, end: 5 })
  })

  it('does not begin before the show, and keeps a quarter of a count', () => {
    expect(dragged(one, -20, 'middle', 0.5)).toMatchObject({ begin: 0, end: 2 })
    expect(dragged(one, -20, 'end', 0.5)).toMatchObject({ begin: 2, end: 2.125 })
  })
})

describe('snap', () => {
  it('rounds to quarters of a count', () => {
    expect([0.1, 0.13, -0.9].map(snap)).toEqual([0, 0.25, -1])
  })
})
