import { describe, expect, it } from 'vitest'
import { Columns, interpolate, laidAt, readSamples, sampleBefore } from '../src/data/samples'
import type { Block } from '../src/messages'
import { pendulum, piece } from './toys'

describe('sampleBefore', () => {
  const t = [0, 0.5, 0.5, 1]

  it.each([
    [-1, 0],
    [0, 0],
    [0.49, 0],
    [0.5, 2], // of two samples at one time, the later
    [0.99, 2],
    [1, 3],
    [9, 3],
  ])('at %d s: sample %d', (time, sample) => {
    expect(sampleBefore(t, time)).toBe(sample)
  })

  it('agrees with a search one by one', () => {
    const times = Float64Array.from({ length: 37 }, (_, i) => Math.sqrt(i))
    for (let time = 0; time < 7; time += 0.03) {
      const slow = times.reduce((last, x, i) => (x <= time ? i : last), 0)
      expect(sampleBefore(times, time)).toBe(slow)
    }
  })
})

describe('interpolate', () => {
  const figure = pendulum() // its first variable is an angle, the others are not
  const t = Float64Array.of(0, 2, 4)
  const values = new Columns(Float32Array.of(0, 10, 1, 1, 20, 1, -3, 30, 1), 3, 3)
  const at = (time: number, ofFigure = true) => {
    const out = new Float32Array(3)
    interpolate(values, t, time, out, ofFigure ? figure : undefined)
    return [...out]
  }

  it('is linear between samples', () => {
    expect(at(0.5)).toEqual([0.25, 12.5, 1])
    expect(at(2)).toEqual([1, 20, 1])
  })

  it('does not sweep through a jump of an angle', () => {
    expect(at(2.5)).toEqual([1, 22.5, 1])
    expect(at(3.5)).toEqual([-3, 27.5, 1])
    expect(at(2.5, false)).toEqual([0, 22.5, 1])
  })

  it('stays at the ends', () => {
    expect(at(-1)).toEqual([0, 10, 1])
    expect(at(9)).toEqual([-3, 30, 1])
  })
})

describe('readSamples', () => {
  it('cuts the bytes as the blocks say, though they are not aligned', () => {
    const block = (change: Partial<Block>): Block => ({
      field: 'q',
      type: 'f4',
      rows: 3,
      columns: 1,
      ghost: false,
      track: -1,
      ...change,
    })
    const blocks = [
      block({ field: 't', type: 'f8' }),
      block({ columns: 3, track: 0 }),
      block({ field: 't', type: 'f8', rows: 2, ghost: true }), // starts at byte 60: not a multiple of 8
      block({ field: 'tension', track: 0 }),
      block({ rows: 2, columns: 3, track: 1, ghost: true }),
      block({ field: 'series' }),
      block({ field: 'laid', rows: 2, columns: 3, track: 0 }),
      block({ field: 'laidPoints', columns: 3, track: 0 }),
    ]
    const arrays = [
      Float64Array.of(0, 0.1, 0.2),
      Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
      Float64Array.of(0, 0.2),
      Float32Array.of(10, 11, 12),
      Float32Array.of(-1, -2, -3, -4, -5, -6),
      Float32Array.of(20, 21, 22),
      Float32Array.of(0, 4, 2, 2, 4, 1), // at sample 0 rope 4 has two points, at sample 2 one
      Float32Array.of(1, 2, 3, 4, 5, 6, 7, 8, 9),
    ]
    const bytes = new Uint8Array(arrays.reduce((sum, a) => sum + a.byteLength, 0))
    let at = 0
    for (const array of arrays) {
      bytes.set(new Uint8Array(array.buffer), at)
      at += array.byteLength
    }
    const samples = readSamples(piece({ blocks }), bytes.buffer)
    expect([...samples.t]).toEqual([0, 0.1, 0.2])
    expect([...(samples.ghostT ?? [])]).toEqual([0, 0.2])
    expect([...samples.tracks[0].q.row(1)]).toEqual([4, 5, 6])
    expect([...samples.tracks[0].q.column(2)]).toEqual([3, 6, 9])
    expect([...(samples.tracks[0].tension?.data ?? [])]).toEqual([10, 11, 12])
    expect([...samples.tracks[1].q.row(1)]).toEqual([-4, -5, -6])
    expect(samples.tracks[1].tension).toBeUndefined()
    expect(samples.series.map((s) => [...s])).toEqual([[20, 21, 22]])
    const { laid } = samples.tracks[0]
    expect([...(laid?.keys() ?? [])]).toEqual([0, 2])
    expect([...(laid?.get(0)?.get(4) ?? [])]).toEqual([1, 2, 3, 4, 5, 6])
    expect([...(laid?.get(2)?.get(4) ?? [])]).toEqual([7, 8, 9])
    expect(samples.tracks[1].laid).toBeUndefined()
  })
})

describe('laidAt', () => {
  const t = Float64Array.of(0, 1, 2, 3)
  const laid = new Map([
    [0, new Map([[4, Float32Array.of(0, 0, 0)]])],
    [1, new Map([[4, Float32Array.of(2, 4, 6)]])],
    [2, new Map([[4, Float32Array.of(2, 4, 6, 3, 3, 3)]])],
  ])
  const at = (time: number) => [...(laidAt(laid, t, time)?.get(4) ?? [])]

  it('lies between two samples that lie the same way', () => {
    expect(at(0.25)).toEqual([0.5, 1, 1.5])
    expect(at(1)).toEqual([2, 4, 6])
  })

  it('is as in the nearer sample where the way changes', () => {
    expect(at(1.25)).toEqual([2, 4, 6])
    expect(at(1.75)).toEqual([2, 4, 6, 3, 3, 3])
    expect(at(2.25)).toEqual([2, 4, 6, 3, 3, 3])
    expect(laidAt(laid, t, 2.75)).toBeNull()
  })
})
